"""What `grader` prints for people about a check: functions from data to at most 80 columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from breaks import console, i18n
from grader import plot
from grader.evidence import localised
from grader.graph import GraphNode, path
from grader.judge import Facet, Mark, ScenarioVerdict, Verdict, shape_text
from grader.recording import (
    Answer,
    Detector,
    Difference,
    Mode,
    Observation,
    Observed,
    Origin,
    Phase,
    Result,
    TrainingObservation,
    TrainingRun,
)
from grader.score import Calibration
from grader.words import meaning
from labs.model import Input, Lab, Loss, Scenario

_ = i18n.gettext
SURE = 80  # from here on a miss is a confident one


# --- heads --------------------------------------------------------------------------------------


def head(lab: Lab, break_id: str, step: int | None = None) -> str:
    """The lab, its title and the break; which of the three steps this is."""
    left = console.style(lab.id, "title") + "  " + i18n.pick(lab.title)
    left += f" {console.glyphs.bullet} " + break_id
    right = "" if step is None else _("step %(step)d of 3") % {"step": step}
    room = console.width() - console.cells(left) - console.cells(right)
    if not right or room < 2:
        return left
    return left + " " * room + console.style(right, "dim")


def task(scenario: Scenario) -> str:
    """A scenario in one line: its inputs, its expression, its loss."""
    return "   ".join(task_parts(scenario))


def task_parts(scenario: Scenario) -> list[str]:
    """The inputs, the expression (one that takes several lines stays so), the loss, the steps."""
    inputs = "  ".join(f"{one.name} {input_text(one)}" for one in scenario.inputs)
    loss = {
        Loss.SUM: "loss = y.sum()",
        Loss.WEIGHTED: "loss = (w * y).sum()",
        Loss.ITSELF: "loss = y",
    }[scenario.loss]
    several = "\n" in scenario.expression
    expression = scenario.expression if several else f"y = {scenario.expression}"
    parts = [inputs, expression, loss]
    if scenario.backward != 1:
        parts.append(_("backward() %(count)d times") % {"count": scenario.backward})
    if scenario.fit is not None:
        parts.append(_fit(scenario))
    return parts


def input_text(one: Input) -> str:
    """The shape of an input, and what is special about it; a short list of indices itself."""
    if one.is_integer and one.values is not None and len(one.shape) == 1 and one.shape[0] <= 8:
        return "[" + ", ".join(map(str, one.values)) + "]"
    notes = [] if one.dtype == "float64" else [one.dtype]
    notes += [_("constant")] if one.constant and not one.is_integer else []
    return shape_text(one.shape) + (f" {' '.join(notes)}" if notes else "")


def _fit(scenario: Scenario) -> str:
    fit = scenario.fit
    assert fit is not None
    said = [f"SGD lr {fit.lr:g}", _("steps %(count)d") % {"count": fit.steps}]
    said += [f"momentum {fit.momentum:g}"] if fit.momentum else []
    said += [f"weight_decay {fit.weight_decay:g}"] if fit.weight_decay else []
    said += [f"micro_batches {fit.micro_batches}"] if fit.micro_batches > 1 else []
    return ", ".join(said)


def scenario_head(scenario: Scenario, number: int, total: int) -> str:
    """Its number, name and title, then what is computed."""
    label = _("Scenario %(number)d/%(total)d") % {"number": number, "total": total}
    name, title = console.style(scenario.name, "title"), i18n.pick(scenario.title)
    head = _joined([f"{label}  {name}", title], "  ", "")
    return head + "\n" + _joined(task_parts(scenario), "   ", "  ")


def _joined(parts: Sequence[str], gap: str, indent: str) -> str:
    """The parts on as few lines as hold them; a line breaks between parts, not inside."""
    width, lines = console.width(), [""]
    for part in parts:
        if "\n" in part:
            lines += [*(indent + line for line in part.split("\n")), ""]
        elif not lines[-1]:
            lines[-1] = indent + part
        elif console.cells(lines[-1] + gap + part) <= width:
            lines[-1] += gap + part
        else:
            lines.append(indent + "  " + part)
    return "\n".join(console.wrap(line, width, hanging="    ") for line in lines if line)


def proofs(observed: Observed) -> str:
    """The proofs for a screen."""
    return console.style(_joined(proof_parts(observed), ", ", ""), "dim")


def proofs_text(observed: Observed) -> str:
    """The proofs as one sentence."""
    return ", ".join(proof_parts(observed))


def proof_parts(observed: Observed) -> list[str]:
    """Why the answers may be believed, how old they are, and which torch was asked."""
    seen = observed.proofs
    live = (
        i18n.ngettext(
            "break live (%(lines)d line changed)",
            "break live (%(lines)d lines changed)",
            seen.changed_lines,
        )
        if seen.live
        else _("no difference, as the break declares")
    ) % {"lines": seen.changed_lines}
    torch = observed.versions.get("torch") or ""
    source = _("torch %(version)s, live") if observed.live else _("torch %(version)s, recorded")
    when = (
        _("answered from the cache")
        if observed.cached
        else _("%(seconds).1f s") % {"seconds": observed.seconds}
    )
    return [
        _("control silent"),
        _("sentinel seen"),
        live,
        _("seed %(seed)d") % {"seed": observed.seed},
        source % {"version": torch} if torch else _("without torch"),
        when,
    ]


# --- one scenario -------------------------------------------------------------------------------

Row = tuple[str, str, str, str, str]  # what, said, mark, happened, points


def scenario(
    verdict: ScenarioVerdict,
    seen: Observation,
    asked: Scenario,
    number: int,
    total: int,
    *,
    predicted: bool = True,
    graph: bool = False,
) -> str:
    """Said beside happened, then what was observed, as evidence."""
    parts = [scenario_head(asked, number, total)]
    rows = list(_first_rows(verdict, seen.difference))
    rows += _detector_rows(verdict) if predicted else _seen_rows(verdict)
    if predicted:
        header = ["", _("you said"), "", _("what happened"), _("points")]
        parts.append(console.table(rows, header, align="<<<<>", indent="  "))
    else:
        parts.append(console.table([(r[0], r[3]) for r in rows], indent="  "))
    if verdict.because:
        parts.append(_lines([_("You wrote: %(text)s") % {"text": verdict.because}]))
    if verdict.hit is False and (verdict.confidence or 0) >= SURE:
        text = _("You were %(percent)d %% sure. Misses like this one are remembered best:")
        parts.append(_bang(text % {"percent": verdict.confidence}))
    if evidence := evidence_of(verdict, seen, asked, predicted):
        parts.append(_lines(evidence))
    if graph and (drawn := gradients(seen)):
        parts.append(drawn)
    return "\n".join(parts)


def evidence_of(
    verdict: ScenarioVerdict, seen: Observation, asked: Scenario, predicted: bool
) -> list[str]:
    """What was observed, in sentences with numbers."""
    evidence = [*_evidence(seen.difference), *_detector_evidence(verdict, seen, predicted)]
    alarms = [name for name in asked.false_alarms if seen.detectors[Detector(name)].fires]
    if alarms:
        text = _("%(names)s: a false alarm, on the correct library too")
        evidence.append(text % {"names": ", ".join(alarms)})
    return evidence + [_("Note: %(text)s") % {"text": localised(note)} for note in seen.notes]


def _lines(texts: Iterable[str]) -> str:
    """Each text a paragraph beside the table above it."""
    sign = console.glyphs.bullet
    width = console.width()
    return "\n".join(
        console.wrap(text, width, indent=f"  {sign} ", hanging="    ") for text in texts
    )


def _bang(text: str) -> str:
    sign = console.style(console.glyphs.warn, "warn")
    return console.wrap(text, console.width(), indent=f"  {sign} ", hanging="    ")


def mark(one: Mark) -> str:
    """A sign, in colour where that is wanted; the sign alone says it too."""
    return {
        Mark.RIGHT: console.style(console.glyphs.good, "good"),
        Mark.PARTLY: console.style("~", "warn"),
        Mark.WRONG: console.style(console.glyphs.bad, "bad"),
        Mark.OPEN: console.glyphs.dash,
        Mark.UNSCORED: console.glyphs.bullet,
    }[one]


def points(earned: float, possible: float) -> str:
    return f"{round(earned, 1):g}/{round(possible, 1):g}" if possible else ""


def _first_rows(verdict: ScenarioVerdict, seen: Difference) -> Iterable[Row]:
    phase, mode = verdict.facet("phase"), verdict.facet("mode")
    assert phase is not None
    assert mode is not None
    said = f"{phase.said} {mode.said}".strip()
    happened = f"{phase.happened} {mode.happened}"
    right = (phase.mark is Mark.RIGHT) + (mode.mark is Mark.RIGHT)
    sign = (Mark.WRONG, Mark.PARTLY, Mark.RIGHT)[right]
    if phase.mark in (Mark.OPEN, Mark.UNSCORED):
        sign = phase.mark
    earned, possible = phase.points + mode.points, phase.possible + mode.possible
    yield _("first differs"), said, mark(sign), happened, points(earned, possible)
    names = {
        "tensor": _("which tensor"),
        "shape": _("its shape"),
        "dtype": _("its dtype"),
        "values": _("its values"),
    }
    for facet in verdict.facets:
        if facet.name in names:
            happened = detail(facet, seen)
            said = facet.said or console.glyphs.dash
            yield (
                names[facet.name],
                said,
                mark(facet.mark),
                happened,
                points(facet.points, facet.possible),
            )
    if phase.why is not None:
        yield "", "", "", meaning(phase.why), ""


def detail(facet: Facet, seen: Difference) -> str:
    """What happened, with what should have."""
    if facet.name == "tensor":
        return tensor_text(seen)
    if facet.name == "shape" and seen.expected_shape is not None:
        shape = shape_text(seen.expected_shape)
        return _("%(found)s, should be %(expected)s") % {"found": facet.happened, "expected": shape}
    if facet.name == "dtype" and seen.expected_dtype:
        return _("%(found)s, should be %(expected)s") % {
            "found": facet.happened,
            "expected": seen.expected_dtype,
        }
    return facet.happened.replace("×", console.glyphs.times)


def tensor_text(seen: Difference) -> str:
    """The tensor that differs first, and which others do."""
    end = ".grad" if seen.phase is Phase.BACKWARD else ""
    also = [f"{name}{end}" for name in seen.evidence.get("also", ())]
    text = seen.tensor + end
    return (
        text
        if not also
        else _("%(tensor)s, also %(others)s")
        % {
            "tensor": text,
            "others": ", ".join(also),
        }
    )


def _detector_rows(verdict: ScenarioVerdict) -> Iterable[Row]:
    """The detectors that went otherwise, one by one; those that are right, together."""
    right = [one for one in verdict.detectors if one.mark is Mark.RIGHT]
    for facet in verdict.detectors:
        if facet.mark is not Mark.RIGHT:
            note = _("not scored") if facet.mark is Mark.UNSCORED else ""
            said = facet.said or console.glyphs.dash
            yield facet.name, said, mark(facet.mark), facet.happened, note
    if right:
        whole = len(right) == len(verdict.detectors)
        label = _("all detectors") if whole else _("the others")
        yield label, _as_said(right), mark(Mark.RIGHT), _answers(right), ""


def _seen_rows(verdict: ScenarioVerdict) -> Iterable[Row]:
    """What the detectors did, those with the same answer together."""
    if verdict.detectors:
        answers = _answers(verdict.detectors)
        label = _("all detectors") if "\n" not in answers else _("detectors")
        yield label, "", "", answers, ""


def _as_said(facets: Sequence[Facet]) -> str:
    words = {facet.said for facet in facets}
    return words.pop() if len(words) == 1 else _("as it happened")


def _answers(facets: Sequence[Facet]) -> str:
    """The answers of several detectors, those with the same answer together."""
    groups: dict[str, list[str]] = {}
    for facet in facets:
        groups.setdefault(facet.happened, []).append(facet.name)
    if len(groups) == 1:
        return next(iter(groups))
    return "\n".join(f"{answer}: {' '.join(names)}" for answer, names in groups.items())


def _evidence(seen: Difference) -> Iterable[str]:
    """What was observed, in numbers, and where the fault starts."""
    evidence = seen.evidence
    if seen.error:
        yield localised(seen.error)
    if "found" in evidence and seen.mode is not Mode.UNAFFECTED:
        yield (
            _("%(tensor)s is %(found)s")
            % {
                "tensor": _named(seen),
                "found": localised(str(evidence["found"])),
            }
            + "\n"
            + _("should be %(expected)s")
            % {"expected": localised(str(evidence.get("expected", "?")))}
        )
    if evidence.get("wrong") is not None and seen.mode is Mode.WRONG_VALUES:
        text = _("%(wrong)d of %(entries)d entries are wrong")
        if evidence.get("max_error") is not None:
            text = _("%(wrong)d of %(entries)d entries are wrong, by up to %(error).4g")
        yield text % {
            "wrong": evidence["wrong"],
            "entries": evidence.get("entries", 0),
            "error": evidence.get("max_error") or 0.0,
        }
    if seen.origin is not None:
        yield origin(seen.origin)


def _named(seen: Difference) -> str:
    return seen.tensor + (".grad" if seen.phase is Phase.BACKWARD else "")


def origin(one: Origin) -> str:
    """Where the fault starts: the place, the line, and what it did."""
    place = one.module.replace(".", "/") + f".py:{one.line}" if one.line else one.module or one.node
    text = origin_text(one, console.style(place, "place"))
    room = console.width() - 8
    code = one.text if len(one.text) <= room else one.text[: room - 3] + "..."
    return text + (f"\n  {code}" if code else "")


def origin_text(one: Origin, place: str) -> str:
    """What may be said of the place: a line that the break leaves alone starts nothing."""
    if starts(one):
        return _("It starts in %(place)s") % {"place": place}
    text = _("It shows first in %(place)s, a line that the break does not change")
    return text % {"place": place}


def starts(one: Origin | None) -> bool:
    """Whether the fault is known to start here; else it only shows here first."""
    return one is not None and (one.changed or not one.line)


def _detector_evidence(
    verdict: ScenarioVerdict, seen: Observation, predicted: bool
) -> Iterable[str]:
    """The reason of each detector that surprised, and the smallest case of the property test."""
    reasons: dict[str, list[str]] = {}  # one reason may be that of several detectors
    for facet in verdict.detectors:
        result = seen.detectors[Detector(facet.name)]
        if facet.name == Detector.PROPERTY_TEST and result.fires and verdict.hit is not True:
            continue
        surprising = facet.mark in (Mark.WRONG, Mark.UNSCORED) or not predicted
        why = str(result.evidence.get("why") or "")
        said_already = bool(seen.difference.error) and seen.difference.error in why
        if surprising and why and not said_already:
            reasons.setdefault(localised(why), []).append(facet.name)
        elif facet.mark is Mark.WRONG and result.answer is Answer.SILENT:
            text = _("looked at %(count)s entries and found nothing")
            looked = text % {"count": result.evidence.get("checked", "?")}
            reasons.setdefault(looked, []).append(facet.name)
    yield from (f"{', '.join(names)}: {why}" for why, names in reasons.items())
    result_of = seen.detectors.get(Detector.PROPERTY_TEST)
    if result_of is not None and result_of.fires and verdict.hit is not True:
        yield from _smallest(result_of)


def _smallest(result: Result) -> Iterable[str]:
    """The smallest shapes that reveal the fault, and the smallest that hide it."""
    why = localised(str(result.evidence.get("why") or ""))
    text = _("%(detector)s, smallest failing case: %(case)s")
    text = text % {"detector": result.detector.value, "case": why}
    hiding = result.evidence.get("hiding")
    if isinstance(hiding, Mapping):
        shapes = "  ".join(f"{name} {shape_text(shape)}" for name, shape in hiding.items())
        text += "; " + _("with %(shapes)s it hides") % {"shapes": shapes}
    yield text


# --- the graph ----------------------------------------------------------------------------------


def gradients(seen: Observation) -> str:
    """The graph from the leaf back to where the fault starts or shows: correct against broken."""
    nodes, start = seen.graph, seen.difference
    forward = start.phase is Phase.FORWARD
    if not nodes or start.phase not in (Phase.FORWARD, Phase.BACKWARD):
        return ""
    stop = start.origin.node if start.origin else ""
    way = list(path(nodes, stop if forward else start.tensor))
    if not way:
        return ""
    names = [nodes[i].name for i in way]
    if forward:
        way.reverse()  # from the result back to the first wrong value
        names.reverse()
    last = names.index(stop) if stop in names else len(way) - 1
    way = way[: last + (1 if forward else 2)]  # backwards, one node more, which is still right
    rows: list[tuple[str, str, str]] = []
    for i in way:
        rows += _node_rows(nodes[i], forward, nodes[i].name == stop)
    if not any(row[0] for row in rows):
        return ""
    title = {
        (True, True): _(
            "Values from the result back to where the fault starts (- correct, + broken):"
        ),
        (True, False): _(
            "Values from the result back to the first wrong one (- correct, + broken):"
        ),
        (False, True): _(
            "Gradients from the leaf back to where the fault starts (- correct, + broken):"
        ),
        (False, False): _(
            "Gradients from the leaf back to the first wrong one (- correct, + broken):"
        ),
    }[forward, starts(start.origin)]
    table = console.table(rows, indent="  ")
    coloured = [_tinted(line) for line in table.split("\n")]
    head = console.wrap(title, console.width(), indent="  ")
    return head + "\n" + "\n".join(coloured)


def _node_rows(node: GraphNode, forward: bool, starts: bool) -> list[tuple[str, str, str]]:
    value = node.data if forward else node.grad
    name = f"{node.name} = {node.op}" if node.op and node.name in ("y", "loss") else node.name
    if not value.differs:
        return [("", name, value.clean)]
    here = "   " + console.glyphs.arrow + " " + _("here") if starts else ""
    broken = value.broken or _("not reached")
    return [("-", name, value.clean), ("+", name, broken + here)]


def _tinted(line: str) -> str:
    sign = line.lstrip()[:1]
    role = {"-": "removed", "+": "added"}.get(sign)
    return console.style(line, role) if role and line.startswith(f"  {sign} ") else line


# --- the whole check ----------------------------------------------------------------------------


def check(
    lab: Lab,
    verdict: Verdict,
    observed: Observed,
    *,
    calibration: Calibration | None = None,
    notes: Sequence[str] = (),
    following: str = "",
    scored: bool = True,
) -> str:
    """The verdict of one check, what surprises most first."""
    parts = [head(lab, verdict.break_id, 2) + "\n" + proofs(observed)]
    parts += [_bang(note) for note in notes]
    order = [one.scenario for one in observed.observations]
    drawn = _to_draw(verdict, observed)
    ranked = verdict.by_surprise if verdict.predicted else verdict.scenarios
    for one in ranked:
        parts.append(
            scenario(
                one,
                observed.observation(one.scenario),
                lab.scenarios[one.scenario],
                order.index(one.scenario) + 1,
                len(order),
                predicted=verdict.predicted,
                graph=one.scenario == drawn,
            )
        )
    if observed.training is not None:
        parts.append(
            training(
                observed.training, observed.clean_training, verdict.training, verdict.predicted
            )
        )
    if verdict.predicted:
        parts.append(detectors(verdict))
        if calibration is not None and calibration.ready:
            parts.append(calibration_table(calibration))
    parts.append(ending(verdict, following, scored=scored))
    return "\n\n".join(parts)


def _to_draw(verdict: Verdict, observed: Observed) -> str:
    """The scenario whose graph is shown: the greatest surprise that has one to show."""
    for one in verdict.by_surprise:
        if gradients(observed.observation(one.scenario)):
            return one.scenario
    return ""


def detectors(verdict: Verdict) -> str:
    """Each detector over all scenarios: points are for the exceptions to its usual answer."""
    rows = []
    for one in verdict.detectors:
        usual = _("%(answer)s in %(count)d of %(all)d") % {
            "answer": one.constant,
            "count": one.constant_right,
            "all": one.asked,
        }
        right = _("%(right)d of %(all)d") % {"right": one.right, "all": one.asked}
        worth = points(one.points, one.possible) or _("always the same")
        rows.append([one.detector, right, usual, worth])
    if not rows:
        return ""
    header = [_("Detectors"), _("right"), _("most often"), _("points")]
    text = _("A constant answer earns nothing here: points are for knowing when it changes.")
    return (
        console.table(rows, header, align="<<<>")
        + "\n"
        + console.style(console.wrap(text, console.width()), "dim")
    )


def calibration_table(table: Calibration) -> str:
    """How sure, beside how often right; never part of a grade."""
    rows = [
        [f"{row.level} %", row.answers, row.hits, f"{100 * row.rate:.0f} %"] for row in table.rows
    ]
    header = [_("how sure"), _("answers"), _("right"), _("in percent")]
    text = _("Brier %(value).2f (0 is best; 0.25 is a coin). Shown, never graded.")
    return (
        console.style(_("Calibration"), "title")
        + "\n"
        + console.table(rows, header, align=">>>>", indent="  ")
        + "\n"
        + console.wrap(text % {"value": table.brier or 0.0}, console.width(), indent="  ")
    )


def ending(verdict: Verdict, following: str, *, scored: bool = True) -> str:
    """The score and the next command."""
    if not verdict.predicted:
        text = _("Shown without a prediction: nothing is scored.")
    elif verdict.score is None:
        text = _("Nothing could be scored.")
    else:
        number = console.style(f"{verdict.score:.1f}", "strong")
        text = _("Scored %(score)s of 10.") % {"score": number}
        if verdict.misses:
            text += " " + _("Wrong is fine: nothing is lost.")
        if not scored:
            text = _("%(score)s of 10, if it were committed.") % {"score": number}
    return console.wrap(text, console.width()) + (
        f"\n\n{following_line(following)}" if following else ""
    )


def following_line(command: str) -> str:
    return _("next") + "  " + console.style(command, "command")


# --- training -----------------------------------------------------------------------------------


def training(
    seen: TrainingObservation,
    clean: TrainingObservation | None,
    facets: Sequence[Facet] = (),
    predicted: bool = False,
) -> str:
    """What training did, beside what was said, with each curve in one line."""
    title = console.style(_("Training the grammar MLP"), "title")
    parts = [title]
    if facets and predicted:
        rows = []
        names = {"outcome": _("how it goes"), "stopped": _("where it stops")}
        for facet in facets:
            note = points(facet.points, facet.possible) or (meaning(facet.why) if facet.why else "")
            said = facet.said or console.glyphs.dash
            rows.append([names[facet.name], said, mark(facet.mark), facet.happened, note])
        header = ["", _("you said"), "", _("what happened"), _("points")]
        parts.append(console.table(rows, header, align="<<<<>", indent="  "))
    parts.append(curves(seen, clean))
    return "\n".join(parts)


def curves(seen: TrainingObservation, clean: TrainingObservation | None) -> str:
    """Each form of the model: its curve, correct and broken, on one scale."""
    rows = []
    for run in seen.runs:
        other = None if clean is None else next((r for r in clean.runs if r.form is run.form), None)
        rows += form_rows(run, other)
    header = [_("form"), "", _("loss"), "", _("to floor"), _("outcome")]
    return console.table(rows, header, align="<<<<>", indent="  ")


def form_rows(run: TrainingRun, clean: TrainingRun | None) -> list[list[str]]:
    known = [x for one in (run, clean) if one for x in one.losses[:1] if x is not None]
    high = max(known, default=run.floor + 1.0)
    rows = [_curve_row(run, _("broken") if clean else "", run.floor, high, True)]
    if clean is not None:
        rows.insert(0, _curve_row(clean, _("correct"), run.floor, high, False))
        rows[1][0] = ""
    return rows


def _curve_row(run: TrainingRun, label: str, low: float, high: float, told: bool) -> list[str]:
    spark = plot.sparkline(run.losses, 16, low, high)
    word = run.outcome.value if told else ""
    if told and run.outcome.value == "crash":
        word += f" {run.phase.value}"
    return [run.form.value, label, spark, change(run), number(run.distance, 2), word]


def change(run: TrainingRun) -> str:
    """The first and the last loss."""
    return f"{number(run.first, 2)} {console.glyphs.arrow} {number(run.last, 2)}"


def number(value: float | None, digits: int = 3) -> str:
    """A number of a table; one that has run away as a power of ten."""
    if value is None:
        return console.glyphs.dash
    return f"{value:.{digits}f}" if abs(value) < 1e5 else f"{value:.0e}"


def floor_text(floor: float) -> str:
    """What the floor is, and why validation cannot be better than chance."""
    text = _(
        "Floor %(floor).3f: the conditional entropy of the tense given verb and person on the 60"
        " training cells; no honest function of the input gets below it. Of the 30 validation cells"
        " 23 repeat a pair of verb and person with another tense, and 7 have a new pair: nothing"
        " better than chance, 0.2, is to be expected there."
    )
    return text % {"floor": floor}
