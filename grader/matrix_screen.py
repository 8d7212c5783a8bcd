"""`grader matrix`: the kill matrix on a screen and as a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from breaks import console, i18n
from breaks.console import N_, Reply
from breaks.errors import BreaksError
from grader.matrix import Matrix, Row, matrix
from grader.recording import Answer, Detector, Reach
from grader.session import Session, progressing

_ = i18n.gettext
LONGEST_ID = 38
SHORT = {
    Detector.SHAPE_INVARIANT: "shape",
    Detector.GRADCHECK_SUM: "sum",
    Detector.GRADCHECK: "grad",
    Detector.PYTORCH_DIFF: "torch",
    Detector.PROPERTY_TEST: "prop",
    Detector.TRAINING: "train",
}  # column heads that fit; the words stand below


def show(
    here: Session,
    ids: Sequence[str],
    lab: str | None,
    *,
    live: bool,
    cache: bool,
    file: str | None,
) -> Reply:
    """Observes the breaks that are asked for and shows who sees them."""
    from labs.load import load_probes

    if ids and lab:
        raise BreaksError(_("--break or --lab"), _("both"), _("Leave one of them out."))
    labs = {lab: here.lab(lab)} if lab else here.labs
    if lab:
        breaks = [here.catalogue.get(name) for name in labs[lab].breaks]
    else:
        breaks = [here.catalogue.get(name) for name in dict.fromkeys(ids)] or list(here.catalogue)
    with progressing(_("observing %(count)d breaks") % {"count": len(breaks)}) as progress:
        found = matrix(
            breaks,
            labs,
            load_probes(),
            sources=here.sources,
            live=live,
            use_cache=cache,
            state=here.state,
            progress=progress,
        )
    document: dict[str, Any] = found.to_json()
    if file is not None:
        from grader import report

        report.write(file, page(found))
        document["html"] = file
    return Reply(document, lambda: screen(found, bool(ids), file))


def screen(found: Matrix, detailed: bool, file: str | None) -> str:
    """A row per break, then what follows from the rows."""
    rows = [[_cut(row.break_id), *(_count(row, d) for d in Detector)] for row in found.rows]
    header = [_("break"), *(SHORT[d] for d in Detector)]
    parts = [console.table(rows, header, align="<>>>>>>")]
    legend = ", ".join(f"{SHORT[d]} = {d.value}" for d in Detector)
    words = _("In how many of its scenarios each detector fires; a dot for none.")
    parts.append(console.style(console.wrap(f"{words} {legend}.", console.width()), "dim"))
    if detailed:
        parts += [_scenarios(row) for row in found.rows]
    parts += _findings(found)
    if file is not None:
        parts.append(_("Wrote %(file)s.") % {"file": file})
    return "\n\n".join(parts)


def _cut(name: str) -> str:
    return name if len(name) <= LONGEST_ID else name[: LONGEST_ID - 1] + console.glyphs.more[:1]


def _count(row: Row, detector: Detector) -> str:
    """Fires in 3 of 4: 3/4; never: a dot."""
    fires = row.fires(detector)
    if detector is Detector.TRAINING:
        return row.training.value if fires else console.glyphs.no
    return f"{fires}/{len(row.cells)}" if fires else console.glyphs.no


def _scenarios(row: Row) -> str:
    """Every scenario of a break; the signs stand close together, so that long names fit."""
    heads = {d: SHORT[d] for d in Detector if d is not Detector.TRAINING}
    body = []
    for cell in row.cells:
        signs = [console.pad(_sign(cell.answers.get(d)), len(head)) for d, head in heads.items()]
        where = f"{cell.phase.value} {cell.mode.value}"
        body.append([f"{cell.lab} {cell.scenario}", where, " ".join(signs)])
    header = [_("scenario"), _("first differs"), " ".join(heads.values())]
    title = console.style(row.break_id, "title")
    return title + "\n" + console.table(body, header)


def _sign(answer: Answer | None) -> str:
    if answer is Answer.FIRES:
        return console.glyphs.yes
    return console.glyphs.no if answer is Answer.SILENT else "?"


def _findings(found: Matrix) -> list[str]:
    """What the matrix says beyond its rows; silence where there is nothing to say."""
    parts = []

    def part(title: str, lines: Sequence[str]) -> None:
        if lines:
            body = "\n".join(
                console.wrap(line, console.width(), indent="  ", hanging="    ") for line in lines
            )
            parts.append(console.style(title, "title") + "\n" + body)

    only = [f"{name}: {d.value}" for name, d in found.only_one_sees if d is not Detector.TRAINING]
    part(_("Seen by one detector alone"), only)
    part(_("Seen by training alone"), list(found.training_alone))
    nobody = [f"{name}: {lab} {scenario}" for name, lab, scenario in found.nobody_sees]
    part(_("Different, and no detector objects in the scenario"), nobody)
    part(_("Seen by nothing at all"), list(found.empty_rows))
    return parts


# --- the page -----------------------------------------------------------------------------------


def page(found: Matrix) -> str:
    """The matrix with every scenario, as one HTML page."""
    from grader import report

    header = [_("break"), *(d.value for d in Detector)]
    rows = [[row.break_id, *(_words(row, d) for d in Detector)] for row in found.rows]
    caption = _("In how many of its scenarios each detector fires")
    parts: list[dict[str, Any]] = [
        {
            "id": "matrix",
            "title": _("The kill matrix"),
            "lead": report.legend(),
            "tables": [report.table(caption, header, rows)],
            "figures": [],
        }
    ]
    blind = found.blind()
    if blind:
        rows = [[one.detector.value, one.break_id, _(REASONS[one.reason])] for one in blind]
        caption = _("The breaks that a detector misses in every scenario, and why")
        head = [_("detector"), _("break"), _("why")]
        parts.append(
            {
                "id": "blind",
                "title": _("Blind spots"),
                "lead": [],
                "tables": [report.table(caption, head, rows)],
                "figures": [],
            }
        )
    parts.append(_all_scenarios(found))
    contents = [{"id": part["id"], "title": part["title"]} for part in parts]
    title = _("Which detector sees which break")
    by = "grader matrix --html"
    return report.render("tables.html", by, title, lead=[], contents=contents, parts=parts)


def _words(row: Row, detector: Detector) -> str:
    fires = row.fires(detector)
    if detector is Detector.TRAINING:
        return f"● {row.training.value}" if fires else f"○ {row.training.value}"
    return f"● {fires} / {len(row.cells)}" if fires else f"○ 0 / {len(row.cells)}"


REASONS = {
    Reach.UNREACHED.value: N_("no scenario executes the changed line"),
    Reach.NOT_INFECTED.value: N_("the changed line gives the same value there"),
    Reach.NOT_PROPAGATED.value: N_("the wrong value is lost before the result"),
    "not-revealed": N_("it came out, and this detector does not look there"),
    "alarmed": N_("it came out, and this detector fires there on the correct library too"),
    "unavailable": N_("it came out, and this detector could not look there"),
}


def _all_scenarios(found: Matrix) -> dict[str, Any]:
    from grader import report

    header = [_("break"), _("scenario"), _("first differs"), *(d.value for d in Detector)][:-1]
    rows = []
    for row in found.rows:
        for cell in row.cells:
            answers = [
                report.answer_words(cell.answers[d].value) if d in cell.answers else ""
                for d in Detector
                if d is not Detector.TRAINING
            ]
            where = f"{cell.phase.value} {cell.mode.value}"
            rows.append([row.break_id, f"{cell.lab} {cell.scenario}", where, *answers])
    return {
        "id": "scenarios",
        "title": _("Scenario by scenario"),
        "lead": [],
        "tables": [report.table(_("Every break in every scenario"), header, rows)],
        "figures": [],
    }
