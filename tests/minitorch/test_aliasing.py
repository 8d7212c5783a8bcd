"""Nobody's arrays are changed, and nobody's memory is shared."""

import numpy as np
import pytest

import minitorch as mt
from tests.minitorch.cases import CASES
from tests.minitorch.oracle import irregular, mine, same, spread

CASE = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", ""))


def shares(a, b):
    return np.shares_memory(a, b)


@CASE
def test_an_op_leaves_its_operands_alone_and_shares_no_memory_with_them(case):
    leaves, y = mine(case.program, case.arrays)
    data = [leaf.data for leaf in leaves]
    before = [array.copy() for array in data]
    c = irregular(y.shape)
    kept = c.copy()
    y.backward(c)

    assert y.data.flags.writeable
    assert not any(shares(y.data, array) for array in data)
    np.testing.assert_array_equal(kept, c)
    for leaf, array, copy in zip(leaves, data, before, strict=True):
        assert leaf.data is array
        np.testing.assert_array_equal(copy, array)
        assert leaf.grad.flags.writeable
        assert not shares(leaf.grad, c)
        assert not shares(leaf.grad, y.grad)
        assert not shares(leaf.grad, y.data)
        assert not any(shares(leaf.grad, array) for array in data)
        assert not any(shares(leaf.grad, other.grad) for other in leaves if other is not leaf)


@CASE
def test_a_gradient_written_to_by_its_owner_changes_no_later_backward(case):
    leaves, y = mine(case.program, case.arrays)
    c = irregular(y.shape)
    y.backward(c)
    first = [leaf.grad.copy() for leaf in leaves]
    for leaf in leaves:
        leaf.grad[...] = 1e6
        leaf.zero_grad()
    y.grad[...] = 1e6
    y.backward(c)

    for leaf, grad in zip(leaves, first, strict=True):
        np.testing.assert_array_equal(grad, leaf.grad)


def test_a_tensor_copies_what_it_is_made_of():
    source = np.array([1.0, 2.0])
    x = mt.Tensor(source, requires_grad=True)
    y = (x * x).sum()
    source[:] = 100.0
    y.backward()

    np.testing.assert_array_equal([1.0, 2.0], x.data)
    np.testing.assert_array_equal([2.0, 4.0], x.grad)
    assert not shares(mt.Tensor(x).data, x.data)
    assert not shares(mt.as_tensor(source).data, source)


@pytest.mark.parametrize(
    "program",
    [
        lambda x, a: x * a,
        lambda x, a: a * x,
        lambda x, a: x / a,
        lambda x, a: a / x,
        lambda x, a: x @ a,
        lambda x, a: a @ x,
        lambda x, a: mt.cat([x * 2.0, a]) * x.sum(),
        lambda x, a: mt.stack([a, x]) * x,
        lambda x, a: mt.mse_loss(x, a),
    ],
    ids=["x*a", "a*x", "x/a", "a/x", "x@a", "a@x", "cat", "stack", "mse"],
)
def test_an_array_beside_a_tensor_may_change_after_the_forward_pass(program):
    def run(spoil):
        x, a = mt.Tensor([3.0, 4.0], requires_grad=True), np.array([1.5, 2.5])
        y = program(x, a)
        if spoil:
            a[:] = 1e6
        y.backward(np.ones(y.shape))
        return y.data, x.grad

    for expected, found in zip(run(spoil=False), run(spoil=True), strict=True):
        np.testing.assert_array_equal(expected, found)


INDICES = {
    "array": lambda: (i := np.array([0, 2]), i),
    "list": lambda: (i := [0, 2], i),
    "mask": lambda: (i := np.array([True, False, True]), i),
    "mask-list": lambda: (i := [True, False, True], i),
    "array-in-a-tuple": lambda: (i := np.array([0, 2]), (i, None)),
    "nested-list": lambda: (i := [0, 2], [i]),
}


@pytest.mark.parametrize("make", INDICES.values(), ids=INDICES)
def test_an_index_may_change_after_the_forward_pass(make):
    x = mt.Tensor([1.0, 2.0, 3.0], requires_grad=True)
    changed, index = make()
    y = x[index]
    changed[:] = [changed[1]] * len(changed)
    y.backward(np.ones(y.shape))

    np.testing.assert_array_equal([1.0, 0.0, 1.0], x.grad)


def test_an_index_tensor_may_change_after_the_forward_pass():
    x, i = mt.Tensor([1.0, 2.0, 3.0], requires_grad=True), mt.Tensor([0, 2])
    y = x[i]
    i.data[:] = 1
    y.backward(np.ones(2))

    np.testing.assert_array_equal([1.0, 0.0, 1.0], x.grad)


def test_targets_may_change_after_the_forward_pass():
    targets = np.array([0, 1])
    z = mt.Tensor(spread((2, 3)), requires_grad=True)
    loss = mt.cross_entropy(z, targets)
    targets[:] = 2
    loss.backward()

    assert (z.grad < 0).tolist() == [[True, False, False], [False, True, False]]


def test_axes_and_shapes_may_change_after_the_forward_pass():
    x, axes, shape = mt.Tensor(spread((2, 3, 4)), requires_grad=True), [1, 2, 0], [4, 6]
    y, z = x.transpose(axes), x.reshape(shape)
    axes[:], shape[:] = [0, 1, 2], [1, 1]
    c, d = irregular(y.shape), irregular(z.shape)
    y.backward(c)
    z.backward(d)

    same(c.transpose(2, 0, 1) + d.reshape(2, 3, 4), x.grad)


def test_a_list_of_tensors_may_change_after_the_forward_pass():
    xs = [mt.Tensor([float(i)], requires_grad=True) for i in range(3)]
    leaves, y, z = list(xs), mt.cat(xs), mt.stack(xs)
    xs.reverse()
    y.backward([1.0, 2.0, 3.0])
    z.backward([[1.0], [2.0], [3.0]])

    assert [2.0, 4.0, 6.0] == [leaf.grad.item() for leaf in leaves]


def test_a_parameter_that_is_rebound_after_the_forward_pass_does_not_reach_other_tensors():
    w = mt.Tensor([1.0, 2.0], requires_grad=True)
    held = w.data
    optimizer = mt.SGD([w], lr=0.5)
    (w * w).sum().backward()
    grad, copy = w.grad, w.grad.copy()
    optimizer.step()

    np.testing.assert_array_equal([1.0, 2.0], held)
    assert w.grad is grad
    np.testing.assert_array_equal(copy, grad)
    assert not shares(w.data, w.grad)


def test_a_read_only_or_strided_source_is_welcome():
    frozen = np.broadcast_to(np.array([1.0]), (3, 2))
    x = mt.Tensor(frozen, requires_grad=True)
    y = x[::2] * x[::2]
    y.backward(np.ones(y.shape))
    x.grad[0, 0] = 7.0

    np.testing.assert_array_equal([[7.0, 2.0], [0.0, 0.0], [2.0, 2.0]], x.grad)
