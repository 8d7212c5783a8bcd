"""What a break changes, as lines: for `patch`, for a screen, for a count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from breaks.untangle import changes

CONTEXT = 3
Sources = Mapping[str, bytes]


class Site(NamedTuple):
    """One place of a break: the file, the line where it starts, what goes and what comes."""

    file: str
    line: int
    removed: tuple[str, ...]
    added: tuple[str, ...]


def file_of(module: str, sources: Sources) -> str:
    """The path of a module below the root, with forward slashes."""
    package = any(name.startswith(module + ".") for name in sources)
    return module.replace(".", "/") + ("/__init__.py" if package else ".py")


def sites(old: Sources, new: Sources) -> list[Site]:
    """Every place in which two libraries differ."""
    found = []
    for module, before, after in _changed(old, new):
        for start, stop, instead in _hunks(before, after):
            removed = tuple(line.decode("utf-8", "replace").rstrip() for line in before[start:stop])
            added = tuple(line.decode("utf-8", "replace").rstrip() for line in instead)
            found.append(Site(file_of(module, old), start + 1, removed, added))
    return found


def unified(old: Sources, new: Sources) -> str:
    """The difference as `patch -p1` and `git apply` read it."""
    parts = []
    for module, before, after in _changed(old, new):
        name = file_of(module, old)
        parts += [f"--- a/{name}\n", f"+++ b/{name}\n", *_blocks(before, after)]
    return "".join(parts)


def _changed(old: Sources, new: Sources) -> Iterator[tuple[str, list[bytes], list[bytes]]]:
    for module in old:
        if old[module] != new[module]:
            yield module, old[module].splitlines(True), new[module].splitlines(True)


def _hunks(before: list[bytes], after: list[bytes]) -> list[tuple[int, int, list[bytes]]]:
    return [(hunk.start, hunk.stop, hunk.instead) for hunk in changes(before, after) or []]


def _blocks(before: list[bytes], after: list[bytes]) -> Iterator[str]:
    """The hunks with their context, neighbours in one block."""
    groups: list[list[tuple[int, int, list[bytes]]]] = []
    for hunk in _hunks(before, after):
        if groups and hunk[0] - groups[-1][-1][1] <= 2 * CONTEXT:
            groups[-1].append(hunk)
        else:
            groups.append([hunk])
    shift = 0
    for group in groups:
        first, last = max(0, group[0][0] - CONTEXT), min(len(before), group[-1][1] + CONTEXT)
        growth = sum(len(instead) - (stop - start) for start, stop, instead in group)
        old, new = _range(first, last - first), _range(first + shift, last - first + growth)
        yield f"@@ -{old} +{new} @@\n"
        shift += growth
        at = first
        for start, stop, instead in group:
            yield from (_line(" ", line) for line in before[at:start])
            yield from (_line("-", line) for line in before[start:stop])
            yield from (_line("+", line) for line in instead)
            at = stop
        yield from (_line(" ", line) for line in before[at:last])


def _range(start: int, count: int) -> str:
    return f"{start + 1 if count else start},{count}"


def _line(sign: str, line: bytes) -> str:
    text = sign + line.decode("utf-8", "replace")
    return text if text.endswith("\n") else text + "\n\\ No newline at end of file\n"
