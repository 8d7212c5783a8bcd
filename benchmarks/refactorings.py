"""How many breaks survive a refactoring of the library: our engine, a unified diff, find/replace.

    python benchmarks/refactorings.py

A break survives if breaking the refactored text gives the same program as refactoring the broken
text.  The breaks are the first eight of the catalogue; every refactoring keeps the program.
"""

import ast
import difflib
import functools
import io
import re
import subprocess
import sys
import tempfile
import tokenize
from collections.abc import Callable
from pathlib import Path

from breaks import console
from breaks.catalog import load_catalog
from breaks.errors import BreaksError
from breaks.library import shipped_sources
from breaks.rewrite import mutate

BREAKS = (
    "skip-unbroadcast",
    "skip-unbroadcast-in-mul",
    "sum-backward-drops-kept-axis",
    "mean-backward-missing-1-over-n",
    "getitem-assign-instead-of-add-at",
    "grad-assign-not-accumulate",
    "softmax-backward-missing-sum-term",
    "transpose-reuses-forward-perm",
)
Refactoring = Callable[[str], str]


@functools.cache
def narrower(text: str) -> str:
    """Formatted for lines of 60 characters."""
    command = [sys.executable, "-m", "ruff", "format", "--line-length", "60", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def commented(text: str) -> str:
    """With a remark at the end of every statement."""
    lines = text.splitlines(keepends=True)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NEWLINE and token.string:
            row, column = token.start
            lines[row - 1] = f"{lines[row - 1][:column]}  # as before\n"
    return "".join(lines)


def lower(text: str) -> str:
    """Forty lines further down."""
    return "# \n" * 40 + text


def sorted_methods(text: str) -> str:
    """With the methods of each class in alphabetical order."""
    tree = ast.parse(text)
    lines = text.splitlines(keepends=True)
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            methods = [n for n in node.body if isinstance(n, ast.FunctionDef)]
            spans = [(method_start(n) - 1, n.end_lineno or 0) for n in methods]
            names = sorted(range(len(methods)), key=lambda i: methods[i].name)
            texts = ["".join(lines[a:b]) for a, b in spans]
            for (a, b), i in reversed(list(zip(spans, names, strict=True))):
                lines[a:b] = [texts[i]]
    return "".join(lines)


def method_start(node: ast.FunctionDef) -> int:
    return min([node.lineno, *(d.lineno for d in node.decorator_list)])


def without_blank_lines(text: str) -> str:
    """Printed anew from its tree: no comments, no blank lines, other brackets."""
    return ast.unparse(ast.parse(text)) + "\n"


def windows(text: str) -> str:
    """With the line ends of Windows."""
    return text.replace("\n", "\r\n")


def renamed_result(text: str) -> str:
    """With the result array called `out`."""
    return re.sub(r"\by\b", "out", text)


def renamed_upstream(text: str) -> str:
    """With the upstream gradient called `upstream`."""
    return re.sub(r"\bg\b", "upstream", text)


REFACTORINGS: tuple[Refactoring, ...] = (
    narrower,
    commented,
    lower,
    sorted_methods,
    without_blank_lines,
    windows,
    renamed_result,
    renamed_upstream,
)


def by_engine(name: str, brk, _before: str, _after: str, text: str) -> str | None:
    try:
        return mutate({name: text.encode()}, brk)[name].decode()
    except BreaksError:
        return None


def by_diff(_name: str, _brk, before: str, after: str, text: str) -> str | None:
    """GNU patch, with the fuzz that it allows by default."""
    diff = "".join(difflib.unified_diff(before.splitlines(True), after.splitlines(True), "a", "b"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "file.py")
        path.write_bytes(text.encode())
        command = ["patch", "--silent", "--no-backup-if-mismatch", str(path)]
        done = subprocess.run(command, input=diff.encode(), capture_output=True)
        return path.read_bytes().decode() if done.returncode == 0 else None


def by_replacing(_name: str, _brk, before: str, after: str, text: str) -> str | None:
    """Each changed line, wherever it stands."""
    old, new = before.splitlines(), after.splitlines()
    for tag, i, j, k, m in difflib.SequenceMatcher(None, old, new, False).get_opcodes():
        if tag != "equal":
            found = "\n".join(line.strip() for line in old[i:j])
            if not found or found not in text:
                return None
            text = text.replace(found, "\n".join(line.strip() for line in new[k:m]))
    return text


WAYS = {"engine": by_engine, "unified diff": by_diff, "find/replace": by_replacing}


def same_program(one: str | None, other: str) -> bool:
    try:
        return one is not None and ast.dump(ast.parse(one)) == ast.dump(ast.parse(other))
    except SyntaxError:
        return False


def main() -> None:
    catalog, sources = load_catalog(), shipped_sources()
    survived = {way: dict.fromkeys(REFACTORINGS, 0) for way in WAYS}
    misfired = dict.fromkeys(WAYS, 0)
    for brk in map(catalog.get, BREAKS):
        changed = mutate(sources, brk)
        for name in (name for name in sources if changed[name] != sources[name]):
            before, after = sources[name].decode(), changed[name].decode()
            for refactoring in REFACTORINGS:
                expected = refactoring(after)
                for way, apply in WAYS.items():
                    got = apply(name, brk, before, after, refactoring(before))
                    survived[way][refactoring] += same_program(got, expected)
                    misfired[way] += got is not None and not same_program(got, expected)
    rows = [[f.__name__, *(survived[way][f] for way in WAYS)] for f in REFACTORINGS]
    total = len(BREAKS) * len(REFACTORINGS)
    rows.append([f"survived, of {total}", *(sum(survived[way].values()) for way in WAYS)])
    rows.append(["changed something else", *misfired.values()])
    print(console.table(rows, ("refactoring", *WAYS), align="<>>>"))


if __name__ == "__main__":
    main()
