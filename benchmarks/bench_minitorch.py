"""minitorch beside hand-written NumPy, torch, HIPS autograd and MyGrad: writes docs/performance.md.

    make bench-minitorch

Every row is one piece of work, done by each library in its own words, checked to give one result
before it is timed.  `_ratio.py` says how the ratios are formed.
"""

import importlib.metadata
import json
import math
import platform
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from _ratio import one_thread, ratios

one_thread()

import autograd  # noqa: E402
import autograd.numpy as anp  # noqa: E402
import mygrad as mg  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402
from mygrad.nnet.losses import softmax_crossentropy  # noqa: E402

import minitorch as mt  # noqa: E402

torch.set_num_threads(1)
mg.turn_memory_guarding_off()

PAGE = Path(__file__).parents[1] / "docs" / "performance.md"
LIBRARIES = ("NumPy", "minitorch", "torch", "HIPS autograd", "MyGrad")
LR = 0.1


@dataclass
class Row:
    """A line of the table: ratios to the first library named in it."""

    work: str
    aim: float
    numbers: dict[str, float] = field(default_factory=dict)
    unit: str = ""
    better: float | None = None

    @property
    def met(self) -> bool:
        return self.numbers["minitorch"] <= self.aim


def normal(*shape: int, seed: int = 0, scale: float = 1.0) -> np.ndarray:
    return scale * np.random.default_rng([seed, *shape]).normal(size=shape)


# ---------------------------------------------------------------- two layers and a cross-entropy


def network(batch: int, sizes: tuple[int, int, int]) -> dict[str, Callable[[], float]]:
    """One training step of a two-layer tanh network by each library; returns its loss."""
    inputs, hidden, classes = sizes
    x = normal(batch, inputs)
    t = np.random.default_rng(1).integers(0, classes, batch)
    start = [
        normal(inputs, hidden, scale=0.05),
        np.zeros(hidden),
        normal(hidden, classes, scale=0.05),
        np.zeros(classes),
    ]
    weights = [w.copy() for w in start]

    def by_hand() -> float:
        w, b, v, c = weights
        h = np.tanh(x @ w + b)
        z = h @ v + c
        rows = np.arange(batch)
        shifted = z - z.max(axis=1, keepdims=True)
        e = np.exp(shifted)
        total = e.sum(axis=1, keepdims=True)
        loss = (np.log(total[:, 0]) - shifted[rows, t]).mean()
        d = e / total
        d[rows, t] -= 1
        d /= batch
        dh = (d @ v.T) * (1 - h * h)
        weights[:] = [
            w - LR * (x.T @ dh),
            b - LR * dh.sum(axis=0),
            v - LR * (h.T @ d),
            c - LR * d.sum(axis=0),
        ]
        return float(loss)

    ours = [mt.Tensor(w, requires_grad=True) for w in start]
    our_x, our_optimizer = mt.Tensor(x), mt.SGD(ours, lr=LR)

    def minitorch() -> float:
        w, b, v, c = ours
        our_optimizer.zero_grad()
        loss = mt.cross_entropy((our_x @ w + b).tanh() @ v + c, t)
        loss.backward()
        our_optimizer.step()
        return loss.item()

    theirs = [torch.tensor(w, requires_grad=True) for w in start]
    their_x, their_t = torch.tensor(x), torch.tensor(t)
    their_optimizer = torch.optim.SGD(theirs, lr=LR)

    def by_torch() -> float:
        w, b, v, c = theirs
        their_optimizer.zero_grad()
        logits = (their_x @ w + b).tanh() @ v + c
        loss = torch.nn.functional.cross_entropy(logits, their_t)
        loss.backward()
        their_optimizer.step()
        return loss.item()

    hips = [w.copy() for w in start]

    def hips_loss(parameters: list) -> float:
        w, b, v, c = parameters
        z = anp.tanh(x @ w + b) @ v + c
        z = z - anp.max(z, axis=1, keepdims=True)
        return anp.mean(anp.log(anp.sum(anp.exp(z), axis=1)) - z[np.arange(batch), t])

    with_gradient = autograd.value_and_grad(hips_loss)

    def by_hips() -> float:
        loss, gradients = with_gradient(hips)
        hips[:] = [p - LR * g for p, g in zip(hips, gradients, strict=True)]
        return float(loss)

    my = [mg.tensor(w) for w in start]

    def by_mygrad() -> float:
        w, b, v, c = my
        loss = softmax_crossentropy(mg.tanh(x @ w + b) @ v + c, t)
        loss.backward()
        for p in my:
            p.data -= LR * p.grad
        return loss.item()

    return {
        "NumPy": by_hand,
        "minitorch": minitorch,
        "torch": by_torch,
        "HIPS autograd": by_hips,
        "MyGrad": by_mygrad,
    }


# ---------------------------------------------------------------- single ops


def matmul(n: int = 512) -> dict[str, Callable[[], float]]:
    a, b, g = normal(n, n), normal(n, n, seed=1), normal(n, n, seed=2)
    ours = [mt.Tensor(v, requires_grad=True) for v in (a, b)]
    theirs = [torch.tensor(v, requires_grad=True) for v in (a, b)]
    their_g = torch.tensor(g)

    def by_hand() -> float:
        _ = a @ b
        left, _right = g @ b.T, a.T @ g
        return float(left[0, 0])

    def minitorch() -> float:
        for p in ours:
            p.grad = None
        (ours[0] @ ours[1]).backward(g)
        return float(ours[0].grad[0, 0])

    def by_torch() -> float:
        for p in theirs:
            p.grad = None
        (theirs[0] @ theirs[1]).backward(their_g)
        return theirs[0].grad[0, 0].item()

    return {"NumPy": by_hand, "minitorch": minitorch, "torch": by_torch}


def broadcast_add(n: int = 512) -> dict[str, Callable[[], float]]:
    a, b, g = normal(n, 1), normal(n, n, seed=1), normal(n, n, seed=2)
    ours = [mt.Tensor(v, requires_grad=True) for v in (a, b)]
    theirs = [torch.tensor(v, requires_grad=True) for v in (a, b)]
    their_g = torch.tensor(g)

    def by_hand() -> float:
        _ = a + b
        left, _right = g.sum(axis=1, keepdims=True), g.copy()
        return float(left[0, 0])

    def minitorch() -> float:
        for p in ours:
            p.grad = None
        (ours[0] + ours[1]).backward(g)
        return float(ours[0].grad[0, 0])

    def by_torch() -> float:
        for p in theirs:
            p.grad = None
        (theirs[0] + theirs[1]).backward(their_g)
        return theirs[0].grad[0, 0].item()

    return {"NumPy": by_hand, "minitorch": minitorch, "torch": by_torch}


def cross_entropy(rows: int = 4096, classes: int = 1000) -> dict[str, Callable[[], float]]:
    z = normal(rows, classes)
    t = np.random.default_rng(1).integers(0, classes, rows)
    ours = mt.Tensor(z, requires_grad=True)
    theirs, their_t = torch.tensor(z, requires_grad=True), torch.tensor(t)

    def by_hand() -> float:
        index = np.arange(rows)
        shifted = z - z.max(axis=1, keepdims=True)
        e = np.exp(shifted)
        total = e.sum(axis=1, keepdims=True)
        loss = (np.log(total[:, 0]) - shifted[index, t]).mean()
        d = e / total
        d[index, t] -= 1
        d /= rows
        return float(loss + d[0, 0])

    def minitorch() -> float:
        ours.grad = None
        loss = mt.cross_entropy(ours, t)
        loss.backward()
        return loss.item() + float(ours.grad[0, 0])

    def by_torch() -> float:
        theirs.grad = None
        loss = torch.nn.functional.cross_entropy(theirs, their_t)
        loss.backward()
        return loss.item() + theirs.grad[0, 0].item()

    return {"NumPy": by_hand, "minitorch": minitorch, "torch": by_torch}


def gather(picks: int = 100_000, width: int = 64, rows: int = 1_000) -> dict[str, Callable]:
    index = np.random.default_rng(0).integers(0, rows, picks)
    g = normal(picks, width)
    ours = mt.Tensor(normal(rows, width), requires_grad=True)
    picked = ours[index]
    theirs = torch.tensor(ours.data, requires_grad=True)
    their_picked, their_g = theirs[torch.tensor(index)], torch.tensor(g)

    def by_rows() -> float:
        grad = np.zeros((rows, width))
        np.add.at(grad, index, g)
        return float(grad[0, 0])

    def minitorch() -> float:
        ours.grad = None
        picked.backward(g)
        return float(ours.grad[0, 0])

    def by_torch() -> float:
        theirs.grad = None
        their_picked.backward(their_g, retain_graph=True)
        return theirs.grad[0, 0].item()

    return {"NumPy": by_rows, "minitorch": minitorch, "torch": by_torch}


# ---------------------------------------------------------------- a long chain

LENGTH = 1_000_000
Start = float | list[float]  # what the chain begins with: a number, or a vector of one


def chain_of_minitorch(length: int, start: Start) -> tuple[object, Callable[[], object]]:
    y = mt.Tensor(start, requires_grad=True)
    for _ in range(length):
        y = y.tanh()
    return y, y.backward


def chain_of_torch(length: int, start: Start) -> tuple[object, Callable[[], object]]:
    y = torch.tensor(start, dtype=torch.float64, requires_grad=True)
    for _ in range(length):
        y = y.tanh()
    return y, y.backward


def chain_of_hips(length: int, start: Start) -> tuple[object, Callable[[], object]]:
    def f(x: np.ndarray) -> np.ndarray:
        for _ in range(length):
            x = anp.tanh(x)
        return x

    vjp, y = autograd.make_vjp(f)(np.array(start))
    return y, lambda: vjp(np.ones(np.shape(start)))


def chain_of_mygrad(length: int, start: Start) -> tuple[object, Callable[[], object]]:
    y = mg.tensor(start)
    for _ in range(length):
        y = mg.tanh(y)
    return y, y.backward


CHAINS = {
    "minitorch": chain_of_minitorch,
    "torch": chain_of_torch,
    "HIPS autograd": chain_of_hips,
    "MyGrad": chain_of_mygrad,
}


def chain_ratios(start: Start, rounds: int = 5) -> dict[str, float]:
    """Seconds of the backward pass, in units of torch's, medians of the ratios of each round."""
    measured: dict[str, list[float]] = {name: [] for name in CHAINS}
    names = list(CHAINS)
    for turn in range(rounds):
        times = {}
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            _, backward = CHAINS[name](LENGTH, start)
            began = time.perf_counter()
            backward()
            times[name] = time.perf_counter() - began
            del _, backward
        for name in names:
            measured[name].append(times[name] / times["torch"])
    return {name: statistics.median(values) for name, values in measured.items()}


# ---------------------------------------------------------------- memory


def high_water() -> int:
    """The most bytes that this process has ever held."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


def peak_of_network(name: str) -> float:
    """Megabytes that one step needs above what it starts with."""
    step = network(512, (784, 256, 10))[name]
    step()
    if name == "torch":  # its memory is not Python's
        before = high_water()
        step()
        return (high_water() - before) / 1e6
    tracemalloc.start()
    base = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    step()
    return (tracemalloc.get_traced_memory()[1] - base) / 1e6


def bytes_of_chain(name: str) -> float:
    """Kilobytes per node that a chain holds once it has gone backward."""
    CHAINS[name](1000, [0.5])[1]()
    before = high_water()
    _, backward = CHAINS[name](LENGTH, [0.5])
    backward()
    return (high_water() - before) / LENGTH / 1e3


# ---------------------------------------------------------------- each in a process of its own


def in_a_child(what: str, *names: str) -> Any:
    """What one measurement says: no row finds the memory that another has left behind."""
    command = [sys.executable, __file__, what, *names]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


# ---------------------------------------------------------------- the noise of gradcheck


def gradcheck_noise(checks: int = 4_000) -> tuple[int, float]:
    """False alarms among random checks, and the worst distance, in units of the tolerance's scale.

    The distance is |analytic - numeric| / max(1, |cotangent| · |what moved|), which the tolerance
    compares with atol.
    """
    rng = np.random.default_rng(0)
    programs = [
        (lambda a, b: a @ b, (3, 4), (4, 2)),
        (lambda a, b: (a + b) * a, (2, 3), (3,)),
        (lambda a, b: a / (b * b + 1.0), (3, 1), (3, 5)),
        (lambda a, b: (a @ b).tanh().mean(), (3, 4), (4, 2)),
        (lambda a, b: (a * b).softmax(0), (4, 3), (3,)),
        (lambda a, b: mt.cross_entropy(a + b, [0, 2, 1]), (3, 3), (3,)),
        (lambda a, b: mt.stack([a, b], -1).exp().sum(0), (2, 3), (2, 3)),
        (lambda a, b: mt.cat([a, b]).gelu()[[0, 0, -1]], (2, 3), (1, 3)),
        (lambda a, b: (a.transpose() @ b).gelu("tanh").reshape((-1,)), (3, 2), (3, 2)),
        (lambda a, b: ((a * a + 0.5).log() - b).broadcast_to((2, 2, 3)), (2, 3), (3,)),
    ]
    alarms, worst = 0, 0.0
    for k in range(checks):
        f, *shapes = programs[k % len(programs)]
        leaves = [mt.Tensor(rng.normal(size=s), requires_grad=True) for s in shapes]
        try:
            mt.gradcheck(f, *leaves)
        except AssertionError:
            alarms += 1
        worst = max(worst, distance(f, leaves))
    return alarms, worst


def distance(f: Callable, leaves: list) -> float:
    """The smallest atol with which gradcheck passes, by bisection."""
    low, high = 1e-13, 1e-6
    while high / low > 1.1:
        middle = math.sqrt(low * high)
        try:
            mt.gradcheck(f, *leaves, rtol=0, atol=middle)
            high = middle
        except AssertionError:
            low = middle
    return high


# ---------------------------------------------------------------- the page


def agree(steps: dict[str, Callable[[], float]]) -> dict[str, Callable[[], float]]:
    """The steps, having seen that they compute one thing."""
    values = {name: step() for name, step in steps.items()}
    for name, value in values.items():
        if not math.isclose(value, values["NumPy"], rel_tol=1e-9):
            sys.exit(f"the libraries disagree before any timing: {values}, look at {name}")
    return steps


def measure() -> list[Row]:
    """Every row of the table."""
    rows = [
        Row("grammar MLP step (60, 23→32→5), fused cross-entropy", 1.5, better=1.4),
        Row("MLP 784→256→10, batch 512", 1.08),
        Row("its peak memory above the start", 12, unit=" MB"),
        Row("matmul 512², forward and backward", 1.10),
        Row("broadcast add (512, 1) + (512, 512), forward and backward", 1.5),
        Row("cross-entropy (4096, 1000), forward and backward", 1.0),
        Row("gather 100,000 × 64 out of 1,000 rows, backward", 0.4),
        Row("chain of 1,000,000 tanh of a vector (1,), backward, in units of torch", 0.5),
        Row("the same of a number, shape ()", 0.5),
        Row("memory of the chain for each node", 1.0, unit=" kB"),
    ]
    for row, what in zip(rows, MEASURES, strict=True):
        if row.unit:
            of = CHAINS if "chain" in what else LIBRARIES
            row.numbers = {name: in_a_child(what, name) for name in of}
        else:
            processes = 1 if "chain" in what else PROCESSES  # it fills a gigabyte of its own
            runs = [in_a_child(what) for _ in range(processes)]
            row.numbers = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
    return rows


PROCESSES = 3  # where an array happens to lie in memory is one answer for a whole process
MEASURES: dict[str, Callable] = {
    "small": lambda: ratios(agree(network(60, (23, 32, 5))), "NumPy", rounds=35),
    "large": lambda: ratios(agree(network(512, (784, 256, 10))), "NumPy", rounds=7, budget=0.3),
    "memory of large": peak_of_network,
    "matmul": lambda: ratios(agree(matmul()), "NumPy", rounds=11, budget=0.05),
    "add": lambda: ratios(agree(broadcast_add()), "NumPy", rounds=21),
    "cross-entropy": lambda: ratios(agree(cross_entropy()), "NumPy", rounds=21, budget=0.1),
    "gather": lambda: ratios(agree(gather()), "NumPy", rounds=9, budget=0.1),
    "chain": lambda: chain_ratios([0.5]),
    "chain of a number": lambda: chain_ratios(0.5),
    "memory of chain": bytes_of_chain,
}


def cell(row: Row, name: str) -> str:
    if name not in row.numbers:
        return ""
    number = row.numbers[name]
    digits = 0 if row.unit == " MB" else 1 if number >= 10 else 2
    return f"{number:.{digits}f}{row.unit}"


def table(rows: list[Row]) -> str:
    """The rows as a Markdown table."""
    lines = [
        "| work | " + " | ".join(LIBRARIES) + " | aim | met |",
        "|---|" + "---|" * (len(LIBRARIES) + 2),
    ]
    for row in rows:
        cells = " | ".join(cell(row, name) for name in LIBRARIES)
        aim = f"≤ {row.aim:g}{row.unit}" + (f", better ≤ {row.better:g}" if row.better else "")
        lines.append(f"| {row.work} | {cells} | {aim} | {'yes' if row.met else '**no**'} |")
    return "\n".join(lines)


def versions() -> str:
    names = ("numpy", "scipy", "torch", "autograd", "mygrad")
    found = [f"{name} {importlib.metadata.version(name)}" for name in names]
    return ", ".join([f"Python {platform.python_version()}", *found])


MEASURED = ("<!-- measured: `make bench-minitorch` writes from here -->", "<!-- to here -->")


def write(rows: list[Row], alarms: int, worst: float) -> None:
    """Puts the measurements between the two marks of the page."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(MEASURED[0])
    after = rest.split(MEASURED[1])[1]
    noise = (
        f"gradcheck, 4,000 random checks of ten programs: {alarms} false alarms; worst distance "
        f"{worst:.1e} of the scale that its `atol` of 1e-8 is compared with."
    )
    body = f"\n\n{table(rows)}\n\n{noise}\n\nMeasured with {versions()}.\n\n"
    PAGE.write_text(before + MEASURED[0] + body + MEASURED[1] + after, encoding="utf-8")


def main(arguments: list[str]) -> None:
    if arguments:
        print(json.dumps(MEASURES[arguments[0]](*arguments[1:])))
        return
    rows = measure()
    write(rows, *gradcheck_noise())
    print(table(rows))


if __name__ == "__main__":
    main(sys.argv[1:])
