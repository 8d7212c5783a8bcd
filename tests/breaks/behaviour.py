"""What a library does, in forty small programs: values, shapes, dtypes, gradients, exceptions."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import ModuleType

import numpy as np

Program = Callable[..., object]
LIMIT = 5  # seconds for one program

A, B, C, V, S = (3, 5), (5, 4), (2, 3, 4), (5,), ()
PROGRAMS: dict[str, tuple[Program, tuple[tuple[int, ...], ...]]] = {
    "add": (lambda lib, a, b: a + b, (A, V)),
    "add a column": (lambda lib, a, b: b + a, ((3, 1), A)),
    "add to itself": (lambda lib, a: a + a * a + a, (A,)),
    "subtract": (lambda lib, a, b: a - b, (A, V)),
    "multiply": (lambda lib, a, b: a * b, (V, A)),
    "multiply by a number": (lambda lib, a: 2 * a * 3.0 - 1, (A,)),
    "divide": (lambda lib, a, b: a / (b * b + 1), ((3, 1), V)),
    "reflected": (lambda lib, a: (1 - a) + (2 / (a * a + 1)), (V,)),
    "negate": (lambda lib, a: -a, (A,)),
    "exp": (lambda lib, a: a.exp(), (A,)),
    "log": (lambda lib, a: (a * a + 0.5).log(), (A,)),
    "tanh": (lambda lib, a: a.tanh(), (A,)),
    "relu": (lambda lib, a: a.relu(), (A,)),
    "relu at 0": (lambda lib, a: (a - a).relu(), (V,)),
    "gelu": (lambda lib, a: a.gelu() + a.gelu("tanh"), (A,)),
    "sum": (lambda lib, a: a.sum(), (A,)),
    "sum of an axis": (lambda lib, a: a.sum(axis=-1), (A,)),
    "sum of a square": (lambda lib, a: a.sum(axis=1) + a.sum(axis=(0, 1)), ((4, 4),)),
    "sum of two axes, kept": (lambda lib, a: a.sum(axis=(2, 0), keepdims=True), (C,)),
    "mean": (lambda lib, a: a.mean() + a.mean(axis=0).sum(), (A,)),
    "mean of two axes": (lambda lib, a: a.mean(axis=(0, -1)), (C,)),
    "max": (lambda lib, a: a.max(axis=1), (A,)),
    "max of ties": (lambda lib, a: (a - a).max(axis=0, keepdims=True), (A,)),
    "reshape": (lambda lib, a: a.reshape((4, -1)), (C,)),
    "transpose": (lambda lib, a: a.transpose(), (A,)),
    "permute": (lambda lib, a: a.transpose((1, 2, 0)), (C,)),
    "permute back": (lambda lib, a: a.transpose((2, -3, 1)), ((2, 2, 2),)),
    "broadcast_to": (lambda lib, a: a.broadcast_to((4, 3, 5)), ((3, 1),)),
    "getitem": (lambda lib, a: a[1:, ::2], (A,)),
    "getitem twice": (lambda lib, a: a[[0, 0, 2]] * 2 + a[[1, 0, 1]], (A,)),
    "getitem of booleans": (lambda lib, a: a[np.array([True, False, True])], (A,)),
    "getitem of a pair": (lambda lib, a: a[(np.array([0, 0]), np.array([1, 1]))], (A,)),
    "matmul": (lambda lib, a, b: a @ b, (A, B)),
    "matmul of vectors": (lambda lib, a, b: a @ b, (V, V)),
    "matmul by a vector": (lambda lib, a, b: (a @ b) * 2, (A, V)),
    "matmul of a batch": (lambda lib, a, b: a @ b, ((2, 1, 3, 5), (3, 5, 2))),
    "softmax": (lambda lib, a: a.softmax() + a.softmax(axis=0), (A,)),
    "softmax of extremes": (lambda lib, a: (a * 1e3).softmax(), (A,)),
    "cross-entropy": (lambda lib, a: lib.cross_entropy(a, np.array([0, 4, 2])), (A,)),
    "cross-entropy, sum": (
        lambda lib, a: lib.cross_entropy(a * 100, np.array([1, 1, 3]), reduction="sum"),
        (A,),
    ),
    "cross-entropy, none": (
        lambda lib, a: lib.cross_entropy(a, np.array([1, 1, 3]), reduction="none"),
        (A,),
    ),
    "cat": (lambda lib, a, b: lib.cat([a, b, a], axis=1), (A, (3, 2))),
    "stack": (lambda lib, a, b: lib.stack([a, b], axis=1), (A, A)),
    "diamond": (lambda lib, a: (a * 2).exp() * (a * 2) + a, (V,)),
    "a scalar": (lambda lib, a, b: a * b + a, (S, A)),
    "mse": (lambda lib, a, b: lib.mse_loss(a, b), (A, A)),
    "mse, stretched": (lambda lib, a, b: lib.mse_loss(a, b), ((5, 1), V)),
}  # fmt: skip


def behaviour(lib: ModuleType) -> list[object]:
    """What each program gives, as plain data that can be compared."""
    programs = [
        partial(_gradients, lib, program, shapes, kind)
        for program, shapes in PROGRAMS.values()
        for kind in ("float64", "float32")
    ]
    trainings = [partial(_train, lib, **options) for options in TRAINING]
    return [_observed(work) for work in (*programs, partial(_twice, lib), *trainings)]


TRAINING = [{}, {"momentum": 0.9}, {"weight_decay": 0.1, "momentum": 0.5}, {"parts": 3}]


def _leaves(lib: ModuleType, shapes, kind: str):
    rng = np.random.default_rng(7)
    return [lib.Tensor(rng.normal(size=s).astype(kind), requires_grad=True) for s in shapes]


def _gradients(lib: ModuleType, program: Program, shapes, kind: str) -> list[object]:
    leaves = _leaves(lib, shapes, kind)
    y = program(lib, *leaves)
    first = _shown(y.data)
    weights = np.linspace(0.5, 2.0, y.data.size).reshape(y.shape).astype(kind)
    y.backward(weights)
    return [first, y._op, *(_shown(leaf.grad) for leaf in leaves)]


def _twice(lib: ModuleType) -> list[object]:
    a, b = _leaves(lib, (A, V), "float64")
    loss = ((a + b) * a).sum()
    loss.backward()
    loss.backward()
    kept = [_shown(a.grad), _shown(b.grad)]
    a.zero_grad()
    return [*kept, a.grad, len({a, b}), _shown((np.ones(5) + b).data), deep(lib)]


def deep(lib: ModuleType) -> object:
    """The gradient through a chain that is longer than the recursion limit."""
    x = y = lib.Tensor(1.0, requires_grad=True)
    for _ in range(1500):
        y = y + 1.0
    y.backward()
    return _shown(x.grad)


def _train(lib: ModuleType, momentum=0.0, weight_decay=0.0, parts=1) -> list[object]:
    rng = np.random.default_rng(3)
    x, t = rng.normal(size=(12, 4)), rng.integers(0, 3, 12)
    w, b = _leaves(lib, ((4, 3), (3,)), "float64")

    def loss(rows):
        return lib.cross_entropy(lib.Tensor(x[rows]) @ w + b, t[rows])

    optimizer = lib.SGD([w, b], lr=0.5, momentum=momentum, weight_decay=weight_decay)
    batches = [np.array_split(np.arange(12), parts)] * 4
    losses = lib.fit(loss, batches, optimizer)
    return [[repr(float(one)) for one in losses], _shown(w.data), _shown(b.data)]


def _shown(value: object) -> object:
    if isinstance(value, np.ndarray):
        return value.shape, str(value.dtype), value.tobytes()
    return type(value).__name__, repr(value)


def _observed(work: Callable[[], object]) -> object:
    try:
        with _limit(), np.errstate(all="ignore"):
            return work()
    except TimeoutError:
        return "hang"
    except (Exception, RecursionError) as error:
        return type(error).__name__


@contextmanager
def _limit() -> Iterator[None]:
    def stop(*_args: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(LIMIT)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
