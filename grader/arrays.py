"""Arrays as JSON and back: what a child sends is bounded and checked, never unpickled."""

from __future__ import annotations

import base64
import binascii
import math
from typing import Any

import numpy as np

_INTEGERS = tuple(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64))
DTYPES = frozenset(("bool", *_INTEGERS, "float16", "float32", "float64", "longdouble", "float128"))
_NAMES = {np.dtype(name): name for name in ("float64", "float32", "int64", "bool")}
MOST_AXES = 64
MOST_BYTES = 32 << 20

# Kept here so that a library that replaces functions in NumPy's namespace does not replace these.
_asarray, _ascontiguousarray, _ndarray, _generic = (
    np.asarray,
    np.ascontiguousarray,
    np.ndarray,
    np.generic,
)


def encode(value: Any) -> dict[str, Any] | None:
    """An array, or whatever is there instead of one, as JSON; None stays None.

    `type` is the Python type's name: a gradient that is a float is not an array.
    """
    if value is None:
        return None
    kind = type(value).__name__
    if not isinstance(value, _ndarray | _generic | float | int):
        return {"type": kind, "dtype": "", "shape": [], "data": ""}
    array = _asarray(value)
    name = _NAMES.get(array.dtype) or array.dtype.name
    if name not in DTYPES or array.nbytes > MOST_BYTES:
        return {"type": kind, "dtype": name, "shape": list(array.shape), "data": ""}
    if name in ("longdouble", "float128"):
        array = array.astype(np.float64)
    data = base64.b64encode(_ascontiguousarray(array).tobytes()).decode()
    return {"type": kind, "dtype": name, "shape": list(array.shape), "data": data}


class Recorded:
    """An array as a child recorded it: `array` is None where there was something else."""

    __slots__ = ("array", "dtype", "kind", "shape")

    def __init__(self, kind: str, dtype: str, shape: tuple[int, ...], array: Any):
        self.kind, self.dtype, self.shape, self.array = kind, dtype, shape, array

    @property
    def is_array(self) -> bool:
        return self.kind == "ndarray" and self.array is not None


def decode(data: Any) -> Recorded | None:
    """What `encode` wrote.  Raises ValueError for anything else."""
    if data is None:
        return None
    try:
        kind, dtype, shape = data["type"], data["dtype"], tuple(data["shape"])
        raw = base64.b64decode(data["data"], validate=True)
    except (TypeError, KeyError, AttributeError, binascii.Error) as error:
        raise ValueError(f"not a recorded array: {error!r}") from None
    if not (isinstance(kind, str) and isinstance(dtype, str) and len(kind) < 200):
        raise ValueError("not a recorded array: type and dtype must be short strings")
    if len(shape) > MOST_AXES or not all(type(n) is int and 0 <= n < 1 << 32 for n in shape):
        raise ValueError(f"not a recorded array: shape {shape!r:.80}")
    if dtype not in DTYPES:
        return Recorded(kind, dtype, shape, None)
    stored = np.dtype("float64" if dtype in ("longdouble", "float128") else dtype)
    size = math.prod(shape)
    if not raw and size:
        return Recorded(kind, dtype, shape, None)
    if len(raw) != size * stored.itemsize:
        raise ValueError(f"not a recorded array: {len(raw)} bytes for shape {shape} of {dtype}")
    return Recorded(kind, dtype, shape, np.frombuffer(raw, stored).reshape(shape))


ENTRIES = 6  # numbers of an array on one line


def short(array: Any, start: int = 0) -> str:
    """An array as one short line: at most six numbers from `start` on, and the shape."""
    flat = np.asarray(array).reshape(-1)
    start = max(0, min(start, flat.size - ENTRIES))
    numbers = " ".join(f"{float(x):.4g}" for x in flat[start : start + ENTRIES])
    less, more = "… " * bool(start), " …" * (flat.size > start + ENTRIES)
    shape = tuple(int(n) for n in np.shape(array))
    return numbers if shape == () else f"[{less}{numbers}{more}] {shape}"


def first_wrong(found: Any, expected: Any) -> int:
    """Where to start reading two arrays so that the first difference is in sight."""
    if found is None or expected is None or found.shape != expected.shape:
        return 0
    places = np.flatnonzero(~np.isclose(found, expected, rtol=1e-6, atol=0, equal_nan=True))
    return int(places[0]) if places.size and places[0] >= ENTRIES else 0
