"""The kill matrix: every break against every detector.

A break is run in the scenarios where a lab asks about it; a break that no lab asks about, in probes
whose lines it touches and whose results it changes.  Each is also run in ordinary probes, those
that look like somebody's first test, because what such a test misses is what the kit is about.  A
row says in how many scenarios each detector fires; everything else follows from the rows.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from breaks import i18n
from breaks.model import Break
from grader.cache import Cache, key_of, kit_digest, versions
from grader.observe import Progress, Question, Sources, file_digest, observe, rules
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
    TrainingObservation,
)
from labs.model import Fill, Input, Lab, Scenario

_ = i18n.gettext
PROBES = 4  # scenarios for a break that no lab asks about
NOTES = (Detector.GRADCHECK_SUM, Detector.PYTORCH_DIFF)  # the checks that the notes prescribe
SAME_CURVE = 1e-9  # relative: losses so near are the same but for the order of additions


def ordinary(scenario: Scenario) -> bool:
    """Whether it looks like somebody's first test of an op.

    float64, one or two axes of at least two entries, numbers that nobody chose, one call of
    backward(), no optimizer; and no checker is fooled on purpose.
    """
    once = scenario.backward == 1 and scenario.fit is None
    return once and scenario.vary and not scenario.false_alarms and all(map(plain, scenario.inputs))


def plain(one: Input) -> bool:
    """Whether an input has the shape, dtype and numbers that one types without thinking."""
    drawn = one.values is None and (one.is_integer or one.fill in (Fill.NORMAL, Fill.POSITIVE))
    return drawn and one.dtype != "float32" and len(one.shape) in (1, 2) and min(one.shape) > 1


class Cell(NamedTuple):
    """One break in one scenario."""

    lab: str
    scenario: str
    phase: Phase
    mode: Mode
    reach: Reach
    answers: Mapping[Detector, Answer]
    false_alarms: tuple[str, ...] = ()  # who fires here on the correct library too
    ordinary: bool = False

    @property
    def name(self) -> str:
        return f"{self.lab}/{self.scenario}"

    def alarmed(self, detector: Detector) -> bool:
        return detector.value in self.false_alarms

    def fires(self, detector: Detector) -> bool:
        """Whether a detector objects to the break, and not to the scenario."""
        return self.answers.get(detector) is Answer.FIRES and not self.alarmed(detector)

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
            "ordinary": self.ordinary,
        }


class Row(NamedTuple):
    """One break."""

    break_id: str
    family: str
    equivalent: bool
    cells: tuple[Cell, ...]
    training: Outcome
    training_phase: Phase
    training_reach: Reach = Reach.PROPAGATED

    def fires(self, detector: Detector) -> int:
        """In how many scenarios a detector fires; for training, 0 or 1."""
        if detector is Detector.TRAINING:
            return int(self.training not in (Outcome.SAME, Outcome.UNCERTAIN))
        return sum(cell.fires(detector) for cell in self.cells)

    def most(self, detector: Detector) -> int:
        """In how many it could fire."""
        return 1 if detector is Detector.TRAINING else len(self.cells)

    @property
    def seers(self) -> tuple[Detector, ...]:
        return tuple(d for d in Detector if self.fires(d))

    @property
    def alone(self) -> Detector | None:
        """The only detector that sees it, if there is just one."""
        return self.seers[0] if len(self.seers) == 1 else None

    @property
    def differences(self) -> tuple[str, ...]:
        """How it differs from the correct library, in the scenarios where it does."""
        seen = [c for c in self.cells if c.mode is not Mode.UNAFFECTED]
        return tuple(dict.fromkeys(f"{c.phase.value} {c.mode.value}" for c in seen))

    @property
    def escapes_the_notes(self) -> bool:
        """Something sees it, and neither check of the notes does in any ordinary scenario."""
        tried = [cell for cell in self.cells if cell.ordinary]
        return bool(self.seers) and not any(c.fires(d) for c in tried for d in NOTES)

    def to_json(self) -> Json:
        return {
            "break": self.break_id,
            "family": self.family,
            "equivalent": self.equivalent,
            "fires": {d.value: self.fires(d) for d in Detector},
            "scenarios": [cell.to_json() for cell in self.cells],
            "training": {
                "outcome": self.training.value,
                "phase": self.training_phase.value,
                "reach": self.training_reach.value,
            },
        }


class Blind(NamedTuple):
    """A fault that a detector misses, and why: how far it came where the detector looked.

    The reason is a Reach, or one of the words of `why_blind` for what came out and was not seen.
    """

    break_id: str
    detector: Detector
    reason: str
    scenarios: tuple[str, ...]
    phase: Phase = Phase.NOWHERE  # where it differs in the first of them
    mode: Mode = Mode.UNAFFECTED


class Matrix(NamedTuple):
    """All rows, in the order of the breaks' ids."""

    rows: tuple[Row, ...]
    versions: Mapping[str, str]

    @property
    def empty_rows(self) -> tuple[str, ...]:
        """Breaks that nothing sees, though they are not declared equivalent."""
        return tuple(r.break_id for r in self.rows if not r.seers and not r.equivalent)

    @property
    def noisy_equivalents(self) -> tuple[str, ...]:
        """Breaks that are declared to change nothing, and are seen."""
        return tuple(r.break_id for r in self.rows if r.seers and r.equivalent)

    @property
    def empty_columns(self) -> tuple[Detector, ...]:
        return tuple(d for d in Detector if not any(row.fires(d) for row in self.rows))

    @property
    def only_one_sees(self) -> tuple[tuple[str, Detector], ...]:
        return tuple((row.break_id, row.alone) for row in self.rows if row.alone)

    @property
    def training_alone(self) -> tuple[str, ...]:
        return tuple(name for name, d in self.only_one_sees if d is Detector.TRAINING)

    @property
    def trains_better(self) -> tuple[str, ...]:
        """Broken, and the loss falls faster than on the correct library."""
        return tuple(r.break_id for r in self.rows if r.training is Outcome.FASTER)

    @property
    def escapes_the_notes(self) -> tuple[str, ...]:
        return tuple(r.break_id for r in self.rows if r.escapes_the_notes)

    @property
    def nobody_sees(self) -> tuple[tuple[str, str, str], ...]:
        """(break, lab, scenario) where every detector is silent, though the results differ."""
        return tuple(
            (row.break_id, cell.lab, cell.scenario)
            for row in self.rows
            for cell in row.cells
            if not cell.seers and cell.mode is not Mode.UNAFFECTED
        )

    def uncovered(self, detector: Detector, by: Detector) -> tuple[str, ...]:
        """Where one detector fires and another does not: "break in lab/scenario"."""
        return tuple(
            f"{row.break_id} in {cell.name}"
            for row in self.rows
            for cell in row.cells
            if cell.fires(detector) and not cell.fires(by)
        )

    def blind(self) -> tuple[Blind, ...]:
        """For each detector, the breaks that it misses in every scenario."""
        return tuple(
            why_blind(row, detector)
            for detector in Detector
            for row in self.rows
            if row.cells and not row.equivalent and not row.fires(detector)
        )

    def to_json(self) -> Json:
        return {
            "detectors": [d.value for d in Detector],
            "rows": [row.to_json() for row in self.rows],
            "empty_rows": list(self.empty_rows),
            "empty_columns": [d.value for d in self.empty_columns],
            "only_one_sees": [[name, d.value] for name, d in self.only_one_sees],
            "nobody_sees": [list(one) for one in self.nobody_sees],
            "training_alone": list(self.training_alone),
            "trains_better": list(self.trains_better),
            "escapes_the_notes": list(self.escapes_the_notes),
            "versions": dict(self.versions),
        }


def why_blind(row: Row, detector: Detector) -> Blind:
    """The farthest that the fault came, the scenarios where it came so far, and what hid it.

    What came out, and is missed all the same, is `not-revealed`: the detector does not look there;
    or `alarmed`: it fires there on the correct library too; or `unavailable`: it could not look.
    """
    if detector is Detector.TRAINING:
        shown = row.training_reach is Reach.PROPAGATED
        return Blind(
            row.break_id, detector, "not-revealed" if shown else row.training_reach.value, ()
        )
    order = list(Reach)
    farthest = max((cell.reach for cell in row.cells), key=order.index)
    cells = [cell for cell in row.cells if cell.reach is farthest]
    if farthest is not Reach.PROPAGATED:
        return Blind(row.break_id, detector, farthest.value, names(cells))
    reason = hidden_by(cells, detector)
    return Blind(row.break_id, detector, reason, names(cells), cells[0].phase, cells[0].mode)


def hidden_by(cells: Sequence[Cell], detector: Detector) -> str:
    """Why a detector misses what comes out in all of these."""
    if all(cell.alarmed(detector) for cell in cells):
        return "alarmed"
    unable = all(cell.answers.get(detector) is not Answer.SILENT for cell in cells)
    return "unavailable" if unable else "not-revealed"


def names(cells: Iterable[Cell]) -> tuple[str, ...]:
    return tuple(cell.name for cell in cells)


# ------------------------------------------------------------------ observing


def seen(breaks: Sequence[Break], sources: Sources) -> dict[str, tuple[str, ...]]:
    """For each break, who sees it and where: "gradcheck in lab02/length-1-axis".

    This is what `breaks check` asks (entry point `breaklabs.observers`).  A break that no lab asks
    about is run in probes.
    """
    from breaks.errors import BreaksError
    from breaks.workspace import Workspace
    from grader.session import Session, progressing
    from labs.load import load_probes

    try:
        here = Session(Workspace.find())
    except BreaksError:
        here = Session(None)
    label = _("observing %(count)d breaks") % {"count": len(breaks)}
    with progressing(label) as progress:
        found = matrix(
            breaks,
            here.labs,
            load_probes(),
            sources=sources,
            state=here.state,
            progress=progress,
        )
    return {row.break_id: witnesses(row) for row in found.rows}


def witnesses(row: Row) -> tuple[str, ...]:
    """Everybody who sees a break, with the scenario."""
    said = [
        f"{d.value} in {cell.name}" for d in PER_SCENARIO for cell in row.cells if cell.fires(d)
    ]
    if row.fires(Detector.TRAINING):
        said.append(f"{Detector.TRAINING.value} in the grammar MLP: {row.training.value}")
    return tuple(said)


def matrix(
    breaks: Iterable[Break],
    labs: Mapping[str, Lab],
    probes: Lab,
    *,
    sources: Sources | None = None,
    live: bool = False,
    use_cache: bool = True,
    workers: int | None = None,
    state: Path | None = None,
    progress: Progress | None = None,
    way: str = "",
) -> Matrix:
    """Observes every break in the scenarios of the labs that ask about it, and in probes."""
    wanted = sorted(breaks, key=lambda one: one.id)
    looks = kept_looks(
        wanted,
        probes,
        {name for lab in labs.values() for name in lab.breaks},
        Cache(state / "cache" if state and use_cache else None),
        sources=sources,
        workers=workers,
        progress=progress,
        way=way,
    )
    questions = [question_of(brk, labs, probes, looks[brk.id]) for brk in wanted]
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
    return assemble(questions, answers, looks)


def question_of(brk: Break, labs: Mapping[str, Lab], probes: Lab, look: Look) -> Question:
    """All the scenarios in which a break has its row."""
    homes = [lab for lab in labs.values() if brk.id in lab.breaks]
    asked = [one for lab in homes for one in lab.of(brk.id)]
    if not homes:
        asked += [probes.scenarios[name] for name in look.chosen]
    usual = [s for s in probes.scenarios.values() if s.name in look.reached and ordinary(s)]
    shown = [one for one in usual if one.name in look.changed]
    asked += shown[:1] or spread(usual)
    once = {(one.lab, one.name): one for one in asked}
    return Question((homes[0] if homes else probes).id, brk, tuple(once.values()))


def assemble(
    questions: Sequence[Question], answers: Sequence[Observed], looks: Mapping[str, Look]
) -> Matrix:
    """The rows from the answers."""
    rows = []
    for question, observed in zip(questions, answers, strict=True):
        asked = {(one.lab, one.name): one for one in question.scenarios}
        cells = tuple(
            Cell(
                one.lab,
                one.scenario,
                one.phase,
                one.mode,
                one.reach,
                {d: r.answer for d, r in one.detectors.items()},
                asked[one.lab, one.scenario].false_alarms,
                ordinary(asked[one.lab, one.scenario]),
            )
            for one in observed.observations
        )
        brk, training = question.brk, observed.training
        outcome = Outcome.SAME if training is None else training.outcome
        phase = Phase.NOWHERE if training is None else training.phase
        reach = Reach.UNREACHED
        if looks[brk.id].trains:
            reach = training_reach(training, observed.clean_training)
        family = brk.family.value
        rows.append(Row(brk.id, family, brk.equivalent, cells, outcome, phase, reach))
    return Matrix(tuple(rows), answers[0].versions if answers else {})


def training_reach(broken: TrainingObservation | None, clean: TrainingObservation | None) -> Reach:
    """Whether anything of a fault whose lines the training executes comes out in a loss."""
    if broken is None or clean is None:
        return Reach.PROPAGATED
    pairs = zip(broken.runs, clean.runs, strict=True)
    same = all(same_curve(one.losses, other.losses) for one, other in pairs)
    return Reach.NOT_INFECTED if same else Reach.PROPAGATED


def same_curve(ours: Sequence[float | None], theirs: Sequence[float | None]) -> bool:
    if len(ours) != len(theirs) or None in ours or None in theirs:
        return False
    numbers = zip(ours, theirs, strict=True)
    return all(abs(a - b) <= SAME_CURVE * abs(b) for a, b in numbers if a is not None and b)


# ------------------------------------------------------------------ the first look


class Look(NamedTuple):
    """What a first look at the probes says of one break."""

    reached: tuple[str, ...]  # the probes that execute a changed line
    changed: tuple[str, ...]  # of those, the ones with another result
    trains: bool  # whether the training executes a changed line
    every: tuple[str, ...] = ()

    @property
    def chosen(self) -> tuple[str, ...]:
        """Probes for a break that no lab asks about.

        A break that changes no probe gets the first that reach it, or the first of all: if nobody
        objects there, its row is empty, and that is for the reader to see.
        """
        return tuple(spread(self.changed) or (self.reached or self.every)[:PROBES])


def kept_looks(
    breaks: Sequence[Break],
    probes: Lab,
    homes: Set[str],
    cache: Cache,
    *,
    sources: Sources | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    way: str = "",
) -> dict[str, Look]:
    """The first looks, those that were taken before from the cache."""
    from breaks.library import library_digest, shipped_sources

    text = dict(sources or shipped_sources())
    digests = [one.digest for one in probes.scenarios.values()]
    same = [kit_digest(), file_digest(Path(__file__)), library_digest(text), digests, versions()]
    keys = {brk.id: key_of("look", brk.id, brk.id in homes, rules(brk), *same) for brk in breaks}
    every, looks = tuple(probes.scenarios), {}
    for brk in breaks:
        with contextlib.suppress(KeyError, TypeError):
            found = cache.get(keys[brk.id])
            reached, changed = tuple(found["reached"]), tuple(found["changed"])
            looks[brk.id] = Look(reached, changed, bool(found["trains"]), every)
    missing = [brk for brk in breaks if brk.id not in looks]
    new = first_look(
        missing, probes, homes, sources=text, workers=workers, progress=progress, way=way
    )
    for name, look in new.items():
        plain = {"reached": look.reached, "changed": look.changed, "trains": look.trains}
        cache.put(keys[name], plain)
    return looks | new


def choose_probes(breaks: Sequence[Break], probes: Lab) -> dict[str, tuple[str, ...]]:
    """For each break, the probes that show it best."""
    return {name: look.chosen for name, look in first_look(breaks, probes).items()}


def first_look(
    breaks: Sequence[Break],
    probes: Lab,
    homes: Set[str] = frozenset(),
    *,
    sources: Sources | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    way: str = "",
) -> dict[str, Look]:
    """For each break, which probes execute a changed line, and which give another result.

    Of a break that a lab asks about (`homes`), only ordinary probes are run.
    """
    if not breaks:
        return {}
    from breaks.library import shipped_sources
    from grader import pool
    from grader.observe import as_job, as_text, broken_text, compiled, warm
    from labs.numbers import SEED

    pool.one_thread()
    every = tuple(probes.scenarios)
    original = dict(sources or shipped_sources())
    clean = compiled(as_text(original), way)
    warm([], way, SEED)
    executed: Json = {}  # lines of the correct library, by probe and by training
    before: Json = {}  # its results, by probe
    looks: dict[str, Look] = {}
    asked: list[tuple[str, tuple[str, ...]]] = []  # by job: the break, the probes that are run

    def job(text: Mapping[str, str], kind: str, names: Sequence[str]) -> Json:
        wanted = [as_job(probes.scenarios[name]) for name in names]
        return {"kind": kind, "sources": text, "seed": SEED, "scenarios": wanted}

    first = [
        {**job(clean, "reach", ()), "training": True},
        job(clean, "reach", every[::2]),
        job(clean, "reach", every[1::2]),
        job(clean, "liveness", every),
    ]
    left = set(range(len(first)))
    done = 0

    def jobs() -> Iterator[Json | None]:
        yield first[0]
        # While the training runs, which needs no SciPy.
        warm(list(probes.scenarios.values()), way, SEED)
        yield from first[1:]
        for brk in breaks:
            text = compiled(broken_text(original, brk), way)
            place = touched(clean, text)
            while left:
                yield None
            hit = tuple(n for n in every if executes(executed.get(f"lines:{n}"), place))
            looks[brk.id] = Look(hit, (), executes(executed.get("training"), place), every)
            run = hit or every
            if brk.id in homes:
                run = tuple(name for name in hit if ordinary(probes.scenarios[name]))
            if run:
                asked.append((brk.id, run))
                yield job(text, "liveness", run)
            else:
                tell()

    def tell() -> None:
        nonlocal done
        done += 1
        if progress:
            progress(done, len(first) + len(breaks), _("a first look"))

    def take(number: int, report: pool.Report) -> None:
        tell()
        sections = report.sections()
        if number < len(first):
            (before if first[number]["kind"] == "liveness" else executed).update(sections)
            left.discard(number)
            return
        name, run = asked[number - len(first)]
        looks[name] = looks[name]._replace(changed=tuple(changed_probes(run, before, sections)))

    pool.run(jobs(), workers=workers, way=way, on_done=take)
    return looks


def touched(clean: Mapping[str, str], broken: Mapping[str, str]) -> dict[str, frozenset[int]]:
    """By module, the lines of the correct text that a break replaces, or after which it inserts."""
    from grader.difference import replaced_lines

    return {
        module: replaced_lines(text, broken[module])
        for module, text in clean.items()
        if broken[module] != text
    }


def executes(executed: Any, lines: Mapping[str, frozenset[int]]) -> bool:
    """Whether some of these lines are among those that were executed."""
    return any(own & frozenset((executed or {}).get(name, ())) for name, own in lines.items())


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


T = TypeVar("T")


def spread(values: Sequence[T]) -> list[T]:
    """At most PROBES of the values, evenly spread: the first, the last, and some between."""
    if len(values) <= PROBES:
        return list(values)
    step = (len(values) - 1) / (PROBES - 1)
    return [values[round(i * step)] for i in range(PROBES)]
