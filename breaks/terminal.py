"""The two streams: results to stdout, messages to stderr, each in what its reader can show."""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from typing import TextIO, TypeVar

T = TypeVar("T")
WIDEST, NARROWEST = 80, 40

ROLES = {
    "title": "1",
    "strong": "1",
    "dim": "2",
    "good": "32",
    "bad": "31",
    "warn": "33",
    "added": "32",
    "removed": "31",
    "place": "36",
    "command": "36",
}

# Each sign with what stands for it where the encoding of stdout cannot carry it.
SIGNS = {
    "good": ("✓", "+"),
    "bad": ("✗", "x"),
    "warn": ("!", "!"),
    "arrow": ("→", "->"),
    "bullet": ("·", "-"),
    "dash": ("–", "-"),
    "rule": ("─", "-"),
    "more": ("…", "..."),
    "yes": ("●", "*"),
    "no": ("○", "."),
    "spark": ("▁▂▃▄▅▆▇█", "_.-=+*%#"),
    "block": ("█", "#"),
    "bar": ("│", "|"),
    "times": ("×", "x"),
}
_SPELLINGS = {sign: spelt for sign, spelt in SIGNS.values() if len(sign) == 1}
_SPELLINGS |= dict(zip(*SIGNS["spark"], strict=True))
_SPELLINGS |= dict(
    zip(
        "“”«»‘’¿¡∂⊕−²≤≥≠—",
        (*'""""', *"''", "", "", *"d+-", "^2", "<=", ">=", "!=", "--"),
        strict=True,
    )
)
_PLAIN = str.maketrans(_SPELLINGS)


def carries(text: str, stream: TextIO | None = None) -> bool:
    """Whether the stream's encoding can carry the text."""
    encoding = getattr(stream or sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def plain(text: str, stream: TextIO | None = None) -> str:
    """The text in what the stream can carry: signs spelt in ASCII, accents dropped at worst."""
    if text.isascii() or carries(text, stream):
        return text
    spelt = "".join(char if carries(char, stream) else char.translate(_PLAIN) for char in text)
    bare = unicodedata.normalize("NFKD", spelt) if not carries(spelt, stream) else spelt
    encoding = getattr(stream or sys.stdout, "encoding", None) or "ascii"
    kept = "".join(char for char in bare if not unicodedata.combining(char))
    return kept.encode(encoding, "replace").decode(encoding)


class Glyphs:
    """`glyphs.good` is ✓ on a UTF-8 stdout and + elsewhere, decided when it is asked."""

    def __getattr__(self, name: str) -> str:
        try:
            sign, spelt = SIGNS[name]
        except KeyError:
            raise AttributeError(name) from None
        return sign if carries(sign) else spelt


glyphs = Glyphs()


def colourful(stream: TextIO) -> bool:
    """Whether to colour: NO_COLOR forbids, FORCE_COLOR insists, else only a capable terminal."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return _is_terminal(stream) and os.environ.get("TERM") != "dumb"


def style(text: str, role: str, *, stream: TextIO | None = None) -> str:
    """The text in the colour of its role, or as it is where colour is not wanted.

    For stderr say `stream=sys.stderr`.  Colour is never alone: the words say it too.
    """
    code = ROLES[role]
    if not text or not colourful(stream or sys.stdout):
        return text
    return "\n".join(f"\x1b[{code}m{line}\x1b[0m" if line else line for line in text.split("\n"))


def width() -> int:
    """How many columns to use: the terminal's, from 40 up to 80; 80 through a pipe."""
    return max(NARROWEST, min(WIDEST, _columns()))


def _columns() -> int:
    """What COLUMNS says, else the terminal; as in shutil, which is slow to import."""
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and int(said) > 0:
        return int(said)
    try:
        stream = sys.__stdout__
        return os.get_terminal_size(stream.fileno() if stream else -1).columns or WIDEST
    except (AttributeError, ValueError, OSError):
        return WIDEST


def _is_terminal(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


def interactive() -> bool:
    """Whether somebody can be asked: both ends are a terminal."""
    return _is_terminal(sys.stdin) and _is_terminal(sys.stderr)


_json = False


def json_mode() -> bool:
    """Whether a program reads: then stdout holds one JSON document and nothing else."""
    return _json


def set_json_mode(on: bool) -> None:
    global _json
    _json = on


def out(text: str = "") -> None:
    """A result, to stdout.  Silent in JSON mode, where the document is the result."""
    if not _json:
        write(text)


def write(text: str) -> None:
    """Straight to stdout, whatever the mode."""
    print(plain(text, sys.stdout), flush=True)


def say(text: str = "") -> None:
    """A message, to stderr."""
    print(plain(text, sys.stderr), file=sys.stderr, flush=True)


def _shows_progress() -> bool:
    return _is_terminal(sys.stderr) and os.environ.get("TERM") != "dumb" and not _json


def progress(items: Iterable[T], label: str, total: int | None = None) -> Iterator[T]:
    """The items one by one, with a bar on stderr while a person watches."""
    if total is None and isinstance(items, Sized):
        total = len(items)
    with advancing(label, total) as advance:
        for item in items:
            yield item
            advance()


@contextmanager
def advancing(label: str, total: int | None = None) -> Iterator[Callable[..., None]]:
    """`with advancing("training", 40) as advance: … advance(detail)`: a bar, or nothing at all."""
    if not _shows_progress():
        yield lambda detail="": None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

    console = Console(stderr=True, width=width(), legacy_windows=False)
    columns = (
        SpinnerColumn("dots" if carries("⠋", sys.stderr) else "line"),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[detail]}", markup=False),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(label, total=total, detail="")
        yield lambda detail="": bar.update(task, advance=1, detail=detail)
