"""One change taken out of a text that was edited since, where that is unambiguous.

Three texts: `before` the change, `after` it, and `current`, which is `after` and then somebody's
edits.  The change may leave only if *every* shortest way from `after` to `current` leaves its lines
whole and in the same place: then there is nothing to choose.  Otherwise: nothing is taken out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

LARGEST = 6_000_000  # cells of the comparison; beyond, the texts have too little in common


class Place(StrEnum):
    """Where a change stands in a text."""

    IN = "in"  # its lines are there, whole
    OUT = "out"  # the lines that it replaced are there, whole
    TANGLED = "tangled"  # neither, or not for certain


def place(before: bytes, after: bytes, current: bytes) -> Place:
    """Whether the change is in the text, out of it, or edited."""
    if current == after:
        return Place.IN
    if current == before:
        return Place.OUT
    inside = take_out(before, after, current) is not None
    outside = take_out(after, before, current) is not None
    if inside == outside:
        return Place.TANGLED
    return Place.IN if inside else Place.OUT


def take_out(before: bytes, after: bytes, current: bytes) -> bytes | None:
    """`current` without the change, every other byte kept; None where that is ambiguous."""
    if current == after:
        return before
    if _carriage(current) and not _carriage(after):  # an editor changed every line ending
        before, after = (text.replace(b"\n", b"\r\n") for text in (before, after))
    old, new, now = (text.splitlines(keepends=True) for text in (before, after, current))
    hunks = changes(new, old)
    ways = Ways.between(new, now)
    if hunks is None or ways is None:
        return None
    result, done = [], 0
    for hunk in hunks:
        spot = ways.spot(hunk.start, hunk.stop)
        if spot is None or spot[0] < done:
            return None
        result += [*now[done : spot[0]], *hunk.instead]
        done = spot[1]
    return b"".join([*result, *now[done:]])


def _carriage(text: bytes) -> bool:
    return b"\r\n" in text and text.count(b"\r\n") == text.count(b"\n")


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines `start` to `stop` of a text, and what stands instead of them in the other."""

    start: int
    stop: int
    instead: list[bytes]


def changes(source: list[bytes], target: list[bytes]) -> list[Hunk] | None:
    """A shortest list of hunks that makes `target` of `source`."""
    ways = Ways.between(source, target)
    if ways is None:
        return None
    hunks: list[Hunk] = []
    done = into = 0
    for i, k in [*ways.one(), (len(source), len(target))]:
        if i > done or k > into:
            hunks.append(Hunk(done, i, target[into:k]))
        done, into = i + 1, k + 1
    return hunks


class Ways:
    """All shortest ways (fewest lines deleted and inserted) from `source` to `target` at once.

    `head[i][k]` counts the common lines of the first i and the first k lines, `tail[i][k]` those of
    the rest; a point lies on a shortest way where the two add up to the total.  Only points within
    `reach` of the diagonal are kept: a way with d edits cannot leave it by more than d.
    """

    def __init__(self, source: list[int], target: list[int], reach: int) -> None:
        self.source, self.target, self.reach = source, target, reach
        self.head = _common(source, target, reach)
        backwards = _common(source[::-1], target[::-1], reach)
        self.total = self.head[-1].get(len(target), -1)
        n, m = len(source), len(target)
        self.tail = [{m - k: count for k, count in backwards[n - i].items()} for i in range(n + 1)]

    @classmethod
    def between(cls, source: list[bytes], target: list[bytes]) -> Ways | None:
        """The ways from one text to another, or None if that is too much to compare."""
        names: dict[bytes, int] = {}
        left, right = ([names.setdefault(x, len(names)) for x in side] for side in (source, target))
        reach = abs(len(left) - len(right)) + 8
        while len(left) * (2 * reach + 1) <= LARGEST:
            ways = cls(left, right, reach)
            if len(left) + len(right) - 2 * ways.total <= reach:
                return ways
            reach *= 2
        return None

    def matches(self, i: int, k: int) -> bool:
        """Whether some shortest way keeps source line i as target line k."""
        if not (0 <= k < len(self.target)) or self.source[i] != self.target[k]:
            return False
        head, tail = self.head[i].get(k), self.tail[i + 1].get(k + 1)
        return head is not None and tail is not None and head + 1 + tail == self.total

    def points(self, i: int) -> list[int]:
        """The places in the target that can stand for the gap before source line i."""
        tail = self.tail[i]
        return [
            k
            for k, head in self.head[i].items()
            if head + tail.get(k, -len(self.target) - 1) == self.total
        ]

    def one(self) -> Iterator[tuple[int, int]]:
        """The kept lines along one shortest way."""
        i = k = 0
        while i < len(self.source) and k < len(self.target):
            if self.matches(i, k):
                yield i, k
                i, k = i + 1, k + 1
            elif self.head[i][k] + self.tail[i + 1].get(k, -1) == self.total:
                i += 1
            else:
                k += 1

    def line(self, i: int) -> int | None:
        """Where source line i is in the target, if all shortest ways agree that it is there."""
        if not 0 <= i < len(self.source) or set(self.points(i)) & set(self.points(i + 1)):
            return None  # some way deletes it
        found = [k for k in self.points(i) if self.matches(i, k)]
        return found[0] if len(found) == 1 else None

    def lost(self, i: int) -> bool:
        """Whether no shortest way keeps source line i."""
        return 0 <= i < len(self.source) and not any(self.matches(i, k) for k in self.points(i))

    def spot(self, start: int, stop: int) -> tuple[int, int] | None:
        """Where lines start to stop of the source stand in the target, whole; None if in doubt."""
        if start == stop:
            gap = self.gap(start)
            return None if gap is None else (gap, gap)
        found = [self.line(i) for i in range(start, stop)]
        first = found[0]
        if first is None or found != list(range(first, first + stop - start)):
            return None
        return first, first + stop - start

    def gap(self, i: int) -> int | None:
        """Where the gap before source line i is: between its neighbours, or at the one left."""
        places = self.points(i)
        if len(places) == 1:
            return places[0]
        before, after = self.line(i - 1), self.line(i)
        if after is not None and self.lost(i - 1):
            return after
        if before is not None and self.lost(i):
            return before + 1
        return None


def _common(source: list[int], target: list[int], reach: int) -> list[dict[int, int]]:
    """For each i, and each k near it, how many lines the two beginnings can have in common."""
    m = len(target)
    rows: list[dict[int, int]] = [dict.fromkeys(range(min(m, reach) + 1), 0)]
    for i, line in enumerate(source):
        above, row, left = rows[-1], {}, -1
        for k in range(max(0, i + 1 - reach), min(m, i + 1 + reach) + 1):
            best = max(above.get(k, -1), left)
            if k and target[k - 1] == line and (diagonal := above.get(k - 1, -1)) + 1 > best:
                best = diagonal + 1
            row[k] = left = best
        rows.append(row)
    return rows
