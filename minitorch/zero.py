"""Where a gradient starts."""

import numpy as np


class Zero(float):
    """The number 0.0, but `+=` takes a copy of what comes instead of adding to it.

    The sum would have the same values, shape and dtype, and memory of its own too.  NumPy makes a
    small array of its own twice as fast by copying as by adding a Python number.
    """

    __iadd__ = np.array


ZERO = Zero()
