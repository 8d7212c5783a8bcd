"""`grader explain`: the learner's own sentence first, then the lesson, then the variant."""

from __future__ import annotations

from typing import Any

from breaks import console, i18n
from breaks.console import Reply
from breaks.errors import BreaksError, Exit
from breaks.model import Break
from grader import learner, screens
from grader.ask import line_of
from grader.dialogue import Keyboard
from grader.learner import Event, Record
from grader.session import Session
from labs.model import Lab

_ = i18n.gettext


def explain(
    here: Session, lab: Lab, wanted: str | None, *, because: str | None, give_up: bool
) -> Reply:
    """The lesson of a break, once it is checked or given up, and once there is a sentence."""
    break_id = here.break_id(lab, wanted, here.last_predicted(lab))
    brk = here.catalogue.get(break_id)
    record = here.record
    checked = record.check_of(lab.id, break_id) is not None
    before = record.explained(lab.id, break_id)
    if not (checked or give_up or before):
        raise _too_early(here, lab, break_id)
    sentence = _sentence(here, lab, break_id, record, because, needed=not give_up)
    ws = here.workspace
    if sentence and sentence != record.sentence(lab.id, break_id):
        learner.note(ws, Event.SENTENCE, lab.id, break_id, text=sentence)
    if not before:
        kind = Event.EXPLAINED if checked else Event.GIVEN_UP
        learner.note(ws, kind, lab.id, break_id)
    following = _following(here, lab, break_id)
    document = document_of(lab, brk, sentence, following)
    return Reply(document, lambda: screen(lab, brk, sentence, following))


def _too_early(here: Session, lab: Lab, break_id: str) -> BreaksError:
    there = here.chain.find(lab.id, break_id) is not None
    command = here.command("check" if there else "predict", lab.id, break_id)
    return BreaksError(
        _("a check of %(lab)s, %(id)s first") % {"lab": lab.id, "id": break_id},
        _("none on record"),
        _("Run `%(command)s`. To see the lesson anyway: add --give-up.") % {"command": command},
        code=Exit.PRECONDITION,
    )


def _sentence(
    here: Session, lab: Lab, break_id: str, record: Record, because: str | None, *, needed: bool
) -> str:
    """The learner's own words: from the line, from a terminal, or as given before."""
    if because is not None:
        text = line_of(because).strip()
        if text:
            return text
        raise BreaksError(
            _("a sentence after --because"), _("an empty one"), _("Say it in your own words.")
        )
    given = record.sentence(lab.id, break_id)
    if given:
        return given
    if console.interactive() and not console.json_mode():
        return _asked(lab, break_id, needed)
    if not needed:
        return ""
    command = here.command("explain", lab.id, break_id)
    raise BreaksError(
        _("your own sentence first: why does it fail like this?"),
        _("no terminal to ask at"),
        _('Write it on the line: `%(command)s --because "…"`.') % {"command": command},
    )


def _asked(lab: Lab, break_id: str, needed: bool) -> str:
    console.say(screens.head(lab, break_id, 3))
    text = _("First in your own words, in one sentence: why does it fail like this?")
    if not needed:
        text += " " + _("(an empty line skips it)")
    console.say(console.wrap(text, console.width()))
    keyboard = Keyboard()
    while True:
        try:
            typed = line_of(keyboard.read()).strip()
        except EOFError:
            console.say()
            raise KeyboardInterrupt from None
        if typed or not needed:
            return typed
        console.say(_("Any sentence will do: the lesson teaches more to whoever tried."))


def _following(here: Session, lab: Lab, break_id: str) -> str:
    """The lab's next break, then its variant, then what the workspace asks for next."""
    left = [name for name in lab.breaks if here.chain.find(lab.id, name) is None]
    if left:
        return here.command("predict", lab.id, left[0])
    if not lab.is_variant and here.chain.find(f"{lab.id}.b", break_id) is None:
        return here.command("predict", f"{lab.id}.b", break_id)
    return here.following()


def document_of(lab: Lab, brk: Break, sentence: str, following: str) -> dict[str, Any]:
    return {
        "lab": lab.id,
        "break": brk.id,
        "because": sentence,
        "explain": dict(brk.explain),
        "misconception": dict(brk.misconception),
        "provenance": [
            {"library": report.library, "url": report.url, "note": dict(report.note)}
            for report in brk.provenance
        ],
        "taxonomy": brk.taxonomy,
        "equivalent": brk.equivalent,
        "reason": None if brk.reason is None else dict(brk.reason),
        "next": following,
    }


def screen(lab: Lab, brk: Break, sentence: str, following: str) -> str:
    """Sentence, lesson, the wrong idea behind it, and where it happened for real."""
    width = console.width()
    parts = [screens.head(lab, brk.id, 3) + "\n" + console.wrap(i18n.pick(brk.title), width)]

    def part(title: str, text: str) -> None:
        body = console.wrap(text, width, indent="  ")
        parts.append(console.style(title, "title") + "\n" + body)

    if sentence:
        part(_("You say"), sentence)
    if brk.explain:
        part(_("The lesson"), i18n.pick(brk.explain))
    if brk.reason:
        part(_("Why nothing can tell the difference"), i18n.pick(brk.reason))
    if brk.misconception:
        part(_("The idea that leads here"), i18n.pick(brk.misconception))
    if brk.provenance:
        lines = []
        for report in brk.provenance:
            note = f"{report.library}: {i18n.pick(report.note)}"
            lines += [console.wrap(note, width, indent="  ", hanging="    "), f"    {report.url}"]
        parts.append(console.style(_("It happened for real"), "title") + "\n" + "\n".join(lines))
    if brk.taxonomy:
        text = _("In the taxonomy of real faults (ICSE 2020): %(place)s")
        parts.append(console.wrap(text % {"place": brk.taxonomy}, width))
    parts.append(screens.following_line(following))
    return "\n\n".join(parts)
