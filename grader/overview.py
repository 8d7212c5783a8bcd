"""Where a learner is: the first screen, the labs, a lab's page, progress, and the chain."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from breaks import __version__, console, i18n, journal
from breaks.console import Reply
from breaks.errors import Exit
from grader import commits, learner, lines, markdown, outfile, screens
from grader.commits import Chain, Damage
from grader.learner import Row, Stage
from grader.score import CALIBRATION_AFTER
from grader.session import Session
from labs.model import Lab

_ = i18n.gettext
Json = dict[str, Any]


# --- the first screen ---------------------------------------------------------------------------


def home_json(here: Session) -> Json:
    rows = here.rows()
    return {
        "version": __version__,
        "workspace": None if here.ws is None else str(here.ws.root),
        "labs": {lab: learner.done(rows, lab) for lab in here.labs},
        "applied": list(journal.status(here.ws).applied) if here.ws else [],
        "next": here.following(),
    }


def home(here: Session) -> str:
    """Where you are and the one thing to do next."""
    rows = here.rows()
    done = [lab for lab in here.labs if learner.done(rows, lab)]
    table = [
        [_("labs"), _("%(done)d of %(all)d done") % {"done": len(done), "all": len(here.labs)}],
    ]
    if here.ws is None:
        table.insert(0, [_("workspace"), _("none here")])
    else:
        applied = journal.status(here.ws).applied
        if applied:
            note = _("the grader observes the library without them")
            table.append([_("applied"), f"{' '.join(applied)}   ({note})"])
        scores = [row.score for row in rows if row.score is not None]
        if scores:
            mean = sum(scores) / len(scores)
            text = i18n.ngettext(
                "%(mean).1f of 10 over %(count)d break",
                "%(mean).1f of 10 over %(count)d breaks",
                len(scores),
            )
            table.append([_("score"), text % {"mean": mean, "count": len(scores)}])
    table.append([_("next"), console.style(here.following(), "command")])
    title = console.style(f"breaklabs {__version__}", "title")
    return f"{title}   " + _("predict, check, explain") + "\n" + console.table(table)


# --- labs ---------------------------------------------------------------------------------------


def labs_json(here: Session) -> Json:
    rows = here.rows()
    return {
        "labs": [
            {
                "id": lab.id,
                "title": dict(lab.title),
                "minutes": lab.minutes,
                "needs": list(lab.needs),
                "breaks": [row.to_json() for row in rows if row.lab == lab.id],
                "done": learner.done(rows, lab.id),
            }
            for lab in here.labs.values()
        ],
        "next": here.following(),
    }


def labs(here: Session) -> str:
    """One line per lab: what it is about, how long it takes, how far it has come."""
    rows = here.rows()
    table = []
    for lab in here.labs.values():
        mine = [row for row in rows if row.lab == lab.id]
        checked = sum(row.score is not None for row in mine)
        sign = console.glyphs.good if checked == len(mine) else ""
        sofar = _("%(done)d of %(all)d") % {"done": checked, "all": len(mine)}
        minutes = _("%(minutes)d min") % {"minutes": lab.minutes}
        table.append([sign, lab.id, i18n.pick(lab.title), minutes, sofar])
    header = ["", _("lab"), _("about"), _("time"), _("breaks checked")]
    body = console.table(table, header, align="<<<><")
    return body + "\n\n" + screens.following_line(here.following())


def page_file(lab: Lab) -> Path | None:
    """The page of a lab in the reader's language, else in English; None if there is none."""
    for name in (f"README.{i18n.language()}.md", "README.md"):
        if (lab.folder / name).is_file():
            return lab.folder / name
    return None


def page_json(lab: Lab) -> Json:
    file = page_file(lab)
    return {
        "id": lab.id,
        "title": dict(lab.title),
        "page": None if file is None else file.read_text("utf-8"),
        "breaks": {name: list(scenarios) for name, scenarios in lab.breaks.items()},
    }


def page(here: Session, lab: Lab, *, unfold: bool = False) -> str:
    """The page, lessons folded until their break is checked; without one, breaks and scenarios."""
    file = page_file(lab)
    if file is None:
        body = _outline(lab, lab.breaks)
    else:
        rows = here.rows()
        checked = {row.break_id for row in rows if row.lab == lab.id and row.score is not None}
        folded = _("(Folded until you have checked it. Now: `grader show %(lab)s --unfold`)")
        body = markdown.text(
            file.read_text("utf-8"),
            lambda summary: unfold or about(lab, summary) <= checked,
            folded % {"lab": lab.id},
        )
    return body + "\n\n" + screens.following_line(_next_of(here, lab))


def about(lab: Lab, summary: str) -> set[str]:
    """The breaks that a folded part is about: those that its summary names, else all of the lab."""
    return {one for one in lab.breaks if f"`{one}`" in summary} or set(lab.breaks)


def outline(here: Session, lab: Lab, break_id: str) -> str:
    """The scenarios of one break, as tiny programs."""
    following = here.command("predict", lab.id, break_id)
    return _outline(lab, [break_id]) + "\n\n" + screens.following_line(following)


def _next_of(here: Session, lab: Lab) -> str:
    if here.ws is None:
        return here.following()
    return here.command("predict", lab.id, here.next_to_predict(lab))


def _outline(lab: Lab, break_ids: Iterable[str]) -> str:
    parts = [console.style(lab.id, "title") + "  " + i18n.pick(lab.title)]
    for break_id in break_ids:
        scenarios = lab.of(break_id)
        block = [console.style(break_id, "strong")]
        block += [
            screens.scenario_head(one, number, len(scenarios))
            for number, one in enumerate(scenarios, start=1)
        ]
        parts.append("\n".join(block))
    return "\n\n".join(parts)


# --- progress -----------------------------------------------------------------------------------


def progress(here: Session, file: str | None) -> Reply:
    """The overview of everything that was done; with a file, the whole record in it."""
    rows = here.rows()
    table = here.record.calibration
    document: Json = {
        "labs": {lab: learner.done(rows, lab) for lab in here.labs},
        "breaks": [row.to_json() for row in rows],
        "calibration": table.to_json(),
        "chain_intact": here.chain.intact,
        "next": here.following(),
    }
    if file is not None:
        _export(here, Path(file), document)
        text = _("Wrote %(file)s.") % {"file": file}
        return Reply({**document, "file": file}, text)
    return Reply(document, lambda: _progress(here, rows))


def _progress(here: Session, rows: Sequence[Row]) -> str:
    body: list[str | list[str]] = []
    for lab, mine in groupby(rows, lambda row: row.lab):
        body.append(console.style(lab, "title") + "  " + i18n.pick(here.labs[lab].title))
        body += [
            [row.break_id, _so_far(row), _score(row.score), _score(row.variant)] for row in mine
        ]
    header = [_("break"), _("so far"), _("score"), _("variant")]
    parts = [console.table(body, header, align="<<>>", indent="  ")]
    parts += [chain_line(here.chain)] if not here.chain.intact else []
    calibration = here.record.calibration
    if calibration.ready:
        parts.append(screens.calibration_table(calibration))
    elif calibration.answers:
        text = _("The calibration table appears after %(need)d answers; so far %(count)d.")
        need = {"need": CALIBRATION_AFTER, "count": calibration.answers}
        parts.append(console.wrap(text % need, console.width()))
    again = [row for row in rows if row.again and row.variant is None]
    if again:
        lines_ = [here.command("predict", f"{row.lab}.b", row.break_id) for row in again]
        title = console.style(_("Worth a second attempt, with other shapes"), "title")
        parts.append(title + "\n" + "\n".join(f"  {line}" for line in lines_))
    parts.append(screens.following_line(here.following()))
    return "\n\n".join(parts)


def _so_far(row: Row) -> str:
    """How far it has come, and what else to know; in one cell, so that an id keeps its line."""
    stage = {
        Stage.NEW: "",
        Stage.PREDICTED: _("predicted"),
        Stage.CHECKED: _("checked"),
        Stage.EXPLAINED: _("explained"),
    }[row.stage]
    words = [stage, _("again") if row.again else "", _("peeked") if row.peeked else ""]
    return ", ".join(filter(None, words)) or console.glyphs.dash


def _score(score: float | None) -> str:
    return "" if score is None else f"{score:.1f}"


def _export(here: Session, file: Path, document: Json) -> None:
    """Everything on record, in one file."""
    ws = here.workspace
    whole = {
        "version": 1,
        "kit": __version__,
        **document,
        "commits": [line.document for line in lines.read(ws, commits.FILE)],
        "events": [line.document for line in lines.read(ws, learner.FILE)],
    }
    content = json.dumps(whole, indent=1, ensure_ascii=False).encode()
    outfile.write(file, content, b'"kit": "')


# --- the chain ----------------------------------------------------------------------------------


def verify(here: Session) -> Reply:
    """Follows the chain; a finding (exit 1) if a line is not as it was written."""
    chain = here.chain
    lost = _lost(here)
    document = {
        "intact": chain.intact and not lost,
        "commits": len(chain.commits),
        "head": chain.head,
        "faults": [fault.to_json() for fault in chain.faults],
        "checked_but_gone": lost,
    }
    code = Exit.DONE if chain.intact and not lost else Exit.FINDING
    return Reply(document, lambda: _verified(chain, lost), code=code)


def _lost(here: Session) -> list[str]:
    """Checked predictions that the chain does not hold any more: its end was cut off."""
    there = {commit.hash for commit in here.chain.commits}
    return [f"{one.lab} {one.break_id}" for one in here.record.checks if one.commit not in there]


def chain_line(chain: Chain) -> str:
    """The state of the chain in one line."""
    if chain.intact:
        count = len(chain.commits)
        text = i18n.ngettext(
            "The chain of %(count)d prediction is intact.",
            "The chain of %(count)d predictions is intact.",
            count,
        )
        return console.style(console.glyphs.good, "good") + " " + text % {"count": count}
    text = _("The chain of predictions is damaged: see `grader verify`.")
    return console.style(console.glyphs.bad, "bad") + " " + text


def _verified(chain: Chain, lost: Sequence[str]) -> str:
    parts = [chain_line(chain)] if chain.intact else []
    words = {
        Damage.UNREADABLE: _("is no commit that can be read"),
        Damage.EDITED: _("was edited since it was written"),
        Damage.OUT_OF_CHAIN: _("does not follow the line before it: one was removed or moved"),
        Damage.NEWER: _("was written by a newer version of the kit"),
    }
    for fault in chain.faults:
        what = f" ({fault.lab} {fault.break_id})" if fault.lab else ""
        text = _("line %(line)d%(what)s %(damage)s")
        values = {"line": fault.number, "what": what, "damage": words[fault.damage]}
        parts.append(console.wrap(text % values, console.width(), hanging="  "))
    if lost:
        text = _("Checked, but not in the chain any more: %(names)s")
        parts.append(console.wrap(text % {"names": ", ".join(lost)}, console.width()))
    note = _(
        "An intact chain says that nobody edited single lines. It is no proof: whoever can write"
        " the file can write a new chain."
    )
    parts.append(console.style(console.wrap(note, console.width()), "dim"))
    return "\n".join(parts)
