"""Asks what a break does, and proves that the answer may be believed.

One run observes the correct library once, the sentinel once, and each break in processes of its
own.  Four proofs are required, and each missing one is an error of the kit (exit 5), never a pass:

control     the detectors are silent on the correct library, but for declared false alarms;
sentinel    every detector sees a break that raises;
live        the break changed something that a scenario or the training shows;
provenance  each child shows which text it executed.

Light to import: NumPy, Hypothesis and torch are loaded only where a question is not in the cache.
"""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from breaks import i18n
from breaks.errors import Exit
from breaks.model import Break
from grader import cache as kept
from grader.errors import GraderError
from grader.recording import (
    PER_SCENARIO,
    Answer,
    Detector,
    Form,
    Mode,
    Observation,
    Observed,
    Outcome,
    Phase,
    Proofs,
    Result,
    TrainingObservation,
)
from labs.model import Lab, Scenario
from labs.numbers import SEED

if TYPE_CHECKING:
    from grader.pool import Report
    from grader.reading import Reading

Progress = Callable[[int, int, str], None]  # done, of how many, what
Sources = Mapping[str, bytes]

_ = i18n.gettext
REFERENCES = Path(__file__).parent.parent / "labs" / "references"
TOGETHER = 12  # jobs on one library that a process does, while none changes the process
SMALL = 10_000  # numbers that are drawn in this process
CLEAN = "clean"
SENTINEL = "sentinel"


class Question(NamedTuple):
    """One break, in scenarios of one lab."""

    lab: str
    brk: Break
    scenarios: tuple[Scenario, ...]  # what is asked
    probes: tuple[Scenario, ...] = ()  # more of the lab, to prove that the break is live

    @property
    def every(self) -> tuple[Scenario, ...]:
        named = {(one.lab, one.name): one for one in (*self.scenarios, *self.probes)}
        return tuple(named.values())


def ask(lab: Lab, brk: Break, names: Sequence[str] = ()) -> Question:
    """The question what a break does in scenarios of a lab (by default, those of the lab's list).

    Raises GraderError (code 2) for a scenario that the lab has not.
    """
    if unknown := [name for name in names if name not in lab.scenarios]:
        known = ", ".join(lab.scenarios)
        raise GraderError(
            _("a scenario of %(lab)s") % {"lab": lab.id},
            unknown[0],
            _("Its scenarios: %(names)s.") % {"names": known},
        )
    own = lab.of(brk.id) if brk.id in lab.breaks else tuple(lab.scenarios.values())
    wanted = tuple(lab.scenarios[name] for name in names) or own
    return Question(lab.id, brk, wanted, own)


def observe(
    questions: Sequence[Question],
    *,
    sources: Sources | None = None,
    live: bool = False,
    use_cache: bool = True,
    workers: int | None = None,
    state: Path | None = None,
    progress: Progress | None = None,
    seed: int = SEED,
    way: str = "",
    references: Path = REFERENCES,
    require_live: bool = True,
) -> list[Observed]:
    """The answers, in the order of the questions.

    `sources` is the text of the correct library (by default, the shipped one); `state` is the
    workspace's folder for the cache.  `live` asks torch again.  Raises GraderError: code 5 for a
    missing proof, code 4 where torch is asked and missing.  Without `require_live` a break that
    changes nothing is an answer (`proofs.live` is 0), for those who report it themselves.
    """
    from breaks.library import shipped_sources

    started = time.monotonic()
    text = dict(sources or shipped_sources())
    cache = kept.Cache(state / "cache" if state and use_cache else None)
    keys = [key_of(one, text, seed, references) for one in questions]
    answers: dict[int, Observed] = {}
    if not live:
        for i, key in enumerate(keys):
            found = from_cache(cache.get(key))
            if found is not None and (found.proofs.live or equivalent(questions[i], require_live)):
                answers[i] = found
    missing = [i for i in range(len(questions)) if i not in answers]
    if missing:
        run = Run(
            [questions[i] for i in missing],
            text,
            live=live,
            workers=workers,
            progress=progress,
            seed=seed,
            way=way,
            references=references,
            cache=cache,
            require_live=require_live,
        )
        for i, observed in zip(missing, run.answers(), strict=True):
            answers[i] = observed._replace(seconds=time.monotonic() - started)
            cache.put(keys[i], answers[i].to_json())
        cache.trim()
    return [answers[i] for i in range(len(questions))]


def equivalent(question: Question, require_live: bool) -> bool:
    """Whether the break may change nothing: an answer without the proof must not stand for one."""
    return question.brk.equivalent or not require_live


def from_cache(data: Any) -> Observed | None:
    """A kept answer; None for what is none, however it got there."""
    if data is None:
        return None
    try:
        return Observed.from_json(data)._replace(cached=True, seconds=0.0)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def key_of(question: Question, sources: Sources, seed: int, references: Path) -> str:
    """The hash of everything that an answer depends on."""
    from breaks.library import library_digest

    brk = question.brk
    return kept.key_of(
        kept.FORMAT,
        kept.kit_digest(),
        library_digest(sources),
        [brk.id, rules(brk), brk.equivalent],
        [question.lab, [one.digest for one in question.scenarios]],
        [one.digest for one in question.every],
        sorted({file_digest(references / f"{home(one)}.json") for one in question.every}),
        kept.versions(),
        bool(kept.version_of("torch")),
        seed,
    )


@lru_cache(maxsize=64)
def file_digest(path: Path) -> str:
    import hashlib

    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return "none"


def home(scenario: Scenario) -> str:
    """The lab whose reference file holds a scenario: a variant has a file of its own."""
    return scenario.lab


def as_job(scenario: Scenario) -> dict[str, Any]:
    """A scenario as a child wants it: plain data."""
    fit = scenario.fit
    return {
        "lab": scenario.lab,
        "name": scenario.name,
        "function": scenario.function,
        "source": scenario.source,
        "digest": scenario.digest,
        "loss": scenario.loss.value,
        "backward": scenario.backward,
        "epsilon": scenario.epsilon,
        "fit": None
        if fit is None
        else {
            "lr": fit.lr,
            "steps": fit.steps,
            "momentum": fit.momentum,
            "weight_decay": fit.weight_decay,
            "micro_batches": fit.micro_batches,
        },
        "inputs": [
            {
                "name": one.name,
                "shape": list(one.shape),
                "dtype": one.dtype,
                "fill": one.fill.value,
                "low": one.low,
                "high": one.high,
                "constant": one.constant,
                "values": one.values,
            }
            for one in scenario.inputs
        ],
    }


def job_of(scenario: Scenario, seed: int, assignments: Any) -> dict[str, Any]:
    """Everything that a child needs to record a scenario.

    Without `assignments` it is for the correct library, which says which shapes are of the
    scenario's kind; which lines are executed is asked of a broken one.
    """
    step = ["step"] if scenario.fit else []
    lines = [] if assignments is None else ["lines"]
    return {
        "kind": "scenario",
        "scenario": as_job(scenario),
        "seed": seed,
        "sections": ["program", *step, *lines, "ones", "irregular", "differences", "property"],
        "assignments": assignments,
        "vary": scenario.vary,
    }


def training_of(seed: int = SEED, **asked: Any) -> dict[str, Any]:
    """Everything that a child needs to train on a library; `asked`: `forms`, `entered`."""
    return {"kind": "training", "seed": seed, **asked}


def own_shapes(scenario: Scenario) -> dict[str, list[int]]:
    """The shapes that the scenario itself has."""
    return {one.name: list(one.shape) for one in scenario.inputs}


def is_shipped(lab: str) -> bool:
    """Whether a lab, or a variant of one, comes with the kit."""
    from labs.load import builtin_folders

    return lab.partition(".")[0] in {one.name.partition("_")[0] for one in builtin_folders()}


def hypothesis_key() -> str:
    return kept.key_of("drawn", kept.FORMAT, kept.kit_digest(), kept.version_of("hypothesis"))


def missing_proof(expected: str, found: str, where: str) -> GraderError:
    return GraderError(expected, found, please_report(), code=5, where=where)


def please_report() -> str:
    return _("Nothing was scored. This is a fault of the kit or of the break: please report it.")


class Library:
    """One text of a library, what is to be done on it, and what came back.

    The last of its jobs is the training, the others are the scenarios.
    """

    def __init__(self, text: Mapping[str, str], jobs: Sequence[dict[str, Any]], label: str):
        self.text, self.jobs, self.label = text, jobs, label
        self.last = len(jobs) - 1
        self.reports: dict[int, Report] = {}  # by the place of the job

    @property
    def recorded(self) -> bool:
        """Whether every scenario came back."""
        return all(i in self.reports for i in range(self.last))

    @property
    def complete(self) -> bool:
        """Whether everything came back."""
        return len(self.reports) == len(self.jobs)

    @property
    def training(self) -> Report | None:
        """How the training went, once it came back."""
        return self.reports.get(self.last)

    @cached_property
    def readings(self) -> list[Reading]:
        """What was recorded; to be read once every scenario came back."""
        from grader.reading import Reading

        return [Reading(self.reports[i]) for i in range(self.last)]


class Run:
    """Questions that are asked together: what does not depend on the break is done once.

    Torch and Hypothesis load beside the children, and one break is judged while the next runs.
    """

    def __init__(
        self,
        questions: Sequence[Question],
        sources: Sources,
        *,
        live: bool = False,
        workers: int | None = None,
        progress: Progress | None = None,
        seed: int = SEED,
        way: str = "",
        references: Path = REFERENCES,
        cache: kept.Cache | None = None,
        require_live: bool = True,
    ):
        from grader import pool

        self.require_live = require_live
        pool.one_thread()
        self.questions, self.seed, self.live = list(questions), seed, live
        self.workers, self.way, self.progress = workers, way, progress
        self.folder, self.cache = references, cache or kept.Cache(None)
        self.bytes = dict(sources)
        self.clean_text = as_text(sources)
        named = {(s.lab, s.name, s.digest): s for q in self.questions for s in q.every}
        self.scenarios = list(named.values())
        self.index = {key: i for i, key in enumerate(named)}
        self.done = 0
        self.total = len(self.scenarios) + 3 + sum(1 + len(q.every) for q in self.questions)
        self.takers: list[Callable[[Report], None]] = []  # by job: what becomes of its report
        self.alone: deque[tuple[Library, int]] = deque()  # what is to be recorded by itself
        self.proof: list[Library] = []  # the correct one and the sentinel, once they are made
        self.broken: list[Library] = []  # by question, as far as it has come
        self.judged: list[Observed] = []
        self.proofs: tuple[int, int] | None = None
        self.numbers: Sequence[int] = ()  # that Hypothesis draws

    # -------------------------------------------------------------- the run

    def answers(self) -> list[Observed]:
        """Runs everything and judges it."""
        from grader import pool

        asked = []
        try:
            asked.append(hypothesis := self.ask_hypothesis())
            asked.append(torch := self.ask_torch())
            self.wait_for = (hypothesis, torch)
            warm(self.scenarios, self.way, self.seed)
            pool.run(self.jobs(), workers=self.workers, way=self.way, on_done=self.take)
            self.judge_complete()
        finally:
            for one in asked:
                if one is not None:
                    one.stop()
        return self.judged

    def jobs(self) -> Iterator[dict[str, Any] | None]:
        """Every job, in the order of starting; None where the next must wait for one that runs."""
        label = _("the correct library")
        # Which functions the training enters spares other trainings: with one question, none.
        several = len(self.questions) > 1
        jobs = [job_of(one, self.seed, None) for one in self.scenarios]
        training = training_of(self.seed, entered=several)
        clean = Library(compiled(self.clean_text, self.way), [*jobs, training], label)
        self.proof.append(clean)
        yield from self.together(clean, range(clean.last))
        yield from self.together(clean, [clean.last])  # beside: others wait for the scenarios
        from grader import detectors, difference  # noqa: F401 - for judging; children run by now

        if several:
            self.draw_for_all()
        for question in self.questions:
            text = self.mutate(question.brk)
            yield from self.until(lambda: clean.complete if several else clean.recorded)
            jobs = [job_of(one, self.seed, self.shapes(one)) for one in question.every]
            training = training_of(self.seed, forms=self.forms_needed(text))
            broken = Library(text, [*jobs, training], _("the broken library"))
            self.broken.append(broken)
            yield from self.together(broken, range(len(broken.jobs)))
            if len(self.broken) == 1:  # not before: nothing but the judging waits for the sentinel
                jobs = [job_of(one, self.seed, [own_shapes(one)]) for one in self.scenarios[:1]]
                blind = Library(blinded(self.clean_text), [*jobs, training_of(self.seed)], label)
                self.proof.append(blind)
                yield from self.together(blind, range(len(blind.jobs)))
        yield from self.until(lambda: all(one.complete for one in (*self.proof, *self.broken)))

    def draw_for_all(self) -> None:
        """Draws here, once, the numbers for every shape that each break will be tried on."""
        from grader.property_test import propose

        for scenario in self.scenarios:
            for shapes in propose(as_job(scenario)["inputs"], scenario.vary):
                draw(scenario, self.seed, shapes)

    @property
    def clean(self) -> Library:
        """The correct library."""
        return self.proof[0]

    def until(self, known: Callable[[], bool]) -> Iterator[dict[str, Any] | None]:
        """What is to be recorded by itself, and else nothing, until something is known."""
        while not known():
            yield self.to_do(*self.alone.popleft()) if self.alone else None

    def together(self, library: Library, places: Sequence[int]) -> Iterator[dict[str, Any]]:
        """Jobs share a process until one changes it: what it leaves gets a process each."""
        for i in range(0, len(places), TOGETHER):
            yield self.to_do(library, *places[i : i + TOGETHER])

    def to_do(self, library: Library, *places: int) -> dict[str, Any]:
        """Some of the jobs on a library, for one process."""

        def take(report: Report) -> None:
            parts = apart(report, len(places))
            library.reports.update(zip(places, parts, strict=False))
            if library.last in places[: len(parts)]:
                library.reports[library.last] = self.whole_training(library)
            self.alone.extend((library, i) for i in places[len(parts) :])
            self.tell(len(parts), library.label)

        self.takers.append(take)
        jobs = [library.jobs[i] for i in places]
        return {"kind": "together", "sources": library.text, "jobs": jobs}

    def take(self, index: int, report: Report) -> None:
        """What a job reports, and what can be judged now."""
        self.takers[index](report)
        proven = len(self.proof) == 2 and all(library.complete for library in self.proof)
        if proven and all(one is None or one.ready for one in self.wait_for):
            self.judge_complete()

    def tell(self, finished: int, label: str) -> None:
        self.done += finished
        if self.progress:
            self.progress(self.done, self.total, label)

    def shapes(self, scenario: Scenario) -> Any:
        """The shapes of the scenario's kind, as the correct library says."""
        return self.clean_reading(scenario).raw("property").get("shapes")

    def forms_needed(self, text: Mapping[str, str]) -> list[Form]:
        """The forms of the training that enter a function which the break changes.

        A form that enters none executes what the correct library executed, and ends like it.
        """
        from breaks.source import NOT_PYTHON
        from grader.entered import changed_in

        if not (sections := self.clean_sections()):
            return list(Form)
        try:
            changed = changed_in(self.clean_text, text)
        except NOT_PYTHON:  # the child that trains says so
            return list(Form)
        return [
            form
            for form in Form
            if (places := sections.get(f"entered:{form}")) is None
            or any((file, name, line) in changed for file, name, line in places)
        ]

    def whole_training(self, library: Library) -> Report:
        """The report on both forms: those that were trained, and those that need not be."""
        trained = library.jobs[library.last].get("forms", tuple(Form))
        known = [
            (form.value, section)
            for form in Form
            if form not in trained
            and (section := self.clean_sections().get(form.value)) is not None
        ]
        report = library.reports[library.last]
        return replace(report, frames=[*known, *report.frames])

    def clean_sections(self) -> dict[str, Any]:
        return {} if self.clean.training is None else self.clean.training.sections()

    def judge_complete(self) -> None:
        """Judges, in their order, the questions of which everything is known."""
        if self.proofs is None:
            hypothesis, torch = self.wait_for
            self.numbers = self.drawn(hypothesis)
            self.references = self.gather(torch)
            self.proofs = self.control(), self.sentinel()
        for library in self.broken[len(self.judged) :]:
            if not library.complete:
                return
            question = self.questions[len(self.judged)]
            self.judged.append(self.judge(question, library, *self.proofs))

    def mutate(self, brk: Break) -> Mapping[str, str]:
        return compiled(broken_text(self.bytes, brk), self.way)

    def clean_reading(self, scenario: Scenario) -> Reading:
        return self.clean.readings[self.index[scenario.lab, scenario.name, scenario.digest]]

    # -------------------------------------------------------------- Hypothesis

    def ask_hypothesis(self) -> Any:
        """Hypothesis, started; None where what it draws is known."""
        from grader import property_test

        known = self.cache.get(hypothesis_key())
        if isinstance(known, list) and known and all(type(number) is int for number in known):
            self.numbers = known
            return None
        return property_test.Asked()

    def drawn(self, hypothesis: Any) -> Sequence[int]:
        """The numbers that Hypothesis draws, kept for the next time."""
        if hypothesis is not None:
            self.numbers = hypothesis.answer()
            self.cache.put(hypothesis_key(), list(self.numbers))
        return self.numbers

    # -------------------------------------------------------------- references

    def ask_torch(self) -> Any:
        """Torch, started on the scenarios that it must be asked; None if it need not be."""
        from grader import torch_reference as torch

        self.known: dict[str, tuple[Any, str]] = {}  # digest → sections, torch version
        installed = kept.version_of("torch")
        files = {
            name: torch.read_references(self.folder, name)
            for name in dict.fromkeys(home(one) for one in self.scenarios)
        }
        for scenario in self.scenarios:
            sections, version = files[home(scenario)]
            if scenario.digest in sections and not self.live:
                self.known[scenario.digest] = (sections[scenario.digest], version)
            elif not self.live and installed:
                found = self.cache.get(self.torch_key(scenario, installed))
                if found is not None:
                    self.known[scenario.digest] = (found, installed)
        wanted = [s for s in self.scenarios if s.digest not in self.known]
        if not wanted or (not installed and not self.live):
            return None
        if not installed:
            todo = _("Install it (%(command)s), or leave out --live.") % {"command": torch.INSTALL}
            raise GraderError(_("torch, to ask it live"), _("not installed"), todo, code=4)
        return torch.Asked([as_job(s) for s in wanted], self.seed)

    def torch_key(self, scenario: Scenario, version: str) -> str:
        return kept.key_of(
            "torch", kept.FORMAT, kept.kit_digest(), scenario.digest, self.seed, version
        )

    def gather(self, asked: Any) -> dict[str, Any]:
        """By digest: torch's reading, or why there is none."""
        from grader import torch_reference as torch
        from grader.pool import End, Report
        from grader.reading import Reading

        if asked is not None:
            answer = asked.answer()
            for scenario in self.scenarios:
                if (sections := answer["scenarios"].get(scenario.digest)) is not None:
                    self.known[scenario.digest] = (torch.to_text(sections), answer["torch"])
                    key = self.torch_key(scenario, answer["torch"])
                    self.cache.put(key, self.known[scenario.digest][0])
        found: dict[str, Any] = {}
        for scenario in self.scenarios:
            if scenario.digest in self.known:
                frames = list(torch.from_text(self.known[scenario.digest][0]).items())
                found[scenario.digest] = Reading(Report(frames, End.DONE))
            else:
                found[scenario.digest] = (
                    "torch is not installed, and no reference was recorded for this scenario"
                )
        return found

    @property
    def torch_version(self) -> str:
        return ", ".join(sorted({version for _, version in self.known.values()}))

    # -------------------------------------------------------------- proofs

    def detect(self, scenario: Scenario, reading: Reading) -> dict[Detector, Result]:
        from grader.detectors import detect

        reference = self.references[scenario.digest]
        return {
            one: detect(one, scenario, reading, reference, lambda: self.numbers)
            for one in PER_SCENARIO
        }

    def control(self) -> int:
        """How many answers on the correct library are as they must be: all, or an error."""
        self.clean_results: list[dict[Detector, Result]] = []
        answers = 0
        for scenario, reading in zip(self.scenarios, self.clean.readings, strict=True):
            where = f"{scenario.lab} {scenario.name}"
            self.proven(reading, self.clean_text, CLEAN, where)
            results = self.detect(scenario, reading)
            for detector, result in results.items():
                self.as_it_must_be(scenario, detector, result, where)
            self.clean_results.append(results)
            answers += len(results)
        trained = self.trained(None, self.clean, "")
        self.trained_clean = trained
        for run in trained.runs:
            learnt = run.first is not None and run.last is not None and run.last < run.first / 2
            if run.outcome is not Outcome.SAME or run.error or not learnt or run.validation:
                found = (
                    run.error or run.validation or f"{run.outcome.value}, {run.first} → {run.last}"
                )
                raise self.no_control(_("a correct library that learns"), found, run.form.value)
        return answers + 1

    def no_control(self, expected: str, found: str, where: str, lab: str = "") -> GraderError:
        """The correct library is not silent: because it was edited, because a scenario of
        somebody's own is wrong, or because the kit is."""
        from breaks.library import shipped_sources

        todo = please_report()
        if self.bytes != dict(shipped_sources()):
            todo = _(
                "Nothing was scored. This copy of minitorch was edited, and is not the shipped one "
                "any more; if a break is in it, `breaks status` names it. Undo the edit, or work "
                "in a new workspace: breaks init DIR."
            )
        elif lab and not is_shipped(lab):
            todo = _(
                "Nothing was scored. Mend the scenario: on the correct library it must run, and "
                "its gradients must be those of its function."
            )
        return GraderError(expected, found, todo, code=5, where=where)

    def as_it_must_be(
        self, scenario: Scenario, detector: Detector, result: Result, where: str
    ) -> None:
        declared = detector.value in scenario.false_alarms
        if declared and result.answer is Answer.FIRES:
            return
        if not declared and result.answer is Answer.SILENT:
            return
        why = str(result.evidence.get("why", ""))
        if result.answer is Answer.UNAVAILABLE and not declared:
            no_reference = isinstance(self.references[scenario.digest], str)
            if detector is Detector.PYTORCH_DIFF and no_reference:
                return
            if not any(all(one.shape) for one in scenario.leaves):  # nothing has an entry
                return
        must = (
            _("a false alarm from %(detector)s, as declared")
            if declared
            else _("silence from %(detector)s on the correct library")
        ) % {"detector": detector.value}
        from grader.evidence import localised  # here: an answer does not depend on the words

        found = f"{result.answer.value}: {localised(why)}"
        raise self.no_control(must, found, where, scenario.lab)

    def sentinel(self) -> int:
        """How many detectors see the break that must be seen: all, or an error."""
        _clean, blind = self.proof
        scenario, (reading,) = self.scenarios[0], blind.readings
        seen = 0
        for detector, result in self.detect(scenario, reading).items():
            unreferenced = isinstance(self.references[scenario.digest], str)
            if detector is Detector.PYTORCH_DIFF and unreferenced:
                continue
            if result.answer is not Answer.FIRES:
                must = _("that %(detector)s sees the sentinel") % {"detector": detector.value}
                raise missing_proof(must, result.answer.value, scenario.name)
            seen += 1
        if self.trained(self.clean, blind, SENTINEL).outcome is not Outcome.CRASH:
            raise missing_proof(_("that training sees the sentinel"), _("it did not"), SENTINEL)
        return seen + 1

    def proven(
        self, reading: Reading, text: Mapping[str, str], label: str, where: str
    ) -> dict[str, str]:
        """The hashes that the child says it executed, if they are those of the intended text.

        A library that did not load has no functions to show: that it was the intended one follows
        from the error.
        """
        import hashlib

        proof = reading.raw("provenance")
        if not proof:
            crash = reading.crash("load")
            if crash is not None and label != CLEAN:
                return {}
            if crash is not None:
                raise self.no_control(_("a correct library that loads"), crash.text, where)
            raise missing_proof(_("a child that shows what it loaded"), _("no proof"), where)
        wanted = {name: hashlib.sha256(one.encode()).hexdigest() for name, one in text.items()}
        if proof.get("sha256") != wanted:
            raise missing_proof(_("the intended minitorch"), _("another text was executed"), where)
        if proof.get("foreign") or not proof.get("functions"):
            found = ", ".join(proof.get("foreign") or [_("no function")])
            raise missing_proof(_("functions of the intended minitorch"), found, where)
        return wanted

    # -------------------------------------------------------------- judging

    def trained(self, clean: Library | None, library: Library, label: str) -> TrainingObservation:
        from grader import training
        from grader.reading import Reading

        report = library.reports[library.last]
        self.proven(Reading(report), library.text, label or CLEAN, f"{label} training".strip())
        return training.observe(clean and clean.training, report, label)

    def judge(self, question: Question, library: Library, control: int, sentinel: int) -> Observed:
        from grader.difference import all_changed_lines, first_difference, how_many, reached
        from grader.graph import graph

        brk, text, live, observations = question.brk, library.text, 0, []
        proof: dict[str, str] = {}
        changed = all_changed_lines(self.clean_text, text)
        for scenario, reading in zip(question.every, library.readings, strict=True):
            clean = self.clean_reading(scenario)
            where = f"{brk.id}, {scenario.name}"
            proof = self.proven(reading, text, brk.id, where) or proof
            results = self.detect(scenario, reading)
            difference = first_difference(scenario, clean, reading, self.clean_text, text)
            nodes = graph(clean, reading) if difference.phase is not Phase.NOWHERE else ()
            reach = reached(difference, clean, reading, changed)
            one = Observation(
                scenario.lab,
                brk.id,
                scenario.name,
                difference,
                results,
                reading.notes,
                nodes,
                reach,
            )
            live += self.noticed(scenario, one)
            if scenario in question.scenarios:
                observations.append(one)
        trained = self.trained(self.clean, library, brk.id)
        live += trained.outcome is not Outcome.SAME
        if self.require_live:
            self.check_live(brk, live)
        order = {(one.lab, one.name): i for i, one in enumerate(question.scenarios)}
        observations.sort(key=lambda one: order[one.lab, one.scenario])
        return Observed(
            lab=question.lab,
            break_id=brk.id,
            observations=tuple(observations),
            training=trained,
            clean_training=self.trained_clean,
            proofs=Proofs(control, sentinel, live, proof, how_many(self.clean_text, text)),
            versions={**kept.versions(), "torch": self.torch_version},
            seed=self.seed,
            live=self.live,
        )

    def noticed(self, scenario: Scenario, one: Observation) -> bool:
        """Whether anything differs from the correct library in this scenario."""
        clean = self.clean_results[self.index[scenario.lab, scenario.name, scenario.digest]]
        return one.mode is not Mode.UNAFFECTED or any(
            one.detectors[name].answer is not result.answer for name, result in clean.items()
        )

    def check_live(self, brk: Break, live: int) -> None:
        if not live and not brk.equivalent:
            raise missing_proof(
                _("a break that changes something"),
                _("no scenario and no training shows it"),
                brk.id,
            )
        if live and brk.equivalent:
            found = _("%(count)d probes show it") % {"count": live}
            raise missing_proof(_("no difference, as the break declares"), found, brk.id)


def as_text(sources: Sources) -> dict[str, str]:
    """The texts of a library.  Raises GraderError (code 3) for one that is not in UTF-8."""
    texts = {}
    for module, source in sources.items():
        try:
            texts[module] = source.decode("utf-8")
        except UnicodeDecodeError as error:
            line = source.count(b"\n", 0, error.start) + 1
            raise GraderError(
                _("%(module)s in Python and UTF-8") % {"module": module},
                _("%(error)s on line %(line)d") % {"error": error.reason, "line": line},
                _("Mend the module first."),
                code=Exit.PRECONDITION,
            ) from None
    return texts


def broken_text(sources: Sources, brk: Break) -> dict[str, str]:
    """The text of the broken library; made once for each break and text."""
    from breaks.library import library_digest
    from breaks.rewrite import mutate

    key = kept.key_of(library_digest(sources), rules(brk))
    if key not in _MADE:
        while len(_MADE) >= 500:
            _MADE.pop(next(iter(_MADE)))
        _MADE[key] = as_text(mutate(sources, brk))
    return _MADE[key]


_MADE: dict[str, dict[str, str]] = {}


def rules(brk: Break) -> list[Any]:
    """What a break does to text, as plain data."""
    return [
        [r.module, r.scopes, r.patterns, r.replace, r.matches, dict(r.where)] for r in brk.rewrites
    ]


def blinded(text: Mapping[str, str]) -> dict[str, str]:
    """The sentinel: every op raises; a detector that is silent on it would be so on anything."""
    ops = "minitorch.tensor"
    return {**text, ops: text.get(ops, "") + RAISES}


RAISES = '\n\ndef record(*_):\n    raise RuntimeError("sentinel")\n'


def warm(scenarios: Sequence[Scenario], way: str, seed: int) -> None:
    """Imports, compiles and draws once, here, what forked children would each do for themselves."""
    from grader import child, entered, pool, training, world  # noqa: F401
    from labs import grammar

    if way == "spawn" or not pool.can_fork():
        return
    with contextlib.suppress(ImportError):
        import resource  # noqa: F401
    grammar.split()
    for scenario in scenarios:
        child.compiled(scenario.source, scenario.lab)
        draw(scenario, seed, own_shapes(scenario))
        if "gelu" in scenario.source:
            import scipy.special  # noqa: F401


def draw(scenario: Scenario, seed: int, shapes: dict[str, list[int]]) -> None:
    """Draws the numbers of a scenario in some shapes here, once for all children forked from here.

    What is large, or cannot be drawn, is left to a child: its memory and its time are limited.
    """
    from grader import child, property_test

    if property_test.weight(shapes) > SMALL:
        return
    job = as_job(scenario)
    with contextlib.suppress(ArithmeticError, TypeError, ValueError):
        child.numbers(job, seed, property_test.entries_for(job["inputs"], shapes))


def compiled(text: Mapping[str, str], way: str) -> Mapping[str, str]:
    """The text of a library, compiled here once for all children that are forked from here."""
    from breaks.source import NOT_PYTHON
    from grader import child, pool

    if way != "spawn" and pool.can_fork():
        with contextlib.suppress(*NOT_PYTHON):  # the child that loads it says so
            list(child.codes(dict(text)))
    return text


def apart(report: Report, count: int) -> list[Report]:
    """The reports on the jobs that one process did, of the `count` that it was given.

    Each is on a process that nobody had changed before.  How the process ended is said of the last.
    Printing, and bytes that are not the recorder's, are facts about the process: where it did
    several jobs, none is believed.
    """
    from grader.pool import End

    parts: list[list[tuple[str, Any]]] = []
    for kind, value in report.frames:
        if kind == "begin":
            parts.append([])
        elif parts:
            parts[-1].append((kind, value))
    if len(parts) > 1 and (len(parts) > count or report.output or report.notes):
        return []
    if len(parts) <= 1:
        return [report]
    ends = [*(End.DONE for _ in parts[1:]), report.end]
    return [replace(report, frames=part, end=end) for part, end in zip(parts, ends, strict=True)]
