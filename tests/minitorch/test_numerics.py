"""Extreme numbers: no overflow on the way to a finite result, torch's inf and nan elsewhere."""

import math
import warnings

import numpy as np
import pytest

import minitorch as mt
from tests.minitorch.oracle import agree, mine, same

EXTREME = {
    "plus-minus-1e4": [[1e4, -1e4, 0.0], [-1e4, -1e4, -1e4]],
    "rows-that-differ-by-hundreds": [[700.0, 701.0, 699.0], [-700.0, -701.0, -699.0]],
    "spread-of-hundreds-in-a-row": [[0.0, 300.0, -400.0], [-750.0, 0.0, 5.0]],
    "equal-and-huge": [[1e8, 1e8, 1e8], [-1e8, -1e8, -1e8]],
    "moderate": [[-40.0, 95.0, 0.0], [88.8, 88.7, -103.0]],
    "tiny": [[1e-300, 0.0, -1e-300], [1e-8, 2e-8, 3e-8]],
}


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings(), np.errstate(over="raise", invalid="raise", divide="raise"):
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("name", EXTREME)
def test_cross_entropy_of_extreme_logits(name, reduction):
    agree(lambda lib, z: lib.cross_entropy(z, [0, 2], reduction), np.array(EXTREME[name]))


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("name", EXTREME)
def test_softmax_of_extreme_logits(name, axis):
    agree(lambda lib, z: lib.softmax(z, axis), np.array(EXTREME[name]))


@pytest.mark.parametrize("name", EXTREME)
@pytest.mark.parametrize("function", ["tanh", "relu", "gelu"])
def test_bounded_functions_of_extreme_numbers(name, function):
    agree(lambda lib, z: getattr(lib, function)(z), np.array(EXTREME[name]))
    narrow = np.array(EXTREME[name], np.float32)
    agree(lambda lib, z: getattr(lib, function)(z), narrow, rtol=1e-3)


def test_the_tanh_form_of_gelu_of_extreme_numbers():
    agree(lambda lib, z: lib.gelu(z, "tanh"), np.array([1e4, -1e4, 700.0, -90.0, 0.0]))
    agree(lambda lib, z: lib.gelu(z, "tanh"), np.array([1e4, -1e4, 90.0], np.float32), rtol=1e-6)


def test_equal_huge_logits_lose_exactly_the_log_of_their_number():
    z = mt.Tensor(np.full((1, 2), 1e8, np.float32), requires_grad=True)
    loss = mt.cross_entropy(z, [0])
    loss.backward()

    assert loss.item() == pytest.approx(math.log(2), rel=1e-6)
    np.testing.assert_allclose(z.grad, [[-0.5, 0.5]])


def test_a_hopeless_target_costs_the_whole_difference_and_not_infinity():
    z = mt.Tensor([[1e4, -1e4]], requires_grad=True)
    loss = mt.cross_entropy(z, [1])
    loss.backward()

    assert loss.item() == 2e4
    np.testing.assert_array_equal(z.grad, [[1.0, -1.0]])


def test_gelu_and_its_slope_keep_their_relative_precision_in_the_tail():
    """Φ(-t) = φ(t) / (t + 1/(t + 2/(t + 3/…))), by Laplace; 1 + erf(-t) has no digits left."""
    for t in (3.7, 6.0, 9.0, 20.0):
        fraction = t
        for k in range(200, 0, -1):
            fraction = t + k / fraction
        density = math.exp(-t * t / 2) / math.sqrt(2 * math.pi)
        below = density / fraction
        x = mt.Tensor(-t, requires_grad=True)
        y = x.gelu()
        y.backward()

        assert y.item() == pytest.approx(-t * below, rel=1e-12)
        assert x.grad.item() == pytest.approx(below - t * density, rel=1e-12)


def test_the_slope_of_gelu_changes_its_sign_where_it_should():
    root = -0.7517915246935645  # of Φ(x) + x φ(x)
    x = mt.Tensor([root - 1e-6, root + 1e-6, -3.7], requires_grad=True)
    x.gelu().sum().backward()

    assert np.sign(x.grad).tolist() == [-1.0, 1.0, -1.0]


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu_at_zero(approximate):
    agree(lambda lib, x: lib.gelu(x, approximate), np.array([0.0, -0.0, 1e-200, -1e-200]))


def test_the_two_forms_of_gelu_differ():
    x = mt.Tensor([2.0])

    assert abs(x.gelu().item() - x.gelu("tanh").item()) > 5e-5


@pytest.mark.parametrize("function", ["relu", "tanh", "exp"])
def test_kinks_zeros_and_subnormals(function):
    agree(
        lambda lib, x: getattr(lib, function)(x),
        np.array([0.0, -0.0, 5e-324, -5e-324, 1e-8, -1e-8]),
    )


@pytest.mark.parametrize("upstream", [1.0, np.inf, -np.inf, np.nan])
def test_the_slope_of_relu_is_torchs_for_every_number_and_every_gradient(upstream):
    x = np.array([math.nan, -math.inf, -1.0, -0.0, 0.0, 1.0, math.inf])
    agree(lambda lib, x: lib.relu(x), x, cotangent=np.full(7, upstream))


DIVISION = {  # the upstream gradient, a and b; every answer is an ordinary number
    "large": (1e20, 1e30, 1e10),
    "larger": (1.0, 1e30, 1e30),
    "small": (1.0, 1e-30, 1e-30),
    "small-upstream": (1e-30, 1e-10, 1e-5),
}


@pytest.mark.parametrize("power", [1, 8], ids=["float32", "float64"])
@pytest.mark.parametrize("name", DIVISION)
def test_a_division_does_not_overflow_on_its_way_back(name, power):
    dtype = np.float32 if power == 1 else np.float64
    g, a, b = (np.array(v**power, dtype) for v in DIVISION[name])
    agree(lambda lib, a, b: a / b, a, b, cotangent=g, rtol=1e-6)
    leaves, y = mine(lambda lib, a, b: a / b, (a, b))
    y.backward(g)

    for leaf in leaves:
        assert np.isfinite(leaf.grad)
        assert leaf.grad != 0


INFINITE = {
    "log-of-zero": lambda lib, x: lib.log(x * 0.0),
    "log-of-a-negative": lambda lib, x: lib.log(-x),
    "one-over-zero": lambda lib, x: 1.0 / (x * 0.0),
    "zero-over-zero": lambda lib, x: (x * 0.0) / (x * 0.0),
    "exp-overflows": lambda lib, x: lib.exp(x * 1000.0),
    "softmax-of-minus-infinity": lambda lib, x: lib.softmax(-x / (x * 0.0)),
    "mean-of-nothing": lambda lib, x: lib.mean(x[:0]),
    "mean-of-no-columns": lambda lib, x: lib.mean(lib.reshape(x[:0], (3, 0)), 1),
    "cross-entropy-of-nothing": lambda lib, x: lib.cross_entropy(
        lib.reshape(x[:0], (0, 2)), np.zeros(0, int)
    ),
    "relu-of-nan": lambda lib, x: lib.relu((x * 0.0) / (x * 0.0)),
    "max-of-nan": lambda lib, x: lib.max((x * 0.0) / (x * 0.0)),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", INFINITE)
def test_where_torch_says_inf_or_nan_so_do_we(name):
    """NumPy warns here and torch does not: see docs/adr."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        agree(INFINITE[name], np.array([1.5, 2.5, 3.5]))


def test_masked_logits_get_no_share_and_no_gradient():
    z = mt.Tensor([[0.0, -math.inf, 1.0]], requires_grad=True)
    loss = mt.cross_entropy(z, [2])
    loss.backward()
    y = z.softmax()

    assert y.data[0, 1] == 0
    assert z.grad[0, 1] == 0
    assert np.isfinite(z.grad).all()


def test_a_backward_through_nothing_is_silent():
    x = mt.Tensor(np.zeros((0, 3)), requires_grad=True)
    x.mean(1).backward(np.zeros(0))
    mt.cross_entropy(x, np.zeros(0, int), "sum").backward()

    same(np.zeros((0, 3)), x.grad)
