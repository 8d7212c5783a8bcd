"""One change taken out of a text that was edited since, where that is unambiguous.

Three texts: `before` the change, `after` it, and `current`, which is `after` and then somebody's
edits.  The change may leave only if *every* shortest way from `after` to `current` leaves its lines
whole and in the same place: then there is nothing to choose.  Otherwise: nothing is taken out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

NEVER = -(1 << 30)  # how much is in common where no way leads
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
    hunks = _hunks(after, before)
    new, now = (text.splitlines(keepends=True) for text in (after, current))
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


@lru_cache(maxsize=256)  # the same change is asked for again and again
def _hunks(source: bytes, target: bytes) -> list[Hunk] | None:
    return changes(source.splitlines(keepends=True), target.splitlines(keepends=True))


def _carriage(text: bytes) -> bool:
    return b"\r\n" in text and text.count(b"\r\n") == text.count(b"\n")


class Hunk(NamedTuple):
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

    A point (i, k) stands between the first i lines of the one and the first k lines of the other.
    `head` counts the lines that the parts before it can have in common, `tail` those behind it; the
    point lies on a shortest way where the two add up to the total.  Only points within `reach` of
    the diagonal are kept: a way with d edits cannot leave it by more than d.
    """

    def __init__(self, source: list[int], target: list[int], reach: int) -> None:
        self.source, self.target, self.reach = source, target, reach
        self.first = _forced(source, target, reach)
        self.last = _forced(source[::-1], target[::-1], reach)
        overlap = self.first + self.last - min(len(source), len(target))
        self.last -= max(0, overlap)
        left = source[self.first : len(source) - self.last]
        right = target[self.first : len(target) - self.last]
        self.rows, self.columns = len(left), len(right)
        self.head = _common(left, right, reach)
        self.tail = _common(left[::-1], right[::-1], reach)
        self.middle = self._head(self.rows, self.columns)
        self.total = self.middle + self.first + self.last

    def _head(self, i: int, k: int) -> int:
        return self.head[i][k - i + self.reach] if abs(k - i) <= self.reach else NEVER

    def _tail(self, i: int, k: int) -> int:
        i, k = self.rows - i, self.columns - k
        return self.tail[i][k - i + self.reach] if abs(k - i) <= self.reach else NEVER

    @classmethod
    def between(cls, source: list[bytes], target: list[bytes]) -> Ways | None:
        """The ways from one text to another, or None if that is too much to compare."""
        names: dict[bytes, int] = {}
        left, right = ([names.setdefault(x, len(names)) for x in side] for side in (source, target))
        only = Counter(left), Counter(right)
        reach = (only[0] - only[1]).total() + (only[1] - only[0]).total() + 4  # at least so many
        while len(left) * (2 * reach + 1) <= LARGEST:
            ways = cls(left, right, reach)
            if len(left) + len(right) - 2 * ways.total <= reach:
                return ways
            reach *= 2
        return None

    def matches(self, i: int, k: int) -> bool:
        """Whether some shortest way keeps source line i as target line k."""
        i, k = i - self.first, k - self.first
        if i < 0 or i >= self.rows:
            return i == k if i < 0 else i - self.rows == k - self.columns
        if not 0 <= k < self.columns or self.source[i + self.first] != self.target[k + self.first]:
            return False
        return self._head(i, k) + 1 + self._tail(i + 1, k + 1) == self.middle

    def points(self, i: int) -> list[int]:
        """The places in the target that can stand for the gap before source line i."""
        i -= self.first
        if i < 0:
            return [i + self.first]
        if i > self.rows:
            return [i - self.rows + self.columns + self.first]
        near = range(max(0, i - self.reach), min(self.columns, i + self.reach) + 1)
        return [k + self.first for k in near if self._head(i, k) + self._tail(i, k) == self.middle]

    def deletes(self, i: int, k: int) -> bool:
        """Whether some shortest way drops source line i when it is at target line k."""
        i, k = i - self.first, k - self.first
        if not (0 <= i < self.rows and 0 <= k <= self.columns):
            return False
        return self._head(i, k) + self._tail(i + 1, k) == self.middle

    def one(self) -> Iterator[tuple[int, int]]:
        """The kept lines along one shortest way."""
        i = k = 0
        while i < len(self.source) and k < len(self.target):
            if self.matches(i, k):
                yield i, k
                i, k = i + 1, k + 1
            elif self.deletes(i, k):
                i += 1
            else:
                k += 1

    def line(self, i: int) -> int | None:
        """Where source line i is in the target, if all shortest ways agree that it is there."""
        if not 0 <= i < len(self.source):
            return None
        places = self.points(i)
        if any(self.deletes(i, k) for k in places):
            return None
        found = [k for k in places if self.matches(i, k)]
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


def _forced(source: list[int], target: list[int], reach: int) -> int:
    """How many lines at the beginning every shortest way keeps as they are.

    Both begin alike for a while.  A way that leaves the diagonal there must find the last of these
    lines again, at most `reach` lines further on; where a line has no such twin, no way leaves.
    """
    alike = 0
    for mine, other in zip(source, target, strict=False):
        if mine != other:
            break
        alike += 1
    for i in range(alike - 1, -1, -1):
        near = slice(i + 1, i + 1 + reach)
        if source[i] not in source[near] and source[i] not in target[near]:
            return i + 1
    return 0


def _common(source: list[int], target: list[int], reach: int) -> list[list[int]]:
    """For each i, and each k within reach of it, how many lines the two beginnings can share."""
    m, width = len(target), 2 * reach + 1
    rows = [[0 if 0 <= k <= m else NEVER for k in range(-reach, reach + 1)]]
    for i, line in enumerate(source, 1):
        above, row, left = [*rows[-1], NEVER], [NEVER] * width, NEVER
        start = i - reach
        for j in range(max(0, -start), min(width, m - start + 1)):
            best = above[j + 1]
            if left > best:
                best = left
            k = start + j
            if k and target[k - 1] == line and above[j] >= best:
                best = above[j] + 1
            row[j] = left = best
        rows.append(row)
    return rows
