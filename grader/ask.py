"""Asking for a prediction, one thing at a time: a list of questions and the answers so far.

Which questions there are depends on the answers: a crash has no shape.  Answers are kept under the
question's key as the token that was meant, so that they can be saved, taken back and continued.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from breaks import i18n
from grader.prediction import CONFIDENCES, First, Prediction, Said, TrainingSaid
from grader.recording import (
    PER_SCENARIO,
    Answer,
    Detector,
    Mode,
    Outcome,
    Pattern,
    Phase,
)
from grader.words import meaning
from labs.model import Lab, Scenario

_ = i18n.gettext
Answers = dict[str, str]
NOBODY = "none"  # no detector fires
EVERYBODY = "all"
OUTCOMES = tuple(one for one in Outcome if one is not Outcome.UNCERTAIN)
MODES = tuple(one for one in Mode if one is not Mode.UNAFFECTED)
PATTERNS = tuple(one for one in Pattern if one is not Pattern.OTHER)
DTYPES = ("float64", "float32", "float16", "int64", "int32", "bool")
LONGEST_LINE = 400  # characters of a `because`


class Choice(NamedTuple):
    """One word that answers a question, and what it means."""

    word: str
    meaning: str = ""


class Question(NamedTuple):
    """One thing to ask.  `parse` turns what was typed into a token, or raises `UnclearError`."""

    key: str
    text: str
    choices: tuple[Choice, ...] = ()
    many: bool = False  # several words may be given
    optional: bool = False  # an empty line leaves it open
    free: Callable[[str], str] | None = None  # instead of choices

    def parse(self, typed: str) -> str:
        typed = typed.strip()
        if not typed and self.optional:
            return ""
        if self.free is not None:
            return self.free(typed)
        words = [choice.word for choice in self.choices]
        if not self.many:
            return pick(typed.removesuffix(".grad"), words)
        parts = [part for part in re.split(r"[\s,]+", typed) if part]
        if len(parts) <= 1:
            one = NOBODY if parts == ["0"] else "".join(parts)
            word = pick(one, [*words, NOBODY, EVERYBODY])
            return " ".join(words) if word == EVERYBODY else word
        found = {pick(part, words) for part in parts}
        return " ".join(word for word in words if word in found)


class UnclearError(Exception):
    """What was typed is no answer; the message says what would be one."""


def pick(typed: str, words: Sequence[str]) -> str:
    """The word that was meant: by its number, in full, or by a beginning that only it has."""
    lowered = typed.lower()
    if lowered in words:
        return lowered
    if typed.isdecimal() and typed.isascii() and 1 <= int(typed[:9]) <= len(words):
        return words[int(typed) - 1]
    close = [word for word in words if lowered and word.lower().startswith(lowered)]
    if len(close) == 1:
        return close[0]
    if close:
        raise UnclearError(
            _("one word (%(typed)r could be %(words)s)")
            % {"typed": typed, "words": _(" or ").join(close)}
        )
    from breaks.command import did_you_mean

    hint = did_you_mean(lowered, words)
    known = _("one of %(words)s") % {"words": " ".join(words)}
    raise UnclearError(f"{known}. {hint}".removesuffix(". "))


def shape_of(typed: str) -> str:
    """(3, 5), 3 5, [3,5] or () as "3 5"; () is a number, "scalar"."""
    bare = typed.strip("()[] ").replace("x", " ").replace("×", " ")
    parts = [part for part in re.split(r"[\s,]+", bare) if part]
    if len(parts) > 8 or not all(re.fullmatch(r"[0-9]{1,6}", part) for part in parts):
        raise UnclearError(_("a shape such as (4, 3), or () for a single number"))
    return " ".join(str(int(part)) for part in parts) or "()"


def number_of(typed: str) -> str:
    """A number that is one: no NaN, no infinity.  1/3 is understood."""
    fraction = re.fullmatch(r"\s*([-+]?[0-9.]+)\s*/\s*([0-9.]+)\s*", typed[:60])
    try:
        value = float(fraction[1]) / float(fraction[2]) if fraction else float(typed[:60])
    except (ValueError, ZeroDivisionError):
        raise UnclearError(_("a number such as 5, 0.2 or 1/3")) from None
    if value != value or abs(value) > 1e30:
        raise UnclearError(_("a finite number such as 5, 0.2 or 1/3"))
    return repr(value)


def percent_of(typed: str) -> str:
    """How sure, from 0 to 100; 1 … 5 are the places in the list that is offered."""
    bare = typed.removesuffix("%").strip()
    if not re.fullmatch(r"[0-9]{1,3}", bare) or int(bare) > 100:
        raise UnclearError(_("a whole number of percent, at most 100"))
    place = int(bare)
    return str(CONFIDENCES[place - 1] if 1 <= place <= len(CONFIDENCES) else place)


def line_of(typed: str) -> str:
    """One line of text, control characters left out."""
    bare = "".join(char for char in typed if char.isprintable())
    return bare[:LONGEST_LINE]


def questions(lab: Lab, break_id: str, answers: Mapping[str, str]) -> Iterator[Question]:
    """All questions about a break, in order, as far as the answers say which there are."""
    for scenario in lab.of(break_id):
        yield from scenario_questions(scenario, answers)
    yield from training_questions(answers)


def scenario_questions(scenario: Scenario, answers: Mapping[str, str]) -> Iterator[Question]:
    name = scenario.name
    phase = answers.get(f"{name}/phase", "")
    mode = answers.get(f"{name}/mode", "")
    yield Question(
        f"{name}/phase",
        _("Where does it FIRST differ from the correct library?"),
        _choices(phases(scenario)),
    )
    if phase != Phase.NOWHERE:
        yield Question(f"{name}/mode", _("How?"), _choices(MODES))
        yield from detail_questions(scenario, phase, mode, answers)
    yield Question(
        f"{name}/detectors",
        _("Which detectors fire? Several words, or none, or all."),
        _choices(PER_SCENARIO),
        many=True,
    )
    yield Question(
        f"{name}/confidence",
        _("How sure are you of where and how, in percent? %(levels)s")
        % {"levels": " ".join(map(str, CONFIDENCES))},
        free=percent_of,
    )
    yield Question(f"{name}/because", _("Because (one line)"), optional=True, free=line_of)


def phases(scenario: Scenario) -> tuple[Phase, ...]:
    """Where a scenario can differ: in a step only if it takes one."""
    return tuple(one for one in Phase if one is not Phase.STEP or scenario.fit is not None)


def detail_questions(
    scenario: Scenario, phase: str, mode: str, answers: Mapping[str, str]
) -> Iterator[Question]:
    """Optional details; each can only earn points."""
    name = scenario.name
    if mode in ("", Mode.HANG):
        return
    words = tensors(scenario, Phase(phase)) if phase else ()
    if words:
        choices = tuple(Choice(word) for word in words)
        text = _("Which tensor differs first?")
        yield Question(f"{name}/tensor", text, choices, optional=True)
    if mode == Mode.WRONG_SHAPE:
        text = _("Which shape has it then?")
        yield Question(f"{name}/shape", text, optional=True, free=shape_of)
    if mode == Mode.WRONG_DTYPE:
        choices = tuple(Choice(word) for word in DTYPES)
        yield Question(f"{name}/dtype", _("Which dtype has it then?"), choices, optional=True)
    if mode == Mode.WRONG_VALUES:
        text = _("What is it like?")
        yield Question(f"{name}/pattern", text, _choices(PATTERNS), optional=True)
        if answers.get(f"{name}/pattern") == Pattern.SCALED:
            text = _("By which factor?")
            yield Question(f"{name}/factor", text, optional=True, free=number_of)
        if answers.get(f"{name}/pattern") == Pattern.OFFSET:
            text = _("By which constant?")
            yield Question(f"{name}/factor", text, optional=True, free=number_of)


def tensors(scenario: Scenario, phase: Phase) -> tuple[str, ...]:
    """The names that can be said in a phase."""
    leaves = tuple(one.name for one in scenario.leaves)
    if phase is Phase.FORWARD:
        return ("y", "loss", *leaves)
    return (*leaves, "losses") if phase is Phase.STEP else leaves


def training_questions(answers: Mapping[str, str]) -> Iterator[Question]:
    yield Question("training/outcome", _("How does it go?"), _choices(OUTCOMES))
    if answers.get("training/outcome") == Outcome.CRASH:
        places = (Phase.FORWARD, Phase.BACKWARD, Phase.STEP)
        yield Question("training/phase", _("Where does it stop?"), _choices(places), optional=True)


def _choices(words: Any) -> tuple[Choice, ...]:
    return tuple(Choice(word.value, meaning(word)) for word in words)


def following(lab: Lab, break_id: str, answers: Mapping[str, str]) -> Question | None:
    """The first question without an answer; None when all are answered."""
    return next((q for q in questions(lab, break_id, answers) if q.key not in answers), None)


def previous(lab: Lab, break_id: str, answers: Mapping[str, str]) -> Question | None:
    """The last question that has an answer: the one that `b` goes back to."""
    asked = [q for q in questions(lab, break_id, answers) if q.key in answers]
    return asked[-1] if asked else None


def sane(lab: Lab, break_id: str, saved: object) -> Answers:
    """What is still good of saved answers: an edited or outdated draft loses only what is wrong."""
    given = saved if isinstance(saved, dict) else {}
    good: Answers = {}
    while (question := following(lab, break_id, good)) is not None:
        value = given.get(question.key)
        if not isinstance(value, str):
            break
        try:
            good[question.key] = question.parse(value)
        except UnclearError:
            break
    return good


def prediction(lab: Lab, break_id: str, answers: Mapping[str, str]) -> Prediction:
    """The prediction that complete answers make."""
    scenarios = {one.name: said(one.name, answers) for one in lab.of(break_id)}
    phase = answers.get("training/phase")
    training = TrainingSaid(Outcome(answers["training/outcome"]), Phase(phase) if phase else None)
    return Prediction(lab.id, break_id, scenarios, training)


def said(name: str, answers: Mapping[str, str]) -> Said:
    """Everything answered about one scenario."""

    def get(key: str) -> str:
        return answers.get(f"{name}/{key}", "")

    phase = Phase(get("phase"))
    shape, pattern, factor = get("shape"), get("pattern"), get("factor")
    first = First(
        phase,
        Mode.UNAFFECTED if phase is Phase.NOWHERE else Mode(get("mode")),
        get("tensor"),
        tuple(int(n) for n in shape.strip("()").split()) if shape else None,
        get("dtype"),
        Pattern(pattern) if pattern else None,
        float(factor) if factor else None,
    )
    firing = get("detectors").split()
    detectors: dict[Detector, Answer] = {
        d: Answer.FIRES if d.value in firing else Answer.SILENT for d in PER_SCENARIO
    }
    sure = get("confidence")
    return Said(first, detectors, int(sure) if sure else None, get("because"))
