"""float32 in, float32 everywhere; and torch's promotion where dtypes meet."""

import operator

import numpy as np
import pytest
import torch

import minitorch as mt
from tests.minitorch.cases import CASES
from tests.minitorch.oracle import agree, irregular, mine, same

CASE = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", ""))
OPERATORS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
SIDES = {"left": lambda op, t, o: op(t, o), "right": lambda op, t, o: op(o, t)}
DTYPES = ["bool", "int8", "uint8", "int16", "int32", "int64", "float16", "float32", "float64"]


@pytest.fixture(autouse=True)
def default_dtype():
    """NumPy's default, float64, is what a bare 1.5 means to both libraries here."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@CASE
def test_a_narrow_float_in_and_nothing_wider_anywhere(case, dtype):
    leaves, y = mine(case.program, [a.astype(dtype) for a in case.arrays])
    y.backward(irregular(y.shape))  # float64: backward casts it

    assert y.dtype == dtype
    assert y.grad.dtype == dtype
    for leaf in leaves:
        assert leaf.dtype == dtype
        assert leaf.grad.dtype == dtype


@pytest.mark.parametrize("function", ["exp", "log", "tanh", "gelu", "softmax"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "int32", "int64"])
def test_a_function_of_integers_is_that_of_float64(function, dtype):
    x = np.ones(3, dtype)
    found = getattr(mt.Tensor(x), function)()

    same(getattr(mt.Tensor(x.astype(float)), function)().data, found.data)


def test_a_mean_of_integers_is_no_integer():
    y = mt.Tensor([1, 2]).mean()

    assert (1.5, np.float64) == (y.item(), y.dtype)


def test_the_cross_entropy_of_integer_logits_is_that_of_floats():
    found = mt.cross_entropy([[0, 1, 2]], [0])

    same(mt.cross_entropy([[0.0, 1.0, 2.0]], [0]).data, found.data)


@pytest.mark.parametrize("shape", [(2,), (1,), (1, 1)])
@pytest.mark.parametrize("side", SIDES)
def test_an_array_with_axes_widens_where_a_number_does_not(side, shape):
    x, wide = mt.Tensor(np.ones(2, np.float32)), np.ones(shape)

    for other in (wide, mt.Tensor(wide)):
        assert SIDES[side](operator.add, x, other).dtype == np.float64


@pytest.mark.parametrize("axis", [None, 0, (0, 1)])
@pytest.mark.parametrize("shape", [(2, 3), (0, 3)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_sum_has_torchs_dtype(dtype, shape, axis):
    x = (100 * np.ones(shape)).astype(dtype)
    found = mt.Tensor(x).sum(axis)
    expected = torch.tensor(x).sum(axis)

    same(expected.numpy(), found.data)


@pytest.mark.parametrize("name", ["exp", "tanh", "relu", "gelu", "softmax", "sum", "mean", "max"])
def test_float32_values_and_gradients_are_torchs(name):
    x = np.linspace(-2, 3, 12, dtype=np.float32).reshape(3, 4)
    agree(lambda lib, x: getattr(lib, name)(x), x, rtol=3e-5)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("number", [2, 2.5, True, np.float64(2.5), np.float32(2.5), np.int64(2)])
@pytest.mark.parametrize("shape", [(), (3,), (0, 2)])
def test_a_number_never_widens_float32(side, op, number, shape):
    x = mt.Tensor(np.full(shape, 1.5, np.float32), requires_grad=True)
    y = SIDES[side](OPERATORS[op], x, number)
    y.backward(np.ones(shape, np.float32))

    assert y.dtype == np.float32
    assert x.grad.dtype == np.float32
    expected = SIDES[side](OPERATORS[op], np.full(shape, 1.5), float(number))
    np.testing.assert_allclose(y.data, expected, rtol=1e-6)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("number", [2, 2.5, True, np.float64(2.5), np.int64(2)], ids=repr)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (2,)])
def test_a_number_beside_a_tensor_promotes_as_in_torch(side, op, number, dtype, shape):
    data = np.ones(shape, dtype)
    try:
        expected = SIDES[side](OPERATORS[op], torch.tensor(data), number)
    except RuntimeError:
        return  # torch has no such op: bool - True
    found = SIDES[side](OPERATORS[op], mt.Tensor(data), number)

    same(expected.numpy(), found.data)


@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("a", DTYPES)
@pytest.mark.parametrize("b", DTYPES)
@pytest.mark.parametrize("shapes", [((2,), (2,)), ((), (2,)), ((2,), ()), ((), ()), ((2, 1), (2,))])
def test_two_tensors_promote_as_in_torch(op, a, b, shapes):
    left, right = np.ones(shapes[0], a), np.full(shapes[1], 3, b)
    if op == "-" and "bool" in (a, b):
        return  # torch has no such op
    expected = OPERATORS[op](torch.tensor(left), torch.tensor(right))
    found = OPERATORS[op](mt.Tensor(left), mt.Tensor(right))

    same(expected.numpy(), found.data, rtol=1e-3 if "float16" in (a, b) else 1e-7)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("op", [*OPERATORS, "@"])
@pytest.mark.parametrize("dtype", ["int64", "float32", "float64"])
def test_an_array_on_either_side_is_a_constant_tensor(side, op, dtype):
    function = operator.matmul if op == "@" else OPERATORS[op]
    array = np.array([[1, 2], [3, 4]], dtype)
    x = mt.Tensor(np.array([[0.5, 1.5], [2.5, 3.5]], np.float32), requires_grad=True)
    y = SIDES[side](function, x, array)
    c = irregular((2, 2)).astype(y.dtype)
    y.backward(c)
    p = torch.tensor(x.data, requires_grad=True)
    dtype = torch.from_numpy(y.data).dtype  # torch's @ promotes nothing
    q = SIDES[side](function, p.to(dtype), torch.tensor(array).to(dtype))
    q.backward(torch.tensor(c))

    assert isinstance(y, mt.Tensor)
    assert y._op == op
    same(q.detach().numpy(), y.data, rtol=1e-6)
    same(p.grad.numpy(), x.grad, rtol=1e-6)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("op", OPERATORS)
def test_a_gradient_has_its_leafs_dtype_where_dtypes_mix(side, op):
    agree(
        lambda lib, a, b: SIDES[side](OPERATORS[op], a, b),
        np.array([1.5, 2.5], np.float32),
        np.array([0.5, 3.5], np.float64),
        rtol=1e-6,
    )


@pytest.mark.parametrize("op", ["cat", "stack"])
def test_joined_tensors_promote_and_their_gradients_go_back(op):
    agree(
        lambda lib, a, b: getattr(lib, op)([a, b]),
        np.array([1.5, 2.5], np.float32),
        np.array([0.5, 3.5], np.float64),
        rtol=1e-6,
    )
    found = getattr(mt, op)([mt.Tensor([1, 2]), mt.Tensor(np.array([1, 2], np.float32))])
    assert found.dtype == np.float32


def test_a_0d_float64_widens_a_0d_float32_but_no_array():
    narrow, wide = np.float32(1.5), np.float64(2.5)
    agree(lambda lib, a, b: a * b, np.asarray(narrow), np.asarray(wide), rtol=1e-6)
    agree(lambda lib, a, b: a * b, np.full(2, narrow), np.asarray(wide), rtol=1e-6)


@pytest.mark.parametrize("name", ["exp", "log", "tanh"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "int16", "int64"])
@pytest.mark.parametrize("shape", [(), (2,)])
def test_functions_of_integers_are_float64(name, dtype, shape):
    data = np.ones(shape, dtype)
    expected = getattr(torch, name)(torch.tensor(data))

    same(expected.numpy(), getattr(mt.Tensor(data), name)().data)


@pytest.mark.parametrize("name", ["sum", "max", "relu"])
@pytest.mark.parametrize("dtype", ["int8", "int64"])
def test_reductions_of_integers_keep_torchs_dtype(name, dtype):
    data = np.array([[1, 2], [3, -4]], dtype)
    expected = getattr(torch, {"max": "amax"}.get(name, name))(torch.tensor(data))

    same(expected.numpy(), getattr(mt.Tensor(data), name)().data)


def test_a_training_step_stays_float32():
    w = mt.Tensor(np.ones((3, 2), np.float32), requires_grad=True)
    b = mt.Tensor(np.float32(0), requires_grad=True)
    x = np.ones((4, 3), np.float32)
    optimizer = mt.SGD([w, b], lr=np.float64(0.1), momentum=np.float64(0.9), weight_decay=0.01)
    for _ in range(3):
        optimizer.zero_grad()
        mt.cross_entropy((x @ w + b).tanh() * 2, [0, 1, 0, 1]).backward()
        optimizer.step()

    assert w.dtype == w.grad.dtype == np.float32
    assert b.dtype == b.grad.dtype == np.float32
    assert isinstance(b.data, np.ndarray)


def test_the_gradient_given_to_backward_takes_the_roots_dtype():
    x = mt.Tensor(np.ones(2, np.float32), requires_grad=True)
    y = x * x
    y.backward(np.array([1, 2]))

    assert y.grad.dtype == x.grad.dtype == np.float32
