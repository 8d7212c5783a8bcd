"""The kill matrix: every break against every detector, in the scenarios where it is asked about.

A break that no lab asks about is run in the probes whose lines it touches and whose results it
changes.  A row says in how many scenarios each detector fires; what only one detector sees, what
nobody sees in a scenario, and what training alone sees follow from the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from breaks.model import Break
from grader.observe import Progress, Question, Sources, observe
from grader.recording import (
    PER_SCENARIO,
    Answer,
    Detector,
    Json,
    Mode,
    Observed,
    Outcome,
    Phase,
    Reach,
)
from labs.model import Lab

PROBES = 4  # scenarios for a break that no lab asks about


@dataclass(frozen=True, slots=True)
class Cell:
    """One break in one scenario."""

    lab: str
    scenario: str
    phase: Phase
    mode: Mode
    reach: Reach
    answers: Mapping[Detector, Answer]
    false_alarms: tuple[str, ...] = ()  # who fires here on the correct library too

    def fires(self, detector: Detector) -> bool:
        """Whether a detector objects to the break, and not to the scenario."""
        alarmed = detector.value in self.false_alarms
        return self.answers.get(detector) is Answer.FIRES and not alarmed

    @property
    def seers(self) -> tuple[Detector, ...]:
        return tuple(d for d in self.answers if self.fires(d))

    def to_json(self) -> Json:
        return {
            "lab": self.lab,
            "scenario": self.scenario,
            "phase": self.phase.value,
            "mode": self.mode.value,
            "reach": self.reach.value,
            "answers": {d.value: a.value for d, a in self.answers.items()},
            "false_alarms": list(self.false_alarms),
        }


@dataclass(frozen=True, slots=True)
class Row:
    """One break."""

    break_id: str
    family: str
    equivalent: bool
    cells: tuple[Cell, ...]
    training: Outcome
    training_phase: Phase

    def fires(self, detector: Detector) -> int:
        """In how many scenarios a detector fires; for training, 0 or 1."""
        if detector is Detector.TRAINING:
            return int(self.training not in (Outcome.SAME, Outcome.UNCERTAIN))
        return sum(cell.fires(detector) for cell in self.cells)

    @property
    def seers(self) -> tuple[Detector, ...]:
        return tuple(d for d in Detector if self.fires(d))

    def to_json(self) -> Json:
        return {
            "break": self.break_id,
            "family": self.family,
            "equivalent": self.equivalent,
            "fires": {d.value: self.fires(d) for d in Detector},
            "scenarios": [cell.to_json() for cell in self.cells],
            "training": {"outcome": self.training.value, "phase": self.training_phase.value},
        }


@dataclass(frozen=True, slots=True)
class Blind:
    """A fault that a detector misses, and why: how far it came where the detector looked."""

    break_id: str
    detector: Detector
    reason: str  # a Reach, or "not-revealed": it came out, and the detector does not look there
    scenarios: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """All rows, in the order of the breaks' ids."""

    rows: tuple[Row, ...]
    versions: Mapping[str, str]

    @property
    def empty_rows(self) -> tuple[str, ...]:
        """Breaks that nothing sees, though they are not declared equivalent."""
        return tuple(r.break_id for r in self.rows if not r.seers and not r.equivalent)

    @property
    def empty_columns(self) -> tuple[Detector, ...]:
        return tuple(d for d in Detector if not any(row.fires(d) for row in self.rows))

    @property
    def only_one_sees(self) -> tuple[tuple[str, Detector], ...]:
        return tuple((r.break_id, r.seers[0]) for r in self.rows if len(r.seers) == 1)

    @property
    def training_alone(self) -> tuple[str, ...]:
        return tuple(name for name, d in self.only_one_sees if d is Detector.TRAINING)

    @property
    def nobody_sees(self) -> tuple[tuple[str, str, str], ...]:
        """(break, lab, scenario) where every detector is silent, though the results differ."""
        return tuple(
            (row.break_id, cell.lab, cell.scenario)
            for row in self.rows
            for cell in row.cells
            if not cell.seers and cell.mode is not Mode.UNAFFECTED
        )

    def blind(self) -> tuple[Blind, ...]:
        """For each detector, the breaks that it misses in every scenario."""
        found = []
        for detector in PER_SCENARIO:
            for row in self.rows:
                if row.fires(detector) or not row.cells or row.equivalent:
                    continue
                reason, cells = why_blind(row)
                names = tuple(f"{cell.lab}/{cell.scenario}" for cell in cells)
                found.append(Blind(row.break_id, detector, reason, names))
        return tuple(found)

    def to_json(self) -> Json:
        return {
            "detectors": [d.value for d in Detector],
            "rows": [row.to_json() for row in self.rows],
            "empty_rows": list(self.empty_rows),
            "empty_columns": [d.value for d in self.empty_columns],
            "only_one_sees": [[name, d.value] for name, d in self.only_one_sees],
            "nobody_sees": [list(one) for one in self.nobody_sees],
            "training_alone": list(self.training_alone),
            "versions": dict(self.versions),
        }

    def snapshot(self) -> str:
        """The matrix as text under review: a line per break, a line per scenario below it."""
        columns = [d.value for d in Detector]
        lines = ["# " + "  ".join(columns), ""]
        for row in self.rows:
            counts = "  ".join(f"{d.value}={row.fires(d)}/{self.most(row, d)}" for d in Detector)
            mark = "  equivalent" if row.equivalent else ""
            lines.append(f"{row.break_id}{mark}")
            lines.append(f"  {counts}")
            for cell in row.cells:
                seen = " ".join(d.value for d in cell.seers)
                lines.append(
                    f"  {cell.lab}/{cell.scenario}: {cell.phase.value} {cell.mode.value} "
                    f"[{seen or 'nobody'}]"
                )
            lines.append(f"  training: {row.training.value} ({row.training_phase.value})")
            lines.append("")
        return "\n".join(lines)

    @staticmethod
    def most(row: Row, detector: Detector) -> int:
        return 1 if detector is Detector.TRAINING else len(row.cells)


def why_blind(row: Row) -> tuple[str, tuple[Cell, ...]]:
    """The farthest that the fault came, and the scenarios where it came so far."""
    order = list(Reach)
    farthest = max((cell.reach for cell in row.cells), key=order.index)
    cells = tuple(cell for cell in row.cells if cell.reach is farthest)
    reason = "not-revealed" if farthest is Reach.PROPAGATED else farthest.value
    return reason, cells


def matrix(
    breaks: Iterable[Break],
    labs: Mapping[str, Lab],
    probes: Lab,
    *,
    sources: Sources | None = None,
    live: bool = False,
    use_cache: bool = True,
    workers: int = 2,
    state: Path | None = None,
    progress: Progress | None = None,
    way: str = "",
) -> Matrix:
    """Observes every break in the scenarios of the labs that ask about it, else in probes."""
    wanted = sorted(breaks, key=lambda one: one.id)
    homeless = [b for b in wanted if not any(b.id in lab.breaks for lab in labs.values())]
    chosen = choose_probes(homeless, probes, sources=sources, workers=workers, way=way)
    questions = []
    for brk in wanted:
        homes = [lab for lab in labs.values() if brk.id in lab.breaks]
        questions += [Question(lab.id, brk, lab.of(brk.id)) for lab in homes]
        if not homes:
            scenarios = tuple(probes.scenarios[name] for name in chosen[brk.id])
            questions.append(Question(probes.id, brk, scenarios))
    answers = observe(
        questions,
        sources=sources,
        live=live,
        use_cache=use_cache,
        workers=workers,
        state=state,
        progress=progress,
        way=way,
        require_live=False,
    )
    alarms = {(s.lab, s.name): s.false_alarms for one in questions for s in one.scenarios}
    return assemble(wanted, answers, alarms)


def assemble(
    breaks: Sequence[Break],
    answers: Sequence[Observed],
    alarms: Mapping[tuple[str, str], tuple[str, ...]] | None = None,
) -> Matrix:
    """The rows from the answers: one break may have been asked about in several labs."""
    rows = []
    for brk in breaks:
        own = [one for one in answers if one.break_id == brk.id]
        cells = tuple(
            Cell(
                one.lab,
                one.scenario,
                one.phase,
                one.mode,
                one.reach,
                {d: r.answer for d, r in one.detectors.items()},
                (alarms or {}).get((one.lab, one.scenario), ()),
            )
            for observed in own
            for one in observed.observations
        )
        training = own[0].training if own else None
        outcome = Outcome.SAME if training is None else training.outcome
        phase = Phase.NOWHERE if training is None else training.phase
        rows.append(Row(brk.id, brk.family.value, brk.equivalent, cells, outcome, phase))
    return Matrix(tuple(rows), answers[0].versions if answers else {})


def choose_probes(
    breaks: Sequence[Break],
    probes: Lab,
    *,
    sources: Sources | None = None,
    workers: int = 2,
    way: str = "",
) -> dict[str, tuple[str, ...]]:
    """For each break, the first probes that execute a changed line and give another result.

    A break that changes no probe gets the first that reach it, or the first of all: its row is
    empty then, and that is for the reader to see.
    """
    if not breaks:
        return {}
    from breaks.library import shipped_sources
    from grader import pool
    from grader.difference import all_changed_lines
    from grader.observe import as_job, as_text, broken_text, warm
    from labs.numbers import SEED

    pool.one_thread()
    scenarios = list(probes.scenarios.values())
    original = dict(sources or shipped_sources())
    clean = as_text(original)
    warm(scenarios, way, [clean])

    def job(text: Mapping[str, str], kind: str, names: Sequence[str]) -> Json:
        wanted = [as_job(probes.scenarios[name]) for name in names]
        return {
            "kind": kind,
            "sources": text,
            "seed": SEED,
            "scenarios": wanted,
        }

    names = list(probes.scenarios)
    looks = pool.run([job(clean, "reach", names)], workers=workers, way=way)[0].sections()
    mutants = [broken_text(original, brk) for brk in breaks]
    candidates = []
    for text in mutants:
        changed = all_changed_lines(text, clean)  # in the correct text
        hit = [
            name
            for name in names
            if any(
                lines & frozenset(looks.get(f"lines:{name}", {}).get(module, ()))
                for module, lines in changed.items()
            )
        ]
        candidates.append(hit or names)
    jobs = [job(text, "liveness", hit) for text, hit in zip(mutants, candidates, strict=True)]
    before = pool.run([job(clean, "liveness", names)], workers=1, way=way)[0].sections()
    reports = pool.run(jobs, workers=workers, way=way)
    chosen = {}
    for brk, hit, report in zip(breaks, candidates, reports, strict=True):
        live = changed_probes(hit, before, report.sections())
        chosen[brk.id] = tuple(spread(live) or hit[:PROBES])
    return chosen


def unlike(ours: Any, theirs: Any) -> bool:
    """Whether two first looks differ by more than another order of additions would explain."""
    from grader.difference import differ

    if not isinstance(ours, dict) or not isinstance(theirs, dict) or ours.keys() != theirs.keys():
        return bool(ours != theirs)
    if "dtype" in ours:
        return differ(ours, theirs)
    return any(unlike(ours[key], theirs[key]) for key in ours)


def changed_probes(names: Sequence[str], before: Json, after: Json) -> list[str]:
    """The probes with another result; of those that did not come back, the one that ended it."""
    changed: list[str] = []
    for name in names:
        key = f"scenario:{name}"
        if key not in after:
            return [*changed, name]
        if unlike(after[key], before[key]):
            changed.append(name)
    return changed


def spread(names: list[str]) -> list[str]:
    """At most PROBES of the names, evenly spread: the first, the last, and some between."""
    if len(names) <= PROBES:
        return names
    step = (len(names) - 1) / (PROBES - 1)
    return [names[round(i * step)] for i in range(PROBES)]
