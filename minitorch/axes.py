"""The axes that an op sums over: those of a reduction, and those that broadcasting stretched."""

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple


def reduced_axes(axis, ndim):
    """The reduced axes as a tuple of non-negative ints; None and () mean all, as in torch."""
    if axis is None or np.size(axis) == 0:
        return tuple(range(ndim))
    axes = normalize_axis_tuple(axis, max(ndim, 1))  # a number has, as in torch, axes 0 and -1
    return axes if ndim else ()


def kept_shape(shape, axes):
    """`shape` with the reduced axes kept as 1."""
    return tuple(1 if i in axes else n for i, n in enumerate(shape))


def unbroadcast(grad, shape):
    """`grad` summed over the axes along which an operand of `shape` was repeated."""
    if grad.shape == shape:
        return grad
    for _ in range(grad.ndim - len(shape)):  # axes that broadcasting put in front
        grad = grad.sum(axis=0)
    for axis, n in enumerate(shape):
        if n != grad.shape[axis]:  # stretched from 1
            grad = grad.sum(axis=axis, keepdims=True)
    return grad
