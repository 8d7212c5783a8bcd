"""Which functions a run enters, and which functions a break changes.

A fault in a function that a run never enters cannot change that run: what is executed is the same
code on the same numbers.  So the training of such a break need not be repeated to be known.  Code
counts as changed by what it does, not by where it stands: bytecode, constants and names, not lines.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from types import CodeType
from typing import Any

Place = tuple[str, str, int]  # file, qualified name, how many of that name come before it


class Entered:
    """Notes the code of a library that is entered while this is in force."""

    def __init__(self, label: str):
        self.prefix = f"<{label}>/"
        self.codes: set[CodeType] = set()

    def __enter__(self) -> Entered:
        prefix, note = self.prefix, self.codes.add
        self.before = sys.gettrace()

        def call(frame: Any, event: str, arg: Any) -> None:
            if frame.f_code.co_filename.startswith(prefix):
                note(frame.f_code)

        sys.settrace(call)
        return self

    def __exit__(self, *ignored: object) -> None:
        sys.settrace(self.before)

    def places(self) -> list[list[Any]]:
        """The code that was entered, as plain data: file, name and first line."""
        return sorted([c.co_filename, c.co_qualname, c.co_firstlineno] for c in self.codes)


def changed(before: CodeType, after: CodeType) -> set[tuple[str, str, int]]:
    """The code objects of one module, as `Entered` names them, that a break leaves different."""
    theirs = dict(placed(after))
    return {
        (code.co_filename, code.co_qualname, code.co_firstlineno)
        for place, code in placed(before)
        if place not in theirs or behaviour(code) != behaviour(theirs[place])
    }


def placed(code: CodeType) -> Iterator[tuple[Place, CodeType]]:
    """A code object and all that are inside it, each with a name that lines do not change."""
    seen: dict[tuple[str, str], int] = {}
    stack = [code]
    while stack:
        one = stack.pop()
        name = one.co_filename, one.co_qualname
        seen[name] = seen.get(name, -1) + 1
        yield (*name, seen[name]), one
        stack += [c for c in reversed(one.co_consts) if isinstance(c, CodeType)]


def behaviour(code: CodeType) -> tuple[Any, ...]:
    """Everything that decides what a code object does, but for the code inside it."""
    constants = [c.co_qualname if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    return (
        code.co_code,
        code.co_exceptiontable,
        constants,
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_cellvars,
        code.co_flags,
        (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount),
    )


def changed_in(before: Mapping[str, str], after: Mapping[str, str]) -> set[tuple[str, str, int]]:
    """The code objects of a library that a break changes; modules that only one has, whole."""
    from grader import child

    ours, theirs = named(child.codes(dict(before))), named(child.codes(dict(after)))
    found: set[tuple[str, str, int]] = set()
    for file, code in ours.items():
        other = theirs.get(file)
        if other is None:
            found |= {(c.co_filename, c.co_qualname, c.co_firstlineno) for _, c in placed(code)}
        elif other is not code:
            found |= changed(code, other)
    return found


def named(codes: Iterator[CodeType]) -> dict[str, CodeType]:
    return {code.co_filename: code for code in codes}
