"""The distribution function in a GELU, and its derivative."""

import math

import numpy as np


def normal(x, approximate):
    """Φ(x) and φ(x) of the normal distribution; with approximate="tanh", of one that a tanh makes.

    Raises ValueError for another `approximate`.
    """
    if approximate == "none":
        from scipy.special import ndtr  # here, because the import costs more than NumPy's

        cdf = ndtr(x).astype(x.dtype)  # it answers float16 in float64
        pdf = np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    elif approximate == "tanh":
        c = math.sqrt(2 / math.pi)
        t = np.tanh(c * (x + 0.044715 * x * x * x))
        cdf = 0.5 * (1 + t)
        pdf = 0.5 * (1 - t * t) * c * (1 + 3 * 0.044715 * x * x)
    else:
        raise ValueError(f'approximate must be "none" or "tanh"; found {approximate!r}')
    return cdf, pdf
