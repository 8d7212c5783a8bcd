"""Property tests: the same law on every shape of a scenario's kind.

The kind is read off the inputs: sizes that are equal stay equal, axes of length 1 and missing axes
stay so, everything else may be 1 … 4.  The law: the shape contract, and the gradient under an
irregular cotangent is what differences say.  Hypothesis chooses (derandomised, no database), once,
for the correct library; every broken one is tried on the same shapes in the same order.  The kind
is small, so that the smallest shapes that reveal a fault, or hide it, are found by looking at all.
"""

from __future__ import annotations

import itertools
import math
from functools import cache
from typing import Any

SIZES = (1, 2, 3, 4)
MOST_SHAPES = 12
MOST_ENTRIES = 16
MOST_EXAMPLES = 25

Assignment = dict[str, list[int]]  # input → shape


def propose(entries: list[dict[str, Any]], vary: bool = True) -> list[Assignment]:
    """Shapes of the kind of these inputs, smallest first, the scenario's own among them."""
    own = {entry["name"]: list(entry["shape"]) for entry in entries}
    symbols = sorted({n for shape in own.values() for n in shape if n > 1})
    if not vary or not symbols:
        return [own]
    found = []
    for sizes in itertools.product(SIZES, repeat=min(len(symbols), 5)):
        size = dict(zip(symbols, sizes, strict=False))
        found.append({k: [size.get(n, n) for n in shape] for k, shape in own.items()})
    found = [one for one in found if weight(one) <= max(MOST_ENTRIES, 8)]
    found.sort(key=lambda one: (weight(one), sorted(map(str, one.items()))))
    small, rest = found[: MOST_SHAPES - 4], found[MOST_SHAPES - 4 :]
    step = max(1, len(rest) / 3)
    spread = [rest[int(i * step)] for i in range(min(len(rest), 3))]
    chosen = [*small, *spread]
    return chosen if own in chosen else [*chosen, own]


def weight(assignment: Assignment) -> int:
    """How many numbers the inputs hold in all."""
    return sum(math.prod(shape) for shape in assignment.values())


def entries_for(entries: list[dict[str, Any]], shapes: Assignment) -> list[dict[str, Any]]:
    """The inputs with other shapes; integers stay in the range that the shapes allow."""
    old = {n for e in entries if e["dtype"] != "int64" for n in e["shape"]}
    renamed = {
        n: new
        for e in entries
        for n, new in zip(e["shape"], shapes[e["name"]], strict=True)
        if e["dtype"] != "int64"
    }
    smallest = min(
        (n for e in entries if e["dtype"] != "int64" for n in shapes[e["name"]]), default=1
    )
    if all(shapes[e["name"]] == list(e["shape"]) for e in entries):
        return entries
    made = []
    for entry in entries:
        new = {**entry, "shape": shapes[entry["name"]], "values": None}
        if entry["dtype"] == "int64":
            follows = entry["values"] is None and entry["high"] in old
            new["low"] = 0
            new["high"] = renamed[entry["high"]] if follows else max(1, smallest)
        elif entry["values"] is not None:
            new["fill"] = "normal"
        made.append(new)
    return made


# ------------------------------------------------------------------ in the child


def valid(program: Any, assignments: list[Assignment]) -> list[int]:
    """The assignments for which the correct library gives finite values to differentiate."""
    import numpy as np

    good = []
    for i, shapes in enumerate(assignments):
        try:
            entries = entries_for(program.scenario["inputs"], shapes)
            y = program.evaluate(program.arguments(program.numbers(entries=entries)))
            if y.requires_grad and y.data.size and np.isfinite(y.data).all():
                good.append(i)
        except Exception:  # a shape that the expression does not take is not of its kind
            continue
    return good


class Search:
    """One search: which shapes were tried, and what the law says of each, asked once."""

    def __init__(self, program: Any, assignments: list[Assignment]):
        self.program, self.assignments = program, assignments
        self.seen: dict[int, tuple[str, str]] = {}
        self.tried: dict[int, None] = {}  # in the order of trying

    def law(self, i: int) -> tuple[str, str]:
        if i not in self.seen:
            self.seen[i] = check(self.program, self.assignments[i])
        return self.seen[i]

    def attempt(self, number: int) -> None:
        """Tries a shape.  Raises LawBrokenError where the law does not hold."""
        i = number % len(self.assignments)
        self.tried[i] = None
        if self.law(i)[0] == "differs":
            raise LawBrokenError(self.law(i)[1])

    def first(self, verdict: str) -> int | None:
        """The smallest shape of a verdict."""
        return next((i for i in range(len(self.assignments)) if self.law(i)[0] == verdict), None)


@cache
def hypothesis_test() -> Any:
    """The property, made once per process: a function of the attempt to make."""
    from hypothesis import HealthCheck, Phase, Verbosity, given, settings
    from hypothesis import strategies as st

    def holds(search: Draws | None, number: int) -> None:
        if search is not None:
            search.attempt(number)

    return settings(
        max_examples=MOST_EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        verbosity=Verbosity.quiet,
    )(given(number=st.integers(0, MOST_SHAPES - 1))(holds))


def warm() -> None:
    """Loads Hypothesis and lets it choose, once for all children."""
    for count in range(1, MOST_SHAPES + 2):
        chosen(count)


class Draws:
    """Takes what Hypothesis chooses among so many shapes, and objects to none."""

    def __init__(self, count: int):
        self.count = count
        self.seen: dict[int, None] = {}

    def attempt(self, number: int) -> None:
        self.seen[number % self.count] = None


@cache
def chosen(count: int) -> tuple[int, ...]:
    """The shapes that Hypothesis chooses among `count`, in its order; asked once per process."""
    draws = Draws(count)
    if count:
        hypothesis_test()(draws)
    return tuple(draws.seen)


def search(
    program: Any, assignments: list[Assignment], order: list[int] | None = None
) -> dict[str, Any]:
    """What was tried, the smallest shapes that break the law, the smallest that do not.

    `order` is what Hypothesis chose for the correct library; without it Hypothesis chooses here.
    Either way the smallest are found by looking at all shapes, not by luck of the shrinking.
    """
    one = Search(program, assignments)
    revealing: int | None = None
    hiding: int | None = None
    try:
        for number in chosen(len(assignments)) if order is None else order:
            one.attempt(number)
    except LawBrokenError:
        revealing, hiding = one.first("differs"), one.first("agrees")
    tried = sorted(one.tried)
    return {
        "order": list(one.tried),
        "tried": [assignments[i] for i in tried],
        "doubtful": [assignments[i] for i in tried if one.seen[i][0] == "doubtful"],
        "revealing": None if revealing is None else assignments[revealing],
        "why": "" if revealing is None else one.seen[revealing][1],
        "hiding": None if hiding is None else assignments[hiding],
    }


class LawBrokenError(Exception):
    """A shape on which the gradient is not the derivative."""


def check(program: Any, shapes: Assignment) -> tuple[str, str]:
    """("agrees" | "doubtful" | "differs", why) for one assignment of shapes."""
    entries = entries_for(program.scenario["inputs"], shapes)
    try:
        return law_holds(program, entries)
    except BaseException as error:
        return "differs", f"{type(error).__name__}: {error}"[:300]


def law_holds(program: Any, entries: list[dict[str, Any]]) -> tuple[str, str]:
    """The shape contract, then the gradient of every leaf against differences."""
    import numpy as np

    from grader import child
    from grader.compare import Verdict, compare, quotients, shape_text

    numbers = program.numbers(entries=entries)
    arguments = program.arguments(numbers)
    y = program.evaluate(arguments)
    cotangent = program.cotangent(y)
    y.backward(cotangent)
    leaves = program.leaves(arguments)
    for name, leaf in leaves.items():
        if not isinstance(leaf.grad, np.ndarray):
            return "differs", f"{name}.grad is {type(leaf.grad).__name__}"
        if leaf.grad.shape != numbers[name].shape:
            found, expected = shape_text(leaf.grad.shape), shape_text(numbers[name].shape)
            return "differs", f"{name}.grad has shape {found} instead of {expected}"
        if leaf.grad.dtype != numbers[name].dtype:
            return "differs", f"{name}.grad is {leaf.grad.dtype} instead of {numbers[name].dtype}"
    wide = program.numbers(entries=entries, wide=True)
    step, doubtful = program.scenario["epsilon"], ""
    for name, leaf in leaves.items():
        plus, minus = child.moved(program, wide, name, step)
        numeric, noise = quotients(plus, minus, cotangent, step)
        narrow = leaf.grad.dtype.itemsize < 8
        rtol = 1e-5 if narrow else 1e-6
        if narrow:
            noise = noise + 4e-6 * np.abs(numeric).max(initial=0.0)
        result = compare(leaf.grad.reshape(-1), numeric, rtol=rtol, noise=noise)
        if result.verdict is Verdict.DIFFERS:
            place = [int(i) for i in np.unravel_index(result.at[0], leaf.grad.shape)]
            return "differs", f"{name}.grad{place} is {result.why}"
        if result.verdict is not Verdict.AGREES:
            doubtful = f"{name}: {result.why}"
    return ("doubtful", doubtful) if doubtful else ("agrees", "")
