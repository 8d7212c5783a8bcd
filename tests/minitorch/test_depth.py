"""Graphs as deep as memory allows, and nothing left for the garbage collector."""

import gc
import sys
import time

import numpy as np
import pytest

import minitorch as mt


@pytest.fixture
def quiet_collector():
    """Nothing is collected but by reference counts, until the test asks."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()
    gc.collect()


def chain(length, x):
    y = x
    for _ in range(length):
        y = y.tanh()
    return y


def test_a_million_ops_go_forward_backward_and_are_freed(quiet_collector):
    limit = sys.getrecursionlimit()
    x = mt.Tensor([0.5], requires_grad=True)
    y = chain(1_000_000, x)
    y.backward()
    grad = x.grad.item()
    del y

    assert sys.getrecursionlimit() == limit
    assert 1e-9 < grad < 1e-7  # dy/dx of tanh∘…∘tanh falls like n^(-3/2)


def test_a_long_chain_has_the_product_of_its_slopes():
    x = mt.Tensor([0.5], requires_grad=True)
    chain(20_000, x).backward()
    value, slope = 0.5, 1.0
    for _ in range(20_000):
        value = float(np.tanh(value))
        slope *= 1 - value * value

    assert x.grad.item() == pytest.approx(slope, rel=1e-10)


def test_a_long_chain_of_binary_ops_and_a_wide_sum():
    x, b = (mt.Tensor([1.0], requires_grad=True) for _ in range(2))
    y = x
    for _ in range(5_000):
        y = y + b
    y.backward()
    total = mt.Tensor([0.0])
    for _ in range(5_000):
        total = total + x * 2.0
    total.backward()

    assert b.grad.item() == 5_000
    assert x.grad.item() == 1 + 10_000


def test_many_paths_cost_no_more_than_their_nodes():
    x = mt.Tensor([0.1], requires_grad=True)
    y = x
    for _ in range(200):  # 2 ** 200 paths
        y = (y + y) * 0.5
    start = time.perf_counter()
    y.backward()

    assert x.grad.item() == 1.0
    assert time.perf_counter() - start < 10


def everything(x, w):
    """One graph through every op."""
    h = mt.cat([x, x.exp()], axis=0) @ w
    h = h.tanh() + h.relu() - h.gelu() * h.gelu("tanh") / (h * h + 2.0)
    h = mt.stack([h, -h], axis=-1).transpose((2, 0, 1))[0, [0, 0, 1]]
    h = h.reshape((-1,)).broadcast_to((2, 9)).softmax().reshape((6, 3)) + (x * x + 1.0).log().sum()
    h = h * h.max(axis=0) + h.mean(axis=1, keepdims=True)
    return mt.cross_entropy(h, [0, 1, 2, 0, 1, 2]) + mt.mse_loss(h, np.ones((6, 3)))


def test_after_del_loss_nothing_is_left_for_the_collector(quiet_collector):
    x = mt.Tensor(np.ones((2, 3)), requires_grad=True)
    w = mt.Tensor(np.eye(3), requires_grad=True)
    optimizer = mt.SGD([x, w], lr=0.1, momentum=0.9)
    loss = everything(x, w)
    loss.backward()
    loss.backward()
    optimizer.step()
    del loss

    assert gc.collect() == 0


def test_a_graph_that_never_went_backward_leaves_nothing_either(quiet_collector):
    loss = everything(
        mt.Tensor(np.ones((2, 3)), requires_grad=True), mt.Tensor(np.eye(3), requires_grad=True)
    )
    del loss

    assert gc.collect() == 0


def test_a_refused_backward_leaves_nothing_either(quiet_collector):
    y = mt.Tensor([1.0, 2.0], requires_grad=True) * 2.0
    with pytest.raises(RuntimeError):
        y.backward()
    del y
    gc.collect()  # the traceback of the error that pytest holds

    assert gc.collect() == 0


def test_the_collector_sees_a_cycle_when_there_is_one(quiet_collector):
    """The check is fed a closure that holds its own output."""
    x = mt.Tensor([1.0], requires_grad=True)
    y = x * 2.0
    y._backward = lambda g, y=y: None
    del y

    assert gc.collect() > 0
