"""Pages: what a check, a training or the matrix shows, as one self-contained HTML file.

No network, no script, readable as text: the pictures are SVG with titles and descriptions, every
number that they show stands in a table or a sentence as well.  Whatever a learner wrote is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from breaks import __version__, i18n
from breaks.layout import ANSI
from breaks.model import Break
from grader import outfile, pictures, screens
from grader.graph import Cells, GraphNode
from grader.judge import Facet, Mark, ScenarioVerdict, Verdict
from grader.recording import (
    Detector,
    Form,
    Observation,
    Observed,
    Phase,
    TrainingObservation,
    TrainingRun,
)
from grader.score import Calibration
from grader.train import happened
from grader.words import meaning
from labs.model import Lab, Scenario

_ = i18n.gettext
Json = dict[str, Any]
PAGES = Path(__file__).with_name("pages")
MOST_MAPS = 6  # tensors of a scenario that are drawn


# --- pages --------------------------------------------------------------------------------------


def render(page: str, by: str, title: str, **what: Any) -> str:
    """A page from its template; every text in it is escaped, every picture is ours.

    `by` is the command that makes it.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(PAGES),
        autoescape=lambda name: name is None or not name.endswith(".css"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    words = {
        "skip": _("Skip to the content"),
        "contents": _("Contents"),
        "diff": _("What the break changes"),
        "training": _("Training the grammar MLP"),
        "matrix": _("Its row of the kill matrix"),
        "calibration": _("Calibration"),
    }
    foot = _("Made by `%(command)s`; nothing on this page comes from the network.") % {
        "command": by
    }
    return environment.get_template(page).render(
        title=title, version=__version__, language=i18n.language(), words=words, foot=foot, **what
    )


MARK = b'<meta name="generator" content="breaklabs">'  # stands in base.html


def write(file: str, text: str) -> None:
    """The page in a file, whole or not at all."""
    outfile.write(Path(file), text.encode("utf-8"), MARK)


def picture(text: str, label: str = "", words: str = "") -> Json:
    """A picture for the template: SVG that is safe, because pictures.py escapes what it draws."""
    from markupsafe import Markup

    return {"svg": Markup(text), "label": label, "text": words}


def table(
    caption: str, header: Sequence[str], rows: Iterable[Sequence[object]], kinds: Sequence[str] = ()
) -> Json:
    """A table for the template."""
    body = [[str(cell) for cell in row] for row in rows]
    marked = [*kinds, *([""] * (len(body) - len(kinds)))]
    return {
        "caption": caption,
        "header": list(header),
        "rows": [{"cells": row, "kind": kind} for row, kind in zip(body, marked, strict=True)],
    }


# --- the report of a check ----------------------------------------------------------------------


def lab_page(
    parts: Sequence[tuple[Lab, Break, Verdict, Observed, str]], calibration: Calibration | None
) -> str:
    """Everything about some checked breaks.  The last of each part is the break's diff."""
    views = [_part(*part, number=n) for n, part in enumerate(parts, start=1)]
    labs = list(dict.fromkeys(part[0].id for part in parts))
    first = parts[0][0]
    title = f"{first.id} {i18n.pick(first.title)}" if len(labs) == 1 else _("All labs")
    contents = [{"id": view["id"], "title": view["title"]} for view in views]
    shown = calibration if calibration is not None and calibration.ready else None
    if shown is not None:
        contents.append({"id": "calibration", "title": _("Calibration")})
    return render(
        "report.html",
        "grader report",
        title,
        lead=[screens.proofs_text(parts[0][3])] if len(parts) == 1 else [],
        contents=contents,
        parts=views,
        calibration=None if shown is None else _calibration(shown),
    )


def _part(
    lab: Lab, brk: Break, verdict: Verdict, seen: Observed, diff: str, *, number: int
) -> Json:
    name = f"part{number}"
    scenarios = [
        _scenario(
            one,
            seen.observation(one.scenario),
            lab.scenarios[one.scenario],
            verdict.predicted,
            name,
        )
        for one in verdict.scenarios
    ]
    lead = [i18n.pick(brk.title)]
    if verdict.score is not None:
        lead.append(_("Scored %(score)s of 10.") % {"score": f"{verdict.score:.1f}"})
    elif not verdict.predicted:
        lead.append(_("Shown without a prediction: nothing is scored."))
    return {
        "id": name,
        "title": f"{lab.id} {brk.id}",
        "lead": lead,
        "diff": _diff(diff),
        "scenarios": scenarios,
        "training": None if seen.training is None else _training(verdict, seen),
        "matrix": _matrix_row(seen),
    }


def _diff(text: str) -> list[Json]:
    kinds = {"@": "place", "+": "added", "-": "removed"}
    return [
        {"text": line, "kind": "place" if line[:3] in ("---", "+++") else kinds.get(line[:1], "")}
        for line in text.rstrip("\n").split("\n")
        if text
    ]


MARKS = {
    Mark.RIGHT: "✓",
    Mark.PARTLY: "~",
    Mark.WRONG: "✗",
    Mark.OPEN: "–",
    Mark.UNSCORED: "·",
}


def mark_words(mark: Mark) -> str:
    """The sign and the word: a screen reader says the word."""
    words = {
        Mark.RIGHT: _("right"),
        Mark.PARTLY: _("partly right"),
        Mark.WRONG: _("wrong"),
        Mark.OPEN: _("left open"),
        Mark.UNSCORED: _("not scored"),
    }
    return f"{MARKS[mark]} {words[mark]}"


def _scenario(
    one: ScenarioVerdict, seen: Observation, asked: Scenario, predicted: bool, part: str
) -> Json:
    facets = [*one.facets, *one.detectors]
    evidence = screens.evidence_of(one, seen, asked, predicted)
    return {
        "id": f"{part}-{one.scenario}",
        "title": f"{one.scenario}: {i18n.pick(asked.title)}",
        "task": screens.task(asked),
        "table": _facets(one, facets, predicted, seen),
        "because": one.because,
        "evidence": [ANSI.sub("", text) for text in evidence],  # a page has no terminal's colours
        "figures": [*_heat_maps(seen), *_graph(seen)],
    }


def _facets(
    one: ScenarioVerdict, facets: Sequence[Facet], predicted: bool, seen: Observation
) -> Json:
    names = {
        "phase": _("where it first differs"),
        "mode": _("how"),
        "tensor": _("which tensor"),
        "shape": _("its shape"),
        "dtype": _("its dtype"),
        "values": _("its values"),
    }
    rows = []
    kinds = []
    for facet in facets:
        happened = screens.detail(facet, seen.difference) if facet.name in names else facet.happened
        label = names.get(facet.name, facet.name)
        if predicted:
            judged = mark_words(facet.mark)
            earned = screens.points(facet.points, facet.possible)
            rows.append([label, facet.said or "–", happened, judged, earned])
        else:
            rows.append([label, happened])
        kinds.append("wrong" if facet.mark is Mark.WRONG and predicted else "")
    caption = _("Predicted and observed in %(name)s") % {"name": one.scenario}
    if predicted and one.confidence is not None:
        caption += "; " + _("you were %(percent)d %% sure") % {"percent": one.confidence}
    header = [_("what"), _("you said"), _("what happened"), _("verdict"), _("points")]
    return table(caption, header if predicted else [header[0], header[2]], rows, kinds)


# --- pictures of a scenario ---------------------------------------------------------------------


def _heat_maps(seen: Observation) -> Iterable[Json]:
    """The tensors that differ, expected beside observed beside their difference."""
    forward = seen.phase is Phase.FORWARD
    drawn = 0
    for node in seen.graph:
        value = node.data if forward else node.grad
        if not value.differs or drawn == MOST_MAPS or not (forward or node.needs_grad):
            continue
        if value.clean_cells is None and value.broken_cells is None:
            continue
        drawn += 1
        yield _maps(node, forward)


def _maps(node: GraphNode, forward: bool) -> Json:
    value = node.data if forward else node.grad
    name = node.name if forward else f"{node.name}.grad"
    largest = pictures.largest_of(value.clean_cells, value.broken_cells)
    shown = [
        _map(value.clean_cells, value.clean, _("expected"), name, largest),
        _map(value.broken_cells, value.broken, _("observed"), name, largest),
    ]
    apart = None
    if value.clean_cells and value.broken_cells:
        apart = pictures.difference(value.broken_cells, value.clean_cells)
    if apart is not None:
        label = _("difference")
        scale = pictures.largest_of(apart)
        text = pictures.heat_map(apart, f"{name}, {label}", scale)
        shown.append(picture(text, label))
    else:
        shown.append(picture("", _("difference"), _("None: the two have different shapes.")))
    caption = _("%(name)s: expected, observed, and observed minus expected")
    return {"caption": caption % {"name": name}, "pictures": shown}


def _map(cells: Cells | None, short: str, label: str, name: str, largest: float) -> Json:
    if cells is None:
        return picture("", label, short or _("not reached"))
    shape = str(tuple(cells["shape"]))
    if not cells["entries"]:
        return picture("", label, _("empty, shape %(shape)s") % {"shape": shape})
    return picture(pictures.heat_map(cells, f"{name}, {label}", largest), f"{label} {shape}")


def _graph(seen: Observation) -> Iterable[Json]:
    if not seen.graph or seen.phase not in (Phase.FORWARD, Phase.BACKWARD):
        return
    origin = seen.origin
    first = origin.node if origin else ""
    title = _("The computational graph of %(name)s") % {"name": seen.scenario}
    text = pictures.computational_graph(seen.graph, seen.phase, first, title)
    caption = (
        _("Values flow down. ✗ and a dashed border: the value differs.")
        if seen.phase is Phase.FORWARD
        else _("Values flow down, gradients up. ✗ and a dashed border: the gradient differs.")
    )
    if first in [node.name for node in seen.graph]:
        caption += " " + _("⚑ and a thick border: the first that differs.")
    if origin is not None and origin.line:
        place = origin.module.replace(".", "/") + f".py:{origin.line}"
        caption += f" {screens.origin_text(origin, place)}: {origin.text}"
    yield {"caption": caption, "pictures": [picture(text)]}


# --- training, matrix, calibration --------------------------------------------------------------


def _training(verdict: Verdict, seen: Observed) -> Json:
    assert seen.training is not None
    names = {"outcome": _("how it goes"), "stopped": _("where it stops")}
    said = None
    if verdict.predicted:
        rows = [
            [
                names[f.name],
                f.said or "–",
                f.happened,
                mark_words(f.mark),
                screens.points(f.points, f.possible),
            ]
            for f in verdict.training
        ]
        header = [_("what"), _("you said"), _("what happened"), _("verdict"), _("points")]
        said = table(_("Predicted and observed in training"), header, rows)
    return {
        "said": said,
        "table": _runs(seen.training, seen.clean_training),
        "figures": [
            _curves(run, _run_of(seen.clean_training, run.form), verdict.break_id)
            for run in seen.training.runs
        ],
    }


def _runs(seen: TrainingObservation, clean: TrainingObservation | None) -> Json:
    rows = []
    for run in seen.runs:
        other = _run_of(clean, run.form)
        if other is not None:
            rows.append([run.form.value, _("correct"), *_numbers(other), "", ""])
        rows.append([run.form.value, _("broken"), *_numbers(run), run.outcome.value, happened(run)])
    caption = _("Training in numbers; the floor is %(floor).3f") % {"floor": seen.runs[0].floor}
    return table(caption, [_("form"), _("library"), *_training_header()[1:]], rows)


def _training_header() -> list[str]:
    return [
        _("form"),
        _("first loss"),
        _("last loss"),
        _("distance to the floor"),
        _("validation accuracy"),
        _("outcome"),
        _("what happened"),
    ]


def _numbers(run: TrainingRun) -> list[str]:
    return [screens.number(v) for v in (run.first, run.last, run.distance, run.accuracy)]


def _run_of(seen: TrainingObservation | None, form: Form) -> TrainingRun | None:
    return None if seen is None else next((r for r in seen.runs if r.form is form), None)


def _curves(broken: TrainingRun | None, clean: TrainingRun | None, name: str) -> Json:
    run = broken or clean
    assert run is not None
    title = _("Loss of the %(form)s form: %(id)s") % {"form": run.form.value, "id": name}
    text = pictures.loss_curves(broken, clean, title)
    if broken is None:
        legend = _("Dashed: the correct library. Dotted: the floor.")
    elif not pictures.has_losses(broken):
        legend = _(
            "Dashed: the correct library. Dotted: the floor. The broken one has no loss to draw."
        )
    else:
        legend = _("Dashed: the correct library. Solid: the broken one. Dotted: the floor.")
    return {"caption": f"{title}. {legend}", "pictures": [picture(text)]}


def _matrix_row(seen: Observed) -> Json:
    header = [_("scenario"), *(d.value for d in Detector)]
    rows = []
    for one in seen.observations:
        cells = [
            answer_words(one.detectors[d].answer.value) if d in one.detectors else ""
            for d in Detector
            if d is not Detector.TRAINING
        ]
        rows.append([one.scenario, *cells, ""])
    if seen.training is not None:
        blank = [""] * (len(Detector) - 1)
        rows.append([_("training"), *blank, answer_words(seen.training.result.answer.value)])
    caption = _("Which detector sees %(id)s, and where") % {"id": seen.break_id}
    return table(caption, header, rows)


def answer_words(answer: str) -> str:
    """The sign and the word."""
    return {"fires": "● fires", "silent": "○ silent"}.get(answer, answer)


def _calibration(shown: Calibration) -> Json:
    rows = [
        [f"{row.level} %", row.answers, row.hits, f"{100 * row.rate:.0f} %"] for row in shown.rows
    ]
    header = [_("how sure"), _("answers"), _("right"), _("in percent")]
    text = _("Brier %(value).2f (0 is best; 0.25 is a coin). Shown, never graded.")
    return {
        "table": table(_("How sure, and how often right"), header, rows),
        "text": text % {"value": shown.brier or 0.0},
    }


# --- training under many breaks, and the matrix -------------------------------------------------


def training_page(
    clean: TrainingObservation, found: Sequence[TrainingObservation], forms: Sequence[Form]
) -> str:
    """A table over all breaks, and every curve that is not that of the correct library."""
    parts = []
    for form in forms:
        before = _run_of(clean, form)
        assert before is not None
        rows = [[_("correct library"), *_numbers(before), "", ""]]
        figures = []
        for seen in found:
            run = _run_of(seen, form)
            assert run is not None
            rows.append([seen.break_id, *_numbers(run), run.outcome.value, happened(run)])
            if run.outcome.value != "same":
                figures.append(_curves(run, before, seen.break_id))
        if not found:
            figures.append(_curves(None, before, _("correct library")))
        caption = _("The %(form)s form; the floor is %(floor).3f")
        header = [_("break"), *_training_header()[1:]]
        parts.append(
            {
                "id": f"form-{form.value}",
                "title": form.value,
                "lead": [],
                "tables": [
                    table(caption % {"form": form.value, "floor": before.floor}, header, rows)
                ],
                "figures": figures,
            }
        )
    title = _("Training the grammar MLP")
    lead = [screens.floor_text(clean.runs[0].floor)]
    by = "grader train --html"
    return render("tables.html", by, title, lead=lead, contents=_contents(parts), parts=parts)


def _contents(parts: Sequence[Mapping[str, Any]]) -> list[Json]:
    return [{"id": part["id"], "title": part["title"]} for part in parts]


def legend() -> list[str]:
    """What each detector is, in a sentence each."""
    return [f"{d.value}: {meaning(d)}." for d in Detector]
