"""One program, run by minitorch and by torch, and what must agree: shapes, dtypes, then values.

A program is a function of a library and its tensors: `lambda lib, a, b: lib.sum(a * b, (0, 1))`.
`Mine` and `Theirs` give both libraries the same words.
"""

import zlib

import numpy as np
import torch

import minitorch as mt


class Mine:
    """minitorch's ops as functions."""

    tensor = mt.Tensor
    gelu = mt.Tensor.gelu
    exp, log, tanh, relu = mt.Tensor.exp, mt.Tensor.log, mt.Tensor.tanh, mt.Tensor.relu
    sum, mean, max = mt.Tensor.sum, mt.Tensor.mean, mt.Tensor.max
    reshape, transpose, broadcast_to = (
        mt.Tensor.reshape,
        mt.Tensor.transpose,
        mt.Tensor.broadcast_to,
    )
    softmax, matmul = mt.Tensor.softmax, mt.Tensor.matmul
    cat, stack, cross_entropy = mt.cat, mt.stack, mt.cross_entropy

    @staticmethod
    def getitem(x, index):
        return x[index]


class Theirs:
    """torch's ops under minitorch's names and argument names."""

    exp, log, tanh, relu = torch.exp, torch.log, torch.tanh, torch.relu
    reshape, matmul = torch.reshape, torch.matmul
    broadcast_to = torch.broadcast_to

    @staticmethod
    def tensor(data):
        return torch.tensor(np.asarray(data))

    @staticmethod
    def gelu(x, approximate="none"):
        return torch.nn.functional.gelu(x, approximate=approximate)

    @staticmethod
    def sum(x, axis=None, keepdims=False):
        return torch.sum(x, dim=axis, keepdim=keepdims)

    @staticmethod
    def mean(x, axis=None, keepdims=False):
        return torch.mean(x, dim=axis, keepdim=keepdims)

    @staticmethod
    def max(x, axis=None, keepdims=False):
        return torch.amax(x, dim=() if axis is None else axis, keepdim=keepdims)

    @staticmethod
    def transpose(x, axes=None):
        return x.permute(tuple(range(x.ndim))[::-1] if axes is None else tuple(axes))

    @staticmethod
    def softmax(x, axis=-1):
        return torch.softmax(x, axis)

    @staticmethod
    def cat(tensors, axis=0):
        return torch.cat(list(tensors), axis)

    @staticmethod
    def stack(tensors, axis=0):
        return torch.stack(list(tensors), axis)

    @staticmethod
    def cross_entropy(logits, targets, reduction="mean"):
        targets = torch.tensor(np.asarray(targets, dtype=np.int64))
        return torch.nn.functional.cross_entropy(logits, targets, reduction=reduction)

    @staticmethod
    def getitem(x, index):
        items = index if isinstance(index, tuple) else (index,)
        kinds = {type(i) for i in items}
        reverses = any(isinstance(i, slice) and (i.step or 1) < 0 for i in items)
        if reverses or {int, np.ndarray} <= kinds:  # torch has no such slices, and other rules for
            # an integer beside an array: what NumPy picks is told to torch place by place
            places = np.arange(x.numel()).reshape(x.shape)[index]
            return x.reshape(-1)[torch.tensor(places.copy())]
        return x[tuple(torch.tensor(i) if isinstance(i, np.ndarray) else i for i in items)]


def irregular(shape, seed=0):
    """Numbers without a pattern: none is 0, no two are alike, signs are mixed."""
    rng = np.random.default_rng([seed, *shape])
    return rng.uniform(0.5, 1.5, shape) * rng.choice([-1.0, 1.0], shape)


def spread(shape, low=-2.0, high=2.0, seed=0):
    """Numbers in low … high that are far from each other and from 0, in no order."""
    n = int(np.prod(shape))
    values = np.linspace(low, high, n + 2)[1:-1] + (high - low) / (7 * (n + 2))
    return np.random.default_rng([seed, *shape]).permutation(values).reshape(shape)


def seed_of(name):
    return zlib.crc32(name.encode())


def same(expected, found, rtol=1e-10, what=""):
    """Asserts one shape, then one dtype, then values as close as `rtol` says."""
    assert isinstance(found, np.ndarray), f"{what}: expected an ndarray, found {type(found)}"
    assert found.shape == expected.shape, f"{what}: expected {expected.shape}, found {found.shape}"
    assert found.dtype == expected.dtype, f"{what}: expected {expected.dtype}, found {found.dtype}"
    atol = 1e-4 * rtol  # what rounding leaves of terms near 1 that cancel
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol, err_msg=what)


def mine(program, arrays):
    """The leaves and the result in minitorch."""
    leaves = [mt.Tensor(a, requires_grad=a.dtype.kind == "f") for a in arrays]
    return leaves, program(Mine, *leaves)


def theirs(program, arrays):
    """The leaves and the result in torch."""
    leaves = [torch.tensor(a, requires_grad=a.dtype.kind == "f") for a in arrays]
    return leaves, program(Theirs, *leaves)


def agree(program, *arrays, rtol=1e-10, times=1, cotangent=None):
    """Asserts that both libraries give one result and one gradient for each leaf."""
    ours, y = mine(program, arrays)
    torchs, z = theirs(program, arrays)
    same(z.detach().numpy(), y.data, rtol, "result")
    assert y.requires_grad == z.requires_grad
    if not z.requires_grad:
        return
    c = irregular(y.shape).astype(y.dtype) if cotangent is None else cotangent
    for _ in range(times):
        y.backward(c)
        z.backward(torch.tensor(c), retain_graph=True)
    for i, (p, q) in enumerate(zip(ours, torchs, strict=True)):
        if q.grad is None:
            assert p.grad is None, f"leaf {i}: expected no gradient, found {p.grad}"
        else:
            same(q.grad.numpy(), p.grad, rtol, f"gradient of leaf {i}")


def differences(program, arrays, cotangent, step=6e-6):
    """Central differences of ⟨cotangent, program⟩ for every entry of every array."""
    result = []
    for k, array in enumerate(arrays):
        slope = np.zeros(array.shape)
        for i in np.ndindex(array.shape):
            moved = []
            for h in (step, -step):
                copies = [a.copy() for a in arrays]
                copies[k][i] += h
                moved.append(program(Mine, *map(mt.Tensor, copies)).data)
            slope[i] = np.sum(cotangent * (moved[0] - moved[1])) / (2 * step)
        result.append(slope)
    return result
