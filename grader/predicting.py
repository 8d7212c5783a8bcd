"""`grader predict`: by file, by template, or asked step by step; it ends in a commit."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from breaks import console, durable, i18n, journal
from breaks.console import Reply
from breaks.drafts import save
from breaks.errors import BreaksError, Exit
from breaks.workspace import Workspace
from grader import ask, commits, screens
from grader.ask import Answers, Question
from grader.commits import Commit
from grader.dialogue import BACK, Dialogue, Keyboard, Left, Pipe
from grader.prediction import Prediction
from grader.recording import Answer, Detector
from grader.session import Session
from labs.model import Lab

_ = i18n.gettext
LARGEST = 64 * 1024


# --- the three ways -----------------------------------------------------------------------------


def template(here: Session, lab: Lab, wanted: str | None) -> Reply:
    """A file to fill in, on stdout; its schema lies in `.breaks/`."""
    from grader.prediction_template import put_schema
    from grader.prediction_template import template as text_of

    break_id = here.break_id(lab, wanted, here.next_to_predict(lab))
    title = i18n.pick(here.catalogue.get(break_id).title)
    schema = put_schema(here.workspace, lab, break_id)
    text = text_of(lab, break_id, title, schema)
    document = {"lab": lab.id, "break": break_id, "template": text, "schema": str(schema)}
    return Reply(document, text.rstrip("\n"))


def from_file(here: Session, lab: Lab, wanted: str | None, file: str) -> Reply:
    """Commits the prediction in a file; the file says which break, unless the line does."""
    from grader.prediction_file import read

    break_id = here.break_id(lab, wanted, "") or None
    if file == "-":
        prediction = read(_stdin(), lab, break_id, name=_("the input"))
    else:
        prediction = read(Path(file), lab, break_id)
    return committed(here, lab, prediction)


def _stdin() -> str:
    raw = sys.stdin.buffer.read(LARGEST + 1) if hasattr(sys.stdin, "buffer") else b""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        found = _("byte 0x%(byte)02x at offset %(offset)d")
        raise BreaksError(
            _("text in UTF-8"),
            found % {"byte": raw[error.start], "offset": error.start},
            _("Save the file as UTF-8."),
            where=_("the input"),
        ) from None


def asked(here: Session, lab: Lab, wanted: str | None, *, yes: bool, restart: bool) -> Reply:
    """Asks for it: at a terminal with a draft that is kept, or one line per answer from a pipe."""
    break_id = here.break_id(lab, wanted, here.next_to_predict(lab))
    refuse_second(here, lab, break_id)
    if console.interactive():
        return _at_terminal(here, lab, break_id, yes=yes, restart=restart)
    return _from_pipe(here, lab, break_id, yes=yes)


# --- at a terminal ------------------------------------------------------------------------------


def _at_terminal(here: Session, lab: Lab, break_id: str, *, yes: bool, restart: bool) -> Reply:
    ws = here.workspace
    console.say(opening(here, lab, break_id))
    answers = {} if restart else ask.sane(lab, break_id, _draft(ws, lab, break_id))
    if answers:
        text = i18n.ngettext(
            "Your draft goes on with %(count)d answer (--restart forgets it).",
            "Your draft goes on with %(count)d answers (--restart forgets it).",
            len(answers),
        )
        console.say(console.wrap(text % {"count": len(answers)}, console.width()) + "\n")
    conversation = Dialogue(
        lab,
        break_id,
        Keyboard(),
        show=lambda question, before: console.say(asking(lab, break_id, question, before)),
        keep=lambda current: _keep(ws, lab, break_id, current),
    )
    command = here.command("predict", lab.id, break_id)
    try:
        conversation.run(answers)
        while not yes:
            prediction = ask.prediction(lab, break_id, answers)
            if conversation.confirm(answers, _last_words(lab, prediction)):
                break
    except (EOFError, KeyboardInterrupt):
        console.say()
        kept = i18n.ngettext(
            "interrupted; your %(count)d answer is kept as a draft",
            "interrupted; your %(count)d answers are kept as a draft",
            len(answers),
        )
        raise BreaksError(
            _("answers to all questions"),
            kept % {"count": len(answers)},
            _("Go on with `%(command)s`.") % {"command": command},
            code=Exit.INTERRUPTED,
        ) from None
    except Left:
        text = _("Nothing was committed. Your draft is kept: `%(command)s` goes on.")
        document = {"lab": lab.id, "break": break_id, "committed": False}
        return Reply(document, text % {"command": command})
    reply = committed(here, lab, ask.prediction(lab, break_id, answers))
    durable.remove(_draft_path(ws, lab, break_id))
    return reply


def opening(here: Session, lab: Lab, break_id: str) -> str:
    """What is predicted: the change, and how to answer."""
    from breaks.difference import sites
    from breaks.rewrite import mutate
    from breaks.screens import change

    brk = here.catalogue.get(break_id)
    places = sites(here.sources, mutate(here.sources, brk))
    keys = _("Answer by number, word or the beginning of a word. ? explains, b goes back,")
    keys += " " + _("Ctrl-D leaves and keeps your answers.")
    text = [
        screens.head(lab, break_id, 1),
        console.wrap(i18n.pick(brk.title), console.width()),
        "",
        change(places),
        "",
        console.wrap(keys, console.width()),
        "",
    ]
    return "\n".join(text)


def asking(lab: Lab, break_id: str, question: Question, before: Question | None) -> str:
    """One question; the scenario in full where a new one begins."""
    part = question.key.rpartition("/")[0]
    lines: list[str] = []
    if before is None or before.key.rpartition("/")[0] != part:
        lines.append(_part_head(lab, break_id, part))
    else:
        lines.append("")
    text = question.text
    if question.optional:
        text += " " + _("(optional: an empty line leaves it open)")
    if BACK[0] in [choice.word for choice in question.choices]:
        text += " " + _("(here < goes back)")
    lines.append(console.wrap(console.style(text, "strong"), console.width()))
    if question.choices:
        words = [f"{n} {choice.word}" for n, choice in enumerate(question.choices, start=1)]
        lines.append(_in_columns(words))
    return "\n".join(lines)


def _in_columns(words: list[str]) -> str:
    """The choices beside each other, as many as fit; no word is cut."""
    lines, line = [], " "
    for word in words:
        if console.cells(line) + 2 + console.cells(word) > console.width():
            lines.append(line)
            line = " "
        line += "  " + word
    return "\n".join([*lines, line])


def _part_head(lab: Lab, break_id: str, part: str) -> str:
    rule = console.glyphs.rule * console.width()
    if part == "training":
        text = _("Once for the break: training the grammar MLP on the broken library")
        return f"{rule}\n{console.wrap(console.style(text, 'title'), console.width())}\n"
    names = [one.name for one in lab.of(break_id)]
    number = names.index(part) + 1
    head = screens.scenario_head(lab.scenarios[part], number, len(names))
    return f"{rule}\n{head}\n"


def _last_words(lab: Lab, prediction: Prediction) -> str:
    rule = console.glyphs.rule * console.width()
    question = _(
        "Commit this? It cannot be changed afterwards. yes, no (keeps the draft), b (back)"
    )
    return "\n".join([rule, summary(lab, prediction), "", console.wrap(question, console.width())])


def summary(lab: Lab, prediction: Prediction) -> str:
    """What was said, one line per scenario."""
    rows = []
    order = [one.name for one in lab.of(prediction.break_id)]  # what was read back is sorted
    for name in sorted(prediction.scenarios, key=order.index):
        said = prediction.scenarios[name]
        first = f"{said.first.phase.value} {said.first.mode.value}"
        rows.append([name, first, _firing(said.detectors), _sure(said.confidence)])
    training = prediction.training
    if training is not None:
        phase = training.phase.value if training.phase else ""
        rows.append([_("training"), f"{training.outcome.value} {phase}".strip(), "", ""])
    header = [_("scenario"), _("first differs"), _("who fires"), _("sure")]
    return console.table(rows, header, align="<<<>")


def _firing(detectors: Mapping[Detector, Answer]) -> str:
    firing = [d.value for d in Detector if detectors.get(d) is Answer.FIRES]
    if not detectors:
        return console.glyphs.dash
    if len(firing) == len(Detector) - 1:
        return _("all")
    return " ".join(firing) or _("nobody")


def _sure(confidence: int | None) -> str:
    return console.glyphs.dash if confidence is None else f"{confidence} %"


# --- drafts -------------------------------------------------------------------------------------


def _draft_path(ws: Workspace, lab: Lab, break_id: str) -> Path:
    return ws.state / "drafts" / f"{lab.id}.{break_id}.json"


def _draft(ws: Workspace, lab: Lab, break_id: str) -> Any:
    try:
        return json.loads(_draft_path(ws, lab, break_id).read_bytes())["answers"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None  # none, or one that somebody damaged: begin anew


def _keep(ws: Workspace, lab: Lab, break_id: str, answers: Answers) -> None:
    text = json.dumps({"version": 1, "answers": answers}, indent=1)
    with contextlib.suppress(OSError):  # a draft is a convenience; the commit will complain
        save(ws, _draft_path(ws, lab, break_id), text.encode())


# --- from a pipe --------------------------------------------------------------------------------


def _from_pipe(here: Session, lab: Lab, break_id: str, *, yes: bool) -> Reply:
    command = here.command("predict", lab.id, break_id)
    pipe = Pipe()
    if sys.stdin is None or sys.stdin.isatty():
        raise _no_terminal(command)
    answers: Answers = {}
    conversation = Dialogue(lab, break_id, pipe, show=lambda question, before: None)
    try:
        conversation.run(answers)
        while not yes and not conversation.confirm(answers, ""):
            pass  # `b` went back into the questions; they are answered again
    except Left:
        document = {"lab": lab.id, "break": break_id, "committed": False}
        return Reply(document, _("Nothing was committed."))
    except EOFError:
        if pipe.number == 1:
            raise _no_terminal(command) from None
        raise _ended_early(lab, break_id, answers, pipe.number) from None
    return committed(here, lab, ask.prediction(lab, break_id, answers))


def _no_terminal(command: str) -> BreaksError:
    todo = _(
        "Without a terminal: `%(command)s --template > p.yaml`, edit it, `%(command)s --from"
        " p.yaml`; or send one answer per line."
    )
    return BreaksError(
        _("a terminal, or answers on the input"), _("neither"), todo % {"command": command}
    )


def _ended_early(lab: Lab, break_id: str, answers: Answers, number: int) -> BreaksError:
    question = ask.following(lab, break_id, answers)
    if question is None:
        expected = _("a last line: yes")
    else:
        expected = _("an answer to %(key)s: %(text)s") % {
            "key": question.key,
            "text": question.text,
        }
    return BreaksError(
        expected,
        _("the end of the input"),
        _("Add the line, or --yes for the last one; nothing was committed."),
        where=_("line %(number)d of the input") % {"number": number},
    )


# --- the commit ---------------------------------------------------------------------------------


def refuse_second(here: Session, lab: Lab, break_id: str) -> None:
    """A prediction is made once; the second attempt is the variant."""
    before = here.chain.find(lab.id, break_id)
    if before is not None:
        raise _second(here, lab, break_id, before)


def _second(here: Session, lab: Lab, break_id: str, before: Commit) -> BreaksError:
    check = here.command("check", lab.id, break_id)
    todo = _("Check it: `%(check)s`.") % {"check": check}
    if not lab.is_variant:
        again = here.command("predict", f"{lab.id}.b", break_id)
        todo += " " + _("A second attempt has other shapes: `%(again)s`.") % {"again": again}
    return BreaksError(
        _("no prediction yet for %(lab)s, %(id)s") % {"lab": lab.id, "id": break_id},
        _("one that was committed on %(day)s and cannot be changed") % {"day": before.time[:10]},
        todo,
        code=Exit.PRECONDITION,
    )


def committed(here: Session, lab: Lab, prediction: Prediction) -> Reply:
    """Adds the prediction to the chain; the same one again is no second prediction."""
    break_id = prediction.break_id
    before = here.chain.find(lab.id, break_id)
    if before is not None:
        if before.prediction.digest != prediction.digest:
            raise _second(here, lab, break_id, before)
        commit, new = before, False
    else:
        digests = {one.name: one.digest for one in lab.of(break_id)}
        peeked = peeked_at(here, break_id)
        commit = commits.commit(here.workspace, prediction, digests, peeked=peeked)
        new = True
        here.again()
    following = here.command("check", lab.id, break_id)
    document = {
        "lab": lab.id,
        "break": break_id,
        "committed": True,
        "new": new,
        "digest": prediction.digest,
        "hash": commit.hash,
        "time": commit.time,
        "peeked": commit.peeked,
        "left_open": left_open(prediction),
        "next": following,
    }
    return Reply(document, lambda: _receipt(lab, commit, new, following))


def peeked_at(here: Session, break_id: str) -> bool:
    """Whether the break was applied by hand, or looked at, before."""
    by_hand = any(one.id == break_id for one in journal.peeks(here.workspace))
    return by_hand or here.record.looked(break_id)


def left_open(prediction: Prediction) -> list[str]:
    """What earns nothing because nothing was said."""
    found = []
    for name, said in prediction.scenarios.items():
        missing = len(Detector) - 1 - len(said.detectors)
        found += [f"{name}/detectors"] if missing else []
        found += [f"{name}/confidence"] if said.confidence is None else []
    return found + ([] if prediction.training else ["training"])


def _receipt(lab: Lab, commit: Commit, new: bool, following: str) -> str:
    prediction = commit.prediction
    head = _("Committed") if new else _("Committed already, the same answers")
    parts = [
        screens.head(lab, prediction.break_id, 1),
        summary(lab, prediction),
        "",
        f"{console.style(head, 'good')}  sha256 {prediction.digest[:16]}",
    ]
    note = _(
        "It cannot be changed now. An edit of .breaks/commits.jsonl would be evident; that is no"
        " proof, for whoever can write the file can write a new chain."
    )
    parts.append(console.style(console.wrap(note, console.width()), "dim"))
    if commit.peeked:
        note = _("Noted: this break was applied or shown here before you predicted.")
        parts.append(console.wrap(note, console.width()))
    if open_ := left_open(prediction):
        note = _("Left open: %(names)s") % {"names": ", ".join(open_)}
        parts.append(console.wrap(note, console.width(), hanging="  "))
    return "\n".join([*parts, "", screens.following_line(following)])
