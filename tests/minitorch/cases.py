"""The ops on the inputs that are hard for them: a table that several test modules go through."""

import operator
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tests.minitorch.oracle import seed_of, spread


class Case(NamedTuple):
    """A program and its inputs.  `linear` ones are equal to their own derivative."""

    name: str
    program: Callable
    arrays: tuple
    linear: bool = False
    kink: bool = False  # differences say nothing here

    @property
    def shapes(self):
        return tuple(a.shape for a in self.arrays)


def shaped(shapes, name, low=-2.0, high=2.0):
    return tuple(spread(s, low, high, seed_of(name) + i) for i, s in enumerate(shapes))


BROADCAST = [
    ((), ()),
    ((3,), (3,)),
    ((3,), (4, 3)),
    ((4, 3), (3,)),
    ((3, 1), (3, 5)),
    ((3, 5), (3, 1)),
    ((3, 1), (1, 4)),
    ((), (3,)),
    ((3,), ()),
    ((1,), ()),
    ((), (1, 1)),
    ((1, 1), (3,)),
    ((1, 3), (3,)),
    ((2, 3), (1, 2, 3)),
    ((2, 1, 4), (3, 1)),
    ((2, 1, 4), (1, 3, 1)),
    ((2, 3, 4), (2, 1, 1)),
    ((3, 3, 3), (3, 1, 3)),
    ((0, 3), (1, 3)),
    ((0, 3), (3,)),
    ((1, 0), (5, 1)),
    ((2, 0, 3), (1,)),
    ((0,), ()),
]
BINARY = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv}
UNARY = {
    "neg": lambda lib, x: -x,
    "exp": lambda lib, x: lib.exp(x),
    "log": lambda lib, x: lib.log(x),
    "tanh": lambda lib, x: lib.tanh(x),
    "relu": lambda lib, x: lib.relu(x),
    "gelu": lambda lib, x: lib.gelu(x),
    "gelu-tanh": lambda lib, x: lib.gelu(x, "tanh"),
}
SHAPES = [(), (1,), (5,), (3, 4), (2, 1, 3), (0,), (2, 0, 3)]
AXES = {
    (): [None, 0, -1, ()],
    (5,): [None, 0, -1, (), (0,)],
    (1, 1): [None, 0, (0, 1)],
    (3, 3, 3): [None, 0, 1, 2, -1, -2, (0, -1), (-1, 0), (1, 0), (-2, -3), (0, 1, 2), ()],
    (2, 3, 4): [None, 0, 1, -1, -2, (0, -1), (2, 0), (-3, 1), (1, 2), (0, 1, 2)],
}
MATMUL = [
    ((3,), (3,)),
    ((1,), (1,)),
    ((2, 3), (3,)),
    ((3, 3), (3,)),
    ((3,), (3, 4)),
    ((3,), (3, 3)),
    ((1, 3), (3, 1)),
    ((2, 3), (3, 4)),
    ((3, 3), (3, 3)),
    ((5, 2, 3), (3, 4)),
    ((2, 3), (5, 3, 4)),
    ((5, 2, 3), (5, 3, 4)),
    ((1, 2, 3), (5, 3, 4)),
    ((5, 2, 3), (1, 3, 4)),
    ((2, 1, 2, 3), (6, 3, 4)),
    ((3,), (2, 3, 4)),
    ((2, 4, 3), (3,)),
    ((3, 3, 3), (3,)),
    ((3,), (2, 5, 3, 1)),
    ((0, 3), (3, 2)),
    ((2, 0), (0, 2)),
    ((2, 3), (3, 0)),
    ((0,), (0,)),
    ((0, 2, 3), (3, 2)),
]
INDICES = {
    "integer": ((4, 3), 1),
    "negative-integer": ((4, 3), -1),
    "row-and-column": ((4, 3), (2, -3)),
    "slice": ((4, 3), slice(1, 3)),
    "slice-step": ((7, 3), slice(1, 6, 2)),
    "slice-one-of-a-longer-span": ((7,), slice(1, 4, 3)),
    "slice-negative-step": ((7, 3), slice(None, None, -2)),
    "slice-reversed": ((4, 3), (slice(None), slice(None, None, -1))),
    "slice-empty": ((4, 3), slice(2, 2)),
    "slice-past-the-end": ((4, 3), slice(2, 99)),
    "ellipsis": ((2, 3, 4), (Ellipsis, 1)),
    "ellipsis-alone": ((2, 3), Ellipsis),
    "ellipsis-0d": ((), Ellipsis),
    "nothing-0d": ((), ()),
    "newaxis": ((4, 3), None),
    "newaxis-inside": ((4, 3), (slice(None), None, 1)),
    "newaxis-0d": ((), None),
    "list": ((4, 3), [3, 0]),
    "list-repeated": ((4, 3), [0, 0, 2, 0]),
    "list-negative-and-positive-names-of-one-place": ((4, 3), [3, -1, 3]),
    "list-empty": ((4, 3), []),
    "array-2d": ((5,), np.array([[0, 1], [1, 4]])),
    "array-0d": ((5, 2), np.array(3)),
    "array-int32": ((5,), np.array([1, 1, 4], dtype=np.int32)),
    "two-arrays": ((4, 3), (np.array([0, 0, 1]), np.array([2, 2, 0]))),
    "two-arrays-broadcast": ((4, 3), (np.array([[0], [0]]), np.array([2, 1, 2]))),
    "array-between-slices": ((2, 4, 3), (slice(None), np.array([1, 1, 0]), slice(0, 2))),
    "arrays-apart": ((3, 4, 5), (np.array([0, 2, 0]), slice(None), np.array([1, 1, 1]))),
    "arrays-apart-by-newaxis": ((3, 4), (np.array([0, 2, 0]), None, np.array([1, 1, 1]))),
    "array-and-integer": ((3, 4), (np.array([0, 2, 0]), 1)),
    "mask": ((4, 3), np.array([True, False, True, False])),
    "mask-list": ((4, 3), [True, False, False, True]),
    "mask-2d": ((2, 3), np.array([[True, False, True], [False, False, True]])),
    "mask-second-axis": ((4, 3), (slice(None), np.array([True, False, True]))),
    "mask-of-nothing": ((4, 3), np.zeros(4, dtype=bool)),
    "mask-and-array": ((4, 3), (np.array([True, False, True, False]), np.array([1, 1]))),
    "mask-and-integer": ((4, 3), (np.array([True, False, True, True]), 0)),
    "mask-true": ((2, 3), True),
    "mask-false": ((2, 3), False),
    "mask-0d": ((), True),
    "zero-size": ((0, 3), slice(None)),
    "zero-size-array": ((0, 3), np.zeros(0, dtype=int)),
}


def binary():
    for name, op in BINARY.items():
        for a, b in BROADCAST:
            low = 0.4 if name == "div" else -2.0
            arrays = (*shaped([a], name), *shaped([b], name + "b", low))
            yield Case(f"{name}-{a}-{b}", lambda lib, a, b, op=op: op(a, b), arrays)
        yield Case(
            f"{name}-itself", lambda lib, x, op=op: op(x, x), shaped([(3, 2)], name, 0.4, 2.0)
        )


def unary():
    for name, program in UNARY.items():
        for shape in SHAPES:
            low = 0.3 if name == "log" else -2.0
            yield Case(f"{name}-{shape}", program, shaped([shape], name, low), linear=name == "neg")


def reductions():
    for op in ("sum", "mean", "max"):
        for shape, axes in AXES.items():
            for axis in axes:
                for keep in (False, True):

                    def program(lib, x, op=op, axis=axis, keep=keep):
                        return getattr(lib, op)(x, axis, keep)

                    name = f"{op}-{shape}-{axis}-{'keep' if keep else 'drop'}"
                    yield Case(name, program, shaped([shape], name), linear=op != "max")
    for shape, axis in [((0, 3), 0), ((0, 3), None), ((2, 0), 1), ((2, 0), 0), ((0, 3), 1)]:
        yield Case(
            f"sum-{shape}-{axis}",
            lambda lib, x, axis=axis: lib.sum(x, axis),
            shaped([shape], "sum"),
            linear=True,
        )
    for shape, axis in [((2, 0), 0), ((0, 3), 1), ((0, 3), -1)]:
        for op in ("mean", "max"):
            yield Case(
                f"{op}-{shape}-{axis}",
                lambda lib, x, op=op, axis=axis: getattr(lib, op)(x, axis),
                shaped([shape], op),
                linear=op == "mean",
            )
    ties = np.array([[1.0, 3.0, 3.0], [3.0, 0.0, 3.0]])
    for axis in (None, 0, 1):
        yield Case(
            f"max-ties-{axis}", lambda lib, x, axis=axis: lib.max(x, axis), (ties,), kink=True
        )


def shapes():
    table = [
        ("reshape-flat", lambda lib, x: lib.reshape(x, (6,)), (2, 3)),
        ("reshape-unknown", lambda lib, x: lib.reshape(x, (3, -1)), (2, 3)),
        ("reshape-to-0d", lambda lib, x: lib.reshape(x, ()), (1, 1)),
        ("reshape-from-0d", lambda lib, x: lib.reshape(x, (1, 1)), ()),
        ("reshape-empty", lambda lib, x: lib.reshape(x, (3, 0, 2)), (0, 3)),
        ("reshape-of-transposed", lambda lib, x: lib.reshape(lib.transpose(x), (2, 3)), (2, 3)),
        (
            "reshape-of-broadcast",
            lambda lib, x: lib.reshape(lib.broadcast_to(x, (2, 3)), (6,)),
            (2, 1),
        ),
        ("transpose-default", lambda lib, x: lib.transpose(x), (2, 3, 4)),
        ("transpose-0d", lambda lib, x: lib.transpose(x), ()),
        ("transpose-1d", lambda lib, x: lib.transpose(x, (0,)), (3,)),
        ("transpose-swap", lambda lib, x: lib.transpose(x, (1, 0, 2)), (2, 3, 4)),
        ("transpose-3-cycle", lambda lib, x: lib.transpose(x, (1, 2, 0)), (2, 3, 4)),
        ("transpose-3-cycle-of-a-cube", lambda lib, x: lib.transpose(x, (2, 0, 1)), (3, 3, 3)),
        ("transpose-negative-3-cycle", lambda lib, x: lib.transpose(x, (-1, 0, -2)), (2, 3, 4)),
        ("transpose-4-cycle", lambda lib, x: lib.transpose(x, (1, 2, 3, 0)), (2, 3, 2, 4)),
        ("transpose-empty", lambda lib, x: lib.transpose(x, (1, 2, 0)), (2, 0, 4)),
        ("broadcast-new-axis", lambda lib, x: lib.broadcast_to(x, (4, 3)), (3,)),
        ("broadcast-stretch", lambda lib, x: lib.broadcast_to(x, (3, 5)), (3, 1)),
        ("broadcast-both", lambda lib, x: lib.broadcast_to(x, (2, 3, 5)), (3, 1)),
        ("broadcast-0d", lambda lib, x: lib.broadcast_to(x, (2, 3)), ()),
        ("broadcast-same", lambda lib, x: lib.broadcast_to(x, (2, 3)), (2, 3)),
        ("broadcast-kept-1", lambda lib, x: lib.broadcast_to(x, (4, 1, 3)), (1, 3)),
        ("broadcast-to-nothing", lambda lib, x: lib.broadcast_to(x, (0, 3)), (1, 3)),
        ("broadcast-one-element", lambda lib, x: lib.broadcast_to(x, (100,))[3], (1,)),
    ]
    for name, program, shape in table:
        yield Case(name, program, shaped([shape], name), linear=True)
    for name, (shape, index) in INDICES.items():
        yield Case(
            f"getitem-{name}",
            lambda lib, x, index=index: lib.getitem(x, index),
            shaped([shape], name),
            linear=True,
        )


def joins():
    table = [
        ("cat", 0, [(2, 3), (1, 3), (4, 3)]),
        ("cat", -1, [(3, 1), (3, 4), (3, 2)]),
        ("cat", 1, [(2, 1, 3), (2, 2, 3)]),
        ("cat", -2, [(2, 1, 3), (2, 2, 3)]),
        ("cat", -3, [(1, 2, 2), (2, 2, 2)]),
        ("cat", 0, [(0, 3), (2, 3), (0, 3)]),
        ("cat", 0, [(3,)]),
        ("stack", 0, [(2, 3), (2, 3)]),
        ("stack", 1, [(3, 3), (3, 3), (3, 3)]),
        ("stack", -1, [(2, 3), (2, 3), (2, 3)]),
        ("stack", -2, [(2, 3), (2, 3)]),
        ("stack", -3, [(2, 2), (2, 2)]),
        ("stack", 0, [(), ()]),
        ("stack", -1, [(), (), ()]),
        ("stack", 1, [(0, 2), (0, 2)]),
        ("stack", 0, [(3,)]),
    ]
    for op, axis, shapes in table:
        yield Case(
            f"{op}-{axis}-{shapes}",
            lambda lib, *xs, op=op, axis=axis: getattr(lib, op)(xs, axis),
            shaped(shapes, op),
            linear=True,
        )
        twice = f"{op}-{axis}-{shapes}-twice"
        yield Case(
            twice,
            lambda lib, *xs, op=op, axis=axis: getattr(lib, op)((*xs, *xs), axis),
            shaped(shapes, op),
            linear=True,
        )


def products():
    for a, b in MATMUL:
        name = f"matmul-{a}-{b}"
        yield Case(name, lambda lib, a, b: a @ b, shaped([a, b], name))
    yield Case("matmul-itself", lambda lib, x: x @ x, shaped([(3, 3)], "square"))
    yield Case("matmul-gram", lambda lib, x: lib.transpose(x) @ x, shaped([(2, 3)], "gram"))
    yield Case("matmul-vector-itself", lambda lib, x: x @ x, shaped([(3,)], "dot"))
    for shape, axes in {
        (): [0, -1],
        (5,): [0, -1],
        (3, 4): [0, 1, -1, -2],
        (2, 3, 4): [0, 1, 2, -1, -2, -3],
        (0, 3): [0, 1],
        (2, 0): [-1],
    }.items():
        for axis in axes:
            name = f"softmax-{shape}-{axis}"
            yield Case(
                name, lambda lib, x, axis=axis: lib.softmax(x, axis), shaped([shape], name, -3, 3)
            )
    for reduction in ("mean", "sum", "none"):
        for shape, targets in [((4, 3), [0, 2, 2, 1]), ((3,), 1), ((1, 5), [4]), ((2, 1), [0, 0])]:
            name = f"cross-entropy-{shape}-{reduction}"

            def program(lib, x, targets=targets, reduction=reduction):
                return lib.cross_entropy(x, targets, reduction)

            yield Case(name, program, shaped([shape], name, -3, 3))
    for reduction in ("sum", "none"):
        yield Case(
            f"cross-entropy-of-nothing-{reduction}",
            lambda lib, x, r=reduction: lib.cross_entropy(x, np.zeros(0, dtype=int), r),
            shaped([(0, 3)], "nothing"),
        )


CASES = [*binary(), *unary(), *reductions(), *shapes(), *joins(), *products()]
