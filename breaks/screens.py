"""What `breaks` prints for people: each screen a function from data to at most 80 columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from breaks import console, i18n

if TYPE_CHECKING:  # a page needs none of the others' machinery
    from breaks.check import Checked
    from breaks.difference import Site
    from breaks.doctor import Finding
    from breaks.journal import Recovery, State, Status
    from breaks.model import Break

_ = i18n.gettext


def state_word(state: State) -> str:
    """A state in the language of the reader."""
    from breaks.journal import State

    return {
        State.APPLIED: _("applied"),
        State.EDITED: _("edited since"),
        State.PARTLY: _("only in some of its files"),
        State.GONE: _("not in the files any more"),
    }[state]


def listing(breaks: Iterable[Break], applied: Sequence[str]) -> str:
    """Each break and what goes wrong, by family; a sign for those that are applied."""
    groups: dict[str, list[str]] = {}
    for brk in breaks:
        on = brk.id in applied
        mark = console.style(console.glyphs.yes, "bad") if on else " "
        title = console.wrap(i18n.pick(brk.title), console.width(), indent="    ")
        groups.setdefault(brk.family.value, []).append(f"{mark} {brk.id}\n{title}")
    parts = [
        console.style(family, "title") + "\n" + "\n".join(groups[family])
        for family in sorted(groups)
    ]
    total = sum(map(len, groups.values()))
    count = i18n.ngettext("%(n)d break", "%(n)d breaks", total) % {"n": total}
    if any(brk.id in applied for brk in breaks):
        count += "   " + console.glyphs.yes + " " + _("applied in this workspace")
    return "\n\n".join([*parts, count])


def change(found: Sequence[Site]) -> str:
    """The changed lines, without their common indentation so that they fit a screen."""
    from textwrap import dedent

    blocks = []
    for site in found:
        lines = dedent("\n".join([*site.removed, *site.added])).split("\n")
        gone, come = lines[: len(site.removed)], lines[len(site.removed) :]
        place = console.style(f"{site.file}:{site.line}", "place")
        blocks.append(f"  {place}")
        blocks += [_code("-", line, "removed") for line in gone]
        blocks += [_code("+", line, "added") for line in come if site.added]
    return "\n".join(blocks)


def _code(sign: str, line: str, role: str) -> str:
    folded = console.fold(f"  {sign} {line}", console.width(), hanging=" " * 8)
    return console.style(folded, role)


def coloured(diff: str) -> str:
    """A unified difference in colours, where colours are wanted."""
    roles = {"@": "place", "+": "added", "-": "removed"}
    lines = []
    for line in diff.rstrip("\n").split("\n"):
        if line.startswith(("---", "+++")):
            lines.append(console.style(line, "title"))
        else:
            role = roles.get(line[:1])
            lines.append(console.style(line, role) if role else line)
    return "\n".join(lines)


def card(
    brk: Break, found: Sequence[Site] | None, problem: str, *, rungs: int, more: str = ""
) -> str:
    """A break as a learner may see it before predicting: no misconception, no lesson.

    `more`: the options without which no command knows the break.
    """
    width = console.width()
    head = console.style(brk.id, "title") + "  " + brk.family.value
    parts = [head + "\n" + console.wrap(i18n.pick(brk.title), width)]
    if found is None:
        parts.append(console.wrap(_("It does not fit the library as it is now:"), width))
        parts.append(console.wrap(problem, width, indent="  "))
    else:
        parts.append(change(found))
    if brk.provenance:
        lines = []
        for report in brk.provenance:
            note = f"{report.library}: {i18n.pick(report.note)}"
            lines += [console.wrap(note, width, indent="  ", hanging="    "), f"    {report.url}"]
        parts.append(_("Where it happened for real") + "\n" + "\n".join(lines))
    if rungs:
        parts.append(ladder(brk, rungs, more))
    return "\n\n".join(parts)


def ladder(brk: Break, rungs: int, more: str) -> str:
    """The first hints, and how to get the next one."""
    lines = []
    for number, hint in enumerate(brk.hints[:rungs], 1):
        label = _("hint %(number)d of %(all)d") % {"number": number, "all": len(brk.hints)}
        lines.append(console.style(label, "dim"))
        lines.append(console.wrap(i18n.pick(hint), console.width(), indent="  "))
    if rungs < len(brk.hints):
        command = f"breaks show {brk.id} --hint {rungs + 1}{more}"
        lines.append(_("next  %(command)s") % {"command": command})
    return "\n".join(lines)


def applied_now(ids: Sequence[str], found: Sequence[Site]) -> str:
    """What `apply` did and what can be done now."""
    head = _("applied") + "  " + console.style(" ".join(ids), "strong")
    after = _(
        "The library in this folder is broken now. Use it, test it, read it;"
        " `breaks revert` puts it back, and keeps what you edited meanwhile."
    )
    return "\n".join([head, change(found), "", console.wrap(after, console.width())])


def reverted(
    ids: Sequence[str], left: Sequence[str], kept: bool = False, strays: Sequence[str] = ()
) -> str:
    """What `revert` did and what is still applied; `kept`: the files stay as they are."""
    if not ids and strays:
        return stray(strays)
    if not ids:
        return _("Nothing is applied: there is nothing to revert.")
    head = _("forgotten") if kept else _("reverted")
    rows = [[head, " ".join(ids)], [_("applied"), " ".join(left) or _("none")]]
    note = "\n" + _("No file was changed: what stands there is yours now.") if kept else ""
    return console.table(rows) + note


def stray(ids: Sequence[str]) -> str:
    """Breaks that are in the files and not on record, and the way out."""
    text = _(
        "The lines of %(ids)s are in the library, and there is no record of them in .breaks/."
        " The commands below put that on record, which changes no file, and take it out; or put"
        " the original lines back yourself."
    )
    commands = " && ".join(f"breaks {verb} {' '.join(ids)}" for verb in ("apply", "revert"))
    next_ = _("next  %(command)s") % {"command": commands}
    return console.wrap(text % {"ids": ", ".join(ids)}, console.width()) + "\n\n" + next_


def standing(status: Status, strays: Sequence[str] = ()) -> str:
    """What is applied, and what else differs from what was recorded."""
    from breaks.journal import State

    if not status.breaks:
        return _("applied  none") + ("\n\n" + stray(strays) if strays else "")
    rows = [[item.id, state_word(item.state), "\n".join(item.files)] for item in status.breaks]
    parts = [console.table(rows, [_("break"), _("state"), _("files")])]
    tangled = [item.id for item in status.breaks if item.state is State.EDITED]
    if tangled:
        text = _(
            "The broken lines of %(ids)s were edited: `breaks revert` will show both versions and"
            " leave the file alone."
        )
        parts.append(console.wrap(text % {"ids": ", ".join(tangled)}, console.width()))
    elif status.edited:
        text = _("Edited since by somebody: %(files)s. `breaks revert` keeps those edits.")
        files = ", ".join(status.edited)
        parts.append(console.wrap(text % {"files": files}, console.width()))
    if status.missing:
        text = _("Gone, or no files any more: %(files)s")
        parts.append(console.wrap(text % {"files": ", ".join(status.missing)}, console.width()))
    parts.append(stray(strays) if strays else _("next  %(command)s") % {"command": "breaks revert"})
    return "\n\n".join(parts)


def recovered(recovery: Recovery) -> str:
    """What had been left by a stopped command, and what became of it."""
    from breaks.journal import Outcome

    command = f"breaks {recovery.action} {' '.join(recovery.ids)}"
    said = {
        Outcome.UNDONE: _("it was undone, and the files are as before it"),
        Outcome.FINISHED: _("it was finished, and the files are as it meant them"),
        Outcome.KEPT: _("the files were edited since and stay as they are; see `breaks status`"),
    }[recovery.outcome]
    text = _("Found a stopped `%(command)s`: %(said)s.")
    return console.wrap(text % {"command": command, "said": said}, console.width())


def examination(findings: Sequence[Finding]) -> str:
    """The page of `breaks doctor`: every part, then what to do."""
    from breaks.doctor import Health

    words = {Health.GOOD: _("good"), Health.NOTE: _("note"), Health.BAD: _("BAD")}
    roles = {Health.GOOD: "good", Health.NOTE: "warn", Health.BAD: "bad"}
    rows = [
        [console.style(words[item.health], roles[item.health]), item.part, item.seen]
        for item in findings
    ]
    parts = [console.table(rows, ["", _("part"), _("seen")])]
    todo = [[item.part, item.todo] for item in findings if item.todo]
    if todo:
        parts.append(console.table(todo, ["", _("what to do")]))
    bad = sum(item.health is Health.BAD for item in findings)
    if bad:
        text = i18n.ngettext("%(n)d part must be put right.", "%(n)d parts must be put right.", bad)
        parts.append(text % {"n": bad})
    else:
        parts.append(_("Nothing is wrong."))
    return "\n\n".join(parts)


def fitness(results: Sequence[Checked]) -> str:
    """A row per break, then what is wrong with each."""
    rows = []
    for result in results:
        good = not result.findings
        sign = console.glyphs.good if good else console.glyphs.bad
        seen = "-" if result.seen is None else str(len(result.seen))
        points = dict.fromkeys(one.point.value for one in result.findings)
        verdict = _("fit") if good else ", ".join(points)
        role = "good" if good else "bad"
        row = [console.style(sign, role), result.name, result.places, result.lines, seen, verdict]
        rows.append(row)
    header = ["", _("break"), _("places"), _("lines"), _("seen by"), _("verdict")]
    parts = [console.table(rows, header, align="<<>>><")]
    for result in results if len(results) <= FEW else ():
        parts += _witnesses(result)
    for result in results:
        for one in result.findings:
            head = console.style(f"{result.name}  {one.point.value}", "title")
            parts.append(head + "\n" + console.wrap(one.text, console.width(), indent="  "))
    if any(result.seen is None for result in results):
        parts.append(console.wrap(_("seen by -: the detectors were not run."), console.width()))
    wrong = sum(bool(result.findings) for result in results)
    text = i18n.ngettext("%(n)d break checked", "%(n)d breaks checked", len(results))
    total = text % {"n": len(results)}
    parts.append(total + ", " + _("%(n)d with findings.") % {"n": wrong})
    return "\n\n".join(parts)


FEW = 3  # breaks of which it is said who sees them


def _witnesses(result: Checked) -> list[str]:
    """Who sees a break, and in which scenarios."""
    places: dict[str, list[str]] = {}
    for one in result.seen or ():
        detector, _in, place = one.partition(" in ")
        places.setdefault(detector, []).append(place)
    if not places:
        return []
    rows = [[detector, ", ".join(where)] for detector, where in places.items()]
    return [console.table(rows, [_("seen by"), _("in")])]


def matched(found: Sequence[tuple[int, str]], place: str) -> str:
    """What a pattern matches, and what to write down for it."""
    from textwrap import dedent

    if not found:
        return _("The pattern matches nothing in %(place)s.") % {"place": place}
    lines = []
    for line, source in found:
        first, *rest = source.split("\n")
        number = console.style(f"{line:>5}", "place")
        lines.append(f"{number}  {first}")
        lines += [" " * 7 + text for text in dedent("\n".join(rest)).split("\n") if text]
    return "\n".join(lines) + f"\n\nmatches: {len(found)}"
