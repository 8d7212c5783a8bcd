"""The ops on several tensors, and the loss of a classifier."""

import math

import numpy as np

from minitorch.tensor import as_tensor, floating, of_one_dtype, plain, record


def cat(tensors, axis=0):
    """y = the tensors one after the other along `axis`.   ∂L/∂tᵢ = its own piece of g."""
    tensors = of_one_dtype(tensors)
    y = np.concatenate([t.data for t in tensors], axis=axis)
    ends = np.cumsum([t.shape[axis] for t in tensors])

    def _backward(g):
        for t, piece in zip(tensors, np.split(g, ends[:-1], axis=axis), strict=True):
            if t.requires_grad:
                t.grad += piece

    return record("cat", y, tensors, _backward)


def stack(tensors, axis=0):
    """y = the tensors side by side along a new `axis`.   ∂L/∂tᵢ = g at i on that axis."""
    tensors = of_one_dtype(tensors)
    y = np.stack([t.data for t in tensors], axis=axis)

    def _backward(g):
        for t, piece in zip(tensors, np.moveaxis(g, axis, 0), strict=True):
            if t.requires_grad:
                t.grad += piece

    return record("stack", y, tensors, _backward)


def cross_entropy(logits, targets, reduction="mean"):
    """ℓᵢ = ln Σ exp zᵢ - zᵢ[tᵢ], then "mean", "sum" or "none".   ∂ℓᵢ/∂zᵢ = softmax zᵢ - onehot tᵢ.

    `logits` (N, C) with integer `targets` (N,), or (C,) with one target, like torch's
    cross_entropy.  Raises ValueError for other shapes or reductions, TypeError for targets that are
    not integers, IndexError for one outside 0 … C-1.
    """
    z, t = floating(as_tensor(logits)), class_indices(targets)
    if z.ndim not in (1, 2) or t.shape != z.shape[:-1]:
        raise ValueError(
            "cross_entropy needs logits (N, C) with targets (N,), or (C,) with one target; found "
            f"{z.shape} with {t.shape}. Reshape the logits to (N, C) and the targets to (N,)."
        )
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f'reduction must be "mean", "sum" or "none"; found {reduction!r}')
    n = t.size or 1
    places = places_of(t, z.shape)
    e = z.data - z.data.max(axis=-1, keepdims=True, initial=-math.inf)
    at_target = e.take(places)
    np.exp(e, out=e)
    total = e.sum(axis=-1)
    losses = np.log(total) - at_target
    e.put(places, e.take(places) - total)  # now e is total (softmax - onehot)
    y = losses if reduction == "none" else losses.sum()
    if reduction == "mean":
        y = y / t.size

    def _backward(g):
        if z.requires_grad:
            g = g / n if reduction == "mean" else g
            z.grad += e * (g / total)[..., None]

    return record("cross_entropy", y, (z,), _backward)


def class_indices(targets):
    """`targets` as an array of integers."""
    t = np.asarray(plain(targets))
    if t.size and t.dtype.kind not in "iu":
        raise TypeError(f"targets must be integers (class indices); found {t.dtype}")
    return t.astype(np.intp, copy=False)


def places_of(t, shape):
    """The flat place of each target in logits of `shape`.  Raises IndexError for one outside."""
    index = (np.arange(t.size), t) if t.ndim else (t,)
    try:
        return np.ravel_multi_index(index, shape)
    except ValueError:
        raise IndexError(
            f"targets must be in 0 … {shape[-1] - 1}; found {t.min()} … {t.max()}"
        ) from None
