"""A Markdown page as a list of things that can be run, each with the output the page shows."""

import doctest
import re
from pathlib import Path
from typing import NamedTuple

FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>```+)(?P<kind>[\w-]*)\s*$")
PLACE = re.compile(r"^<!-- runs-in: (.*) -->$", re.MULTILINE)
PLACES = ("workspace", "clone", "empty")  # what `breaks init` makes; the repository; a new folder


class Block(NamedTuple):
    """A fenced block: its first line in the page (0-based, after the fence) and its lines."""

    kind: str
    start: int
    lines: tuple[str, ...]
    indent: int = 0


class Example(NamedTuple):
    """A command or a Python statement, and the lines that the page shows below it."""

    kind: str  # console or pycon
    source: str
    shown: tuple[str, ...]
    start: int  # the shown lines are lines[start:stop] of the page, 0-based
    stop: int
    indent: int = 0


class PageError(Exception):
    """A page that cannot be read; says the line."""


class Page(NamedTuple):
    """The text of a page and what its name and comments say about how to run it."""

    name: str
    text: str

    @classmethod
    def read(cls, path: Path, root: Path) -> "Page":
        return cls(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))

    @property
    def language(self) -> str:
        return "es" if self.name.endswith(".es.md") else "en"

    @property
    def place(self) -> str:
        """Where its commands are run; a comment `<!-- runs-in: clone -->` names another place."""
        found = PLACE.search(self.text)
        place = found[1] if found else PLACES[0]
        if place not in PLACES:
            raise PageError(f"{self.name}: runs-in is one of {', '.join(PLACES)}; found {place}")
        return place

    @property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    def blocks(self) -> list[Block]:
        """The fenced blocks, in order."""
        found, lines, i = [], self.lines, 0
        while i < len(lines):
            fence = FENCE.match(lines[i])
            i += 1
            if fence is None:
                continue
            start, indent = i, len(fence["indent"])
            while i < len(lines) and lines[i].strip() != fence["ticks"]:
                i += 1
            if i == len(lines):
                raise PageError(f"{self.name}:{start}: the block is never closed")
            body = tuple(line[indent:] for line in lines[start:i])
            found.append(Block(fence["kind"], start, body, indent))
            i += 1
        return found

    def examples(self) -> list[Example]:
        """What is to be run, in order."""
        parse = {"console": self._commands, "pycon": self._statements}
        return [one for b in self.blocks() if b.kind in parse for one in parse[b.kind](b)]

    def _commands(self, block: Block) -> list[Example]:
        if not block.lines or not block.lines[0].startswith("$ "):
            raise PageError(f"{self.name}:{block.start + 1}: a console block starts with `$ `")
        found, i, n = [], 0, len(block.lines)
        while i < n:
            source = [block.lines[i][2:]]
            i += 1
            while i < n and block.lines[i].startswith("> "):
                source.append(block.lines[i][2:])
                i += 1
            start = i
            while i < n and not block.lines[i].startswith("$ "):
                i += 1
            found.append(self._example(block, "\n".join(source), start, i))
        return found

    def _statements(self, block: Block) -> list[Example]:
        parser = doctest.DocTestParser()
        try:
            examples = parser.get_examples("\n".join(block.lines) + "\n", self.name)
        except ValueError as error:
            raise PageError(f"{self.name}:{block.start + 1}: {error}") from None
        found = []
        for one in examples:
            start = one.lineno + one.source.count("\n")
            stop = start + one.want.count("\n")
            found.append(self._example(block, one.source, start, stop))
        if not found:
            raise PageError(f"{self.name}:{block.start + 1}: a pycon block starts with `>>> `")
        return found

    @staticmethod
    def _example(block: Block, source: str, start: int, stop: int) -> Example:
        shown = block.lines[start:stop]
        return Example(
            block.kind, source, shown, block.start + start, block.start + stop, block.indent
        )

    def with_shown(self, shown: list[list[str]]) -> "Page":
        """The page with other lines below each example."""
        lines = self.lines
        for example, new in reversed(list(zip(self.examples(), shown, strict=True))):
            margin = " " * example.indent
            lines[example.start : example.stop] = [line and margin + line for line in new]
        return Page(self.name, "\n".join(lines))


def pages(root: Path) -> list[Path]:
    """Every page whose claims are run."""
    patterns = ("*.md", "docs/**/*.md", "labs/*/*.md")
    return sorted(path for pattern in patterns for path in root.glob(pattern))
