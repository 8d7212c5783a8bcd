"""What the library refuses, each time with what was expected, what was found and what to do."""

import numpy as np
import pytest

import minitorch as mt


def leaf(*shape):
    return mt.Tensor(np.ones(shape), requires_grad=True)


X = leaf(2, 3)
Z = leaf(4, 3)
REFUSED = {
    "text": (lambda: mt.Tensor("abc"), TypeError, "numbers"),
    "none": (lambda: mt.Tensor(None), TypeError, "numbers"),
    "objects": (lambda: mt.Tensor([X, X]), TypeError, "stack"),
    "complex": (lambda: mt.Tensor([1j]), TypeError, "complex128"),
    "complex-scalar": (lambda: X * np.complex64(1j), TypeError, "complex"),
    "text-beside": (lambda: X + np.str_("a"), TypeError, "numbers"),
    "ragged": (lambda: mt.Tensor([[1], [2, 3]]), ValueError, "inhomogeneous"),
    "integer-leaf": (lambda: mt.Tensor([1], requires_grad=True), RuntimeError, "int64.*1.0"),
    "bool-leaf": (lambda: mt.Tensor(True, requires_grad=True), RuntimeError, "bool"),
    "root-without-gradient": (lambda: (X * 2).backward(), RuntimeError, r"\(2, 3\).*sum"),
    "root-of-no-elements": (lambda: leaf(0).backward(), RuntimeError, r"\(0,\)"),
    "root-is-a-constant": (lambda: mt.Tensor(1.0).backward(), RuntimeError, "requires_grad=True"),
    "root-of-constants": (
        lambda: (mt.Tensor(1.0) * 2).backward(),
        RuntimeError,
        "requires_grad=True",
    ),
    "gradient-of-other-rank": (
        lambda: (X * 2).backward(np.ones(3)),
        RuntimeError,
        r"\(2, 3\); found \(3,\)",
    ),
    "gradient-that-would-broadcast": (
        lambda: (X * 2).backward(1.0),
        RuntimeError,
        r"\(2, 3\); found \(\)",
    ),
    "gradient-transposed": (
        lambda: (X * 2).backward(np.ones((3, 2))),
        RuntimeError,
        r"found \(3, 2\)",
    ),
    "gradient-of-shape-1-for-0d": (
        lambda: X.sum().backward([1.0]),
        RuntimeError,
        r"\(\); found \(1,\)",
    ),
    "gradient-complex": (
        lambda: (X * 2).backward(np.ones((2, 3)) * 1j),
        RuntimeError,
        "real numbers; found complex128",
    ),
    "gradient-of-strings": (
        lambda: (X * 2).backward([["1"] * 3] * 2),
        RuntimeError,
        "real numbers; found <U1",
    ),
    "add-shapes": (lambda: X + leaf(4), ValueError, r"\(2,3\) \(4,\)"),
    "matmul-shapes": (lambda: X @ X, ValueError, "matmul"),
    "matmul-0d": (lambda: X @ 2.0, ValueError, "matmul"),
    "reshape": (lambda: X.reshape((4,)), ValueError, "size 6 into shape"),
    "broadcast": (lambda: X.broadcast_to((3, 3)), ValueError, "broadcast"),
    "transpose-too-few": (lambda: X.transpose((0,)), ValueError, "axes don't match"),
    "transpose-twice": (lambda: X.transpose((0, 0)), ValueError, "repeated axis"),
    "sum-axis": (lambda: X.sum(2), IndexError, "axis 2"),
    "sum-axis-0d": (lambda: X.sum().sum(1), IndexError, "axis 1"),
    "sum-axis-twice": (lambda: X.sum((0, -2)), ValueError, "repeated axis"),
    "sum-axis-twice-0d": (lambda: X.sum().sum((0, -1)), ValueError, "repeated axis"),
    "sum-axis-float": (lambda: X.sum(1.0), TypeError, ""),
    "mean-axis": (lambda: X.mean(-3), IndexError, "axis -3"),
    "max-of-nothing": (lambda: leaf(0, 3).max(0), ValueError, "zero-size"),
    "softmax-axis": (lambda: X.softmax(2), IndexError, "axis 2"),
    "softmax-axes": (lambda: X.softmax((0, 1)), TypeError, ""),
    "gelu-approximate": (lambda: X.gelu("sigmoid"), ValueError, '"none" or "tanh".*sigmoid'),
    "index-out-of-range": (lambda: X[2], IndexError, "out of bounds"),
    "index-no-floats": (lambda: X[np.zeros(0)], IndexError, "integer"),
    "index-float": (lambda: X[0.5], IndexError, "valid indices"),
    "mask-shape": (lambda: X[np.ones(3, bool)], IndexError, "boolean"),
    "item-of-many": (lambda: X.item(), ValueError, "size 1"),
    "truth-of-many": (lambda: bool(X), ValueError, "ambiguous"),
    "iterate-0d": (lambda: list(X.sum()), TypeError, "unsized"),
    "as-an-array": (lambda: np.array(X), TypeError, r"\.data"),
    "numpy-function": (lambda: np.exp(X), TypeError, ""),
    "bool-minus-bool": (lambda: mt.Tensor(True) - mt.Tensor(True), TypeError, "subtract"),
    "misspelt-attribute": (lambda: setattr(X, "gard", 1), AttributeError, "gard"),
    "cat-nothing": (lambda: mt.cat([]), ValueError, "at least one"),
    "cat-0d": (lambda: mt.cat([X.sum()]), ValueError, "zero-dimensional"),
    "cat-shapes": (lambda: mt.cat([X, leaf(2, 4)]), ValueError, "must match"),
    "cat-axis": (lambda: mt.cat([X, X], 2), IndexError, "axis 2"),
    "stack-nothing": (lambda: mt.stack([]), ValueError, "at least one"),
    "stack-shapes": (lambda: mt.stack([X, leaf(2)]), ValueError, "same shape"),
    "stack-axis": (lambda: mt.stack([X], 3), IndexError, "axis 3"),
    "target-too-large": (
        lambda: mt.cross_entropy(Z, [0, 1, 2, 3]),
        IndexError,
        "0 … 2; found 0 … 3",
    ),
    "target-negative": (lambda: mt.cross_entropy(Z, [0, -1, 2, 1]), IndexError, "found -1 … 2"),
    "target-minus-100": (lambda: mt.cross_entropy(Z, [0, -100, 2, 1]), IndexError, "found -100"),
    "target-float": (lambda: mt.cross_entropy(Z, [0.0, 1, 2, 1]), TypeError, "integers.*float64"),
    "target-one-hot": (lambda: mt.cross_entropy(Z, np.ones((4, 3), int)), ValueError, r"\(N,\)"),
    "target-count": (lambda: mt.cross_entropy(Z, [0, 1]), ValueError, r"\(4, 3\) with \(2,\)"),
    "logits-rank": (lambda: mt.cross_entropy(leaf(2, 3, 4), [0, 1]), ValueError, r"\(2, 3, 4\)"),
    "reduction": (lambda: mt.cross_entropy(Z, [0] * 4, "avg"), ValueError, "avg"),
    "no-classes": (lambda: mt.cross_entropy(leaf(1, 0), [0]), IndexError, ""),
    "mse-column-and-row": (lambda: mt.mse_loss(leaf(3, 1), leaf(3)), ValueError, r"\(3, 1\)"),
    "mse-one-and-many": (lambda: mt.mse_loss(leaf(5), leaf(1)), ValueError, r"\(5,\) and \(1,\)"),
    "mse-row-and-column": (lambda: mt.mse_loss(leaf(3), leaf(3, 1)), ValueError, r"\(3, 1\)"),
    "sgd-nothing": (lambda: mt.SGD([], lr=0.1), ValueError, "at least one"),
    "sgd-one-tensor": (lambda: mt.SGD(X, lr=0.1), ValueError, "list"),
    "sgd-result": (lambda: mt.SGD([X * 2], lr=0.1), ValueError, "leaves"),
    "sgd-one-result": (lambda: mt.SGD([X, X * 2], lr=0.1), ValueError, "leaves"),
    "sgd-lr": (lambda: mt.SGD([X], lr=-0.1), ValueError, "lr.*-0.1"),
    "sgd-lr-nan": (lambda: mt.SGD([X], lr=float("nan")), ValueError, "nan"),
    "sgd-momentum": (lambda: mt.SGD([X], lr=1, momentum=-1), ValueError, "momentum"),
    "sgd-weight-decay": (lambda: mt.SGD([X], lr=1, weight_decay=-1), ValueError, "weight_decay"),
}


@pytest.mark.parametrize(("do", "error", "message"), REFUSED.values(), ids=REFUSED)
def test_it_is_refused_and_says_why(do, error, message):
    with pytest.raises(error, match=f"(?s){message}"):
        do()


@pytest.mark.parametrize("do", [(X * 2).backward, lambda: (X * 2).backward(1.0)])
def test_a_refused_backward_leaves_no_trace(do):
    before = X.grad
    with pytest.raises(RuntimeError):
        do()

    assert X.grad is before
    assert X.grad is None
