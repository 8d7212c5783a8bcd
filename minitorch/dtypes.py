"""Which dtype a result has: torch's rules, where NumPy's differ.

https://pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc
"""

import numpy as np

KINDS = {"b": 0, "u": 1, "i": 1, "f": 2}  # bool < integer < floating


def common_dtype(arrays):
    """The dtype of a result of several arrays.

    Floating beats integer beats bool; within one kind, an array with axes beats a 0-d one.
    """
    if not arrays:
        raise ValueError("expected at least one tensor; found none")
    strength = [(KINDS[a.dtype.kind], a.ndim > 0) for a in arrays]
    strongest = max(strength)
    return np.result_type(
        *(a.dtype for a, s in zip(arrays, strength, strict=True) if s == strongest)
    )


def dtype_of_sum(dtype):
    """The dtype of a sum: int64 for integers of any size and for bools."""
    return dtype if dtype.kind == "f" else np.dtype(np.int64)


def dtype_beside(number, dtype):
    """The dtype of a number beside a tensor: the tensor's, unless its kind is too weak.

    Python's numbers and NumPy's are alike here: np.int64(2) does not widen int8.
    """
    own = np.array(number.item() if isinstance(number, np.generic) else number).dtype
    return dtype if KINDS.get(own.kind, 3) <= KINDS[dtype.kind] else own
