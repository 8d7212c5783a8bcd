"""The computational graph of a scenario, with every gradient on the correct and the broken library.

Plain data: made where the recordings are, kept with the observation, drawn wherever it is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from grader.reading import Reading

Json = dict[str, Any]
Cells = dict[str, Any]  # {"shape": […], "entries": [… numbers, None where not finite]}
MOST_NODES = 60  # a larger graph is not drawn
MOST_CELLS = 200  # nor are the entries of a larger array


class Value(NamedTuple):
    """One array, short, on both libraries."""

    clean: str
    broken: str
    differs: bool
    clean_cells: Cells | None = None  # the entries, where they are few and worth drawing
    broken_cells: Cells | None = None

    def to_json(self) -> Json:
        found: Json = {"clean": self.clean, "broken": self.broken, "differs": self.differs}
        if self.clean_cells or self.broken_cells:
            found["clean_cells"] = self.clean_cells
            found["broken_cells"] = self.broken_cells
        return found


class GraphNode(NamedTuple):
    """One tensor of the program; `parents` are places in the list of nodes."""

    name: str
    op: str  # "" for a leaf or a constant
    parents: tuple[int, ...]
    needs_grad: bool
    data: Value
    grad: Value

    def to_json(self) -> Json:
        return {
            "name": self.name,
            "op": self.op,
            "parents": list(self.parents),
            "needs_grad": self.needs_grad,
            "data": self.data.to_json(),
            "grad": self.grad.to_json(),
        }

    @classmethod
    def from_json(cls, data: Json) -> GraphNode:
        return cls(
            data["name"],
            data["op"],
            tuple(data["parents"]),
            data["needs_grad"],
            Value(**data["data"]),
            Value(**data["grad"]),
        )


def graph(clean: Reading, broken: Reading) -> tuple[GraphNode, ...]:
    """The nodes of the correct run, each beside what the broken run had in its place."""
    from grader.difference import differ, texts_of

    theirs, ours = clean.nodes(), broken.nodes()
    if len(theirs) > MOST_NODES:
        return ()

    def value(node: Json, other: Json | None, key: str) -> Value:
        drawn = not node["op"] or node["name"] in ("y", "loss")
        clean_cells = cells(node[key]) if drawn else None
        if other is None or other["op"] != node["op"]:
            return Value(texts_of(node[key], node[key])[0], "", True, clean_cells)
        found, expected = texts_of(other[key], node[key])
        return Value(
            expected,
            found,
            differ(other[key], node[key]),
            clean_cells,
            cells(other[key]) if drawn else None,
        )

    found = []
    for i, node in enumerate(theirs):
        other = ours[i] if i < len(ours) else None
        found.append(
            GraphNode(
                node["name"],
                node["op"],
                tuple(node["parents"]),
                node["requires_grad"],
                value(node, other, "data"),
                value(node, other, "grad"),
            )
        )
    return tuple(found)


def cells(data: Any) -> Cells | None:
    """The entries of a recorded array as numbers; None where there is no array, or a large one."""
    from grader.arrays import decode
    from grader.compare import finite

    value = decode(data)
    if value is None or value.array is None or value.array.size > MOST_CELLS:
        return None
    flat = value.array.astype(float).reshape(-1)
    return {"shape": list(value.shape), "entries": [finite(float(f"{x:.6g}")) for x in flat]}


def path(nodes: Sequence[GraphNode], start: str) -> tuple[int, ...]:
    """From a node to the root, the shortest way along its consumers; () if it is not there."""
    at = next((i for i, node in enumerate(nodes) if node.name == start), None)
    if at is None:
        return ()
    consumers: dict[int, list[int]] = {}
    for i, node in enumerate(nodes):
        for parent in node.parents:
            consumers.setdefault(parent, []).append(i)
    ways: list[tuple[int, ...]] = [(at,)]
    seen = {at}
    while ways:
        way = ways.pop(0)
        following = [i for i in consumers.get(way[-1], ()) if i not in seen]
        if not consumers.get(way[-1]):
            return way
        # Where a node has several consumers, the wrong gradient came through one that is wrong.
        following.sort(key=lambda i: not nodes[i].grad.differs)
        seen.update(following)
        ways += [(*way, i) for i in following]
    return ()
