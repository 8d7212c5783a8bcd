"""Faults that other libraries shipped, each on the input that shows it.

The ids are those of the breaks; the report behind an id is in the break's `provenance`.  Most rows
are programs that torch has to agree with; what torch cannot say stands below as a test of its own.
"""

import gc
import math

import numpy as np
import pytest

import minitorch as mt
from tests.minitorch.oracle import agree, irregular, mine, same, spread

TIES = np.array([3.0, 1.0, 3.0, 3.0])
CUBE = spread((3, 3, 3))
BOX = spread((2, 3, 4))


def row(*shapes):
    return tuple(spread(s, seed=i) for i, s in enumerate(shapes))


def four_operators(lib, a, b):
    return a + b, a - b, a * b, a / (b * b + 1.0)


def total(lib, tensors):
    result = tensors[0]
    for tensor in tensors[1:]:
        result = result + tensor
    return result


PROGRAMS = {
    # broadcasting
    "skip-unbroadcast-in-mul": (lambda lib, a, b: a * b, *row((4, 1), (4, 3))),
    "skip-unbroadcast-in-mul-one-element": (lambda lib, a, b: a * b, *row((1,), (5,))),
    "skip-unbroadcast-in-add": (lambda lib, a, b: a + b, *row((3, 4), (1, 4))),
    "skip-unbroadcast-in-add-both-stretched": (lambda lib, a, b: a + b, *row((1, 3), (2, 1))),
    "grad-keeps-operand-of-other-rank": (lambda lib, a, b: a + b, *row((4,), (1, 4))),
    "unbroadcast-skipped-for-scalars": (lambda lib, a, b: a * b, *row((), (1000,))),
    "unbroadcast-missing-in-one-op": (
        lambda lib, a, b: total(lib, four_operators(lib, a, b)),
        *row((), (2,)),
    ),
    "unbroadcast-missing-in-one-op-reversed": (
        lambda lib, a, b: total(lib, four_operators(lib, a, b)),
        *row((2,), ()),
    ),
    "unbroadcast-leading-dims-only": (lambda lib, a, b: a * b, *row((2, 1, 3, 4), (2, 1, 3, 1))),
    "unbroadcast-sums-every-size-1-dim-of-target": (
        lambda lib, a, b: a + b,
        *row((2, 3), (1, 2, 3)),
    ),
    "unbroadcast-done-only-for-leaves": (
        lambda lib, a, b: lib.tanh(a) * lib.exp(b),
        *row((1, 3), (4, 3)),
    ),
    "bias-grad-keeps-reduced-axis": (
        lambda lib, x, w, b: x @ w + b,
        *row((4, 3), (3, 2), (2,)),
    ),
    "add-bias-keeps-batch": (lambda lib, x, b: lib.tanh(x + b), *row((60, 5), (5,))),
    "broadcast-to-backward-takes-first-slice": (
        lambda lib, x: lib.broadcast_to(x, (4, 3, 5)),
        *row((3, 1)),
    ),
    "broadcast-to-detached": (lambda lib, x: lib.broadcast_to(x, (2, 3)) * 2.0, *row((3,))),
    "getitem-writes-into-stride-0-buffer": (
        lambda lib, x: lib.broadcast_to(x, (100,))[3],
        *row((1,)),
    ),
    "infer-dim-from-size-1-operand": (lambda lib, a, b: a @ b, *row((1, 2, 3), (5, 3, 2))),
    "seed-has-shape-1": (lambda lib, x: x * x, *row(())),
    # reductions
    "sum-tuple-axis-expanded-in-given-order": (lambda lib, x: lib.sum(x, (2, 0)), BOX),
    "sum-tuple-axis-expanded-in-given-order-cube": (lambda lib, x: lib.sum(x, (-1, 0)), CUBE),
    "sum-keepdims-forgotten-in-backward": (lambda lib, x: lib.sum(x, 1), CUBE),
    "mean-backward-assumes-scalar-upstream": (lambda lib, x: lib.mean(x, 1), *row((2, 3))),
    "mean-backward-divides-by-total-size": (lambda lib, x: lib.mean(x, (0, -1)), BOX),
    "mean-backward-missing-1-over-n": (lambda lib, x: lib.mean(x), BOX),
    "empty-axis-tuple-mismatch": (lambda lib, x: lib.mean(x, ()), BOX),
    "numpy-integer-axis-refused": (lambda lib, x: lib.mean(x, np.argmax(x.shape)), BOX),
    "squeeze-backward-adds-every-unit-dim": (lambda lib, x: lib.reshape(x, (1,)), *row((1, 1))),
    "squeeze-backward-adds-every-unit-dim-sum": (lambda lib, x: lib.sum(x, 0), *row((1, 1))),
    "mean-drops-graph": (lambda lib, x: lib.mean(x, 0) * 2.0, BOX),
    "reduction-drops-graph": (
        lambda lib, x: lib.max(x, 0) + lib.sum(x, 0) + lib.mean(x, 0),
        BOX,
    ),
    "max-every-tie-gets-full-grad": (lambda lib, x: lib.max(x), TIES),
    "max-every-tie-gets-full-grad-same-variable": (
        lambda lib, x: lib.max(lib.stack([x, x, x * 0.5])),
        np.array(3.0),
    ),
    "max-tie-goes-to-first": (lambda lib, x: lib.max(x, -1), np.stack([TIES, TIES[::-1]])),
    "shape-bug-behind-value-branch": (
        lambda lib, x: lib.sum(x, 0) * lib.mean(x, 0) + lib.max(x, 0),
        np.zeros(1),
    ),
    # accumulation and traversal
    "propagate-running-total-on-every-arrival": (
        lambda lib, a: (lambda b: b + b)(a + a),
        np.array(1.0),
    ),
    "propagate-on-first-arrival-only": (
        lambda lib, x: (lambda h: h * 2.0 + h * 3.0 + h)(lib.tanh(x)),
        *row((3,)),
    ),
    "same-tensor-twice-counted-once": (lambda lib, a: a - a, *row((3,))),
    "same-tensor-twice-counted-once-matmul": (lambda lib, a: a @ a, *row((3, 3))),
    "first-grad-stored-without-copy": (lambda lib, a, b: (a + b) + a, *row((3,), (3,))),
    "first-grad-stored-without-copy-readonly": (lambda lib, x: lib.sum(x) + lib.sum(x), BOX),
    "grad-assign-not-accumulate": (lambda lib, w, x: (x @ w) @ w, *row((3, 3), (2, 3))),
    "grad-assign-not-accumulate-exp": (lambda lib, x: lib.exp(x) + lib.exp(x * 2.0), *row((3,))),
    "backward-runs-in-forward-order": (
        lambda lib, x: lib.exp(lib.tanh(x) * x),
        *row((3,)),
    ),
    # indexing
    "getitem-fancy-plus-equals": (lambda lib, x: lib.getitem(x, np.array([0, 0, 2])), *row((4,))),
    "getitem-assign-instead-of-add-at": (lambda lib, x: x[[1, 1]], *row((3, 2))),
    "getitem-assign-instead-of-add-at-coordinates": (
        lambda lib, x: lib.getitem(x, (np.array([1, 1, 0]), np.array([2, 2, 0]))),
        *row((2, 3)),
    ),
    "getitem-backward-gathers": (lambda lib, x: lib.getitem(x, np.array([2, 0])), *row((3,))),
    "getitem-mask-writes-to-a-copy": (
        lambda lib, x: lib.getitem(x, np.array([True, False, True])),
        *row((3, 2)),
    ),
    "getitem-slice-backward-ignores-step": (lambda lib, x: x[1:4:3], *row((7,))),
    "getitem-slice-backward-ignores-step-reversed": (
        lambda lib, x: lib.getitem(x, slice(None, None, -2)),
        *row((7,)),
    ),
    "getitem-scatters-forward-values": (lambda lib, x: x[1:] * 3.0, *row((3,))),
    "getitem-ones-like-instead-of-upstream": (lambda lib, x: x[1:], *row((3,))),
    "diagonal-index-overruns": (
        lambda lib, x: lib.sum(lib.getitem(x, (np.arange(2), np.arange(2)))),
        *row((5, 2)),
    ),
    # shapes
    "transpose-negative-axes-not-normalised": (
        lambda lib, x: lib.transpose(x, (-1, 0, -2)),
        BOX,
    ),
    "transpose-reuses-forward-perm": (lambda lib, x: lib.transpose(x, (1, 2, 0)), BOX),
    "transpose-reuses-forward-perm-cube": (lambda lib, x: lib.transpose(x, (2, 0, 1)), CUBE),
    "cat-negative-axis": (lambda lib, x, y: lib.cat([x, x, y], -1), *row((2, 3), (2, 1))),
    "cat-split-on-axis-zero": (lambda lib, *x: lib.cat(x, 2), *row((3, 3, 1), (3, 3, 5))),
    "cat-split-on-axis-zero-equal-pieces": (lambda lib, *x: lib.cat(x, 1), *row((2, 2), (2, 2))),
    "stack-backward-axis-zero": (lambda lib, *x: lib.stack(x, 1), *row((2, 2), (2, 2))),
    "stack-negative-axis-off-by-one": (lambda lib, *x: lib.stack(x, -1), *row((2, 2), (2, 2))),
    "stack-backward-keeps-new-axis": (lambda lib, *x: lib.stack(x, 1), *row((1, 3), (1, 3))),
    "reshape-backward-fortran-order": (
        lambda lib, x: lib.reshape(lib.transpose(x), (6,)),
        *row((2, 3)),
    ),
    "reshape-backward-fortran-order-expanded": (
        lambda lib, x: lib.reshape(lib.broadcast_to(x, (3, 4)), (2, 6)),
        *row((3, 1)),
    ),
    "noop-forward-nontrivial-backward": (lambda lib, x: lib.transpose(x, (0, 1, 2)), CUBE),
    # products
    "matmul-vector-case-silent": (lambda lib, w, x: w @ x, *row((3, 3), (3,))),
    "matmul-vector-case-loud": (lambda lib, w, x: w @ x, *row((2, 3), (3,))),
    "matmul-swapaxes-on-1d": (lambda lib, x, w: x @ w, *row((3,), (3, 4))),
    "matmul-vector-batched": (lambda lib, x, w: x @ w, *row((3,), (2, 3, 4))),
    "matmul-no-batch-unbroadcast": (lambda lib, x, w: x @ w, *row((5, 2, 3), (3, 4))),
    "matmul-ignores-strides": (
        lambda lib, a, b: lib.transpose(a) @ lib.transpose(b),
        *row((3, 2), (4, 3)),
    ),
    "matmul-uses-T-not-swapaxes": (lambda lib, a, b: a @ b, *row((3, 3, 3), (3, 3, 3))),
    "contraction-axes-ignored-in-backward": (
        lambda lib, a, b: lib.transpose(a, (1, 0)) @ b,
        *row((3, 3), (3, 3)),
    ),
    "contraction-negative-axis-not-normalised": (
        lambda lib, a, b: lib.sum(lib.transpose(a, (-1, -2)) @ b, -1),
        *row((3, 2), (3, 4)),
    ),
    # softmax and cross-entropy
    "softmax-backward-1d-only": (lambda lib, x: lib.softmax(x), *row((3, 4))),
    "softmax-backward-negative-axis": (lambda lib, x: lib.softmax(x, -2), BOX),
    "softmax-normalises-everything": (lambda lib, x: lib.softmax(x, 1), CUBE),
    "softmax-backward-missing-sum-term": (lambda lib, x: lib.softmax(x, 0), *row((3, 3))),
    "softmax-no-max-shift": (lambda lib, x: lib.softmax(x), np.array([1e4, -1e4, 9999.0])),
    "cross-entropy-no-max-shift": (
        lambda lib, x: lib.cross_entropy(x, [0]),
        np.array([[-40.0, 95.0, 800.0]]),
    ),
    "cross-entropy-ignores-upstream": (
        lambda lib, x: lib.cross_entropy(x, [0, 1], "none"),
        *row((2, 3)),
    ),
    "cross-entropy-ignores-upstream-scaled": (
        lambda lib, x: lib.cross_entropy(x, [0, 1]) * 3.0,
        *row((2, 3)),
    ),
    "cross-entropy-divides-by-batch-where-it-sums": (
        lambda lib, x: lib.cross_entropy(x, [0, 1], "sum"),
        *row((2, 3)),
    ),
    "cross-entropy-detached": (lambda lib, x: lib.cross_entropy(x, [0, 1]), *row((2, 3))),
    "log-softmax-backward-divides-by-p": (
        lambda lib, x: lib.cross_entropy(x, [1]),
        np.array([[800.0, 0.0, -800.0]]),
    ),
    "cross-entropy-adds-max-back-before-subtracting": (
        lambda lib, x: lib.cross_entropy(x, [0]),
        np.full((1, 2), 1e8, np.float32),
    ),
    "cross-entropy-divides-by-all-targets": (
        lambda lib, x: lib.mean(lib.cross_entropy(x, [0, 1, 2], "none")[:2]),
        *row((3, 3)),
    ),
    "cross-entropy-forward-double-softmax": (
        lambda lib, x: lib.cross_entropy(x * 20.0, [0]),
        *row((1, 3)),
    ),
    # local derivatives
    "sub-second-operand-sign": (lambda lib, a, b: a - b, *row((3,), (3,))),
    "tanh-forgets-upstream": (lambda lib, x: lib.tanh(x) * 2.0, *row((3,))),
    "tanh-derivative-of-upstream": (lambda lib, x: lib.tanh(x), *row((3,))),
    "tanh-derivative-of-output": (lambda lib, x: lib.tanh(x), np.array([1.5, -2.5])),
    "add-backward-fills-ones": (lambda lib, a, b: (a + b) * 3.0, *row((3,), (3,))),
    "gelu-backward-of-other-formula": (lambda lib, x: lib.gelu(x), np.array([2.0, -2.0])),
    "gelu-backward-of-other-formula-tanh": (
        lambda lib, x: lib.gelu(x, "tanh"),
        np.array([2.0, -2.0]),
    ),
    "gelu-forward-sigmoid-approx-self-consistent": (lambda lib, x: lib.gelu(x), *row((7,))),
    "relu-gradient-one-at-zero": (lambda lib, x: lib.relu(x), np.array([0.0, -0.0, 1.0, -1.0])),
    "relu-gradient-one-for-dead-units": (
        lambda lib, x: lib.relu(lib.relu(x)),
        np.array([-1.0, 2.0]),
    ),
    "tanh-by-exponentials": (lambda lib, x: lib.tanh(x), np.array([-800.0, 800.0, 90.0])),
    "sigmoid-cancellation": (lambda lib, x: lib.tanh(x), np.array([18.0, -18.0, 8.0])),
    "div-second-operand": (lambda lib, a, b: a / b, np.array([1.0, 2.0]), np.array([3.0, -0.5])),
    "division-squares-its-divisor": (
        lambda lib, a, b: a / b,
        np.array([1e-30, -3e-30, 0.0], np.float32),
        np.array([1e-30, 2e-30, 1e-30], np.float32),
    ),
    "exp-forgets-its-value": (lambda lib, x: lib.exp(x), *row((3,))),
    "log-of-output": (lambda lib, x: lib.log(x), np.array([0.5, 3.0])),
    # dtypes
    "grad-buffer-always-float64": (
        lambda lib, x: x[[0, 0]] * 2.0,
        np.array([1.5, 2.5], np.float32),
    ),
    "accumulate-with-builtin-sum": (lambda lib, x: x + x * 2.0, np.array(1.5, np.float32)),
    "scalar-lifted-as-float64": (
        lambda lib, x: 0.5 * x / 3.0 - 1.0 + 2,
        np.array([1.5, 2.5], np.float32),
    ),
    "mean-divides-by-np-int": (lambda lib, x: lib.mean(x, 0), np.ones((3, 2), np.float32)),
    "max-divides-by-int64-tie-count": (lambda lib, x: lib.max(x), TIES.astype(np.float32)),
    # operators
    "requires-grad-from-first-operand-only": (
        lambda lib, x: 1.5 - x + lib.tensor(np.ones(3)) * x,
        *row((3,)),
    ),
    "radd-recurses": (lambda lib, x: 1.0 + (2.0 - (3.0 * (4.0 / x))), np.array([0.5, 3.0])),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_torch_agrees_where_others_had(name):
    program, *arrays = PROGRAMS[name]
    narrow = any(a.dtype == np.float32 for a in arrays)
    agree(program, *arrays, rtol=1e-6 if narrow else 1e-10)


@pytest.mark.parametrize("name", PROGRAMS)
def test_interior_grads_not_reset_a_second_backward_doubles(name):
    program, *arrays = PROGRAMS[name]
    narrow = any(a.dtype == np.float32 for a in arrays)
    agree(program, *arrays, times=2, rtol=1e-6 if narrow else 1e-10)


def test_unbroadcast_done_only_for_leaves_interior_gradients_have_their_shape_too():
    x = mt.Tensor(spread((1, 3)), requires_grad=True)
    h = x.tanh()
    (h * np.ones((4, 3)) + np.ones((2, 1, 1))).sum().backward()

    assert h.grad.shape == (1, 3)


def test_zeroed_grad_overwritten_by_next_write():
    x = mt.Tensor([2.0], requires_grad=True)
    x.grad = np.zeros(1)
    (x * x * x).backward()

    assert x.grad.tolist() == [12.0]


@pytest.mark.parametrize("uses", range(1, 12))
def test_first_grad_stored_without_copy_shows_only_for_some_numbers_of_uses(uses):
    agree(lambda lib, x: total(lib, [lib.tanh(x) + x] * uses), spread((3,)))


@pytest.mark.parametrize("length", [1_000, 5_000])
def test_recursive_topological_sort_exceeds_the_recursion_limit(length):
    x = mt.Tensor(0.0, requires_grad=True)
    cost = x * 0.0
    for _ in range(length):
        cost = cost + x
    cost.backward()

    assert x.grad == length


def test_visited_set_keyed_by_value_drops_equal_tensors():
    a, b = (mt.Tensor([1.0], requires_grad=True) for _ in range(2))
    (a.tanh() + b.tanh()).backward()

    assert a.grad == b.grad
    assert a.grad is not None


def test_eq_without_hash_makes_tensors_unhashable():
    x = mt.Tensor([1.0])

    assert {x: 1}[x] == 1


def test_constructor_aliases_source_array():
    source = np.array([1.0, 2.0])
    x = mt.Tensor(source, requires_grad=True)
    y = x * x
    source[:] = 50.0
    y.backward([1.0, 1.0])

    assert x.grad.tolist() == [2.0, 4.0]


def test_relu_mutates_input_in_place():
    x = mt.Tensor([-1.0, 2.0], requires_grad=True)
    h = x * 1.0
    h.relu().sum().backward()

    assert h.data.tolist() == [-1.0, 2.0]
    assert x.data.tolist() == [-1.0, 2.0]


def test_cross_entropy_saved_probs_mutated():
    leaves, loss = mine(lambda lib, z: lib.cross_entropy(z, [0, 1], "none"), row((2, 3)))
    loss.backward([1.0, 2.0])
    first = leaves[0].grad.copy()
    leaves[0].zero_grad()
    loss.backward([1.0, 2.0])

    np.testing.assert_array_equal(first, leaves[0].grad)


@pytest.mark.parametrize("target", [-1, -3, -100, 3, 99])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_cross_entropy_negative_label_wraps(target, reduction):
    with pytest.raises(IndexError, match=f"0 … 2; found .*{target}"):
        mt.cross_entropy(mt.Tensor(np.ones((1, 3))), [target], reduction)


def test_int_leaf_keeps_int_grad():
    for data in ([1, 2], 3, True, np.array([1], np.uint8)):
        with pytest.raises(RuntimeError, match="floating-point"):
            mt.Tensor(data, requires_grad=True)


def test_gelu_tail_derivative():
    points = [-3.7, -6.0, -9.0]
    x = mt.Tensor(points, requires_grad=True)
    x.gelu().sum().backward()
    density = [math.exp(-t * t / 2) / math.sqrt(2 * math.pi) for t in points]
    below = [math.erfc(-t / math.sqrt(2)) / 2 for t in points]
    slope = [p + t * d for p, t, d in zip(below, points, density, strict=True)]

    assert max(slope) < 0
    np.testing.assert_allclose(x.grad, slope, rtol=1e-12, atol=0)


@pytest.mark.filterwarnings("error")
def test_gelu_naive_sigmoid_warns_where_the_value_is_right():
    x = mt.Tensor([-1e4, -800.0, 800.0, 1e4], requires_grad=True)
    for approximate in ("none", "tanh"):
        x.zero_grad()
        y = x.gelu(approximate)
        y.sum().backward()

        np.testing.assert_array_equal(y.data, [0.0, 0.0, 800.0, 1e4])
        np.testing.assert_array_equal(x.grad, [0.0, 0.0, 1.0, 1.0])


SCALARS = [2.0, 2, np.float64(2), np.float32(2), np.int64(2), np.array(2.0), np.ones((2, 3)) * 2]


@pytest.mark.parametrize("other", SCALARS, ids=lambda o: f"{type(o).__name__}{np.shape(o)}")
def test_no_array_ufunc_opt_out(other):
    """`ndarray * tensor` stays in the graph, and is neither an object array nor a plain one."""
    for op in (lambda x: other * x, lambda x: x * other, lambda x: (other + x) - x + other / x - x):
        x = mt.Tensor(spread((2, 3), 0.5, 2.0), requires_grad=True)
        y = op(x)

        assert type(y) is mt.Tensor
        assert y.shape == (2, 3)
        y.backward(irregular((2, 3)))
        assert x.grad.shape == (2, 3)
        assert np.abs(x.grad).min() > 0


def test_no_array_ufunc_opt_out_for_matmul_and_a_tensor_is_no_sequence_to_numpy():
    x = mt.Tensor(spread((3, 2)), requires_grad=True)
    y = spread((4, 3)) @ x
    y.backward(irregular((4, 2)))

    assert type(y) is mt.Tensor
    same(spread((4, 3)).T @ irregular((4, 2)), x.grad)
    assert not hasattr(mt.Tensor, "__len__")


def test_zip_truncates_parents_and_grads():
    tensors = [mt.Tensor(spread((2, k)), requires_grad=True) for k in (1, 2, 0, 3)]
    mt.cat(tensors, 1).backward(irregular((2, 6)))

    assert [(2, 1), (2, 2), (2, 0), (2, 3)] == [t.grad.shape for t in tensors]


# ---------------------------------------------------------------- training


def test_weight_decay_wrong_sign_and_constant_and_twice():
    p = mt.Tensor([2.0, -4.0], requires_grad=True)
    p.grad = np.zeros(2)
    mt.SGD([p], lr=0.1, weight_decay=0.5).step()

    np.testing.assert_allclose(p.data, [1.9, -3.8], rtol=1e-15)


def test_weight_decay_skipped_without_momentum():
    p = mt.Tensor([2.0], requires_grad=True)
    p.grad = np.zeros(1)
    mt.SGD([p], lr=0.1, momentum=0.0, weight_decay=0.5).step()

    assert p.item() < 2


def test_momentum_buffer_reset_every_step_and_momentum_factor_on_gradient():
    p = mt.Tensor([0.0], requires_grad=True)
    optimizer = mt.SGD([p], lr=1.0, momentum=0.5)
    path = []
    for _ in range(3):
        p.grad = np.array([1.0])
        optimizer.step()
        path.append(p.item())

    assert path == [-1.0, -2.5, -4.25]


def test_sgd_weight_decay_mutates_grad():
    p = mt.Tensor([2.0], requires_grad=True)
    p.grad = grad = np.array([1.0])
    mt.SGD([p], lr=0.1, momentum=0.9, weight_decay=0.5).step()

    assert grad.tolist() == [1.0]


def test_shared_parameter_stepped_twice():
    p = mt.Tensor([1.0], requires_grad=True)
    p.grad = np.array([1.0])
    mt.SGD([p, p], lr=0.5).step()

    assert p.item() == 0.5


def test_update_rebinds_local_name():
    p = mt.Tensor([1.0], requires_grad=True)
    p.grad = np.array([1.0])
    mt.SGD([p], lr=0.5).step()

    assert p.data.tolist() == [0.5]


@pytest.mark.parametrize(("a", "b"), [((5, 1), (5,)), ((5,), (5, 1)), ((1,), ()), ((1, 5), (5,))])
def test_squeeze_missing_in_mse(a, b):
    with pytest.raises(ValueError, match="two equal shapes"):
        mt.mse_loss(mt.Tensor(np.ones(a)), np.ones(b))


def fitted(batches, **settings):
    p = mt.Tensor([1.0], requires_grad=True)

    def loss(rows):
        return mt.mse_loss(p * np.array(rows, float), np.zeros(len(rows)))

    return [*mt.fit(loss, batches, mt.SGD([p], **settings)), p.item()]


def test_zero_grad_missing():
    assert fitted([[[1]], [[1]]], lr=0.25) == [1.0, 0.25, 0.25]


def test_accumulation_not_averaged():
    assert fitted([[[1, 3]]], lr=0.1) == pytest.approx(fitted([[[1], [3]]], lr=0.1))


def test_accumulation_mean_of_means():
    assert fitted([[[1, 2, 3, 9]]], lr=0.01) == pytest.approx(fitted([[[1], [2, 3, 9]]], lr=0.01))


def test_running_loss_keeps_graph():
    p = mt.Tensor([1.0], requires_grad=True)
    gc.collect()
    before = sum(type(o) is mt.Tensor for o in gc.get_objects())
    history = mt.fit(lambda rows: (p * float(rows[0])).sum(), [[[1]]] * 50, mt.SGD([p], lr=0.01))

    assert all(type(value) is float for value in history)
    assert sum(type(o) is mt.Tensor for o in gc.get_objects()) == before


def test_cross_entropy_forward_double_softmax_could_never_reach_zero():
    sure = mt.Tensor([[100.0, 0.0, 0.0]])

    assert mt.cross_entropy(sure, [0]).item() < 1e-40
    assert mt.cross_entropy(sure.softmax(), [0]).item() == pytest.approx(
        math.log(1 + 2 / math.e), rel=1e-12
    )
