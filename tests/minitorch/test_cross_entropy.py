"""Cross-entropy: what stands above it, what it averages over, and what it takes as a target."""

import numpy as np
import pytest
import torch

import minitorch as mt
from tests.minitorch.oracle import agree, irregular, mine, spread

Z = spread((4, 3), -3, 3)
T = [0, 2, 2, 1]
ABOVE = {
    "alone": lambda lib, loss: loss,
    "scaled": lambda lib, loss: loss * 2.5,
    "negated": lambda lib, loss: -loss,
    "divided": lambda lib, loss: loss / 4.0,
    "squared": lambda lib, loss: loss * loss,
    "summed": lambda lib, loss: lib.sum(loss),
    "meant": lambda lib, loss: lib.mean(loss),
    "weighted": lambda lib, loss: lib.sum(loss * lib.tensor(np.array([1.0, -2.0, 0.0, 4.0]))),
    "twice": lambda lib, loss: loss + loss,
    "highest": lambda lib, loss: lib.max(loss),
}


@pytest.mark.parametrize("above", ABOVE)
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_the_gradient_is_scaled_by_what_comes_from_above(above, reduction):
    agree(lambda lib, z: ABOVE[above](lib, lib.cross_entropy(z, T, reduction)), Z)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_second_backward_adds_the_same_again(reduction, times):
    agree(lambda lib, z: lib.cross_entropy(z, T, reduction), Z, times=times)


def test_the_unreduced_loss_weights_each_row_by_its_own_upstream_value():
    leaves, losses = mine(lambda lib, z: lib.cross_entropy(z, T, "none"), (Z,))
    losses.backward([1.0, 0.0, 0.0, 0.0])

    assert losses.shape == (4,)
    assert leaves[0].grad[0].all()
    assert not leaves[0].grad[1:].any()


def test_the_mean_is_over_the_rows_and_each_row_of_the_gradient_sums_to_zero():
    leaves, loss = mine(lambda lib, z: lib.cross_entropy(z, T), (Z,))
    loss.backward()
    rows = mt.cross_entropy(mt.Tensor(Z), T, "none").data

    assert loss.item() == pytest.approx(rows.sum() / 4)
    np.testing.assert_allclose(leaves[0].grad.sum(axis=1), 0, atol=1e-15)


@pytest.mark.parametrize(
    "targets",
    [T, tuple(T), np.array(T), np.array(T, np.uint8), np.array(T, np.int32), mt.Tensor(T)],
    ids=["list", "tuple", "int64", "uint8", "int32", "Tensor"],
)
def test_targets_may_be_any_integers(targets):
    z, p = mt.Tensor(Z, requires_grad=True), torch.tensor(Z, requires_grad=True)
    mt.cross_entropy(z, targets).backward()
    torch.nn.functional.cross_entropy(p, torch.tensor(T)).backward()

    np.testing.assert_allclose(z.grad, p.grad.numpy(), rtol=1e-12)


@pytest.mark.parametrize("target", [2, np.int64(2), np.array(2), mt.Tensor(2)])
def test_one_row_without_a_batch_axis_has_one_target(target):
    agree(lambda lib, z: lib.cross_entropy(z, plain(target)), Z[0])
    assert mt.cross_entropy(mt.Tensor(Z[0]), target).shape == ()


def plain(target):
    return target.data if isinstance(target, mt.Tensor) else target


def test_it_is_what_softmax_log_and_getitem_say():
    x = mt.Tensor(Z, requires_grad=True)
    slow = -x.softmax().log()[np.arange(4), T].mean()
    slow.backward()
    z = mt.Tensor(Z, requires_grad=True)
    fast = mt.cross_entropy(z, T)
    fast.backward()

    assert fast.item() == pytest.approx(slow.item(), rel=1e-14)
    np.testing.assert_allclose(z.grad, x.grad, rtol=1e-12, atol=1e-16)


def test_logits_may_come_from_anywhere_in_the_graph():
    agree(
        lambda lib, x, w, b: lib.cross_entropy(lib.tanh(x @ w + b) * 3.0, T, "sum"),
        spread((4, 2)),
        spread((2, 3), seed=1),
        spread((3,), seed=2),
    )


def test_constant_logits_make_a_constant_loss():
    loss = mt.cross_entropy(Z, T)

    assert not loss.requires_grad
    assert loss.item() == mt.cross_entropy(mt.Tensor(Z), T).item()


def test_the_upstream_gradient_is_not_changed():
    _, losses = mine(lambda lib, z: lib.cross_entropy(z, T, "none"), (Z,))
    g = irregular((4,))
    copy = g.copy()
    losses.backward(g)

    np.testing.assert_array_equal(copy, g)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_logits_in_column_order_give_the_same_loss_and_gradient(reduction):
    by_column, by_row = (mt.Tensor(z, requires_grad=True) for z in (np.asfortranarray(Z), Z))
    assert not by_column.data.flags.c_contiguous
    losses = [mt.cross_entropy(z, T, reduction) for z in (by_column, by_row)]
    for loss in losses:
        loss.sum().backward()

    np.testing.assert_allclose(losses[0].data, losses[1].data, rtol=1e-15)
    np.testing.assert_allclose(by_column.grad, by_row.grad, rtol=1e-15)


def test_no_targets_at_all_may_be_an_empty_list():
    assert mt.cross_entropy(np.ones((0, 3)), [], reduction="sum").item() == 0
