"""Ordinary refactorings of a module: each returns another text of the same program.

What a colleague, a formatter or an editor does in an afternoon.  Breaks must survive it, or refuse.
"""

from __future__ import annotations

import ast
import functools
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Callable, Iterable, Iterator

Refactoring = Callable[[str], str]
Edit = tuple[int, int, str]  # from this offset to that one stands this instead

REFACTORINGS: dict[str, Refactoring] = {}


def refactoring(function: Refactoring) -> Refactoring:
    """Adds it to the list, under the first line of its docstring."""
    name = (function.__doc__ or "").splitlines()[0].rstrip(".")
    REFACTORINGS[name] = functools.lru_cache(maxsize=512)(function)
    return function


# -------------------------------------------------------------------- layout


@refactoring
def narrow(text: str) -> str:
    """Formatted for lines of 60 characters."""
    return _ruff(text, "--line-length", "60")


@refactoring
def wide(text: str) -> str:
    """Formatted for lines of 160 characters, in single quotes."""
    return _ruff(text, "--line-length", "160", "--config", "format.quote-style='single'")


@refactoring
def printed_anew(text: str) -> str:
    """Printed anew from its tree: other brackets, no comments, no blank lines."""
    return ast.unparse(ast.parse(text)) + "\n"


@refactoring
def windows(text: str) -> str:
    """Line ends of Windows and a byte-order mark."""
    return "\ufeff" + text.replace("\n", "\r\n")


@refactoring
def tabs(text: str) -> str:
    """Indented with tabs, no newline at the end."""
    return re.sub(r"(?m)^( {4})+", lambda m: "\t" * (len(m.group()) // 4), text).rstrip("\n")


@refactoring
def one_line_ifs(text: str) -> str:
    """An `if` with one short statement on one line."""

    def edits(tree: ast.AST) -> Iterator[Edit]:
        for node in ast.walk(tree):
            if isinstance(node, ast.If) and not node.orelse and _simple(node.body):
                yield _end(text, node.test), _start(text, node.body[0]), ": "

    return _edited(text, edits)


def _simple(body: list[ast.stmt]) -> bool:
    return len(body) == 1 and isinstance(body[0], ast.Assign | ast.AugAssign | ast.Return)


@refactoring
def parenthesised(text: str) -> str:
    """Parentheses around the value of every assignment."""

    def edits(tree: ast.AST) -> Iterator[Edit]:
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign | ast.AugAssign) and not _parenthesised(text, node):
                start, end = _start(text, node.value), _end(text, node.value)
                yield start, start, "("
                yield end, end, ")"

    return _edited(text, edits)


def _parenthesised(text: str, node: ast.Assign | ast.AugAssign) -> bool:
    return _end(text, node) != _end(text, node.value)


# -------------------------------------------------------------------- comments and docstrings


@refactoring
def without_comments(text: str) -> str:
    """Comments stripped."""
    comments = [t for t in _tokens(text) if t.type == tokenize.COMMENT]
    spans = [(_at(text, *t.start), _at(text, *t.end), "") for t in comments]
    return re.sub(r"(?m)[ \t]+$", "", _applied(text, spans))


@refactoring
def commented(text: str) -> str:
    """A comment behind every statement, and a licence above."""
    ends = [t for t in _tokens(text) if t.type == tokenize.NEWLINE and t.string]
    spans = [(_at(text, *t.start), _at(text, *t.start), "  # as before: ∂ñ") for t in ends]
    return "# Licence\n" * 20 + _applied(text, spans)


@refactoring
def without_docstrings(text: str) -> str:
    """Docstrings removed."""
    return _edited(text, lambda tree: _docstrings(text, tree, "pass"))


def _docstrings(text: str, tree: ast.AST, new: str) -> Iterator[Edit]:
    for node in _definitions(tree):
        if ast.get_docstring(node) is not None:
            yield _start(text, node.body[0]), _end(text, node.body[0]), new


# -------------------------------------------------------------------- names


@refactoring
def renamed_result(text: str) -> str:
    """The result array `y` is called `out_data`."""
    return _renamed(text, {"y": "out_data"})


@refactoring
def renamed_upstream(text: str) -> str:
    """The upstream gradient `g` is called `upstream`."""
    return _renamed(text, {"g": "upstream"})


@refactoring
def renamed_locals(text: str) -> str:
    """Other names for the locals of an op, such as kept, inverse, ties, rows, cdf and n."""
    names = "kept inverse ties rows cols cdf pdf e n order node entered piece places index"
    return _renamed(text, {name: f"the_{name}" for name in names.split()})


@refactoring
def renamed_closure(text: str) -> str:
    """The closure `_backward` is called `backward_of_op`."""
    return _renamed(text, {"_backward": "backward_of_op"})


@refactoring
def numpy_in_full(text: str) -> str:
    """`numpy.` for `np.`."""
    return _renamed(text, {"np": "numpy"}).replace("import numpy as numpy", "import numpy")


@refactoring
def annotated(text: str) -> str:
    """Type annotations on every parameter and local result."""

    def edits(tree: ast.AST) -> Iterator[Edit]:
        for node in _functions(tree):
            for arg in node.args.args:
                if arg.arg not in ("self", "cls"):
                    yield _end(text, arg), _end(text, arg), ": 'object'"
            for one in ast.walk(node):
                if isinstance(one, ast.Assign) and ast.unparse(one.targets) == "y":
                    yield _end(text, one.targets[0]), _end(text, one.targets[0]), ": 'object'"

    return _edited(text, edits)


# -------------------------------------------------------------------- statements


@refactoring
def inserted_statement(text: str) -> str:
    """A statement inserted before every result."""

    def edits(tree: ast.AST) -> Iterator[Edit]:
        for node in _functions(tree):
            for one in node.body:
                if isinstance(one, ast.Return) and len(node.body) > 1:
                    yield _start(text, one), _start(text, one), f"assert True\n{_indent(text, one)}"

    return _edited(text, edits)


@refactoring
def guards(text: str) -> str:
    """A guard more in every `if … .requires_grad`."""

    def edits(tree: ast.AST) -> Iterator[Edit]:
        for node in ast.walk(tree):
            if isinstance(node, ast.If) and isinstance(node.test, ast.Attribute):
                parent = ast.unparse(node.test.value)
                yield _start(text, node.test), _start(text, node.test), f"{parent} is not None and "

    return _edited(text, edits)


@refactoring
def temporaries(text: str) -> str:
    """Every contribution to a gradient in a local of its own first."""

    def edits(tree: ast.AST) -> Iterator[Edit]:
        for node in ast.walk(tree):
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Attribute):
                value = text[_start(text, node.value) : _end(text, node.value)]
                yield (
                    _start(text, node),
                    _start(text, node),
                    f"part = {value}\n{_indent(text, node)}",
                )
                yield _start(text, node.value), _end(text, node.value), "part"

    return _edited(text, edits)


# -------------------------------------------------------------------- structure


@refactoring
def sorted_methods(text: str) -> str:
    """Methods in alphabetical order."""

    def edits(tree: ast.Module) -> Iterator[Edit]:
        for owner in (node for node in tree.body if isinstance(node, ast.ClassDef)):
            methods = [node for node in owner.body if isinstance(node, ast.FunctionDef)]
            spans = [
                (_line(text, _first(m)), _line(text, (m.end_lineno or 0) + 1)) for m in methods
            ]
            order = sorted(range(len(methods)), key=lambda i: methods[i].name)
            for (start, end), i in zip(spans, order, strict=True):
                yield start, end, text[slice(*spans[i])]

    return _edited(text, edits)


@refactoring
def decorated(text: str) -> str:
    """A decorator on every method."""

    def edits(tree: ast.Module) -> Iterator[Edit]:
        start = _line(text, next(n for n in tree.body if isinstance(n, ast.ClassDef)).lineno)
        yield start, start, "def traced(method):\n    return method\n\n\n"
        for node in _methods(tree):
            if not node.decorator_list:
                yield _start(text, node), _start(text, node), f"@traced\n{_indent(text, node)}"

    return _edited(text, edits) if _has_class(text) else text


@refactoring
def mixin(text: str) -> str:
    """The operators moved into a mixin class."""
    tree = ast.parse(text)
    owner = next((n for n in tree.body if isinstance(n, ast.ClassDef)), None)
    if owner is None or owner.bases:
        return text
    moved = [
        (_line(text, _first(node)), _line(text, (node.end_lineno or 0) + 1))
        for node in owner.body
        if isinstance(node, ast.FunctionDef) and node.name not in ("__init__", "backward")
    ]
    name = f"{owner.name}Ops"
    methods = "\n".join(text[start:end] for start, end in moved)
    body = f"class {name}:\n    __slots__ = ()\n\n{methods}\n\n"
    start = _line(text, owner.lineno)
    head = (start, start, body)
    base = (start + len(f"class {owner.name}"),) * 2
    return _applied(text, [head, (*base, f"({name})"), *((a, b, "") for a, b in moved)])


# -------------------------------------------------------------------- how


def _ruff(text: str, *options: str) -> str:
    command = [sys.executable, "-m", "ruff", "format", "--isolated", *options, "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def _edited(text: str, edits: Callable[[ast.Module], Iterable[Edit]]) -> str:
    return _applied(text, list(edits(ast.parse(text))))


def _applied(text: str, edits: list[Edit]) -> str:
    """The text with every edit made; those at one place in the order given."""
    for start, end, new in sorted(edits, key=lambda edit: edit[0])[::-1]:
        text = text[:start] + new + text[end:]
    return text


def _renamed(text: str, names: dict[str, str]) -> str:
    """Other names for locals: not for attributes, nor for keywords of a call."""
    tokens = list(_tokens(text))
    edits, depth = [], 0
    for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if before.type == tokenize.OP:  # outside of brackets, `a, b = …` assigns
            depth += (before.string in "([{") - (before.string in ")]}")
        keyword = depth > 0 and after.string == "=" and before.string in ("(", ",")
        other = before.string == "." or keyword
        if token.type == tokenize.NAME and token.string in names and not other:
            edits.append((_at(text, *token.start), _at(text, *token.end), names[token.string]))
    return _applied(text, edits)


def _tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    return tokenize.generate_tokens(io.StringIO(text).readline)


@functools.lru_cache(maxsize=256)
def _lines(text: str) -> tuple[str, ...]:
    return (*text.splitlines(keepends=True), "")


@functools.lru_cache(maxsize=256)
def _starts(text: str) -> tuple[int, ...]:
    starts = [0]
    for line in _lines(text):
        starts.append(starts[-1] + len(line))
    return tuple(starts)


def _line(text: str, number: int) -> int:
    return _starts(text)[number - 1]


def _at(text: str, line: int, column: int) -> int:
    return _line(text, line) + column


def _start(text: str, node) -> int:
    return _offset(text, node.lineno, node.col_offset)


def _end(text: str, node) -> int:
    return _offset(text, node.end_lineno, node.end_col_offset)


def _offset(text: str, line: int, column: int) -> int:
    """`ast` counts bytes."""
    return _line(text, line) + len(_lines(text)[line - 1].encode()[:column].decode())


def _indent(text: str, node) -> str:
    line = _lines(text)[node.lineno - 1]
    return line[: len(line) - len(line.lstrip())]


def _first(node: ast.FunctionDef) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _definitions(tree: ast.AST):
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef
    return (node for node in ast.walk(tree) if isinstance(node, kinds))


def _functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def _methods(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    for owner in tree.body:
        if isinstance(owner, ast.ClassDef):
            yield from (node for node in owner.body if isinstance(node, ast.FunctionDef))


def _has_class(text: str) -> bool:
    return any(isinstance(node, ast.ClassDef) for node in ast.parse(text).body)
