"""A tensor that remembers how it was made, and can walk back through that history.

Every op has one rhythm: its derivative in the docstring, the operands, the result array `y`, a
closure that takes the upstream gradient `g`, and `record`.  The closure holds one line per parent:

    if parent.requires_grad:
        parent.grad += unbroadcast(g * local_derivative, parent.shape)

`backward()` starts every `.grad` that it is about to fill at ZERO, the number 0.0.  The first `+=`
therefore makes a fresh array of whatever shape arrives, and later ones add to it in place.

Values, shapes and dtypes are PyTorch's wherever the two overlap.  No op changes its operands, works
in place, or shares memory with what it was given.
"""

import math
import operator

import numpy as np

from minitorch.axes import kept_shape, reduced_axes, unbroadcast
from minitorch.checks import refuse_data, refuse_root
from minitorch.dtypes import common_dtype, dtype_beside, dtype_of_sum
from minitorch.graph import topological_order
from minitorch.indexing import own_index, scatter_add
from minitorch.normal import normal
from minitorch.zero import ZERO


class Tensor:
    """An n-dimensional array of numbers and, after `backward()`, the gradient of a loss for it.

    `data` is copied from anything `np.array` takes (bool, integer or floating).  `grad` is None or
    an ndarray with the shape and dtype of `data`.  Raises TypeError for data that is not numbers
    and RuntimeError, like torch, for an integer tensor that is to require a gradient.
    """

    __slots__ = ("__weakref__", "_backward", "_op", "_prev", "data", "grad", "requires_grad")
    __array_ufunc__ = None  # `ndarray + tensor` is ours: NumPy would leave the graph

    def __init__(self, data, *, requires_grad=False):
        self.data = np.array(plain(data))
        refuse_data(self.data, requires_grad)
        self.grad = None
        self.requires_grad = requires_grad
        self._prev = ()
        self._op = ""
        self._backward = None

    shape = property(operator.attrgetter("data.shape"))
    ndim = property(operator.attrgetter("data.ndim"))
    dtype = property(operator.attrgetter("data.dtype"))

    def item(self):
        """The one element as a Python number.  Raises ValueError unless there is exactly one."""
        return self.data.item()

    def __repr__(self):
        body = np.array2string(self.data, separator=", ", prefix="Tensor(")
        return f"Tensor({body}{', requires_grad=True' if self.requires_grad else ''})"

    def __bool__(self):
        return bool(self.data)

    def __iter__(self):
        return (self[i] for i in range(len(self.data)))

    def __array__(self, dtype=None, copy=None):
        raise TypeError("a Tensor is not an array: use .data, or stack() for a list of tensors")

    # ---------------------------------------------------------------- the walk back

    def backward(self, gradient=None):
        """Adds to the `.grad` of every leaf the gradient of this tensor, weighted by `gradient`.

        `gradient` has this tensor's shape; it may be left out where there is one element, and is
        1 then.  Leaves keep what earlier calls added; interior tensors start anew.  Raises
        RuntimeError, like torch, for a tensor without history, for a missing `gradient` and for one
        of another shape.
        """
        gradient = plain(gradient)
        refuse_root(self, gradient)
        if gradient is None:
            gradient = np.array(1.0, ndmin=self.ndim)
        order = topological_order(self)
        for node in order:
            if node._backward is not None or node.grad is None:
                node.grad = ZERO
        self.grad += np.asarray(gradient, dtype=self.dtype)
        for node in reversed(order):
            if node._backward is not None:
                node._backward(node.grad)

    def zero_grad(self):
        """Forgets the gradient: `.grad` is None again."""
        self.grad = None

    # ---------------------------------------------------------------- arithmetic

    def __add__(self, other):
        """y = a + b.   ∂L/∂a = g,   ∂L/∂b = g."""
        a, b = operands(self, other)
        y = a.data + b.data

        def _backward(g):
            if a.requires_grad:
                a.grad += unbroadcast(g, a.shape)
            if b.requires_grad:
                b.grad += unbroadcast(g, b.shape)

        return record("+", y, (a, b), _backward)

    def __sub__(self, other):
        """y = a - b.   ∂L/∂a = g,   ∂L/∂b = -g."""
        a, b = operands(self, other)
        y = a.data - b.data

        def _backward(g):
            if a.requires_grad:
                a.grad += unbroadcast(g, a.shape)
            if b.requires_grad:
                b.grad += unbroadcast(-g, b.shape)

        return record("-", y, (a, b), _backward)

    def __mul__(self, other):
        """y = a b.   ∂L/∂a = g b,   ∂L/∂b = g a."""
        a, b = operands(self, other)
        y = a.data * b.data

        def _backward(g):
            if a.requires_grad:
                a.grad += unbroadcast(g * b.data, a.shape)
            if b.requires_grad:
                b.grad += unbroadcast(g * a.data, b.shape)

        return record("*", y, (a, b), _backward)

    def __truediv__(self, other):
        """y = a / b.   ∂L/∂a = g / b,   ∂L/∂b = -g (y / b)."""
        a, b = operands(self, other)
        y = a.data / b.data

        def _backward(g):
            if a.requires_grad:
                a.grad += unbroadcast(g / b.data, a.shape)
            if b.requires_grad:
                b.grad += unbroadcast(-g * (y / b.data), b.shape)

        return record("/", y, (a, b), _backward)

    def __neg__(self):
        """y = -x.   ∂L/∂x = -g."""
        x = self
        y = -x.data

        def _backward(g):
            if x.requires_grad:
                x.grad += -g

        return record("neg", y, (x,), _backward)

    def __radd__(self, other):
        return as_tensor(other, like=self) + self

    def __rsub__(self, other):
        return as_tensor(other, like=self) - self

    def __rmul__(self, other):
        return as_tensor(other, like=self) * self

    def __rtruediv__(self, other):
        return as_tensor(other, like=self) / self

    def __matmul__(self, other):
        return self.matmul(other)

    def __rmatmul__(self, other):
        return as_tensor(other, like=self).matmul(self)

    # ---------------------------------------------------------------- elementwise functions

    def exp(self):
        """y = eˣ.   ∂L/∂x = g y."""
        x = floating(self)
        y = np.exp(x.data)

        def _backward(g):
            if x.requires_grad:
                x.grad += g * y

        return record("exp", y, (x,), _backward)

    def log(self):
        """y = ln x.   ∂L/∂x = g / x."""
        x = floating(self)
        y = np.log(x.data)

        def _backward(g):
            if x.requires_grad:
                x.grad += g / x.data

        return record("log", y, (x,), _backward)

    def tanh(self):
        """y = tanh x.   ∂L/∂x = g (1 - y²)."""
        x = floating(self)
        y = np.tanh(x.data)

        def _backward(g):
            if x.requires_grad:
                x.grad += g * (1.0 - y * y)

        return record("tanh", y, (x,), _backward)

    def relu(self):
        """y = max(x, 0).   ∂L/∂x = g where x > 0, else 0; at the kink 0, as in torch."""
        x = self
        y = np.maximum(x.data, 0)

        def _backward(g):
            if x.requires_grad:
                x.grad += np.where(x.data <= 0, 0, g)

        return record("relu", y, (x,), _backward)

    def gelu(self, approximate="none"):
        """y = x Φ(x).   ∂L/∂x = g (Φ(x) + x φ(x)), Φ the normal distribution and φ its density.

        With approximate="tanh", Φ(x) is ½ (1 + tanh u), u = √(2/π) (x + 0.044715 x³), and ∂L/∂x =
        g (Φ(x) + x ½ (1 - tanh² u) u').  Hendrycks and Gimpel 2016, arXiv:1606.08415.
        """
        x = floating(self)
        cdf, pdf = normal(x.data, approximate)
        y = x.data * cdf

        def _backward(g):
            if x.requires_grad:
                x.grad += g * (cdf + x.data * pdf)

        return record("gelu", y, (x,), _backward)

    # ---------------------------------------------------------------- reductions

    def sum(self, axis=None, keepdims=False):
        """y = Σ x over `axis` (an int, a tuple, or None for all).   ∂L/∂x = g, for every term."""
        x, axis = self, reduced_axes(axis, self.ndim)
        y = x.data.sum(axis=axis, keepdims=keepdims, dtype=dtype_of_sum(x.dtype))
        kept = kept_shape(x.shape, axis)

        def _backward(g):
            if x.requires_grad:
                x.grad += np.broadcast_to(g.reshape(kept), x.shape)

        return record("sum", y, (x,), _backward)

    def mean(self, axis=None, keepdims=False):
        """y = Σ x / n over `axis`.   ∂L/∂x = g / n, for every one of the n terms."""
        x, axis = self, reduced_axes(axis, self.ndim)
        y = x.data.mean(axis=axis, keepdims=keepdims)
        kept = kept_shape(x.shape, axis)
        n = math.prod(x.shape[i] for i in axis) or 1

        def _backward(g):
            if x.requires_grad:
                x.grad += np.broadcast_to(g.reshape(kept) / n, x.shape)

        return record("mean", y, (x,), _backward)

    def max(self, axis=None, keepdims=False):
        """y = max x over `axis`.   ∂L/∂x = g shared equally by the ties (torch.amax), else 0."""
        x, axis = self, reduced_axes(axis, self.ndim)
        y = x.data.max(axis=axis, keepdims=keepdims)
        kept = kept_shape(x.shape, axis)

        def _backward(g):
            if x.requires_grad:
                ties = (x.data == y.reshape(kept)).astype(x.dtype)
                x.grad += g.reshape(kept) * ties / ties.sum(axis=axis, keepdims=True)

        return record("max", y, (x,), _backward)

    # ---------------------------------------------------------------- shapes

    def reshape(self, shape):
        """y = x in another shape, row by row (C order); one dim may be -1.   ∂L/∂x = g reshaped."""
        x = self
        y = x.data.reshape(shape).copy()

        def _backward(g):
            if x.requires_grad:
                x.grad += g.reshape(x.shape)

        return record("reshape", y, (x,), _backward)

    def transpose(self, axes=None):
        """y[i…] = x[i… permuted by `axes`], reversed by default.   ∂L/∂x = g by the inverse."""
        x = self
        y = x.data.transpose(axes).copy()
        axes = range(x.ndim)[::-1] if axes is None else [axis % x.ndim for axis in axes]
        inverse = sorted(range(x.ndim), key=axes.__getitem__)

        def _backward(g):
            if x.requires_grad:
                x.grad += g.transpose(inverse)

        return record("transpose", y, (x,), _backward)

    def broadcast_to(self, shape):
        """y = x repeated to `shape` by NumPy's rules.   ∂L/∂x = g summed over the copies."""
        x = self
        y = np.broadcast_to(x.data, shape).copy()

        def _backward(g):
            if x.requires_grad:
                x.grad += unbroadcast(g, x.shape)

        return record("broadcast_to", y, (x,), _backward)

    def __getitem__(self, index):
        """y = x[index], any index NumPy takes.   ∂L/∂x = g added up at the places it came from."""
        x = self
        index = own_index(map(plain, index if isinstance(index, tuple) else (index,)))
        y = np.array(x.data[index])

        def _backward(g):
            if x.requires_grad:
                x.grad += scatter_add(g, index, x.shape)

        return record("getitem", y, (x,), _backward)

    # ---------------------------------------------------------------- products and softmax

    def matmul(self, other):
        """y = a @ b, 1-D and batched like np.matmul.   ∂L/∂a = g bᵀ,   ∂L/∂b = aᵀ g."""
        a, b = operands(self, other)
        y = a.data @ b.data

        def _backward(g):
            rows, cols = a.data, b.data  # (…, m, k) @ (…, k, n)
            if b.ndim == 1:  # a vector on the right is a column
                cols, g = cols[:, None], g[..., None]
            if a.ndim == 1:  # one on the left is a row
                rows, g = rows[None, :], g[..., None, :]
            if a.requires_grad:
                a.grad += unbroadcast(g @ cols.mT, rows.shape).reshape(a.shape)
            if b.requires_grad:
                b.grad += unbroadcast(rows.mT @ g, cols.shape).reshape(b.shape)

        return record("@", y, (a, b), _backward)

    def softmax(self, axis=-1):
        """y = eˣ / Σ eˣ along `axis`.   ∂L/∂x = y (g - Σ g y)."""
        x, axis = floating(self), operator.index(axis)
        e = np.exp(x.data - x.data.max(axis=axis, keepdims=True, initial=-math.inf))
        y = e / e.sum(axis=axis, keepdims=True)

        def _backward(g):
            if x.requires_grad:
                x.grad += y * (g - (g * y).sum(axis=axis, keepdims=True))

        return record("softmax", y, (x,), _backward)


# -------------------------------------------------------------------- what the ops share


def record(op, y, parents, backward):
    """The tensor that holds `y`: a node of the graph where a parent requires a gradient."""
    out = Tensor.__new__(Tensor)
    out.data = y if isinstance(y, np.ndarray) else np.asarray(y)
    out.grad = None
    out._op = op
    for parent in parents:
        if parent.requires_grad:
            out.requires_grad, out._prev, out._backward = True, parents, backward
            return out
    out.requires_grad, out._prev, out._backward = False, (), None
    return out


def as_tensor(value, like=None):
    """`value` as a Tensor; a number takes its dtype from the tensor beside it, `like`."""
    if isinstance(value, Tensor):
        return value
    if like is not None and isinstance(value, (bool, int, float, np.generic)):
        return Tensor(np.array(value, dtype=dtype_beside(value, like.dtype)))
    return Tensor(value)


def plain(value):
    """The array of a Tensor; anything else as it is."""
    return value.data if isinstance(value, Tensor) else value


def operands(a, b):
    """The tensor `a` and whatever `b` is, as tensors of one dtype."""
    b = b if isinstance(b, Tensor) else as_tensor(b, like=a)
    return (a, b) if a.data.dtype is b.data.dtype else of_one_dtype((a, b))


def of_one_dtype(values):
    """The values as a tuple of tensors of one dtype."""
    tensors = tuple(as_tensor(value) for value in values)
    dtype = common_dtype([t.data for t in tensors])
    return tuple(t if t.dtype == dtype else cast(t, dtype) for t in tensors)


def floating(x):
    """`x`, in float64 where it holds integers."""
    return x if x.data.dtype.kind == "f" else cast(x, np.dtype(float))


def cast(x, dtype):
    """y = x in another dtype.   ∂L/∂x = g in the dtype of x."""
    y = x.data.astype(dtype)

    def _backward(g):
        if x.requires_grad:
            x.grad += g.astype(x.dtype)

    return record("cast", y, (x,), _backward)
