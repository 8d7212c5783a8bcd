"""Are two arrays the same?  Shapes first, then every entry, and never by an absolute tolerance.

An entry agrees if its error is within `rtol` of its own size, plus the noise that the measurement
itself has there.  A fault is called one only when the error is a hundred times that: what lies
between is a dead band, in which nothing is claimed.  `not (error <= tolerance)` makes a NaN object.
"""

from __future__ import annotations

import math
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np

BAND = 100.0  # from "agrees" to "differs"

_abs, _asarray, _isfinite, _maximum = np.abs, np.asarray, np.isfinite, np.maximum


class Verdict(StrEnum):
    """What a comparison found."""

    AGREES = "agrees"
    DOUBTFUL = "doubtful"  # inside the dead band
    DIFFERS = "differs"
    NOTHING = "nothing"  # there was no entry to compare


class Comparison(NamedTuple):
    """The verdict, and the worst entry."""

    verdict: Verdict
    checked: int = 0
    why: str = ""
    at: tuple[int, ...] = ()
    found: float | None = None
    expected: float | None = None
    error: float | None = None  # None where it is not finite


def compare(found: Any, expected: Any, *, rtol: float, noise: Any = 0.0) -> Comparison:
    """Compares every entry of two arrays; `noise` broadcasts to their shape."""
    found, expected = _asarray(found), _asarray(expected)
    if found.shape != expected.shape:
        why = f"shape {shape_text(found.shape)} instead of {shape_text(expected.shape)}"
        return Comparison(Verdict.DIFFERS, why=why)
    if not found.size:
        return Comparison(Verdict.NOTHING, why="no entry to compare")
    found, expected = _asarray(found, dtype=float), _asarray(expected, dtype=float)
    with np.errstate(all="ignore"):
        tolerance = rtol * _maximum(_abs(expected), _abs(found)) + noise
        tolerance = _maximum(np.where(_isfinite(tolerance), tolerance, 0.0), 1e-300)
        ratio = _abs(found - expected) / tolerance
        if not _isfinite(ratio).all():
            same = (found == expected) | (np.isnan(found) & np.isnan(expected))
            ratio = np.where(same, 0.0, ratio)
    worst = np.unravel_index(int(ratio.argmax()), ratio.shape)
    value = float(ratio[worst])
    if value <= 1.0:
        verdict = Verdict.AGREES
    elif value <= BAND:
        verdict = Verdict.DOUBTFUL
    else:
        verdict = Verdict.DIFFERS
    f, e = float(found[worst]), float(expected[worst])
    return Comparison(
        verdict,
        int(found.size),
        "" if verdict is Verdict.AGREES else f"{f:.6g} instead of {e:.6g}",
        tuple(int(i) for i in worst),
        finite(f),
        finite(e),
        finite(abs(f - e)),
    )


def quotients(plus: Any, minus: Any, cotangent: Any, step: float) -> tuple[Any, Any]:
    """Σ c (y₊ - y₋) / 2ε for each entry, and the noise that rounding and curvature leave there.

    `plus` and `minus` have the shape (entries, *y.shape).
    """
    weights = _asarray(cotangent, dtype=float).reshape(-1)
    plus = _asarray(plus, dtype=float).reshape(len(plus), -1)
    minus = _asarray(minus, dtype=float).reshape(len(minus), -1)
    with np.errstate(all="ignore"):
        numeric = ((plus - minus) @ weights) / (2 * step)
        size = _maximum(_abs(plus), _abs(minus)) @ _abs(weights)
        change = _abs(plus - minus) @ _abs(weights) / (2 * step)
    # Rounding of y over the step; ε² curvature, at most ε f' for the functions of this kit.
    return numeric, 8 * 2.3e-16 * size / step + 1e-9 * (change + size)


def shape_text(shape: Any) -> str:
    """A shape as people write it: (3,), (4, 3), ()."""
    return str(tuple(int(n) for n in shape))


def finite(value: float) -> float | None:
    """The number, or None for NaN and infinity, which JSON has not."""
    return value if math.isfinite(value) else None
