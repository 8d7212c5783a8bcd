"""gradcheck passes what is right, objects to every kind of wrong, and refuses what says nothing."""

import contextlib
import re

import numpy as np
import pytest

import minitorch as mt
from minitorch.gradcheck import GradcheckError
from tests.minitorch.cases import CASES
from tests.minitorch.oracle import Mine, irregular, spread

RIGHT = [c for c in CASES if not c.kink and all(a.size for a in c.arrays)]


def leaf(*shape, dtype="float64", seed=0):
    return mt.Tensor(spread(shape, seed=seed).astype(dtype), requires_grad=True)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("case", RIGHT, ids=lambda case: case.name.replace(" ", ""))
def test_every_op_passes(case, dtype):
    leaves = [mt.Tensor(a.astype(dtype), requires_grad=True) for a in case.arrays]
    if any(0 in shape for shape in [case.program(Mine, *leaves).shape]):
        return  # a mask of nothing: refused, see below

    assert mt.gradcheck(lambda *x: case.program(Mine, *x), *leaves, dtype=dtype) is True


# ---------------------------------------------------------------- wrong gradients


def cube(backward, forward=lambda x: x**3):
    """x³ with a backward of one's own: backward(g, x) is what the op adds to x.grad."""

    def op(x):
        def _backward(g):
            x.grad += backward(g, x.data)

        return mt.record("cube", forward(x.data), (x,), _backward)

    return op


def at(place, change):
    """The right gradient, changed in one place."""

    def backward(g, x):
        grad = g * 3 * x * x
        grad[place] = change(grad[place])
        return grad

    return cube(backward)


def later_calls_double():
    calls = []

    def backward(g, x):
        calls.append(1)
        return g * 3 * x * x * (1 if len(calls) == 1 else 2)

    return cube(backward)


def into_one_buffer(backward):
    """An op that writes each of its results into the same array."""
    buffer = np.zeros((2, 3))
    return cube(backward, lambda x: np.multiply(x, x, out=buffer))


OTHER = leaf(2, 3)
WRONG = {
    "sign": cube(lambda g, x: -g * 3 * x * x),
    "factor-2": cube(lambda g, x: g * 6 * x * x),
    "factor-1.00001": cube(lambda g, x: g * 3.00003 * x * x),
    "offset": cube(lambda g, x: g * 3 * x * x + 1e-6),
    "zeros": cube(lambda g, x: np.zeros_like(x)),
    "nan": cube(lambda g, x: g * np.nan),
    "infinity": cube(lambda g, x: np.full_like(x, np.inf)),
    "one-entry": at((1, 2), lambda v: v * 1.001),
    "one-entry-nan": at((0, 0), lambda v: np.nan),
    "one-entry-zero": at((1, 0), lambda v: 0.0),
    "two-entries-swapped": cube(lambda g, x: (g * 3 * x * x)[:, [1, 0, 2]]),
    "zeros-of-a-buffer": into_one_buffer(lambda g, x: 0 * g),
    "zeros-of-huge-results": cube(lambda g, x: 0 * g, lambda x: 1e306 * x),
    "transposed-values": cube(lambda g, x: (g * 3 * x * x).T.reshape(x.shape)),
    "forgets-upstream": cube(lambda g, x: 3 * x * x),
    "sign-of-upstream": cube(lambda g, x: np.sign(g) * 3 * x * x),
    "square-of-upstream": cube(lambda g, x: g * g * 3 * x * x),
    "first-of-upstream": cube(lambda g, x: g.flat[0] * 3 * x * x),
    "mean-of-upstream": cube(lambda g, x: g.mean() * 3 * x * x),
    "derivative-of-the-output": cube(lambda g, x: g * 3 * x**6),
    "another-function": cube(lambda g, x: g * 2 * x),
    "row-shape": cube(lambda g, x: (g * 3 * x * x)[0]),
    "scalar-shape": cube(lambda g, x: (g * 3 * x * x).sum()),
    "extra-axis": cube(lambda g, x: (g * 3 * x * x)[None]),
    "float32": cube(lambda g, x: np.float32(g * 3 * x * x), lambda x: x**3),
    "doubled-on-later-calls": later_calls_double(),
    "constant": lambda x: mt.Tensor(x.data**3),
    "forward-leaves-the-graph": lambda x: mt.Tensor(x.data).tanh() + x * 0.0,
    "unconnected": lambda x: OTHER * 2.0,
}


@pytest.mark.parametrize("name", WRONG)
def test_it_objects_to_a_gradient_that_is_wrong_by(name):
    x = leaf(2, 3)
    with pytest.raises(GradcheckError):
        mt.gradcheck(WRONG[name], x)
    assert x.grad is None


def test_the_right_gradient_of_the_same_op_passes():
    assert mt.gradcheck(cube(lambda g, x: g * 3 * x * x), leaf(2, 3))


def test_a_function_may_write_each_result_into_the_same_array():
    assert mt.gradcheck(into_one_buffer(lambda g, x: g * 2 * x), leaf(2, 3))


@pytest.mark.parametrize("size", [3_000, 20_000])
def test_one_wrong_entry_does_not_hide_behind_the_many_that_did_not_move(size):
    def op(x):
        def _backward(g):
            grad = g * 2 * x.data
            grad[1] *= 1.00001
            x.grad += grad

        return mt.record("square", x.data * x.data, (x,), _backward)

    x = mt.Tensor(np.linspace(1, 2, 4), requires_grad=True)
    rest = np.linspace(1, 2, size)
    with pytest.raises(GradcheckError, match=r"index \(1,\)"):
        mt.gradcheck(lambda x: mt.cat([op(x), rest]), x)


def test_it_objects_in_the_second_input_too():
    def op(a, b):
        def _backward(g):
            a.grad += g * b.data
            b.grad += g * b.data

        return mt.record("mul", a.data * b.data, (a, b), _backward)

    with pytest.raises(GradcheckError, match=r"^input 1 at index \(0,\)"):
        mt.gradcheck(op, leaf(3), leaf(3, seed=1))


def test_it_sees_what_a_sum_hides():
    """The rows of a softmax sum to 1, whatever its backward does."""

    def doubled(x):
        y = x.softmax()

        def _backward(g):
            y.grad, g = 0.0, 2 * g
            x.grad += y.data * (g - (g * y.data).sum(axis=-1, keepdims=True))

        return mt.record("softmax", y.data, (x,), _backward)

    x = leaf(2, 3)
    doubled(x).sum().backward()
    assert np.abs(x.grad).max() < 1e-15  # y.sum().backward() is content
    with pytest.raises(GradcheckError):
        mt.gradcheck(doubled, x)


def test_it_sees_one_wrong_entry_among_thousands():
    def op(x):
        def _backward(g):
            grad = 2 * g * x.data
            grad[40, 7] *= 1.0001
            x.grad += grad

        return mt.record("square", x.data**2, (x,), _backward)

    x = mt.Tensor(irregular((60, 20)), requires_grad=True)
    with pytest.raises(GradcheckError, match=r"index \(40, 7\)"):
        mt.gradcheck(op, x)


def test_the_message_names_input_index_and_both_values():
    with pytest.raises(GradcheckError) as caught:
        mt.gradcheck(
            at((1, 2), lambda v: v + 5.0), mt.Tensor(np.full((2, 3), 2.0), requires_grad=True)
        )
    message = str(caught.value)
    numeric, analytic = map(float, re.findall(r"(\S+) \((?:numeric|analytic)\)", message))

    assert message.startswith("input 0 at index (1, 2): expected the gradient ")
    assert "(numeric), found " in message
    assert "(analytic)" in message
    assert "1 of 6 entries differ" in message
    assert analytic - numeric == pytest.approx(5.0, abs=1e-6)


def test_a_difference_at_one_element_of_the_result_names_it():
    def op(x):
        def _backward(g):
            only = np.count_nonzero(g) == 1  # wrong for a basis direction alone
            x.grad += g * (4.0 if only else 2.0)

        return mt.record("double", 2 * x.data, (x,), _backward)

    with pytest.raises(GradcheckError, match=r"for the result at \(0, 0\)"):
        mt.gradcheck(op, leaf(2, 2))


# ---------------------------------------------------------------- refusals


def mutates(x):
    x.data[0, 0] += 1.0
    return x * 2.0


def rebinds(x):
    x.data = x.data + 1.0
    return x * 2.0


def forgetful():
    rng = np.random.default_rng(0)
    return lambda x: x * rng.normal()


def another_later(calls, change):
    """The product of x and 2, and something else after so many calls."""
    count = []

    def f(x):
        count.append(1)
        return change(x * 2.0) if len(count) > calls else x * 2.0

    return f


def ones(*shape):
    return mt.Tensor(np.ones(shape), requires_grad=True)


def zero_where(x):
    """A backward that clears what it was given."""
    return cube(lambda g, data: (data.fill(0.0), g * 3.0)[1])(x)


X = leaf(2, 3)
REFUSED = {
    "no-inputs": (lambda: mt.gradcheck(lambda: leaf(1)), "no|without"),
    "nothing-requires-a-gradient": (
        lambda: mt.gradcheck(lambda x: x * 2, mt.Tensor([1.0])),
        "requires_grad=True",
    ),
    "no-element": (lambda: mt.gradcheck(lambda x: x.sum(), leaf(0, 3)), "input with an element"),
    "tensors-in-a-list": (
        lambda: mt.gradcheck(lambda x, ws: x @ ws[0], X, [leaf(3, 2)]),
        "input 1 must be a Tensor; found a list",
    ),
    "a-difference-that-overflows": (
        lambda: mt.gradcheck(
            cube(lambda g, x: 0 * g, lambda x: np.exp(700 * x)),
            mt.Tensor([1.0137], requires_grad=True),
        ),
        "finite numbers",
    ),
    "results-whose-weighted-size-overflows": (
        lambda: mt.gradcheck(
            cube(lambda g, x: 0 * g, lambda x: x[:, None] * 1e308 @ np.ones((1, 300))), ones(1)
        ),
        "finite numbers",
    ),
    "a-step-that-is-lost": (
        lambda: mt.gradcheck(lambda x: x * 1e-9, mt.Tensor([1e11], requires_grad=True)),
        "lost in 1e11|lost in 100000000000",
    ),
    "another-result-for-the-gradient": (
        lambda: mt.gradcheck(another_later(4, lambda y: y + 1e6), ones(1)),
        "two results",
    ),
    "another-shape-for-the-gradient": (
        lambda: mt.gradcheck(another_later(4, lambda y: y.reshape((1, 1))), ones(1)),
        "two results",
    ),
    "another-shape-around": (
        lambda: mt.gradcheck(another_later(1, lambda y: y.reshape((1, 1))), ones(1)),
        "one shape",
    ),
    "mutates-an-array": (
        lambda: mt.gradcheck(lambda x, c: x * np.abs(c, out=c), X, -np.ones((2, 3))),
        "changed",
    ),
    "mutates-in-its-backward": (lambda: mt.gradcheck(zero_where, X), "changed"),
    "no-element-in-the-result": (lambda: mt.gradcheck(lambda x: x[:0], X), r"shape \(0, 3\)"),
    "float32": (
        lambda: mt.gradcheck(lambda x: x * 2, leaf(2, dtype="float32")),
        "float32.*float64",
    ),
    "one-float32": (
        lambda: mt.gradcheck(lambda x, y: x * y, leaf(2), leaf(2, dtype="float32")),
        "input 1 must be float64; found float32",
    ),
    "float16": (
        lambda: mt.gradcheck(lambda x: x * 2, leaf(2, dtype="float16"), dtype="float32"),
        "found float16",
    ),
    "float64-where-float32-was-asked-for": (
        lambda: mt.gradcheck(lambda x: x * 2, leaf(2), dtype="float32"),
        "must be float32; found float64",
    ),
    "another-dtype": (lambda: mt.gradcheck(lambda x: x, X, dtype="float16"), "float16"),
    "a-result-in-float32": (
        lambda: mt.gradcheck(lambda x: mt.Tensor(np.float32(x.data)), X),
        "return float64.*float32",
    ),
    "nan-input": (
        lambda: mt.gradcheck(lambda x: x * 2, mt.Tensor([np.nan], requires_grad=True)),
        "input 0 must be finite",
    ),
    "infinite-constant": (
        lambda: mt.gradcheck(lambda x, c: x * c, leaf(1), mt.Tensor([np.inf])),
        "input 1 must be finite",
    ),
    "infinite-result": (lambda: mt.gradcheck(lambda x: x / (x * 0.0), X), "finite"),
    "nan-one-step-away": (
        lambda: mt.gradcheck(lambda x: x.log(), mt.Tensor([1e-6], requires_grad=True)),
        "around",
    ),
    "not-a-tensor": (lambda: mt.gradcheck(lambda x: x.data, X), "ndarray"),
    "mutates-its-input": (lambda: mt.gradcheck(mutates, X), "changed"),
    "mutates-where-the-gradient-is-taken": (
        lambda: mt.gradcheck(
            lambda x, calls=[]: (calls.append(1), len(calls) > 14 and x.data.fill(2), x * 2.0)[2],
            ones(2, 3),
        ),
        "changed",
    ),
    "rebinds-its-input": (lambda: mt.gradcheck(rebinds, X), "changed"),
    "random": (lambda: mt.gradcheck(forgetful(), X), "two results"),
    "not-a-leaf": (lambda: mt.gradcheck(lambda x: x * 2, X * 1.0), "leaf"),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_is_no_pass(name):
    do, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        do()


# ---------------------------------------------------------------- inputs and settings


def explodes_after(calls):
    count = []

    def f(x):
        count.append(1)
        if len(count) > calls:
            raise KeyError("in the middle")
        return x * x

    return f


@pytest.mark.parametrize(
    ("f", "error"),
    [
        (lambda x: x * x, None),
        (WRONG["sign"], GradcheckError),
        (mutates, ValueError),
        (rebinds, ValueError),
        (explodes_after(0), KeyError),
        (explodes_after(4), KeyError),
        (explodes_after(14), KeyError),
    ],
    ids=["pass", "wrong", "mutates", "rebinds", "raises-first", "raises-moved", "raises-last"],
)
def test_inputs_are_as_they_were_afterwards(f, error):
    x = leaf(2, 3)
    x.grad = grad = np.ones((2, 3))
    data, copy = x.data, x.data.copy()
    with pytest.raises(error) if error else contextlib.nullcontext():
        mt.gradcheck(f, x)

    assert x.data is data
    assert x.grad is grad
    np.testing.assert_array_equal(copy, data)
    np.testing.assert_array_equal(np.ones((2, 3)), grad)


@pytest.mark.parametrize(
    ("op", "error"), [(lambda x: x, None), (WRONG["sign"], GradcheckError)], ids=["pass", "wrong"]
)
def test_tensors_that_are_no_inputs_keep_their_gradients_too(op, error):
    x, w, unused = leaf(2, 3), leaf(3, 2, seed=1), leaf(3, 2, seed=2)
    hidden = unused * 2.0
    w.grad = grad = np.ones((3, 2))

    with pytest.raises(error) if error else contextlib.nullcontext():
        mt.gradcheck(lambda x: op(x) @ (w * hidden), x)

    assert w.grad is grad
    np.testing.assert_array_equal(np.ones((3, 2)), grad)
    assert hidden.grad is None
    assert unused.grad is None


def test_a_function_may_hold_on_to_the_tensors_itself():
    x, w = leaf(2, 3), leaf(3, 2, seed=1)

    assert mt.gradcheck(lambda *_: (x @ w).tanh().sum(), x, w)
    with pytest.raises(GradcheckError):
        mt.gradcheck(lambda *_: WRONG["sign"](x) @ w, x, w)


def test_one_tensor_may_be_given_twice():
    x = leaf(2, 3)

    assert mt.gradcheck(lambda a, b: a * b, x, x)


def test_constants_and_other_things_are_handed_on():
    targets = np.array([0, 2])

    assert mt.gradcheck(
        lambda z, c, t: mt.cross_entropy(z * c, t), leaf(2, 3), mt.Tensor([2.0]), targets
    )
    assert mt.gradcheck(mt.cross_entropy, leaf(2, 3), mt.Tensor(targets))


def test_an_input_that_is_not_used_has_the_gradient_zero():
    assert mt.gradcheck(lambda a, b: a * 2.0, leaf(2), leaf(3))


def test_entries_that_share_memory_are_moved_one_at_a_time():
    x = mt.Tensor(np.zeros(3), requires_grad=True)
    x.data = np.broadcast_to(np.array(1.5), (3,))

    assert mt.gradcheck(lambda x: x * x, x)


def test_large_coordinates_are_moved_by_the_step_that_rounding_leaves():
    x = mt.Tensor([1e6 + 0.3, -3e5], requires_grad=True)

    assert mt.gradcheck(lambda x: x - [1e6, -3e5], x)


def test_what_rounding_does_to_a_large_result_is_no_fault():
    assert mt.gradcheck(lambda x: x + 1e6, leaf(2, 3))


def test_the_step_is_short_enough_for_a_steep_curve():
    assert mt.gradcheck(lambda x: x.log(), mt.Tensor([0.02], requires_grad=True))


def test_an_input_gets_back_what_it_required():
    def f(x):
        x.requires_grad = False
        return x * 2.0

    x = leaf(2)
    with pytest.raises(GradcheckError):
        mt.gradcheck(f, x)
    constant = mt.Tensor([2.0, 3.0])
    mt.gradcheck(lambda x, c: x * c, x, constant)

    assert x.requires_grad
    assert not constant.requires_grad


def test_an_array_that_is_handed_on_may_hold_a_nan():
    assert mt.gradcheck(lambda x, c: x * np.nan_to_num(c), leaf(2), np.array([np.nan, 2.0]))


def test_the_one_element_of_a_result_is_called_all_of_it():
    with pytest.raises(GradcheckError, match=r"for all of a result of shape \(1,\)"):
        mt.gradcheck(WRONG["sign"], leaf(1))


def test_float32_gradients_are_compared_with_float64_differences():
    x = leaf(2, 3, dtype="float32")

    assert mt.gradcheck(lambda x: x.tanh().exp(), x, dtype="float32")
    with pytest.raises(GradcheckError):
        mt.gradcheck(cube(lambda g, x: g * np.float32(3.003) * x * x), x, dtype="float32")
    with pytest.raises(GradcheckError):
        mt.gradcheck(WRONG["sign"], x, dtype="float32")
    with pytest.raises(GradcheckError, match="float64"):
        mt.gradcheck(cube(lambda g, x: np.float64(g) * 3 * x * x), x, dtype="float32")


def test_the_tolerances_can_be_narrowed_and_widened():
    slightly = cube(lambda g, x: g * 3.00003 * x * x)

    assert mt.gradcheck(slightly, leaf(2, 3), rtol=1e-4)
    with pytest.raises(GradcheckError):
        mt.gradcheck(lambda x: x.exp(), leaf(2, 3), step=1e-1)


def test_a_result_of_few_elements_is_asked_in_every_direction_and_one_of_many_in_four():
    def count(size):
        calls = []

        def op(x):
            def _backward(g):
                calls.append(g.copy())
                x.grad += g

            return mt.record("copy", x.data.copy(), (x,), _backward)

        mt.gradcheck(op, mt.Tensor(irregular((size,)), requires_grad=True))
        return np.array(calls)

    few, most, many = count(30), count(200), count(201)

    assert np.linalg.matrix_rank(few) == 30
    assert np.linalg.matrix_rank(most) == 200
    assert len(many) == 4
    for row in many:
        assert len(set(np.abs(row))) == 201
        assert 0 not in row


def test_no_false_alarm_in_hundreds_of_random_checks():
    """benchmarks/bench_minitorch.py does 4,000."""
    rng = np.random.default_rng(0)
    smooth = [c for c in RIGHT if not c.name.startswith(("relu", "max", "getitem", "log", "div"))]
    for _ in range(300):
        case = smooth[rng.integers(len(smooth))]
        arrays = [rng.normal(size=a.shape) for a in case.arrays]
        leaves = [mt.Tensor(a, requires_grad=True) for a in arrays]

        assert mt.gradcheck(lambda *x, case=case: case.program(Mine, *x), *leaves)
