"""The walk back: every path counts once, leaves add up, interior tensors start anew."""

import numpy as np
import pytest
import torch

import minitorch as mt
from tests.minitorch.oracle import Mine, Theirs, agree, irregular, same, spread


def diamond(lib, x):
    a = lib.tanh(x)
    return lib.exp(a) * (a + x)


def y_shape(lib, x, w):
    h = lib.tanh(x @ w)
    return lib.sum(h * h) + lib.sum(lib.exp(h))


def ladder(lib, x):
    for _ in range(12):  # 2 ** 12 paths
        x = lib.tanh(x + x * 0.5)
    return x


def tied(lib, w, x):
    return lib.tanh(lib.tanh(x @ w) @ w) @ lib.transpose(w)


def long_and_short_path(lib, x):
    deep = x
    for _ in range(5):
        deep = lib.tanh(deep)
    return x * deep


def four_consumers(lib, x):
    h = lib.tanh(x)
    return h + lib.exp(h) + lib.sum(h) + h * h


def eight_uses(lib, x):
    h = x * 2.0
    return h * h * h * h + h * h * h + h


PROGRAMS = {
    "diamond": (diamond, (3,)),
    "two-losses-over-one-interior-tensor": (y_shape, (2, 3), (3, 3)),
    "ladder-of-4096-paths": (ladder, (2,)),
    "weight-tying": (tied, (3, 3), (2, 3)),
    "long-and-short-path": (long_and_short_path, (3,)),
    "four-consumers": (four_consumers, (3,)),
    "eight-uses": (eight_uses, (3,)),
    "x+x": (lambda lib, x: x + x, (3,)),
    "x-x": (lambda lib, x: x - x, (3,)),
    "x*x": (lambda lib, x: x * x, (3,)),
    "x*x*x": (lambda lib, x: x * x * x, (3,)),
    "x/x": (lambda lib, x: (x + 5.0) / (x + 5.0), (3,)),
    "x@x": (lambda lib, x: x @ x, (3, 3)),
    "cat-itself": (lambda lib, x: lib.cat([x, x], -1), (2, 3)),
    "stack-itself": (lambda lib, x: lib.stack([x, x, x], 1), (3, 3)),
    "c=b+b-of-b=a+a": (lambda lib, a: (a + a) + (a + a), ()),
    "shared-b": (lambda lib, a: (lambda b: b + b)(a + a), ()),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("times", [1, 2, 3])
def test_every_path_counts_once_and_calls_add_up(name, times):
    program, *shapes = PROGRAMS[name]
    agree(program, *(spread(s, seed=i) for i, s in enumerate(shapes)), times=times)


def test_a_second_backward_doubles_leaves_and_repeats_interior_tensors():
    x = mt.Tensor([1.0, 2.0], requires_grad=True)
    h = x * x
    loss = (h * h).sum()
    loss.backward()
    first, interior = x.grad.copy(), h.grad.copy()
    loss.backward()

    np.testing.assert_array_equal(2 * first, x.grad)
    np.testing.assert_array_equal(interior, h.grad)
    assert loss.grad == 1


def test_two_losses_add_up_in_either_order():
    def run(order):
        x = mt.Tensor(spread((3,)), requires_grad=True)
        h = x.tanh()
        losses = [(h * h).sum(), h.exp().sum()]
        for i in order:
            losses[i].backward()
        return x.grad

    one = torch.tensor(spread((3,)), requires_grad=True)
    h = one.tanh()
    ((h * h).sum() + h.exp().sum()).backward()
    same(one.grad.numpy(), run([0, 1]))
    same(one.grad.numpy(), run([1, 0]))


def test_a_graph_that_grows_after_backward_walks_only_what_is_below():
    x = mt.Tensor([2.0], requires_grad=True)
    h = x * x
    h.sum().backward()
    (h * 3.0).sum().backward()

    np.testing.assert_array_equal([4.0 + 12.0], x.grad)


def test_a_leaf_can_be_the_root():
    x = mt.Tensor([1.0, 2.0], requires_grad=True)
    x.backward([3.0, 4.0])
    x.backward([1.0, 1.0])

    np.testing.assert_array_equal([4.0, 5.0], x.grad)


def test_zero_grad_forgets_and_the_next_backward_starts_anew():
    x = mt.Tensor([2.0], requires_grad=True)
    y = x * x * x
    y.backward()
    x.zero_grad()
    assert x.grad is None

    y.backward()
    np.testing.assert_array_equal([12.0], x.grad)


def test_a_gradient_set_to_zeros_by_hand_accumulates():
    x = mt.Tensor([2.0], requires_grad=True)
    x.grad = np.zeros(1)
    (x * x * x).backward()

    np.testing.assert_array_equal([12.0], x.grad)


@pytest.mark.parametrize(
    "program",
    [
        lambda c, x: c + x,
        lambda c, x: x - c,
        lambda c, x: c * x,
        lambda c, x: x / c,
        lambda c, x: c / x,
        lambda c, x: c @ x,
        lambda c, x: mt.cat([c, x]),
        lambda c, x: mt.stack([c, x], -1),
        lambda c, x: c.exp() * x,
    ],
    ids=["c+x", "x-c", "c*x", "x/c", "c/x", "c@x", "cat", "stack", "op-of-constant"],
)
def test_a_constant_gets_no_gradient_and_stops_nothing(program):
    c, x = mt.Tensor([1.5, 2.5]), mt.Tensor([3.0, 4.0], requires_grad=True)
    y = program(c, x)
    y.backward(irregular(y.shape))

    assert y.requires_grad
    assert c.grad is None
    assert isinstance(x.grad, np.ndarray)
    assert x.grad.all()


def test_a_result_of_constants_keeps_no_history():
    y = (mt.Tensor([1.0]) * 2.0).tanh().sum()

    assert not y.requires_grad
    assert y._prev == ()
    assert y._backward is None


def test_an_unused_leaf_stays_none():
    x, unused = (mt.Tensor([1.0], requires_grad=True) for _ in range(2))
    _ = unused * 2.0
    (x * 3.0).backward()

    assert unused.grad is None


def test_a_leaf_that_is_used_with_weight_zero_gets_zeros():
    agree(lambda lib, x: x * 0.0, spread((3,)))


def test_every_tensor_on_the_way_has_a_gradient_of_its_own_shape_and_dtype():
    x = mt.Tensor(spread((2, 3)).astype(np.float32), requires_grad=True)
    b = mt.Tensor(np.float32(0.5), requires_grad=True)
    h = (x * b).tanh()
    s = h.sum(0)
    loss = s.max()
    loss.backward()

    for tensor in (x, b, h, s, loss):
        assert isinstance(tensor.grad, np.ndarray)
        assert tensor.grad.shape == tensor.shape
        assert tensor.grad.dtype == np.float32


def test_a_tensor_is_found_by_identity_and_not_by_value():
    a, b = (mt.Tensor([1.0], requires_grad=True) for _ in range(2))
    (a * b + a * b).backward()

    assert len({a, b}) == 2
    np.testing.assert_array_equal([2.0], a.grad)
    np.testing.assert_array_equal([2.0], b.grad)


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_one_element_of_any_rank_needs_no_gradient(shape):
    leaf, torchs = mt.Tensor(np.full(shape, 3.0), requires_grad=True), torch.full(shape, 3.0)
    torchs = torchs.double().requires_grad_()
    (leaf * leaf).backward()
    (torchs * torchs).backward()

    same(torchs.grad.numpy(), leaf.grad)


@pytest.mark.parametrize(
    "gradient", [[1.0, 2.0], (1, 2), np.array([1.0, 2.0]), mt.Tensor([1.0, 2.0])]
)
def test_the_gradient_may_be_anything_with_the_right_shape(gradient):
    x = mt.Tensor([3.0, 4.0], requires_grad=True)
    (x * x).backward(gradient)

    same(np.array([6.0, 16.0]), x.grad)


def test_both_libraries_speak_one_language():
    ours = {name for name in vars(Mine) if not name.startswith("_")}
    torchs = {name for name in vars(Theirs) if not name.startswith("_")}

    assert ours == torchs


def test_a_tensor_shows_its_numbers_and_whether_it_requires_a_gradient():
    assert repr(mt.Tensor([[1.0, 2.5], [3.0, 4.0]])) == "Tensor([[1. , 2.5],\n        [3. , 4. ]])"
    assert repr(mt.Tensor(2.0, requires_grad=True)) == "Tensor(2., requires_grad=True)"
    assert repr(mt.Tensor([True])) == "Tensor([ True])"
