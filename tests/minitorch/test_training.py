"""SGD, the losses and the loop do what torch's do, step for step."""

import numpy as np
import pytest
import torch

import minitorch as mt
from tests.minitorch.oracle import agree, same, spread

X = spread((12, 3), seed=1)
T = np.arange(12) * 7 % 4
SETTINGS = {
    "plain": {"lr": 0.1},
    "momentum": {"lr": 0.1, "momentum": 0.9},
    "weight-decay": {"lr": 0.1, "weight_decay": 0.05},
    "both": {"lr": 0.05, "momentum": 0.8, "weight_decay": 0.1},
    "frozen": {"lr": 0.0, "momentum": 0.9},
}


def parameters():
    return [spread((3, 5)), spread((5,), seed=1), spread((5, 4), seed=2), spread((), seed=3)]


def logits(x, w, b, v, s):
    return (x @ w + b).tanh() @ v * s


@pytest.mark.parametrize("name", SETTINGS)
def test_twenty_steps_are_torchs(name):
    ours = [mt.Tensor(p, requires_grad=True) for p in parameters()]
    theirs = [torch.tensor(p, requires_grad=True) for p in parameters()]
    mine, reference = mt.SGD(ours, **SETTINGS[name]), torch.optim.SGD(theirs, **SETTINGS[name])
    for step in range(20):
        rows = np.arange(step, step + 6) % 12
        mine.zero_grad()
        mt.cross_entropy(logits(X[rows], *ours), T[rows]).backward()
        mine.step()
        reference.zero_grad()
        z = logits(torch.tensor(X[rows]), *theirs)
        torch.nn.functional.cross_entropy(z, torch.tensor(T[rows])).backward()
        reference.step()

    for p, q in zip(ours, theirs, strict=True):
        same(q.detach().numpy(), p.data, rtol=1e-9)


def test_a_step_goes_against_the_gradient_by_the_learning_rate():
    p = mt.Tensor([1.0, 2.0], requires_grad=True)
    (p * np.array([3.0, -4.0])).sum().backward()
    mt.SGD([p], lr=0.5).step()

    np.testing.assert_array_equal([-0.5, 4.0], p.data)


def test_momentum_remembers_and_two_settings_differ():
    def run(momentum):
        p = mt.Tensor([0.0], requires_grad=True)
        optimizer = mt.SGD([p], lr=1.0, momentum=momentum)
        for _ in range(3):
            p.grad = np.array([1.0])
            optimizer.step()
        return p.item()

    assert run(0.0) == -3.0
    assert run(0.5) == -(1 + 1.5 + 1.75)
    assert run(1.0) == -(1 + 2 + 3)


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_weight_decay_shrinks_in_proportion_with_or_without_momentum(momentum):
    p = mt.Tensor([1.0, -2.0], requires_grad=True)
    p.grad = np.zeros(2)
    mt.SGD([p], lr=0.5, momentum=momentum, weight_decay=0.1).step()

    np.testing.assert_allclose(p.data, [0.95, -1.9])


@pytest.mark.parametrize("schedule", [np.float64, np.float32, lambda v: np.array(v)])
def test_a_schedule_of_numpy_numbers_widens_no_parameter(schedule):
    p = mt.Tensor(np.ones(2, np.float32), requires_grad=True)
    optimizer = mt.SGD([p], lr=schedule(0.5), momentum=schedule(0.5), weight_decay=schedule(0.5))
    for lr in (0.25, 0.125):
        optimizer.lr, optimizer.momentum, optimizer.weight_decay = map(schedule, (lr, 0.5, 0.5))
        p.grad = np.ones(2, np.float32)
        optimizer.step()

    assert p.dtype == np.float32
    np.testing.assert_array_equal(p.data, np.full(2, 0.3671875, np.float32))


def test_a_step_changes_no_array_that_somebody_holds():
    p = mt.Tensor([1.0, 2.0], requires_grad=True)
    optimizer = mt.SGD([p], lr=0.5, momentum=0.9, weight_decay=0.1)
    data, grad = p.data, np.array([1.0, 1.0])
    p.grad = grad
    optimizer.step()
    optimizer.step()

    np.testing.assert_array_equal([1.0, 2.0], data)
    np.testing.assert_array_equal([1.0, 1.0], grad)
    assert p.grad is grad


def test_a_parameter_listed_twice_is_stepped_once():
    p = mt.Tensor([1.0], requires_grad=True)
    p.grad = np.array([1.0])
    mt.SGD([p, p], lr=0.25, momentum=0.5).step()

    assert p.item() == 0.75


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_a_parameter_without_a_gradient_is_left_alone(settings):
    p = mt.Tensor([1.0], requires_grad=True)
    data = p.data
    mt.SGD([p], **settings).step()

    assert p.data is data


def test_zero_grad_forgets_every_gradient():
    ps = [mt.Tensor([1.0], requires_grad=True) for _ in range(3)]
    for p in ps:
        p.grad = np.array([1.0])
    mt.SGD(ps, lr=0.1).zero_grad()

    assert [None, None, None] == [p.grad for p in ps]


def test_parameters_may_come_from_a_generator():
    p = mt.Tensor([1.0], requires_grad=True)
    optimizer = mt.SGD((q for q in [p]), lr=1.0)
    for _ in range(2):
        p.grad = np.array([1.0])
        optimizer.step()

    assert p.item() == -1.0


@pytest.mark.parametrize("shape", [(), (1,), (3,), (3, 1), (2, 3), (2, 0, 3)])
def test_mse_is_torchs(shape):
    target = spread(shape, seed=1)
    if 0 in shape:
        with pytest.warns(RuntimeWarning):
            assert np.isnan(mt.mse_loss(mt.Tensor(np.zeros(shape)), target).item())
        return
    p, q = mt.Tensor(spread(shape), requires_grad=True), torch.tensor(spread(shape))
    q.requires_grad_()
    loss, reference = mt.mse_loss(p, target), torch.nn.functional.mse_loss(q, torch.tensor(target))
    loss.backward()
    reference.backward()

    same(reference.detach().numpy(), loss.data)
    same(q.grad.numpy(), p.grad)


def test_mse_gives_its_target_a_gradient_too_where_it_wants_one():
    a, b = (mt.Tensor([1.0, 2.0 + i], requires_grad=True) for i in range(2))
    mt.mse_loss(a, b).backward()

    np.testing.assert_array_equal(a.grad, [0.0, -1.0])
    np.testing.assert_array_equal(b.grad, [0.0, 1.0])


# ---------------------------------------------------------------- the loop


def line(settings, batches):
    """A line fitted by `fit`: its parameters and the history."""
    w, b = mt.Tensor([0.0], requires_grad=True), mt.Tensor(0.0, requires_grad=True)

    def loss(rows):
        x = np.array([[float(r)] for r in rows])
        return mt.mse_loss(x @ w + b, np.array([2.0 * r + 1 for r in rows]))

    history = mt.fit(loss, batches, mt.SGD([w, b], **settings))
    return w, b, history


def test_fit_is_the_loop_one_would_write():
    batches = [[[0, 1, 2]], [[1, 2, 3]], [[0, 2, 4]]] * 5
    w, b, history = line({"lr": 0.02, "momentum": 0.5}, batches)
    p, q = torch.zeros(1).double().requires_grad_(), torch.zeros(()).double().requires_grad_()
    reference, losses = torch.optim.SGD([p, q], lr=0.02, momentum=0.5), []
    for (rows,) in batches:
        x = torch.tensor([[float(r)] for r in rows]).double()
        reference.zero_grad()
        loss = ((x @ p + q - (2 * x[:, 0] + 1)) ** 2).mean()
        loss.backward()
        reference.step()
        losses.append(loss.item())

    assert all(type(value) is float for value in history)
    np.testing.assert_allclose(history, losses, rtol=1e-10)
    same(p.detach().numpy(), w.data)
    same(q.detach().numpy(), b.data)


@pytest.mark.parametrize("cut", [[[0, 1], [2, 3]], [[0], [1, 2, 3]], [[0], [1], [2], [3]]])
def test_a_step_does_not_depend_on_how_a_batch_is_cut(cut):
    settings = {"lr": 0.02, "momentum": 0.5, "weight_decay": 0.1}
    w, b, whole = line(settings, [[[0, 1, 2, 3]]] * 4)
    v, c, pieces = line(settings, [cut] * 4)

    np.testing.assert_allclose(pieces, whole, rtol=1e-12)
    np.testing.assert_allclose([v.item(), c.item()], [w.item(), b.item()], rtol=1e-12)


def test_fit_forgets_between_batches_and_returns_the_loss_before_each_step():
    _, _, history = line({"lr": 0.0}, [[[1]], [[1]], [[1]]])

    assert history == [9.0, 9.0, 9.0]


def test_fit_learns():
    w, b, history = line({"lr": 0.05}, [[[0, 1, 2, 3]]] * 400)

    assert w.item() == pytest.approx(2, abs=1e-3)
    assert b.item() == pytest.approx(1, abs=1e-3)
    assert history[-1] < 1e-6 < history[0]


def test_fit_keeps_no_graph():
    import gc
    import weakref

    kept = []
    p = mt.Tensor([1.0], requires_grad=True)

    def loss(rows):
        y = (p * float(len(rows))).sum()
        kept.append(weakref.ref(y))
        return y

    gc.disable()
    try:
        mt.fit(loss, [[[1]], [[2]]], mt.SGD([p], lr=0.1))
        assert [None, None] == [ref() for ref in kept]
    finally:
        gc.enable()


def test_the_model_of_these_tests_has_torchs_gradients():
    agree(lambda lib, *ps: logits(lib.tensor(X), *ps), *parameters())
