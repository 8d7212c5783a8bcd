"""The first difference between the correct and the broken library, and where it starts.

Forward, backward, step; within a phase the modes in the order of `Mode`: a crash before a wrong
shape, a shape before a dtype, a dtype before values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any

import numpy as np

from grader.arrays import Recorded, decode, first_wrong, short
from grader.compare import Verdict, compare
from grader.reading import UNREADABLE, Crash, Reading
from grader.recording import UNAFFECTED, Difference, Mode, Origin, Pattern, Phase, Reach
from labs.model import Scenario

Sources = Mapping[str, str]  # module → text


def first_difference(
    scenario: Scenario, clean: Reading, broken: Reading, before: Sources, after: Sources
) -> Difference:
    """What differs first, in the scenario's own loss."""
    view = View(scenario, clean, broken, after, all_changed_lines(before, after))
    try:
        return view.forward() or view.backward() or view.step() or UNAFFECTED
    except UNREADABLE as error:
        return Difference(Phase.FORWARD, Mode.CRASH, error=f"unreadable: {error!r:.200}")


def all_changed_lines(before: Sources, after: Sources) -> dict[str, frozenset[int]]:
    """By module, the lines of `after` that are not as in `before`."""
    return {
        module: changed_lines(before.get(module, ""), text)
        for module, text in after.items()
        if before.get(module) != text
    }


def reached(
    difference: Difference,
    clean: Reading,
    broken: Reading,
    changed: Mapping[str, frozenset[int]],
) -> Reach:
    """How far the fault came, judged by what the scenario's own loss shows."""
    if difference.mode is not Mode.UNAFFECTED:
        return Reach.PROPAGATED
    executed = broken.raw("lines").get("executed") or {}
    if not any(lines & frozenset(executed.get(name, ())) for name, lines in changed.items()):
        return Reach.UNREACHED
    for _, ours, theirs in matching(broken.nodes(), clean.nodes()):
        if differ(ours["data"], theirs["data"]) or differ(ours["grad"], theirs["grad"]):
            return Reach.NOT_PROPAGATED
    return Reach.NOT_INFECTED


class View:
    """The two readings of one scenario, and the text of the broken library."""

    def __init__(
        self,
        scenario: Scenario,
        clean: Reading,
        broken: Reading,
        sources: Sources,
        changed: Mapping[str, frozenset[int]],
    ):
        self.scenario, self.clean, self.broken = scenario, clean, broken
        self.sources, self.changed = sources, changed

    # -------------------------------------------------------------- phases

    def forward(self) -> Difference | None:
        crash = self.broken.crash("program")
        if crash and crash.phase in ("load", "forward"):
            return self.crash(crash, Phase.FORWARD, "program")
        if refused := self.unrefused("program", ("load", "forward")):
            return refused
        pairs = [(n, *self.pair("program", n)) for n in ("y", "loss")]
        pairs += [(leaf.name, *self.pair("program", "after", leaf.name)) for leaf in self.leaves]
        return self.of_arrays(pairs, Phase.FORWARD)

    def backward(self) -> Difference | None:
        if crash := self.broken.crash("program"):
            return self.crash(crash, Phase.BACKWARD, "program")
        if refused := self.unrefused("program", ("backward",)):
            return refused
        pairs = [(leaf.name, *self.pair("program", "grads", leaf.name)) for leaf in self.leaves]
        return self.of_arrays(pairs, Phase.BACKWARD)

    def step(self) -> Difference | None:
        if not self.scenario.fit:
            return None
        if crash := self.broken.crash("step"):
            return self.crash(crash, Phase.STEP, "step")
        if refused := self.unrefused("step", ("step",)):
            return refused
        pairs = [(leaf.name, *self.pair("step", "data", leaf.name)) for leaf in self.leaves]
        found, expected = self.pair("step", "losses")
        pairs.append(("losses", self.as_computed(found), self.as_computed(expected)))
        return self.of_arrays(pairs, Phase.STEP)

    def as_computed(self, losses: Recorded | None) -> Recorded | None:
        """Losses are kept as Python floats; of a float32 program they are float32 numbers."""
        single = any(one.dtype == "float32" for one in self.scenario.inputs)
        if losses is None or losses.array is None or not single:
            return losses
        array = losses.array.astype(np.float32)
        return Recorded(losses.kind, "float32", losses.shape, array)

    @property
    def leaves(self) -> Iterable[Any]:
        return self.scenario.leaves

    def pair(self, section: str, *path: str) -> tuple[Recorded | None, Recorded | None]:
        return self.broken.array(section, *path), self.clean.array(section, *path)

    # -------------------------------------------------------------- crashes

    def crash(self, crash: Crash, phase: Phase, section: str) -> Difference | None:
        """The broken library stopped; no difference if the correct one stops in the same way."""
        own = self.clean.crash(section)
        if own and own.phase == crash.phase and own.type == crash.type and not crash.hang:
            return None
        mode = Mode.HANG if crash.hang else Mode.CRASH
        text = self.line(crash.module, crash.line)
        origin = None
        if crash.line:
            origin = Origin(
                crash.function,
                crash.function,
                phase,
                crash.module,
                crash.line,
                text,
                crash.text,
                "",
                self.is_changed(crash.module, crash.line),
            )
        return Difference(phase, mode, error=crash.text, origin=origin)

    def unrefused(self, section: str, phases: tuple[str, ...]) -> Difference | None:
        """The correct library refuses, and the broken one does not."""
        own = self.clean.crash(section)
        if own is None or own.phase not in phases or self.broken.crash(section):
            return None
        phase = Phase.FORWARD if own.phase == "load" else Phase(own.phase)
        evidence = {"expected": own.text, "found": "no exception"}
        return Difference(phase, Mode.WRONG_VALUES, pattern=Pattern.OTHER, evidence=evidence)

    # -------------------------------------------------------------- arrays

    def of_arrays(
        self, pairs: list[tuple[str, Recorded | None, Recorded | None]], phase: Phase
    ) -> Difference | None:
        """The first by mode, then by order of the tensors."""
        order = list(Mode)
        found = [d for pair in pairs if (d := array_difference(*pair, phase)) is not None]
        if not found:
            return None
        first = min(found, key=lambda d: order.index(d.mode))
        also = [d.tensor for d in found if d is not first]
        evidence = {**first.evidence, **({"also": also} if also else {})}
        origin = self.origin(phase, first.tensor)
        return replace_evidence(first, evidence, origin)

    # -------------------------------------------------------------- origins

    def origin(self, phase: Phase, tensor: str) -> Origin | None:
        if phase is Phase.STEP:
            return self.changed_line(tensor, phase)
        nodes = matching(self.broken.nodes(), self.clean.nodes())
        if phase is Phase.FORWARD:
            for _, ours, theirs in nodes:
                if differ(ours["data"], theirs["data"]):
                    return self.made(ours, theirs, phase)
            return self.changed_line(tensor, phase)
        above = self.consuming(tensor)
        wrong = [
            node
            for node in reversed(nodes)
            if node[1]["requires_grad"] and differ(node[1]["grad"], node[2]["grad"])
        ]
        # Of several that are wrong, the one on the way from the tensor that the evidence shows.
        for node in sorted(wrong, key=lambda node: node[0] not in above):
            return self.written(*node)
        return self.changed_line(tensor, phase)

    def consuming(self, tensor: str) -> set[int]:
        """The node of a tensor, and every node that is computed from it."""
        nodes = self.broken.nodes()
        found = {i for i, node in enumerate(nodes) if node["name"] == tensor}
        for i, node in enumerate(nodes):  # parents come first
            if found.intersection(node["parents"]):
                found.add(i)
        return found

    def made(self, ours: dict[str, Any], theirs: dict[str, Any], phase: Phase) -> Origin:
        """The op whose value is wrong: its changed line, else the line that computes y."""
        module, (first, last) = ours["module"], ours["lines"]
        start = self.enclosing(module, first)
        line = self.changed_in(module, start, last) or self.search(
            module, start, first, r"\s*(y|losses)\s*="
        )
        return self.origin_at(ours, theirs, "data", ours["op"], phase, module, line or first)

    def written(self, i: int, ours: dict[str, Any], theirs: dict[str, Any]) -> Origin | None:
        """The op that wrote the wrong gradient: of the node's consumers, the one that changed."""
        consumers = [
            (node, name)
            for node in reversed(self.broken.nodes())
            for parent, name in zip(node["parents"], node["parent_names"], strict=True)
            if parent == i
        ]
        if not consumers:
            return self.changed_line(ours["name"], Phase.BACKWARD)
        best, line = consumers[0], 0
        for node, name in consumers:
            module, (first, last) = node["module"], node["lines"]
            start = self.enclosing(module, first)
            if changed := self.changed_in(module, first, last, name) or self.changed_in(
                module, start, last
            ):
                best, line = (node, name), changed
                break
        node, name = best
        module, (first, last) = node["module"], node["lines"]
        parent = re.escape(name) if name else r"\w+"
        written = self.search(module, first, last, rf"\s*{parent}\.grad\s*\W?=")
        anything = self.search(module, first, last, r".*\.grad\b")
        at = line or written or anything or first
        return self.origin_at(ours, theirs, "grad", node["op"], Phase.BACKWARD, module, at)

    def origin_at(
        self,
        ours: dict[str, Any],
        theirs: dict[str, Any],
        what: str,
        op: str,
        phase: Phase,
        module: str,
        line: int,
    ) -> Origin:
        found, expected = texts_of(ours[what], theirs[what])
        text = self.line(module, line)
        changed = self.is_changed(module, line)
        return Origin(ours["name"], op, phase, module, line, text, found, expected, changed)

    def changed_line(self, tensor: str, phase: Phase) -> Origin | None:
        """The first line that the break changed: what there is to say without a graph."""
        for module, lines in self.changed.items():
            if lines:
                line = min(lines)
                return Origin(tensor, "", phase, module, line, self.line(module, line), "", "")
        return None

    # -------------------------------------------------------------- text

    def line(self, module: str, number: int) -> str:
        lines = self.sources.get(module, "").splitlines()
        return lines[number - 1].strip() if 0 < number <= len(lines) else ""

    def is_changed(self, module: str, line: int) -> bool:
        return line in self.changed.get(module, ())

    def changed_in(self, module: str, first: int, last: int, name: str = "") -> int:
        """The first changed line between two, if it speaks of `name`; 0 if none does."""
        for line in sorted(self.changed.get(module, ())):
            if first <= line <= last and (
                not name or re.search(rf"\b{re.escape(name)}\b", self.line(module, line))
            ):
                return line
        return 0

    def search(self, module: str, first: int, last: int, pattern: str) -> int:
        """The last line between two that matches from its beginning; 0 if none does."""
        lines = self.sources.get(module, "").splitlines()
        for number in range(min(last, len(lines)), max(first, 1) - 1, -1):
            if re.match(pattern, lines[number - 1]):
                return number
        return 0

    def enclosing(self, module: str, line: int) -> int:
        """The first line of the function around the closure that starts at `line`."""
        lines = self.sources.get(module, "").splitlines()
        if not 0 < line <= len(lines):
            return line
        depth = indent(lines[line - 1])
        for number in range(line - 1, 0, -1):
            text = lines[number - 1]
            if text.lstrip().startswith("def ") and indent(text) < depth:
                return number
        return line


def replace_evidence(one: Difference, evidence: dict[str, Any], origin: Any) -> Difference:
    return one._replace(evidence=evidence, origin=origin)


def indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def changed_lines(before: str, after: str) -> frozenset[int]:
    """The lines of `after` (1-based) that `before` has not; where lines only went, the next one."""
    found: set[int] = set()
    for _, _, start, end in blocks(before, after):
        found.update(range(start + 1, max(end, start + 1) + 1))
    return frozenset(found)


def replaced_lines(before: str, after: str) -> frozenset[int]:
    """The lines of `before` (1-based) that `after` has not; where some only came, the one ahead."""
    found: set[int] = set()
    for start, end, _, _ in blocks(before, after):
        found |= set(range(start + 1, end + 1)) or {start}
    return frozenset(found)


def how_many(before: Sources, after: Sources) -> int:
    """How many lines differ: of each place, as many as the longer side has."""
    places = [place for name, text in after.items() for place in blocks(before[name], text)]
    return sum(max(b - a, d - c) for a, b, c, d in places)


@lru_cache(maxsize=256)  # asked for each scenario of a break
def blocks(before: str, after: str) -> tuple[tuple[int, int, int, int], ...]:
    """Where two texts differ: lines a to b of `before` gave way to lines c to d of `after`."""
    old, new = before.splitlines(), after.splitlines()
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    middle_old, middle_new = old[head : len(old) - tail], new[head : len(new) - tail]
    found = SequenceMatcher(None, middle_old, middle_new, autojunk=False).get_opcodes()
    return tuple(
        (head + a, head + b, head + c, head + d) for tag, a, b, c, d in found if tag != "equal"
    )


def matching(
    ours: list[dict[str, Any]], theirs: list[dict[str, Any]]
) -> list[tuple[int, dict[str, Any], dict[str, Any]]]:
    """The nodes that both graphs have in the same place, in topological order."""
    pairs = []
    for i, (one, other) in enumerate(zip(ours, theirs, strict=False)):
        if one["op"] != other["op"]:
            break
        pairs.append((i, one, other))
    return pairs


def differ(found: Any, expected: Any) -> bool:
    if found == expected:  # byte for byte: the common case, and nothing to decode
        return False
    return array_difference("", decode(found), decode(expected), Phase.BACKWARD) is not None


def texts_of(found: Any, expected: Any) -> tuple[str, str]:
    """Both recorded values as short lines."""
    said = both(decode(found), decode(expected))
    return said["found"], said["expected"]


# ------------------------------------------------------------------ two arrays


def array_difference(
    name: str, found: Recorded | None, expected: Recorded | None, phase: Phase
) -> Difference | None:
    """How one array differs from the correct one; None if it does not."""
    if expected is None or found is None:
        if found is expected:
            return None
        there = found or expected
        shape = there.shape if there else None
        return Difference(
            phase,
            Mode.WRONG_VALUES,
            name,
            shape=None if found is None else shape,
            expected_shape=None if expected is None else shape,
            pattern=Pattern.MISSING if found is None else Pattern.OTHER,
            evidence=both(found, expected),
        )
    if identical(found, expected):
        return None
    facts: dict[str, Any] = {
        "tensor": name,
        "shape": found.shape,
        "expected_shape": expected.shape,
        "dtype": found.dtype,
        "expected_dtype": expected.dtype,
        "evidence": both(found, expected),
    }
    if found.shape != expected.shape:
        return Difference(phase, Mode.WRONG_SHAPE, **facts)
    if found.dtype != expected.dtype or found.kind != expected.kind:
        if found.kind != expected.kind:
            facts["dtype"], facts["expected_dtype"] = found.kind, expected.kind
        return Difference(phase, Mode.WRONG_DTYPE, **facts)
    if found.array is None or expected.array is None:
        return None
    return value_difference(found.array, expected.array, phase, facts)


def both(found: Recorded | None, expected: Recorded | None) -> dict[str, str]:
    """Two values as short lines, from the first entry on in which they differ."""
    start = 0
    if found and expected and not identical(found, expected):
        start = first_wrong(found.array, expected.array)
    return {"found": described(found, start), "expected": described(expected, start)}


def identical(found: Recorded, expected: Recorded) -> bool:
    """Whether two recordings are the same to the byte."""
    if found.array is None or expected.array is None or found.kind != expected.kind:
        return False
    same = found.shape == expected.shape and found.dtype == expected.dtype
    return same and bool(found.array.tobytes() == expected.array.tobytes())


def described(value: Recorded | None, start: int) -> str:
    if value is None:
        return "None"
    return f"a {value.kind}" if value.array is None else short(value.array, start)


def value_difference(
    found: Any, expected: Any, phase: Phase, facts: dict[str, Any]
) -> Difference | None:
    """How the numbers of two arrays of one shape and dtype differ."""
    if not found.size:
        return None
    lost = np.isfinite(expected) & ~np.isfinite(found)
    if lost.any():
        facts["evidence"]["entries"] = int(lost.sum())
        return Difference(phase, Mode.NAN_OR_INF, **facts)
    wrong = wrong_entries(found, expected)
    if not wrong.any():
        return None
    pattern, factor = pattern_of(found.astype(float), expected.astype(float), wrong)
    with np.errstate(all="ignore"):
        worst = float(np.nanmax(np.abs(found.astype(float) - expected.astype(float))))
    facts["evidence"] |= {
        "wrong": int(wrong.sum()),
        "entries": int(found.size),
        "max_error": worst if np.isfinite(worst) else None,
    }
    return Difference(phase, Mode.WRONG_VALUES, pattern=pattern, factor=factor, **facts)


def wrong_entries(found: Any, expected: Any) -> Any:
    """Where two arrays differ beyond the dead band of rounding."""
    narrow = found.dtype.itemsize < 8
    size = np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
    rtol, noise = (1e-3, 1e-4 * size) if narrow else (1e-7, 1e-11 * size)
    with np.errstate(all="ignore"):
        near = np.abs(found - expected) <= rtol * np.abs(expected) + noise
    return ~(near | (found == expected) | (np.isnan(found) & np.isnan(expected)))


def same(found: Any, expected: Any) -> bool:
    noise = 1e-9 * float(np.abs(expected).max(initial=0.0))
    return compare(found, expected, rtol=1e-7, noise=noise).verdict is Verdict.AGREES


def pattern_of(found: Any, expected: Any, wrong: Any) -> tuple[Pattern, float | None]:
    """What can be said about numbers that are wrong, and the factor or the constant."""
    if not (np.isfinite(found).all() and np.isfinite(expected).all()):
        return (Pattern.PARTIAL if not wrong.all() else Pattern.OTHER), None
    if not found.any():
        return Pattern.ZERO, None
    if same(found, -expected):
        return Pattern.SIGN_FLIPPED, -1.0
    largest = np.unravel_index(int(np.abs(expected).argmax()), expected.shape)
    if expected[largest] != 0:
        factor = float(found[largest] / expected[largest])
        if factor != 0 and same(found, factor * expected):
            return Pattern.SCALED, tidy(factor)
    if found.size > 1:
        if same(np.sort(found, axis=None), np.sort(expected, axis=None)):
            return Pattern.PERMUTED, None
        constant = float((found - expected).reshape(-1)[0])
        if same(found, expected + constant):
            return Pattern.OFFSET, tidy(constant)
    return (Pattern.PARTIAL if not wrong.all() else Pattern.OTHER), None


def tidy(number: float) -> float:
    """The number without the noise of its last digits."""
    return float(f"{number:.9g}")
