"""The numbers that scenarios run on: fixed by their names, irregular, and away from kinks.

Regular numbers hide faults: ones cancel, equal entries cannot show a permutation, and an input at
a kink has no derivative to compare with.  Each array is drawn from a frozen generator seeded with
the hash of what it is for, so it never depends on what was drawn before.
"""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np

SEED = 7


def generator(*names: object) -> np.random.RandomState:
    """A generator whose numbers depend on the names alone (its stream is frozen by NumPy)."""
    digest = hashlib.sha256("/".join(map(str, names)).encode()).digest()
    return np.random.RandomState(int.from_bytes(digest[:4], "little"))


def irregular(shape: tuple[int, ...], *names: object, positive: bool = False) -> np.ndarray:
    """Distinct numbers of three decimals, 0.3 … 1.7 in size, of both signs unless `positive`.

    No two are as close to each other or to 0 as a difference quotient's step.
    """
    draw = generator(*names)
    size = math.prod(shape)
    places = (draw.permutation(size) + 0.2 + 0.6 * draw.uniform(size=size)) / max(size, 1)
    numbers = np.round(0.3 + 1.4 * places, 3 if size <= 200 else 6)
    if not positive:
        numbers *= np.where(draw.uniform(size=size) < 0.5, -1.0, 1.0)
    return numbers.reshape(shape)


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
        draw = generator(*names)
        return draw.randint(entry["low"], entry["high"], size=shape).astype(dtype)
    if fill == "zeros":
        return np.zeros(shape, dtype)
    if fill == "ones":
        return np.ones(shape, dtype)
    numbers = irregular(shape, *names, positive=fill == "positive")
    return numbers.astype(entry["dtype"]).astype(dtype)
