"""What each detector cannot see, as a page in two languages, out of the kill matrix.

`make matrix` writes the pages and a test compares them, so that they are never out of date.  The
words stand in blind.yaml; every number, name and table comes from the matrix.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from breaks.model import Break
from grader.matrix import Blind, Cell, Matrix, Row
from grader.recording import Detector, Mode, Outcome, Phase
from labs.model import Lab

EXAMPLES = 3  # breaks that are named beside a reason
WORDS = Path(__file__).with_name("blind.yaml")


def page(found: Matrix, breaks: Mapping[str, Break], labs: Sequence[Lab], language: str) -> str:
    """The page in one language."""
    from breaks.load import read_yaml

    return Writer(found, breaks, labs, read_yaml(WORDS).data, language).page()


class Writer(NamedTuple):
    """The matrix and everything that is needed to write about it."""

    found: Matrix
    breaks: Mapping[str, Break]
    labs: Sequence[Lab]
    words: Mapping[str, Any]
    language: str

    def page(self) -> str:
        parts = [
            self.head(),
            self.say("todo"),
            self.say("way"),
            *self.glance(),
            *self.notes(),
            self.curves(),
            *(part for detector in Detector for part in self.detector(detector)),
            *self.alarms(),
            *self.silence(),
        ]
        return "\n\n".join(parts) + "\n"

    def say(self, key: str, **facts: object) -> str:
        text: str = self.words[key][self.language]
        return text % {name: str(value) for name, value in facts.items()} if facts else text

    def heads(self, key: str) -> list[str]:
        return list(self.words[key][self.language])

    def title(self, break_id: str) -> str:
        return self.breaks[break_id].title[self.language]

    @property
    def faults(self) -> list[Row]:
        return [row for row in self.found.rows if not row.equivalent]

    # -------------------------------------------------------------- what follows from all rows

    def head(self) -> str:
        rows = self.found.rows
        return self.say("head", breaks=len(rows), runs=sum(len(row.cells) for row in rows))

    def glance(self) -> list[str]:
        """Who sees how many, and what only one sees."""
        rows = []
        for detector in Detector:
            seen = sum(bool(row.fires(detector)) for row in self.faults)
            alone = [row.break_id for row in self.faults if row.alone is detector]
            rows.append(
                [
                    code(detector.value),
                    seen,
                    len(self.faults) - seen,
                    f"{len(alone)} {such(alone)}".strip(),
                ]
            )
        equivalent = len(self.found.rows) - len(self.faults)
        return [
            self.say("glance", faults=len(self.faults), equivalent=equivalent),
            table(self.heads("glance_head"), rows),
            self.covered(),
        ]

    def covered(self) -> str:
        """Why gradcheck is never the only one."""
        fires = sum(c.fires(Detector.GRADCHECK) for row in self.found.rows for c in row.cells)
        beside = self.found.uncovered(Detector.GRADCHECK, Detector.PROPERTY_TEST)
        torch = self.found.uncovered(Detector.GRADCHECK, Detector.PYTORCH_DIFF)
        where = ", ".join(code(name.partition(" in ")[2]) for name in torch)
        return self.say(
            "covered",
            fires=fires,
            property=fires - len(beside),
            torch=fires - len(torch),
            where=self.say("not_in", where=where) if where else "",
        )

    def notes(self) -> list[str]:
        """The breaks that escape both checks of the notes, with somebody who sees them."""
        rows, untried = [], []
        for row in self.faults:
            if row.escapes_the_notes and any(cell.ordinary for cell in row.cells):
                rows.append([code(row.break_id), self.title(row.break_id), *witness(row)])
            elif row.escapes_the_notes:
                untried.append(row.break_id)
        return [
            self.say("notes", escaped=len(rows)),
            table(self.heads("notes_head"), rows),
            self.say("untried", untried=len(untried), names=codes(untried)),
        ]

    def curves(self) -> str:
        same = sum(row.training is Outcome.SAME for row in self.faults)
        faster = self.found.trains_better
        return self.say(
            "curves", faults=len(self.faults), same=same, faster=len(faster), names=codes(faster)
        )

    # -------------------------------------------------------------- one detector

    def detector(self, detector: Detector) -> list[str]:
        """What it looks at, why it misses what it misses, and the whole list."""
        by_id = {row.break_id: row for row in self.found.rows}
        missed: dict[str, list[str]] = {}
        for blind in self.found.blind():
            if blind.detector is detector:
                word = reason(blind, by_id[blind.break_id])
                missed.setdefault(word, []).append(blind.break_id)
        ordered = sorted(missed.items(), key=lambda one: (-len(one[1]), one[0]))
        total = sum(len(names) for names in missed.values())
        short = [
            [i, self.words["reasons"][word][self.language], len(names), such(names)]
            for i, (word, names) in enumerate(ordered, 1)
        ]
        number = {name: i for i, (_, names) in enumerate(ordered, 1) for name in names}
        whole = [[code(name), self.title(name), number[name]] for name in sorted(number)]
        return [
            f"## `{detector.value}`",
            self.words["detectors"][detector.value][self.language],
            self.say("misses", count=total),
            table(self.heads("why_head"), short),
            f"<details>\n<summary>{self.say('all', count=total)}</summary>",
            table(self.heads("all_head"), whole),
            "</details>",
        ]

    # -------------------------------------------------------------- scenarios

    def alarms(self) -> list[str]:
        rows = [
            [code(f"{lab.id}/{one.name}"), one.title[self.language], codes(one.false_alarms)]
            for lab in self.labs
            for one in lab.scenarios.values()
            if one.false_alarms
        ]
        return [self.say("alarms"), table(self.heads("alarms_head"), rows)]

    def silence(self) -> list[str]:
        """The runs in which nobody objects; nothing where there is none."""
        runs = [
            self.say("run", name=name, where=f"{lab}/{one}")
            for name, lab, one in self.found.nobody_sees
        ]
        return [self.say("silence", names=", ".join(runs))] if runs else []


# ------------------------------------------------------------------ why


def reason(blind: Blind, row: Row) -> str:
    """The word of blind.yaml for the door that stayed shut."""
    if blind.detector is Detector.TRAINING:
        words = {"unreached": "no-line", "not-infected": "same-curve"}
        return words.get(blind.reason, "near-curve")
    if blind.mode is Mode.UNAFFECTED:
        return unaffected(blind.reason, row)
    if blind.reason != "not-revealed":
        return blind.reason
    return unrevealed(blind, row)


def unaffected(word: str, row: Row) -> str:
    """Nothing comes out of the program itself; but a check that does more may see it."""
    seers = {detector for cell in row.cells for detector in cell.seers}
    if seers == {Detector.PROPERTY_TEST}:
        return "own-shapes"
    return "elsewhere" if seers else word


def unrevealed(blind: Blind, row: Row) -> str:
    """It came out, and this detector is silent: where does it not look?"""
    if blind.mode is Mode.WRONG_DTYPE:
        return "dtype"
    if blind.detector is Detector.SHAPE_INVARIANT:
        return "number"
    if blind.phase is Phase.STEP:
        return "step"
    if blind.phase is Phase.FORWARD:
        return "consistent"
    if blind.detector is Detector.GRADCHECK_SUM and row.fires(Detector.GRADCHECK):
        return "ones"
    if blind.phase is Phase.BACKWARD and blind.detector is not Detector.PYTORCH_DIFF:
        return "once"
    return "other"


def witness(row: Row) -> list[str]:
    """Somebody who sees a break, and where; of several the one that the notes know, if it can."""
    order = [Detector.PYTORCH_DIFF, Detector.GRADCHECK_SUM, Detector.GRADCHECK]
    order += [d for d in Detector if d not in order]
    seen = [(d, cell) for d in order for cell in row.cells if cell.fires(d)]
    if not seen:
        return [code(Detector.TRAINING.value), row.training.value]
    detector, cell = seen[0]
    return [code(detector.value), code(place(cell))]


def place(cell: Cell) -> str:
    return f"{cell.lab}/{cell.scenario}"


# ------------------------------------------------------------------ Markdown


def code(text: str) -> str:
    return f"`{text}`"


def codes(names: Iterable[str]) -> str:
    return ", ".join(map(code, names))


def such(names: Sequence[str]) -> str:
    """The first few."""
    more = ", …" if len(names) > EXAMPLES else ""
    return codes(names[:EXAMPLES]) + more


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    def line(cells: Sequence[object]) -> str:
        return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"

    return "\n".join([line(head), "|" + "---|" * len(head), *map(line, rows)])
