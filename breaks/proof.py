"""The proof of a rewrite: the result, parsed, is the original tree with nodes substituted."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Protocol

from breaks.match import Bindings, same
from breaks.pattern import hole
from breaks.source import NOT_PYTHON


class Substitution(Protocol):
    """Nodes in a row that give way to the statements of a template, or to its one expression."""

    @property
    def nodes(self) -> Sequence[ast.AST]: ...
    @property
    def template(self) -> Sequence[ast.stmt]: ...
    @property
    def bindings(self) -> Bindings: ...


def proves(meant: ast.Module | None, result: bytes) -> bool:
    """Whether `result` is the tree that was meant."""
    try:
        return meant is not None and same(ast.parse(result), meant)
    except NOT_PYTHON:
        return False


def substituted(tree: ast.Module, sites: Sequence[Substitution]) -> ast.Module | None:
    """A tree in which every site is replaced, node by node; `tree` stays as it is.

    Nodes without a site are shared with `tree`.  None where code would have to be a name.
    """
    firsts = {id(site.nodes[0]): site for site in sites}
    rest = {id(node) for site in sites for node in site.nodes[1:]}
    lines = {site.nodes[0].lineno for site in sites}  # type: ignore[attr-defined]

    def visit(node):
        if isinstance(node, list):
            return [new for item in node if id(item) not in rest for new in as_list(visit(item))]
        if not isinstance(node, ast.AST):
            return node
        site = firsts.get(id(node))
        if site is None and not near(node):
            return node
        if site is None:
            return type(node)(**{name: visit(value) for name, value in ast.iter_fields(node)})
        new = filled(list(site.template), site.bindings)
        return new[0].value if isinstance(node, ast.expr) else new

    def near(node) -> bool:
        """Whether a site may be inside; decorators stand above the first line of a function."""
        if not isinstance(node, ast.stmt) or getattr(node, "decorator_list", None):
            return True
        return any(node.lineno <= line <= (node.end_lineno or 0) for line in lines)

    try:
        return visit(tree)
    except NotAnIdentifier:
        return None


def as_list(new) -> list:
    return new if isinstance(new, list) else [new]


class NotAnIdentifier(Exception):
    """A metavariable stands where only a name can, and is bound to more."""


def filled(node, bindings: Bindings):
    """A template with the bound code in the place of its metavariables."""
    if isinstance(node, list):
        return [filled(item, bindings) for item in node]
    name = hole(node)
    if name is not None:
        bound = bindings[name]
        if isinstance(node, ast.Name):
            return ast.Name(bound, ast.Load()) if isinstance(bound, str) else bound
        if isinstance(bound, ast.Name):
            return bound.id
        if not isinstance(bound, str):
            raise NotAnIdentifier(name)
        return bound
    if not isinstance(node, ast.AST):
        return node
    return type(node)(**{field: filled(value, bindings) for field, value in ast.iter_fields(node)})
