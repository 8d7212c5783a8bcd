"""A module as bytes and as a tree, and the way from a node to the bytes that it was made from."""

from __future__ import annotations

import ast
import bisect
import io
import re
import tokenize
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from breaks import i18n
from breaks.refusal import Reason, Refusal

_ = i18n.gettext

BOM = b"\xef\xbb\xbf"
NEWLINE = re.compile(rb"\r\n|\r|\n")  # where Python ends a line
NOT_PYTHON = (SyntaxError, ValueError, RecursionError, MemoryError)  # what ast.parse raises


class Source(NamedTuple):
    """The text of a module without its byte-order mark, and its tree.

    `ast` counts lines from 1 and columns in UTF-8 bytes, so positions are offsets into `body`.
    """

    bom: bytes
    body: bytes
    tree: ast.Module
    starts: tuple[int, ...]  # the offset of every line

    def span(self, nodes: Sequence[ast.AST]) -> tuple[int, int]:
        """The first offset of the nodes and the one behind them; decorators belong to a `def`."""
        first, last = nodes[0], nodes[-1]
        start = self._offset(first.lineno, first.col_offset)  # type: ignore[attr-defined]
        decorators = getattr(first, "decorator_list", None)
        if decorators:
            start = self._offset(decorators[0].lineno, decorators[0].col_offset)
            start = self.body.rindex(b"@", 0, start)
        return start, self._offset(last.end_lineno, last.end_col_offset)  # type: ignore[attr-defined]

    def text(self, node: ast.AST) -> str:
        start, end = self.span([node])
        return self.body[start:end].decode()

    def spliced(self, pieces: Sequence[tuple[int, int, bytes]]) -> bytes:
        """The body with new bytes from start to end of each piece; the pieces are in order."""
        out, at = [], 0
        for start, end, new in pieces:
            out += [self.body[at:start], new]
            at = end
        return b"".join([*out, self.body[at:]])

    def indent(self, offset: int) -> str | None:
        """The white space before `offset` on its line; None where something else stands there."""
        line = self.starts[bisect.bisect_right(self.starts, offset) - 1]
        before = self.body[line:offset].decode()
        return before if not before.strip() else None

    def newline(self, offset: int) -> str:
        """How the line of `offset` ends; the last line, like the others."""
        found = NEWLINE.search(self.body, offset) or NEWLINE.search(self.body)
        return found.group().decode() if found else "\n"

    def _offset(self, line: int, column: int) -> int:
        return self.starts[line - 1] + column


def read(source: bytes, name: str, module: str) -> Source:
    """The source of a module, parsed.  Refuses what is not Python in UTF-8."""
    try:
        return _parsed(source)
    except NOT_PYTHON as error:
        found = str(error) or type(error).__name__
        if isinstance(error, SyntaxError) and error.lineno is not None:  # str() has a file's name
            found = _("%(error)s on line %(line)d") % {"error": error.msg, "line": error.lineno}
        raise Refusal(
            Reason.INVALID_SOURCE,
            _("%(module)s in Python and UTF-8") % {"module": module},
            found,
            _("Mend the module first."),
            name,
        ) from None


@lru_cache(maxsize=32)  # a catalogue asks for the same modules again and again
def _parsed(source: bytes) -> Source:
    bom, body = (BOM, source[len(BOM) :]) if source.startswith(BOM) else (b"", source)
    encoding, _lines = tokenize.detect_encoding(io.BytesIO(source).readline)
    if encoding not in ("utf-8", "utf-8-sig"):
        raise SyntaxError(f"encoding {encoding}")
    body.decode()
    starts = (0, *(found.end() for found in NEWLINE.finditer(body)))
    return Source(bom, body, ast.parse(body), starts)
