"""The prediction file: YAML read as bounded, plain data, every problem with its line.

A file is about one break of one lab and answers each of its scenarios.  What is left open (a
detector, a detail, the training) earns nothing and costs nothing; what is said must be sayable.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from breaks import i18n
from breaks.command import did_you_mean
from breaks.errors import BreaksError, Exit
from breaks.load import Document, Place, read_yaml
from grader.ask import DTYPES, OUTCOMES, phases, tensors
from grader.prediction import First, Prediction, Said, TrainingSaid
from grader.recording import PER_SCENARIO, Answer, Detector, Mode, Outcome, Pattern, Phase, Shape
from labs.model import Lab, Scenario

_ = i18n.gettext
Words = TypeVar("Words", bound=StrEnum)

KEYS = ("lab", "break", "scenarios", "training")
SCENARIO_KEYS = ("first", "detectors", "confidence", "because")
FIRST_KEYS = ("phase", "mode", "tensor", "shape", "dtype", "pattern", "factor")
TRAINING_KEYS = ("outcome", "phase")
SAYABLE = (Answer.FIRES, Answer.SILENT)
LAST = 1_000_000  # the line of what is missing: after everything that is there
MOST_AXES, LONGEST_AXIS, LONGEST_TEXT = 8, 1_000_000, 400


def read(
    source: Path | str, lab: Lab, break_id: str | None = None, *, name: str = ""
) -> Prediction:
    """The prediction in a file (a Path) or a text (a str) for a lab, and for one of its breaks.

    Raises BreaksError (exit 2) with file and line, for the first problem; it says how many more.
    """
    label = name or (str(source) if isinstance(source, Path) else "<text>")
    return Reading(read_yaml(source, name=label), lab, break_id).prediction()


class Reading:
    """One file being read; problems are collected, so that they can be counted."""

    def __init__(self, document: Document, lab: Lab, break_id: str | None):
        self.document, self.lab, self.wanted = document, lab, break_id
        self.problems: list[tuple[int, BreaksError]] = []

    # ---------------------------------------------------------------- problems

    def problem(
        self, place: Place, expected: str, found: object, todo: str = "", *, late: bool = False
    ) -> None:
        where = self.document.where(place)
        text = found if isinstance(found, str) else shown(found)
        todo = todo or trap(found) or _("Correct the value.")
        line = LAST if late else int(where.rpartition(":")[2])
        self.problems.append((line, BreaksError(expected, text, todo, where=where)))

    def give_up(self) -> BreaksError:
        """The first problem in the order of lines, and how many there are besides."""
        first = min(self.problems, key=lambda pair: pair[0])[1]
        more = len(self.problems) - 1
        if not more:
            return first
        note = i18n.ngettext(
            "There is %(more)d more problem after it.",
            "There are %(more)d more problems after it.",
            more,
        ) % {"more": more}
        return BreaksError(
            first.expected, first.found, f"{first.todo} {note}", code=Exit.USAGE, where=first.where
        )

    # ---------------------------------------------------------------- the parts

    def prediction(self) -> Prediction:
        data = self.document.data
        if not isinstance(data, dict):
            todo = _("Start from `grader predict %(lab)s --template`.") % {"lab": self.lab.id}
            self.problem((), _("a mapping with the keys lab, scenarios and training"), data, todo)
            raise self.give_up()
        self.known_keys((), data, KEYS)
        self.lab_named(data)
        break_id = self.break_named(data)
        scenarios = self.scenarios(data, break_id)
        training = self.training(data)
        if self.problems:
            raise self.give_up()
        return Prediction(self.lab.id, break_id, scenarios, training)

    def lab_named(self, data: Mapping[str, Any]) -> None:
        if data.get("lab") != self.lab.id:
            found = data.get("lab", _("no such key"))
            todo = _("Write lab: %(lab)s, or name the other lab on the command line.")
            expected = f"lab: {self.lab.id}"
            self.problem(("lab",), expected, found, todo % {"lab": self.lab.id})

    def break_named(self, data: Mapping[str, Any]) -> str:
        known = list(self.lab.breaks)
        found = data.get("break")
        if found is None:
            return self.wanted or self.lab.main_break
        if found not in known:
            expected = _("a break of %(lab)s: %(breaks)s")
            self.problem(
                ("break",),
                expected % {"lab": self.lab.id, "breaks": ", ".join(known)},
                found,
                did_you_mean(str(found), known),
            )
            return self.wanted or self.lab.main_break
        if self.wanted and found != self.wanted:
            todo = _("Write --break %(id)s on the command line, or correct the file.")
            self.problem(("break",), f"break: {self.wanted}", found, todo % {"id": found})
        return str(found)

    def scenarios(self, data: Mapping[str, Any], break_id: str) -> dict[str, Said]:
        place: Place = ("scenarios",)
        given = self.mapping(place, data.get("scenarios"))
        asked = {one.name: one for one in self.lab.of(break_id)}
        self.known_keys(place, given, tuple(asked))
        found = {}
        for name, scenario in asked.items():
            if name not in given:
                todo = _("Add it: every scenario is asked.")
                expected = _("the scenario %(name)s") % {"name": name}
                self.problem(place, expected, _("none"), todo, late=True)
                continue
            said = self.said((*place, name), given[name], scenario)
            if said is not None:
                found[name] = said
        return found

    def said(self, place: Place, value: object, scenario: Scenario) -> Said | None:
        data = self.mapping(place, value)
        self.known_keys(place, data, SCENARIO_KEYS)
        first = self.first((*place, "first"), data.get("first"), scenario)
        detectors = self.detectors((*place, "detectors"), data.get("detectors"))
        confidence = self.confidence((*place, "confidence"), data.get("confidence"))
        because = self.text((*place, "because"), data.get("because"))
        return None if first is None else Said(first, detectors, confidence, because)

    def first(self, place: Place, value: object, scenario: Scenario) -> First | None:
        data = self.mapping(place, value)
        self.known_keys(place, data, FIRST_KEYS)
        phase = self.word((*place, "phase"), data.get("phase"), Phase, phases(scenario))
        mode = self.word((*place, "mode"), data.get("mode"), Mode)
        both = phase is not None and mode is not None
        if both and (phase is Phase.NOWHERE) != (mode is Mode.UNAFFECTED):
            expected = _("phase nowhere together with mode unaffected, or neither")
            found = f"phase {phase}, mode {mode}"
            self.problem((*place, "mode"), expected, found, _("Change one of them."))
        return self.detailed(place, data, scenario, phase, mode)

    def detailed(
        self,
        place: Place,
        data: Mapping[str, Any],
        scenario: Scenario,
        phase: Phase | None,
        mode: Mode | None,
    ) -> First | None:
        """The optional details of a first difference."""
        tensor = self.tensor((*place, "tensor"), data.get("tensor"), scenario)
        shape = self.shape((*place, "shape"), data.get("shape"))
        dtype = self.one_of((*place, "dtype"), data.get("dtype"), DTYPES)
        pattern = self.word((*place, "pattern"), data.get("pattern"), Pattern, needed=False)
        factor = self.number((*place, "factor"), data.get("factor"))
        if phase is None or mode is None:
            return None
        return First(phase, mode, tensor, shape, dtype, pattern, factor)

    def detectors(self, place: Place, value: object) -> dict[Detector, Answer]:
        data = self.mapping(place, value)
        self.known_keys(place, data, tuple(d.value for d in PER_SCENARIO))
        found = {}
        for detector in PER_SCENARIO:
            at = (*place, detector.value)
            answer = self.word(at, data.get(detector.value), Answer, SAYABLE, needed=False)
            if answer is not None:
                found[detector] = answer
        return found

    def training(self, data: Mapping[str, Any]) -> TrainingSaid | None:
        place: Place = ("training",)
        given = self.mapping(place, data.get("training"))
        self.known_keys(place, given, TRAINING_KEYS)
        if given.get("outcome") is None and given.get("phase") is None:
            return None
        outcome = self.word((*place, "outcome"), given.get("outcome"), Outcome, OUTCOMES)
        places = (Phase.FORWARD, Phase.BACKWARD, Phase.STEP)
        phase = self.word((*place, "phase"), given.get("phase"), Phase, places, needed=False)
        if phase is not None and outcome not in (None, Outcome.CRASH):
            expected = _("a phase only for outcome crash: where it stops")
            self.problem((*place, "phase"), expected, phase, _("Remove the phase."))
        return None if outcome is None else TrainingSaid(outcome, phase)

    # ---------------------------------------------------------------- values

    def mapping(self, place: Place, value: object) -> Mapping[str, Any]:
        if isinstance(value, dict):
            return value
        if value is not None:
            self.problem(place, _("for %(at)s: a mapping of keys") % {"at": at_text(place)}, value)
        return {}

    def known_keys(self, place: Place, data: Mapping[str, Any], known: Sequence[str]) -> None:
        for key in data:
            if key not in known:
                expected = _("in %(at)s one of the keys %(keys)s")
                self.problem(
                    (*place, key),
                    expected % {"at": at_text(place), "keys": ", ".join(known)},
                    shown(key),
                    did_you_mean(key, list(known)) or _("Remove the key."),
                )

    def word(
        self,
        place: Place,
        value: object,
        kind: type[Words],
        allowed: Sequence[Words] = (),
        *,
        needed: bool = True,
    ) -> Words | None:
        words = [one.value for one in (allowed or tuple(kind))]
        found = self.one_of(place, value, words, needed=needed)
        return kind(found) if found else None

    def one_of(
        self, place: Place, value: object, words: Sequence[str], *, needed: bool = False
    ) -> str:
        if value is None and not needed:
            return ""
        if isinstance(value, str) and value in words:
            return value
        expected = _("for %(at)s one of the words %(words)s")
        text = expected % {"at": at_text(place), "words": ", ".join(words)}
        hint = did_you_mean(value.lower(), words) if isinstance(value, str) else ""
        nothing = _("Choose one of the words.") if value is None else ""
        self.problem(place, text, value, hint or nothing)
        return ""

    def tensor(self, place: Place, value: object, scenario: Scenario) -> str:
        if value is None:
            return ""
        words = list(dict.fromkeys(w for phase in Phase for w in tensors(scenario, phase)))
        bare = value.removesuffix(".grad") if isinstance(value, str) else value
        return self.one_of(place, bare, words)

    def shape(self, place: Place, value: object) -> Shape | None:
        if value is None:
            return None
        if (
            isinstance(value, list)
            and len(value) <= MOST_AXES
            and all(type(n) is int and 0 <= n <= LONGEST_AXIS for n in value)
        ):
            return tuple(value)
        expected = _("for %(at)s: a list of whole numbers, such as [4, 3], or [] for a number")
        self.problem(place, expected % {"at": at_text(place)}, value)
        return None

    def number(self, place: Place, value: object) -> float | None:
        if value is None:
            return None
        if type(value) in (int, float):
            number = float(value) if abs(value) < 1e30 else math.inf  # type: ignore[arg-type]
            if math.isfinite(number):
                return number
        self.problem(place, _("for %(at)s: a finite number") % {"at": at_text(place)}, value)
        return None

    def confidence(self, place: Place, value: object) -> int | None:
        if value is None:
            return None
        if type(value) is int and 0 <= value <= 100:
            return value
        expected = _("for %(at)s: a whole number of percent, from 0 to 100")
        todo = _("Correct the value.") if type(value) is int else ""
        self.problem(place, expected % {"at": at_text(place)}, value, todo)
        return None

    def text(self, place: Place, value: object) -> str:
        if value is None:
            return ""
        if not isinstance(value, str):
            expected = _("for %(at)s: a sentence") % {"at": at_text(place)}
            todo = trap(value) or _("Put it in quotes.")
            self.problem(place, expected, value, todo)
            return ""
        bare = "".join(char if char.isprintable() else " " for char in value).strip()
        if len(bare) > LONGEST_TEXT:
            expected = _("for %(at)s: at most %(count)d characters")
            text = expected % {"at": at_text(place), "count": LONGEST_TEXT}
            self.problem(place, text, _("%(count)d of them") % {"count": len(bare)})
        return bare


def at_text(place: Place) -> str:
    """A place as a person says it: scenarios.created-axis.first.phase."""
    return ".".join(shown_word(str(part)) for part in place) or _("the file")


def shown_word(text: str) -> str:
    bare = "".join(char if char.isprintable() else "?" for char in text)
    return bare if len(bare) <= 40 else bare[:39] + "…"


def shown(value: object) -> str:
    """A value as it was read, short; nothing for an empty place."""
    if value is None:
        return _("nothing")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, dict):
        return _("a mapping")
    if isinstance(value, list):
        return _("a list of %(count)d") % {"count": len(value)}
    if isinstance(value, int) and abs(value) >= 10**30:
        return _("a very large number")
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"


def trap(value: object) -> str:
    """Why a value may not be what was meant: the traps of YAML."""
    if isinstance(value, bool):
        return _("YAML reads bare yes, no, on and off as true and false: use the words above.")
    if isinstance(value, float) and not math.isfinite(value):
        return _("YAML reads .nan and .inf as numbers that are none: write a finite one.")
    if isinstance(value, str) and _is_number(value):
        return _("YAML reads this as text: write numbers with a point, 1.0e-3, and no quotes.")
    if isinstance(value, int) and value >= 60:
        return _("YAML reads 12:30 as the number 750: put text in quotes.")
    return ""


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
