"""Loss curves in a terminal: a sparkline in one line, a plot in a few.  Pure text, no colour."""

from __future__ import annotations

import math
from collections.abc import Sequence

from breaks.terminal import glyphs

Curve = Sequence[float | None]  # None where the loss was not finite


def _finite(curve: Curve) -> list[float]:
    return [value for value in curve if value is not None and math.isfinite(value)]


def sampled(curve: Curve, width: int) -> list[float | None]:
    """At most `width` values, evenly taken; the first and the last are always among them."""
    values = list(curve)
    if len(values) <= width:
        return values
    last = len(values) - 1
    return [values[round(i * last / (width - 1))] for i in range(width)]


def sparkline(curve: Curve, width: int, low: float, high: float) -> str:
    """The curve as one line of blocks between `low` and `high`; `!` where it was not finite."""
    steps = glyphs.spark
    return "".join(
        "!" if value is None else steps[_level(value, low, high, len(steps))]
        for value in sampled(curve, width)
    )


def _level(value: float, low: float, high: float, levels: int) -> int:
    if not high > low:
        return 0
    share = (value - low) / (high - low)
    return min(levels - 1, max(0, int(share * levels)))


def plot(
    broken: Curve, clean: Curve, *, width: int, height: int = 9, floor: float | None = None
) -> str:
    """Two curves over the steps, with the floor as a line; values off the scale stay at its edge.

    The scale is that of the correct curve and of where the broken one starts, so that a curve that
    runs away does not flatten everything else.
    """
    low, high = _range(broken, clean, floor)
    margin = 7
    inner = width - margin - 2
    grid = [[" "] * inner for _ in range(height)]
    if floor is not None:
        row = _row(floor, low, high, height)
        grid[row] = [glyphs.rule] * inner
    for curve, sign in ((clean, glyphs.bullet), (broken, glyphs.yes)):
        for column, value in enumerate(_spread(curve, inner)):
            if value is not None:
                grid[_row(value, low, high, height)][column] = sign
    lines = []
    for number, cells in enumerate(grid):
        label = high - (high - low) * number / (height - 1)
        lines.append(f"{label:{margin}.2f} {glyphs.bar}" + "".join(cells).rstrip())
    return "\n".join(lines)


def _range(broken: Curve, clean: Curve, floor: float | None) -> tuple[float, float]:
    ground = _finite(clean) + _finite(broken)[:1] + ([] if floor is None else [floor])
    if not _finite(clean):
        ground += _finite(broken)
    low, high = (min(ground), max(ground)) if ground else (0.0, 1.0)
    if high <= low:
        high = low + 1.0
    size = high - low
    lowest = max(min(_finite(broken), default=low), low - size)
    return min(low, lowest), max(high, min(max(_finite(broken), default=high), high + 0.15 * size))


def _row(value: float, low: float, high: float, height: int) -> int:
    share = (value - low) / (high - low)
    return min(height - 1, max(0, round((1 - share) * (height - 1))))


def _spread(curve: Curve, width: int) -> list[float | None]:
    """One value per column; a short curve is stretched only if it has more than one value."""
    values = list(curve)
    if len(values) >= width or len(values) < 2:
        return sampled(values, width)
    last = len(values) - 1
    return [values[round(i * last / (width - 1))] for i in range(width)]
