"""What getitem and its gradient need: an index of one's own, and a sum at the places it names."""

import numpy as np

CACHEFUL = 32768  # places whose numbers and gradients fit into the cache
PAIR = {np.dtype(np.float32): np.complex64, np.dtype(np.float64): np.complex128}


def own_index(items):
    """The index as a tuple that its caller cannot change: arrays and sequences are copied."""
    return tuple(index_array(item) if hasattr(item, "__len__") else item for item in items)


def index_array(item):
    array = np.array(item)  # of an empty list it is float64
    return array if array.size or isinstance(item, np.ndarray) else array.astype(int)


def scatter_add(g, index, shape):
    """Zeros of `shape` with g added at `index`, once for every time that a place is named."""
    grad = np.zeros(shape, dtype=g.dtype)
    if any(isinstance(item, np.ndarray) and item.dtype != bool for item in index):
        for flat, places, part in pieces(grad, index, g):
            np.add.at(flat, places.ravel(), part.ravel())
    else:  # slices, integers and masks name no place twice
        grad[index] = g
    return grad


def pieces(grad, index, g):
    """`grad` in one row, the places in it that the index names, and their g.

    A list of rows comes a cacheful at a time, and where a row has an even length, two neighbours as
    one complex number: a sum of pairs is the pair of the sums, in half the steps.
    """
    if len(index) == 1 and index[0].ndim == 1:
        if grad.ndim > 1 and grad.shape[-1] % 2 == 0 and g.dtype in PAIR:
            grad, g = (np.ascontiguousarray(a).view(PAIR[a.dtype]) for a in (grad, g))
        places = np.arange(grad.size).reshape(grad.shape)
        step = max(1, CACHEFUL * len(g) // max(1, g.size))
        for i in range(0, len(g), step):
            yield grad.reshape(-1), places.take(index[0][i : i + step], axis=0), g[i : i + step]
    else:
        yield grad.reshape(-1), np.arange(grad.size).reshape(grad.shape)[index], g
