"""What getitem and its gradient need: an index of one's own, and a sum at the places it names."""

import numpy as np

PLACES = 65536


def own_index(items):
    """The index as a tuple that its caller cannot change: arrays and sequences are copied."""
    return tuple(index_array(item) if hasattr(item, "__len__") else item for item in items)


def index_array(item):
    array = np.array(item)
    return array if array.size or array.dtype == bool else array.astype(int)  # [] is float64


def scatter_add(g, index, shape):
    """Zeros of `shape` with g added at `index`, once for every time that a place is named."""
    grad = np.zeros(shape, dtype=g.dtype)
    if any(isinstance(item, np.ndarray) and item.dtype != bool for item in index):
        for places, part in pieces(np.arange(grad.size).reshape(shape), index, g):
            np.add.at(grad.reshape(-1), places.ravel(), part.ravel())
    else:  # slices, integers and masks name no place twice
        grad[index] = g
    return grad


def pieces(places, index, g):
    """The places that the index names, with their g; of a list of rows a cacheful at a time."""
    if len(index) == 1 and index[0].ndim == 1:
        step = max(1, PLACES * len(g) // max(1, g.size))
        for i in range(0, len(g), step):
            yield places.take(index[0][i : i + step], axis=0), g[i : i + step]
    else:
        yield places[index], g
