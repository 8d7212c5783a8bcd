"""Python with $METAVARIABLES: what a rule looks for, and what it writes instead."""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from functools import lru_cache
from typing import NamedTuple

from breaks import i18n
from breaks.refusal import Reason, Refusal
from breaks.source import NOT_PYTHON

_ = i18n.gettext

# Strings and comments are skipped: a $X in them is text.
TOKEN = re.compile(
    r"""(?P<skip> '{3}(?:\\.|[^\\])*?'{3} | "{3}(?:\\.|[^\\])*?"{3}
                | '(?:\\.|[^'\\\n])*'     | "(?:\\.|[^"\\\n])*"     | \#[^\n]* )
      | \$(?P<hole> [A-Z][A-Z0-9_]* )
      | (?<![\w.$])(?P<root> [^\W\d]\w* )(?=\s*\.)""",
    re.VERBOSE | re.DOTALL,
)
IDENTIFIER = re.compile(r"__hole_([A-Z][A-Z0-9_]*)__")


class Pattern(NamedTuple):
    """A pattern or a replacement: its text, and its tree with identifiers for metavariables."""

    text: str
    body: tuple[ast.stmt, ...]
    holes: frozenset[str]

    @property
    def expression(self) -> ast.expr | None:
        """The expression, where it is nothing but one."""
        only = self.body[0]
        return only.value if len(self.body) == 1 and isinstance(only, ast.Expr) else None


def hole(node: object) -> str | None:
    """The name of the metavariable that an identifier, or a Name, stands for."""
    text = node.id if isinstance(node, ast.Name) else node
    found = IDENTIFIER.fullmatch(text) if isinstance(text, str) else None
    return found.group(1) if found else None


def parse(text: str, name: str) -> Pattern:
    """The pattern in `text`.  Refuses what is not Python, or nothing."""
    try:
        pattern = _parsed(text)
    except NOT_PYTHON as error:
        problem = getattr(error, "msg", None) or str(error) or type(error).__name__
    else:
        if pattern.body:
            return pattern
        problem = _("nothing")
    raise Refusal(
        Reason.INVALID_PATTERN,
        _("a Python expression or statement with $METAVARIABLES"),
        f"{text!r:.80} ({problem})",
        _("Mend it; metavariables are written in capitals."),
        name,
    )


@lru_cache(maxsize=1024)
def _parsed(text: str) -> Pattern:
    text = textwrap.dedent(text).strip("\n")
    holes = frozenset(found["hole"] for found in TOKEN.finditer(text) if found["hole"])
    return Pattern(text, tuple(ast.parse(_with_identifiers(text)).body), holes)


def _with_identifiers(text: str) -> str:
    return TOKEN.sub(lambda t: f"__hole_{t['hole']}__" if t["hole"] else t.group(), text)


@lru_cache(maxsize=256)
def regular(expression: str) -> re.Pattern[str]:
    """The regular expression of a `where:`; what Python may read otherwise one day is no matter."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return re.compile(expression)
