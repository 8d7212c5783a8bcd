"""Text that fits: how wide a string is, how it wraps, how rows become a table.  Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

ANSI = re.compile(r"\x1b\[[0-9;]*m")
UNBROKEN = re.compile(r"\S*?`[^`\n]{1,50}`\S*|\S+")  # words, and commands in backticks whole
GAP = 2  # spaces between two columns
NARROWEST = 6  # a column is never squeezed below this


def cells(text: str) -> int:
    """How many columns of a terminal the text takes; colour codes take none."""
    bare = ANSI.sub("", text)
    if bare.isascii():
        return len(bare)
    return sum(_cell(char) for char in bare)


def _cell(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def pad(text: str, width: int, align: str = "<") -> str:
    """The text filled with spaces to a width, counted in columns of the terminal."""
    missing = " " * max(0, width - cells(text))
    return missing + text if align == ">" else text + missing


def wrap(text: str, width: int, *, indent: str = "", hanging: str | None = None) -> str:
    """Prose broken at spaces to fit `width`; a line that starts with a space is left as it is.

    `indent` starts the first line, `hanging` (or `indent`) every following one.
    """
    rest = indent if hanging is None else hanging
    lines: list[str] = []
    for line in text.split("\n"):
        first = rest if lines else indent
        if line.startswith(" ") or cells(first + line) <= width:
            lines.append((first + line).rstrip())
        else:
            lines += _fill(UNBROKEN.findall(line), width, first, rest)
    return "\n".join(lines)


def _fill(words: Iterable[str], width: int, first: str, rest: str) -> list[str]:
    lines, line, empty = [], first, True
    for word in words:
        if not empty and cells(line) + 1 + cells(word) > width:
            lines.append(line)
            line, empty = rest, True
        line += word if empty else " " + word
        empty = False
    return [*lines, line]


def table(
    rows: Iterable[Sequence[object] | str],
    header: Sequence[str] = (),
    *,
    width: int = 80,
    align: str = "",
    indent: str = "",
) -> str:
    """Rows as aligned columns that fit `width`; the widest columns wrap when they must.

    `align` has one of `<` `>` per column; what it does not mention is `<`.  A row that is a string
    is a heading over the rows below it: it starts at the margin and belongs to no column.
    """
    body = [row if isinstance(row, str) else [_text(cell) for cell in row] for row in rows]
    parts = [list(header), *body] if header else body
    grid = [part for part in parts if not isinstance(part, str)]
    if not grid:
        return "\n".join(map(str, parts))
    columns = max(map(len, grid))
    for row in grid:
        row += [""] * (columns - len(row))
    widths = _fit(grid, width - cells(indent))
    sides = (align + "<" * columns)[:columns]
    lines: list[str] = []
    for part in parts:
        if isinstance(part, str):
            lines += wrap(part, width, hanging="  ").split("\n")
        else:
            lines += [indent + line if line else line for line in _lines(part, widths, sides)]
    return "\n".join(lines)


def _text(cell: object) -> str:
    return "" if cell is None else str(cell)


def fold(line: str, width: int, *, hanging: str = "    ") -> str:
    """A line of code that fits, broken at spaces, its indentation and its spaces kept."""
    lines = []
    while cells(line) > width and (cut := line.rfind(" ", len(hanging) + 8, width + 1)) > 0:
        lines.append(line[:cut])
        line = hanging + line[cut + 1 :]
    return "\n".join([*lines, line])


def _fit(grid: list[list[str]], width: int) -> list[int]:
    """The width of each column: what it needs; what has spaces gives way before what has none."""
    columns = range(len(grid[0]))
    widths = [max(max(map(cells, row[c].split("\n"))) for row in grid) for c in columns]
    words = [max(max(map(cells, row[c].split() or [""])) for row in grid) for c in columns]
    for floors in (words, [NARROWEST] * len(widths)):
        while sum(widths) + GAP * (len(widths) - 1) > width:
            loose = [c for c in columns if widths[c] > floors[c]]
            if not loose:
                break
            widths[max(loose, key=widths.__getitem__)] -= 1
    return widths


def _lines(row: list[str], widths: list[int], sides: str) -> list[str]:
    """One row of the table, as many lines high as its highest cell."""
    stacks = [_cell_lines(text, width) for text, width in zip(row, widths, strict=True)]
    height = max(map(len, stacks))
    padded = [stack + [""] * (height - len(stack)) for stack in stacks]
    gap = " " * GAP
    return [
        gap.join(
            pad(part, w, side) for part, w, side in zip(parts, widths, sides, strict=True)
        ).rstrip()
        for parts in zip(*padded, strict=True)
    ]


def _cell_lines(text: str, width: int) -> list[str]:
    return [part for line in text.split("\n") for part in _chop(wrap(line, width), width)]


def _chop(text: str, width: int) -> list[str]:
    """Lines that fit even where a word has no space to break at."""
    lines: list[str] = []
    for line in text.split("\n"):
        while cells(line) > width and not ANSI.search(line):
            cut = line.rfind("-", 1, width) + 1 or width  # a long id breaks at a hyphen
            lines.append(line[:cut])
            line = line[cut:]
        lines.append(line)
    return lines
