"""The kill matrix as text under review: `make matrix` writes it, a test compares it.

First what follows from the rows, a list for each thing that the catalogue promises; then a line per
break; then every scenario.  No number in it depends on the machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from grader.matrix import Cell, Matrix, Row
from grader.recording import PER_SCENARIO, Detector, Mode

HEADS = {
    Detector.SHAPE_INVARIANT: "shape",
    Detector.GRADCHECK_SUM: "sum",
    Detector.GRADCHECK: "grad",
    Detector.PYTORCH_DIFF: "torch",
    Detector.PROPERTY_TEST: "prop",
    Detector.TRAINING: "train",
}
INTRODUCTION = """\
# The kill matrix: who sees which break.  `make matrix` writes this file; read its diff in review.
#
# shape, sum, grad, torch, prop: in how many of its scenarios shape-invariant, gradcheck-sum,
# gradcheck, pytorch-diff and property-test fire, and in how many it was run.  train: how the
# training of the grammar MLP ends.  alone: the only detector that sees the break.
"""


def snapshot(found: Matrix) -> str:
    """The whole text."""
    parts = [INTRODUCTION, *findings(found), "## every break", table(found.rows), ""]
    for row in found.rows:
        parts += [f"## {row.break_id}", *scenarios(row), ""]
    return "\n".join(parts)


def findings(found: Matrix) -> Iterable[str]:
    """A heading and a list for each thing that follows from the rows."""
    equivalent = [row.break_id for row in found.rows if row.equivalent]
    yield from section("seen by nothing", found.empty_rows)
    yield from section("declared equivalent, and seen", found.noisy_equivalents)
    yield from section("declared equivalent", equivalent)
    yield from section("detectors that see nothing", [d.value for d in found.empty_columns])
    for detector in Detector:
        only = [name for name, by in found.only_one_sees if by is detector]
        yield from section(f"seen by {detector.value} alone", only)
    yield from section("the broken library trains better", found.trains_better)
    tried = [r for r in found.rows if r.escapes_the_notes and any(c.ordinary for c in r.cells)]
    untried = [r.break_id for r in found.rows if r.escapes_the_notes and r not in tried]
    escaped = [row.break_id for row in tried]
    yield from section("run in ordinary scenarios, and both checks of the notes miss it", escaped)
    yield from section("no ordinary scenario executes its lines", untried)
    nobody = [f"{name}: {lab}/{scenario}" for name, lab, scenario in found.nobody_sees]
    yield from section("it differs, and every detector is silent", nobody)


def section(title: str, names: Sequence[str]) -> list[str]:
    return [f"## {title}: {len(names)}", *names, ""]


def table(rows: Sequence[Row]) -> str:
    """A line per break."""
    lines = [line("break", [*HEADS.values()], "alone", "differs")]
    for row in rows:
        counts = [f"{row.fires(d)}/{row.most(d)}" if row.fires(d) else "." for d in PER_SCENARIO]
        alone = HEADS[row.alone] if row.alone else "."
        differs = ", ".join(row.differences) or "."
        name = row.break_id + (" (equivalent)" if row.equivalent else "")
        lines.append(line(name, [*counts, row.training.value], alone, differs))
    return "\n".join(lines)


def line(name: str, counts: Sequence[str], alone: str, differs: str) -> str:
    *first, last = counts
    return f"{name:<56}" + "".join(f"{c:<6}" for c in first) + f"{last:<10}{alone:<6}{differs}"


def scenarios(row: Row) -> list[str]:
    return [scenario(cell) for cell in row.cells]


def scenario(cell: Cell) -> str:
    """One scenario: where it differs first or why it does not, who fires, and what it is."""
    where = f"{cell.phase.value} {cell.mode.value}"
    if cell.mode is Mode.UNAFFECTED:
        where = cell.reach.value
    marks = ["ordinary"] if cell.ordinary else []
    marks += [f"alarm: {name}" for name in cell.false_alarms]
    seers = " ".join(HEADS[d] for d in cell.seers) or "nobody"
    said = f"{cell.name:<48}{where:<24}{seers}"
    return said + (f"  ({', '.join(marks)})" if marks else "")
