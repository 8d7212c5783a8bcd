"""Compares a pattern with a node of the source, and binds the pattern's metavariables."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import NamedTuple

from breaks.pattern import hole

Bindings = dict[str, ast.AST | str]  # an identifier, such as a parameter's name, is a str
SPELLINGS = {"np": "numpy"}  # how patterns call modules, whatever the source calls them
MEANT = {  # per type of node, the fields that say what the code means
    kind: tuple(f for f in kind._fields if f not in {"ctx", "kind", "type_comment"})
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}


def same(one, other) -> bool:
    """Whether two trees are the same code, wherever they stand; Load and Store do not matter."""
    pairs = [(one, other)]
    while pairs:
        a, b = pairs.pop()
        if a is b:
            continue
        kind = type(a)
        if kind is not type(b):
            return False
        if kind in MEANT:
            pairs += [(getattr(a, f, None), getattr(b, f, None)) for f in MEANT[kind]]
        elif kind is list:
            if len(a) != len(b):
                return False
            pairs += zip(a, b, strict=True)
        elif a != b:
            return False
    return True


def match(pattern, node, bindings: Bindings, aliases: Aliases) -> bool:
    """Whether `node` is the pattern, with its metavariables bound; one that recurs binds equals."""
    name = hole(pattern)
    if name is not None:
        return isinstance(node, ast.expr | str) and _bind(name, node, bindings)
    if isinstance(pattern, list):
        return (
            isinstance(node, list)
            and len(pattern) == len(node)
            and all(match(p, n, bindings, aliases) for p, n in zip(pattern, node, strict=True))
        )
    if not isinstance(pattern, ast.AST):
        return type(pattern) is type(node) and pattern == node
    if aliases.agree(pattern, node):
        return True
    if isinstance(pattern, ast.Assign) and isinstance(node, ast.AnnAssign):
        node = _without_annotation(node)
    return type(pattern) is type(node) and all(
        match(
            _ordered(getattr(pattern, f, None)), _ordered(getattr(node, f, None)), bindings, aliases
        )
        for f in MEANT[type(pattern)]
    )


def _bind(name: str, code: ast.expr | str, bindings: Bindings) -> bool:
    known = bindings.setdefault(name, code)
    return known is code or same(_plain(known), _plain(code))


def _plain(code: ast.AST | str) -> ast.AST | str:
    """A parameter `x` and the name `x` are one."""
    return code.id if isinstance(code, ast.Name) else code


def _without_annotation(node: ast.AnnAssign) -> ast.AST:
    """`x = 1` of `x: int = 1`."""
    return ast.Assign([node.target], node.value) if node.value is not None else node


def _ordered(value):
    """Keyword arguments by name: their order means nothing."""
    if isinstance(value, list) and value and isinstance(value[0], ast.keyword):
        return sorted(value, key=lambda keyword: keyword.arg or "")
    return value


def dotted(node) -> str | None:
    """`a.b.c` of a chain of names; None for anything else."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None


class Aliases(NamedTuple):
    """What a module calls the modules that it imports, and what it takes from them."""

    full: Mapping[str, str]  # local name → full name

    @classmethod
    def of_module(cls, tree: ast.Module) -> Aliases:
        full = {}
        for node in tree.body:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    local = alias.asname or alias.name.partition(".")[0]
                    full[local] = alias.name if alias.asname else local
            elif isinstance(node, ast.ImportFrom) and not node.level:
                for alias in node.names:
                    full[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        return cls(full)

    def agree(self, pattern: ast.AST, node: object) -> bool:
        """Whether two names mean one thing of one module: np.exp, numpy.exp, or an imported exp."""
        wanted, there = dotted(pattern), dotted(node)
        if wanted is None or there is None or "__hole_" in wanted:
            return False
        return _resolved(wanted, SPELLINGS) == _resolved(there, self.full)

    def local(self, root: str) -> str | None:
        """What this module calls the module that patterns call `root`; None if it has no name.

        A root that is no module, as far as one can see here, keeps its name.
        """
        full = SPELLINGS.get(root, root)
        names = [name for name, meant in self.full.items() if meant == full]
        if root in names or not (names or root in SPELLINGS):
            return root
        return names[0] if names else None


def _resolved(name: str, full: Mapping[str, str]) -> str:
    root, dot, rest = name.partition(".")
    return full.get(root, root) + dot + rest
