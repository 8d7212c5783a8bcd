"""Laws over all shapes (rank 0-4, dims 0-8): agreement with torch, adjoints, and the chain rule."""

import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import minitorch as mt
from tests.minitorch.oracle import Mine, agree, irregular, mine, spread

SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=8).filter(
    lambda shape: np.prod(shape) <= 1000
)
FILLED = hnp.array_shapes(min_dims=0, max_dims=4, min_side=1, max_side=8).filter(
    lambda shape: np.prod(shape) <= 1000
)
PAIRS = hnp.mutually_broadcastable_shapes(
    num_shapes=2, min_dims=0, max_dims=4, min_side=0, max_side=8
).filter(lambda pair: np.prod(pair.result_shape) <= 2000)


def normalised(axis, ndim):
    return tuple(sorted({i % ndim for i in axis}))


@st.composite
def shape_and_axes(draw, shapes=SHAPES):
    """A shape with None, one axis, or some axes of mixed sign in any order."""
    shape = draw(shapes)
    if not shape:
        return shape, draw(st.sampled_from([None, 0, -1, ()]))
    one = st.integers(-len(shape), len(shape) - 1)
    some = st.lists(one, min_size=1, unique_by=lambda i: i % len(shape)).map(tuple)
    return shape, draw(st.none() | one | some)


@st.composite
def shape_and_index(draw):
    """A shape and what NumPy and torch both take: slices, integers, lists, masks, … and None."""
    shape = draw(SHAPES.filter(lambda s: len(s) > 0))
    items, arrays = [], draw(st.integers(1, 4))
    for n in shape[: draw(st.integers(0, len(shape)))]:
        kinds = [st.slices(n).filter(lambda s: (s.step or 1) > 0)]
        if n:
            kinds.append(st.integers(-n, n - 1))
            picks = st.lists(st.integers(-n, n - 1), min_size=arrays, max_size=arrays)
            kinds.append(picks.map(np.array))
        item = draw(st.one_of(kinds))
        if draw(st.booleans()) and draw(st.booleans()):
            items.append(None)
        items.append(item)
    if draw(st.booleans()):
        items.append(Ellipsis)
    return shape, tuple(items)


@pytest.mark.parametrize("op", [operator.add, operator.sub, operator.mul, operator.truediv])
@given(pair=PAIRS)
@settings(max_examples=60)
def test_binary_ops_on_any_two_shapes_that_broadcast(op, pair):
    a, b = pair.input_shapes
    agree(op_program(op), spread(a), spread(b, 0.5, 2.0, seed=1))


def op_program(op):
    return lambda lib, a, b: op(a, b)


@pytest.mark.parametrize("name", ["exp", "tanh", "relu", "gelu"])
@given(shape=SHAPES)
@settings(max_examples=25)
def test_functions_of_any_shape(name, shape):
    agree(lambda lib, x: getattr(lib, name)(x), spread(shape))


@given(case=shape_and_axes(), keepdims=st.booleans())
@settings(max_examples=150)
def test_sums_over_any_axes(case, keepdims):
    shape, axis = case
    agree(lambda lib, x: lib.sum(x, axis, keepdims), spread(shape))


@pytest.mark.parametrize("name", ["mean", "max"])
@given(case=shape_and_axes(FILLED), keepdims=st.booleans())
@settings(max_examples=100)
def test_means_and_maxima_over_any_axes(name, case, keepdims):
    shape, axis = case
    agree(lambda lib, x: getattr(lib, name)(x, axis, keepdims), spread(shape))


@given(shape=FILLED, seed=st.integers(0, 99), data=st.data())
@settings(max_examples=60)
def test_maxima_share_among_any_ties(shape, seed, data):
    x = np.random.default_rng(seed).integers(0, 3, shape).astype(float)
    axis = data.draw(st.none() | st.integers(-len(shape), len(shape) - 1)) if shape else None
    agree(lambda lib, x: lib.max(x, axis), x)


@given(shape=SHAPES, data=st.data())
@settings(max_examples=100)
def test_transposes_by_any_permutation(shape, data):
    axes = data.draw(st.permutations(range(len(shape))))
    signs = data.draw(st.lists(st.booleans(), min_size=len(shape), max_size=len(shape)))
    axes = [i - len(shape) if negative else i for i, negative in zip(axes, signs, strict=True)]
    agree(lambda lib, x: lib.transpose(x, tuple(axes)), spread(shape))


@given(shape=SHAPES, data=st.data())
@settings(max_examples=60)
def test_reshapes_to_any_factorisation(shape, data):
    dims = list(shape)
    for _ in range(data.draw(st.integers(0, 3))):
        i = data.draw(st.integers(0, len(dims)))
        if data.draw(st.booleans()) or len(dims) < 2:
            dims.insert(i, 1)
        else:
            i = data.draw(st.integers(0, len(dims) - 2))
            dims[i : i + 2] = [dims[i] * dims[i + 1]]
    agree(lambda lib, x: lib.reshape(x, tuple(dims)), spread(shape))


@given(pair=PAIRS)
@settings(max_examples=60)
def test_broadcasts_to_any_larger_shape(pair):
    shape = pair.input_shapes[0]
    agree(lambda lib, x: lib.broadcast_to(x, pair.result_shape), spread(shape))


@given(case=shape_and_index())
@settings(max_examples=300)
def test_any_index_that_both_libraries_take(case):
    shape, index = case
    agree(lambda lib, x: lib.getitem(x, index), spread(shape))


@given(shape=SHAPES, data=st.data())
@settings(max_examples=60)
def test_masks_of_any_leading_shape(shape, data):
    axes = data.draw(st.integers(0, len(shape)))
    mask = data.draw(hnp.arrays(bool, shape[:axes]))
    agree(lambda lib, x: lib.getitem(x, mask), spread(shape))


@given(
    batch=hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=2, min_side=0, max_side=4),
    m=st.integers(0, 8),
    k=st.integers(0, 8),
    n=st.integers(0, 8),
    vectors=st.sampled_from(["", "a", "b", "ab"]),
)
@settings(max_examples=200)
def test_matmul_of_any_two_shapes_that_fit(batch, m, k, n, vectors):
    left, right = batch.input_shapes
    a = (k,) if "a" in vectors else (*left, m, k)
    b = (k,) if "b" in vectors else (*right, k, n)
    agree(lambda lib, a, b: a @ b, spread(a), spread(b, seed=1))


@pytest.mark.parametrize("name", ["cat", "stack"])
@given(shape=SHAPES, sizes=st.lists(st.integers(0, 5), min_size=1, max_size=4), data=st.data())
@settings(max_examples=80)
def test_joins_along_any_axis(name, shape, sizes, data):
    rank = len(shape) + (name == "stack")
    if not rank:
        return
    axis = data.draw(st.integers(-rank, rank - 1))
    shapes = [list(shape) for _ in sizes]
    if name == "cat":
        for s, size in zip(shapes, sizes, strict=True):
            s[axis] = size
    pieces = [spread(tuple(s), seed=i) for i, s in enumerate(shapes)]
    agree(lambda lib, *xs: getattr(lib, name)(xs, axis), *pieces)


@given(shape=SHAPES, data=st.data())
@settings(max_examples=80)
def test_softmax_along_any_axis(shape, data):
    axis = data.draw(st.integers(-max(len(shape), 1), max(len(shape), 1) - 1))
    agree(lambda lib, x: lib.softmax(x, axis), spread(shape, -5, 5))


@given(
    rows=st.integers(1, 8),
    classes=st.integers(1, 8),
    scale=st.sampled_from([1.0, 50.0, 1e4]),
    reduction=st.sampled_from(["mean", "sum", "none"]),
    seed=st.integers(0, 999),
)
@settings(max_examples=100)
def test_cross_entropy_of_any_logits(rows, classes, scale, reduction, seed):
    rng = np.random.default_rng(seed)
    logits, targets = rng.normal(size=(rows, classes)), rng.integers(0, classes, rows)
    agree(lambda lib, z: lib.cross_entropy(z * scale, targets, reduction) * 3.0, logits)


# ---------------------------------------------------------------- ⟨A x, y⟩ = ⟨x, A* y⟩

LINEAR = {
    "neg": lambda x: -x,
    "scale": lambda x: x * 2.5,
    "shift-of-itself": lambda x: x + x,
    "difference": lambda x: x - x * 0.25,
    "divide": lambda x: x / 4.0,
    "sum": lambda x: x.sum(),
    "mean": lambda x: x.mean(),
    "reshape": lambda x: x.reshape((-1,) if x.data.size else x.shape),
    "transpose": lambda x: x.transpose(),
    "newaxis": lambda x: x[None, ..., None],
    "getitem-mask": lambda x: x[x.data > 0],
    "cat": lambda x: mt.cat([x.reshape((1, *x.shape)), x.reshape((1, *x.shape)) * 3.0]),
    "stack": lambda x: mt.stack([x, x * 2.0], axis=-1),
    "broadcast": lambda x: x.broadcast_to((3, *x.shape)),
}
WITH_AXIS = {
    "sum-axis": lambda x, i: x.sum(i),
    "mean-axis": lambda x, i: x.mean(i, keepdims=True),
    "transpose-cycle": lambda x, i: x.transpose(np.roll(np.arange(x.ndim), i)),
    "reverse": lambda x, i: x[(slice(None),) * (i % x.ndim) + (slice(None, None, -1),)],
    "repeat-rows": lambda x, i: x[[0, 0, -1]],
    "cat-axis": lambda x, i: mt.cat([x, x, x * 2.0], axis=i),
    "stack-axis": lambda x, i: mt.stack([x, x * 3.0], axis=i),
    "matmul-left": lambda x, i: irregular((4, x.shape[-2] if x.ndim > 1 else x.shape[0])) @ x,
    "matmul-right": lambda x, i: x @ irregular((x.shape[-1], 4)),
    "matmul-vector": lambda x, i: x @ irregular((x.shape[-1],)),
}


def adjoint(a, shape):
    """⟨A x, y⟩ and ⟨x, A* y⟩ for irregular x and y."""
    x = mt.Tensor(irregular(shape, seed=2), requires_grad=True)
    image = a(x)
    y = irregular(image.shape, seed=3)
    image.backward(y)
    return np.vdot(image.data, y), np.vdot(x.data, x.grad)


@pytest.mark.parametrize("name", LINEAR)
@given(shape=SHAPES)
@settings(max_examples=30)
def test_a_backward_is_the_adjoint_of_its_forward(name, shape):
    if name == "mean" and 0 in shape:
        return
    forward, back = adjoint(LINEAR[name], shape)

    assert back == pytest.approx(forward, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("name", WITH_AXIS)
@given(
    shape=hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=5),
    axis=st.integers(-1, 0),
)
@settings(max_examples=30)
def test_a_backward_along_an_axis_is_the_adjoint_of_its_forward(name, shape, axis):
    forward, back = adjoint(lambda x: WITH_AXIS[name](x, axis), shape)

    assert back == pytest.approx(forward, rel=1e-11, abs=1e-11)


@given(pair=PAIRS)
@settings(max_examples=60)
def test_unbroadcast_is_the_adjoint_of_broadcasting(pair):
    x, g = irregular(pair.input_shapes[0]), irregular(pair.result_shape, seed=1)
    back = mt.unbroadcast(g, x.shape)

    assert back.shape == x.shape
    assert np.vdot(np.broadcast_to(x, g.shape), g) == pytest.approx(np.vdot(x, back), abs=1e-9)


# ---------------------------------------------------------------- the chain rule

STEPS = {
    "exp": lambda lib, a, b: lib.exp(lib.tanh(a)),
    "log": lambda lib, a, b: lib.log(a * a + 0.5),
    "tanh": lambda lib, a, b: lib.tanh(a),
    "relu": lambda lib, a, b: lib.relu(a),
    "gelu": lambda lib, a, b: lib.gelu(a),
    "gelu-tanh": lambda lib, a, b: lib.gelu(a, "tanh"),
    "neg": lambda lib, a, b: -a,
    "add": lambda lib, a, b: a + b,
    "add-itself": lambda lib, a, b: a + a,
    "sub": lambda lib, a, b: a - b,
    "mul": lambda lib, a, b: lib.tanh(a) * b,
    "square": lambda lib, a, b: lib.tanh(a) * lib.tanh(a),
    "div": lambda lib, a, b: a / (b * b + 1.0),
    "rsub": lambda lib, a, b: 1.5 - a,
    "rdiv": lambda lib, a, b: 1.0 / (a * a + 2.0),
    "matmul": lambda lib, a, b: lib.tanh(a) @ lib.transpose(b),
    "sum-rows": lambda lib, a, b: lib.sum(a, 0, True) + b,
    "sum": lambda lib, a, b: lib.sum(a) * 0.1 + b,
    "mean": lambda lib, a, b: lib.mean(a, -1, True) + b,
    "mean-all": lambda lib, a, b: lib.mean(a, (0, 1)) * b,
    "max": lambda lib, a, b: lib.max(a, 1, True) + b,
    "max-all": lambda lib, a, b: lib.max(a) - b,
    "reshape": lambda lib, a, b: lib.reshape(lib.transpose(a), tuple(a.shape)),
    "transpose": lambda lib, a, b: lib.transpose(lib.transpose(a) * 2.0),
    "row": lambda lib, a, b: a[0] + b,
    "rows": lambda lib, a, b: lib.getitem(a, np.array([0, 0, -1])),
    "reversed": lambda lib, a, b: lib.getitem(a, (slice(None), slice(None, None, -1))),
    "broadcast": lambda lib, a, b: lib.broadcast_to(lib.max(a, 0), tuple(a.shape)),
    "cat": lambda lib, a, b: lib.cat([a, b], 0),
    "stack": lambda lib, a, b: lib.sum(lib.stack([a, lib.tanh(a)], -1), -1),
    "softmax": lambda lib, a, b: lib.softmax(a, -1),
    "softmax-columns": lambda lib, a, b: lib.softmax(a, 0),
    "cross-entropy": lambda lib, a, b: lib.cross_entropy(a, np.arange(a.shape[0]) % 3) * b,
    "cross-entropy-none": lambda lib, a, b: (
        lib.reshape(lib.cross_entropy(a, np.arange(a.shape[0]) % 3, "none"), (a.shape[0], 1)) + a
    ),
}
GRAPHS = st.lists(
    st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 99), st.integers(0, 99)),
    min_size=1,
    max_size=14,
)


def graph(steps):
    """A program: each step takes two earlier tensors of three columns; the last sums them all."""

    def program(lib, *leaves):
        pool = list(leaves)
        for name, i, j in steps:
            a, b = pool[i % len(pool)], pool[j % len(pool)]
            if name == "matmul":
                b = lib.getitem(b, np.array([0, -1, 0]))  # three rows: the result has 3 columns
            elif a.shape != b.shape and name != "cat":
                b = lib.mean(b, 0, True)
            y = STEPS[name](lib, a, b)
            if len(y.shape) == 2 and y.shape[0] <= 12:
                pool.append(y)
        total = lib.sum(pool[0])
        for k, tensor in enumerate(pool[1:]):
            total = total + lib.sum(lib.tanh(tensor) * (0.3 + 0.1 * k))
        return total

    return program


@given(steps=GRAPHS, rows=st.integers(1, 4), times=st.integers(1, 2))
@settings(max_examples=400)
def test_a_random_graph_of_all_ops_has_torchs_gradients(steps, rows, times):
    leaves = spread((rows, 3)), spread((rows, 3), seed=1), spread((1, 3), seed=2)
    if near_a_kink(steps, leaves):
        return
    agree(graph(steps), *leaves, times=times, rtol=1e-9)


class Watched(Mine):
    """minitorch, which remembers how close relu and max came to a decision that rounding makes."""

    margin = np.inf

    @classmethod
    def relu(cls, x):
        cls.margin = min(cls.margin, np.abs(x.data[x.data != 0]).min(initial=np.inf))
        return x.relu()

    @classmethod
    def max(cls, x, axis=None, keepdims=False):
        top = np.abs(x.data - x.data.max(axis=axis, keepdims=True))
        cls.margin = min(cls.margin, top[top != 0].min(initial=np.inf))
        return x.max(axis, keepdims)


def near_a_kink(steps, leaves):
    Watched.margin = np.inf
    graph(steps)(Watched, *map(mt.Tensor, leaves))
    return Watched.margin < 1e-9


def test_every_step_of_the_random_graphs_runs_and_is_two_dimensional_somewhere():
    for name in STEPS:
        agree(
            graph([("tanh", 0, 0), (name, 0, 1), (name, 3, 2)]),
            spread((2, 3)),
            spread((2, 3), seed=1),
            spread((1, 3), seed=2),
        )


def test_a_random_graph_can_tell_a_wrong_gradient():
    """The comparison is fed a program that differs between the libraries by one sign."""

    def program(lib, x):
        return lib.sum(-x if lib is Mine else x)

    with pytest.raises(AssertionError):
        agree(program, spread((3,)))
    leaves, y = mine(lambda lib, x: lib.sum(x), (spread((3,)),))
    y.backward()
    assert leaves[0].grad.tolist() == [1.0, 1.0, 1.0]
