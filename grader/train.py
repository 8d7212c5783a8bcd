"""`grader train`: the grammar MLP on the correct library and on broken ones, a row for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from breaks import console, i18n
from breaks.console import Reply
from breaks.errors import BreaksError
from breaks.model import Break
from grader import plot, screens
from grader.evidence import localised
from grader.recording import Form, Outcome, TrainingObservation, TrainingRun
from grader.session import Session, progressing
from grader.words import meaning

_ = i18n.gettext
Progress = Callable[[int, int, str], None]
FORMS = {"one-hot": (Form.ONE_HOT,), "embedding": (Form.EMBEDDING,), "both": tuple(Form)}


def train(here: Session, ids: Sequence[str], *, every: bool, form: str, file: str | None) -> Reply:
    """Trains and shows: one break with its curve, several as a table."""
    if every and ids:
        raise BreaksError(
            _("IDs or --all"), _("both"), _("Leave one of them out: --all trains under each break.")
        )
    names = list(dict.fromkeys(ids))
    breaks = list(here.catalogue) if every else [here.catalogue.get(name) for name in names]
    with progressing(_("training")) as progress:
        clean, found = observe(here, breaks, progress)
    forms = FORMS[form]
    document: dict[str, Any] = {
        "clean": _only(clean, forms).to_json(),
        "breaks": [_only(one, forms).to_json() for one in found],
    }
    if file is not None:
        from grader import report

        report.write(file, report.training_page(clean, found, forms))
        document["html"] = file
    return Reply(document, lambda: _screen(clean, found, forms, file))


def _only(seen: TrainingObservation, forms: Sequence[Form]) -> TrainingObservation:
    """The observation of some forms alone."""
    return TrainingObservation(seen.break_id, tuple(run for run in seen.runs if run.form in forms))


def observe(
    here: Session, breaks: Sequence[Break], progress: Progress
) -> tuple[TrainingObservation, list[TrainingObservation]]:
    """The training of the correct library, and of each break; every child shows what it ran."""
    from grader.observe import CLEAN, Run, compiled, training_of, warm
    from grader.pool import Report
    from grader.pool import run as pooled
    from grader.reading import Reading
    from grader.training import observe as judge

    run = Run([], here.sources)
    texts = [compiled(run.clean_text, ""), *map(run.mutate, breaks)]
    labels = [CLEAN, *(brk.id for brk in breaks)]
    warm([], "", run.seed)
    jobs = [{**training_of(run.seed), "sources": text} for text in texts]
    done = 0

    def tell(_index: int, _report: Report) -> None:
        nonlocal done
        done += 1
        progress(done, len(jobs), "")

    reports = pooled(jobs, on_done=tell)
    for text, label, report in zip(texts, labels, reports, strict=True):
        run.proven(Reading(report), text, label, label)
    clean = judge(None, reports[0], "")
    for one in clean.runs:
        learnt = one.first is not None and one.last is not None and one.last < one.first / 2
        if one.outcome is not Outcome.SAME or one.error or not learnt:
            found = one.error or _("it did not")
            raise run.no_control(_("a correct library that learns"), found, CLEAN)
    return clean, [
        judge(reports[0], report, brk.id) for brk, report in zip(breaks, reports[1:], strict=True)
    ]


# --- screens ------------------------------------------------------------------------------------


def _screen(
    clean: TrainingObservation,
    found: Sequence[TrainingObservation],
    forms: Sequence[Form],
    file: str | None,
) -> str:
    if not found:
        body = "\n\n".join(_one(_only(clean, forms), None))
    elif len(found) == 1:
        body = "\n\n".join(_one(_only(found[0], forms), _only(clean, forms)))
    else:
        body = table(clean, found, forms)
    wrote = "\n\n" + _("Wrote %(file)s.") % {"file": file} if file else ""
    return body + wrote + ("\n\n" + _floor(clean.runs[0]) if not file else "")


def _floor(run: TrainingRun) -> str:
    return console.style(console.wrap(screens.floor_text(run.floor), console.width()), "dim")


def _one(seen: TrainingObservation, clean: TrainingObservation | None) -> list[str]:
    """One library, each form with its curve."""
    parts = [console.style(seen.break_id or _("The correct library"), "title")]
    for run in seen.runs:
        other = None if clean is None else next(r for r in clean.runs if r.form is run.form)
        curve = plot.plot(
            run.losses, other.losses if other else (), width=console.width(), floor=run.floor
        )
        legend = _legend(run, other)
        parts.append("\n".join([_facts(run, other), curve, legend]))
    return parts


def _facts(run: TrainingRun, other: TrainingRun | None) -> str:
    word = console.style(run.form.value, "strong")
    rows = []
    if other is not None:
        rows.append([_("correct"), *_numbers(other), ""])
        rows.append([_("broken"), *_numbers(run), run.outcome.value])
    else:
        rows.append(["", *_numbers(run), ""])
    header = [word, _("first loss"), _("last loss"), _("to floor"), _("validation"), _("outcome")]
    if other is None:
        header = header[:-1]
        rows = [row[:-1] for row in rows]
    text = console.table(rows, header, align="<>>>><")
    if other is not None:
        text += "\n" + console.wrap(happened(run), console.width(), indent="  ")
    return text


def _numbers(run: TrainingRun) -> list[str]:
    return [screens.number(v) for v in (run.first, run.last, run.distance, run.accuracy)]


BELOW = -0.01  # from here on the loss is below the floor by more than rounding


def happened(run: TrainingRun) -> str:
    """What happened, in a few words."""
    if run.error:
        where = f"{run.phase.value}: " if run.phase.value != "nowhere" else ""
        return where + localised(run.error)
    text = meaning(run.outcome)
    if run.distance is not None and run.distance < BELOW:
        text = _("it ends below the floor: the training rows were memorised one by one")
    return text + (f"; {run.validation}" if run.validation else "")


def _legend(run: TrainingRun, other: TrainingRun | None) -> str:
    signs = console.glyphs
    parts = [f"{signs.yes} " + (_("broken") if other else _("loss"))]
    parts += [f"{signs.bullet} " + _("correct")] if other else []
    parts.append(f"{signs.rule} " + _("floor"))
    count = max(len(run.losses) - 1, 0)
    parts.append(i18n.ngettext("%(count)d step", "%(count)d steps", count) % {"count": count})
    return " " * 9 + "   ".join(parts)


def table(
    clean: TrainingObservation, found: Sequence[TrainingObservation], forms: Sequence[Form]
) -> str:
    """One row per break and form, the correct library first; below them, what was raised."""
    blocks = []
    for form in forms:
        before = next(run for run in clean.runs if run.form is form)
        runs = [next(run for run in seen.runs if run.form is form) for seen in found]
        rows = [[_("correct library"), "", *_short(before), plot_of(before, before)]]
        for seen, run in zip(found, runs, strict=True):
            rows.append([cut(seen.break_id), run.outcome.value, *_short(run), plot_of(run, before)])
        header = [form.value, _("outcome"), _("first"), _("last"), _("floor+"), _("valid.")]
        if max(len(row[0]) for row in rows) > ROOM_FOR_CURVE:
            rows = [row[:-1] for row in rows]
        blocks.append(console.table(rows, header, align="<<>>>><"))
        notes = [
            console.wrap(f"{seen.break_id}: {happened(run)}", console.width(), hanging="  ")
            for seen, run in zip(found, runs, strict=True)
            if run.error or run.validation
        ]
        blocks += ["\n".join(notes)] if notes else []
    return "\n\n".join(blocks)


ROOM_FOR_CURVE = 26  # a longer id takes the place of the curve
LONGEST_ID = 36


def cut(text: str) -> str:
    """A name that leaves room for the numbers beside it; JSON has it whole."""
    return text if len(text) <= LONGEST_ID else text[: LONGEST_ID - 1] + console.glyphs.more[:1]


def _short(run: TrainingRun) -> list[str]:
    return [screens.number(v, 2) for v in (run.first, run.last, run.distance, run.accuracy)]


def plot_of(run: TrainingRun, clean: TrainingRun) -> str:
    return plot.sparkline(run.losses, 10, run.floor, clean.first or run.floor + 1.0)
