"""The numbers that scenarios run on: fixed by their names, irregular, and away from kinks.

Regular numbers hide faults: ones cancel, equal entries cannot show a permutation, and an input at
a kink has no derivative to compare with.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from labs.numbers import uniform


@lru_cache(maxsize=1 << 15)
def _irregular(shape: tuple[int, ...], names: tuple[object, ...], positive: bool) -> np.ndarray:
    size = math.prod(shape)
    place, jitter, sign = uniform((3, size), *names)
    # One number for each of `size` equal slots of 0.3 … 1.7, and never near the slot's edge.
    places = (np.argsort(np.argsort(place)) + 0.2 + 0.6 * jitter) / max(size, 1)
    numbers = np.round(0.3 + 1.4 * places, 3 if size <= 200 else 6)
    if not positive:
        numbers *= np.where(sign < 0.5, -1.0, 1.0)
    return numbers.reshape(shape)


def irregular(shape: tuple[int, ...], *names: object, positive: bool = False) -> np.ndarray:
    """Distinct numbers of three decimals, 0.3 … 1.7 in size, of both signs unless `positive`.

    No two are as close to each other or to 0 as a difference quotient's step.
    """
    return _irregular(tuple(shape), names, positive).copy()


def make(entry: dict[str, Any], *names: object, wide: bool = False) -> np.ndarray:
    """The array of one input.  `wide` makes float32 inputs float64, for difference quotients."""
    shape, dtype = tuple(entry["shape"]), entry["dtype"]
    if wide and dtype == "float32":
        dtype = "float64"
    if entry["values"] is not None:
        # Rounded to the declared dtype first: the wide copy is the same point.
        return np.array(entry["values"], dtype=entry["dtype"]).astype(dtype).reshape(shape)
    fill = entry["fill"]
    names = (*names, entry["name"])
    if dtype == "int64" or fill == "integers":
        low, high = entry["low"], entry["high"]
        return np.asarray(low + np.floor(uniform(shape, *names) * (high - low))).astype(dtype)
    if fill in ("zeros", "ones"):
        return np.full(shape, fill == "ones", dtype)
    numbers = irregular(shape, *names, positive=fill == "positive")
    return numbers.astype(entry["dtype"]).astype(dtype)
