"""Property tests: the same law on every shape of a scenario's kind.

The kind is read off the inputs: sizes that are equal stay equal, axes of length 1 and missing axes
stay so, everything else may be 1 … 4.  The law: the shape contract, and the gradient under an
irregular cotangent is what differences say.  Hypothesis chooses (derandomised, no database), once,
in a process of its own; every library is tried on the same shapes in the same order.  The kind is
small, so that the smallest shapes that reveal a fault, or hide it, are found by looking at all.
"""

from __future__ import annotations

import itertools
import json
import math
import subprocess
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from breaks import i18n
from grader.errors import GraderError, last_line

_ = i18n.gettext

SIZES = (1, 2, 3, 4)
MOST_SHAPES = 12
MOST_ENTRIES = 16
MOST_EXAMPLES = 25
PATIENCE = 60.0  # seconds for Hypothesis to load and to draw
VERDICTS = {"agrees", "doubtful", "differs"}

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


def laws(program: Any, assignments: list[Assignment] | None, vary: bool) -> dict[str, Any]:
    """What the law says of each shape of the scenario's kind.

    Without `assignments` the library is the correct one, and says itself which are of the kind:
    those for which it gives finite values to differentiate.
    """
    correct = assignments is None
    asked = propose(program.scenario["inputs"], vary) if assignments is None else assignments
    said = [check(program, shapes, correct) for shapes in asked]
    if not any(said):  # none is of the kind: the last must do, and say what it can
        asked, said = asked[-1:], [check(program, asked[-1], correct=False)]
    return {
        "shapes": [shapes for shapes, verdict in zip(asked, said, strict=True) if verdict],
        "laws": [verdict for verdict in said if verdict],
    }


def check(program: Any, shapes: Assignment, correct: bool) -> tuple[str, str] | None:
    """("agrees" | "doubtful" | "differs", why) for one assignment of shapes.

    None where the correct library shows that the shapes are not of the scenario's kind.
    """
    import numpy as np

    entries = entries_for(program.scenario["inputs"], shapes)
    try:
        numbers = program.numbers(entries=entries)
        arguments = program.arguments(numbers)
        try:
            y = program.evaluate(arguments)
        except Exception:
            if correct:
                return None
            raise
        if correct and not (y.requires_grad and y.data.size and np.isfinite(y.data).all()):
            return None
        return law_holds(program, entries, numbers, arguments, y)
    except BaseException as error:
        return "differs", f"{type(error).__name__}: {error}"[:300]


def law_holds(
    program: Any,
    entries: list[dict[str, Any]],
    numbers: dict[str, Any],
    arguments: dict[str, Any],
    y: Any,
) -> tuple[str, str]:
    """The shape contract, then the gradient of every leaf against differences."""
    import numpy as np

    from grader import child
    from grader.compare import Verdict, compare, quotients, shape_text

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
    known = program.moved if entries is program.scenario["inputs"] else {}
    for name, leaf in leaves.items():
        plus, minus = known.get(name) or child.moved(program, wide, name, step)
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


# ------------------------------------------------------------------ where Hypothesis runs


@cache
def drawn() -> tuple[int, ...]:
    """The numbers that Hypothesis draws, in its order.  Imports Hypothesis."""
    from hypothesis import HealthCheck, Phase, Verbosity, given, settings
    from hypothesis import strategies as st

    numbers = []

    @settings(
        max_examples=MOST_EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
    )
    @given(number=st.integers(0, MOST_SHAPES - 1))
    def draw(number: int) -> None:
        numbers.append(number)

    draw()
    return tuple(numbers)


# ------------------------------------------------------------------ in the parent


class Asked:
    """Hypothesis at work in its own process; what it draws is fetched when it is needed."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-B", "-m", "grader.property_test"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    @property
    def ready(self) -> bool:
        """Whether the answer is there to be fetched."""
        return self.process.poll() is not None

    def answer(self) -> tuple[int, ...]:
        """The numbers.  Raises GraderError (code 5) where none came back in time."""
        try:
            out, err = self.process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            out, err = self.process.communicate()
        try:
            return tuple(map(int, json.loads(out)))
        except (ValueError, TypeError):
            raise GraderError(
                _("numbers drawn by Hypothesis"),
                last_line(err),
                _("Nothing was scored. Install it anew: pip install --force-reinstall hypothesis."),
                code=5,
            ) from None

    def stop(self) -> None:
        """Ends the process, whatever it is doing."""
        if self.process.poll() is None:
            self.process.kill()
        with self.process:  # closes the pipes, and waits
            pass


def tried_in_order(
    shapes: Sequence[Assignment], said: Sequence[Sequence[str]], numbers: Iterable[int]
) -> dict[str, Any]:
    """What Hypothesis tried before the law was broken, and the smallest shapes by verdict.

    `said` is the law's verdict, and why, on each of the `shapes`, smallest first.  The smallest are
    found by looking at all, not by luck of the shrinking.  Raises ValueError for anything else.
    """
    if not {verdict for verdict, _why in said} <= VERDICTS or len(said) != len(shapes):
        raise ValueError("a verdict on each shape")
    tried: dict[int, None] = {}
    broken = False
    for number in numbers if shapes else ():
        i = number % len(shapes)
        tried[i] = None
        if broken := said[i][0] == "differs":
            break

    def first(verdict: str) -> int | None:
        return next((i for i, one in enumerate(said) if one[0] == verdict), None)

    revealing, hiding = (first("differs"), first("agrees")) if broken else (None, None)
    return {
        "tried": [shapes[i] for i in sorted(tried)],
        "doubtful": [shapes[i] for i in sorted(tried) if said[i][0] == "doubtful"],
        "revealing": None if revealing is None else shapes[revealing],
        "why": "" if revealing is None else said[revealing][1],
        "hiding": None if hiding is None else shapes[hiding],
    }


if __name__ == "__main__":
    print(json.dumps(drawn()))
