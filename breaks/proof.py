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


def proves(tree: ast.Module, sites: Sequence[Substitution], result: bytes) -> bool:
    """Whether `result` is the tree with the substitutions made."""
    try:
        return same(ast.parse(result), substituted(tree, sites))
    except (*NOT_PYTHON, NotAnIdentifier):
        return False


def substituted(tree: ast.Module, sites: Sequence[Substitution]) -> ast.Module:
    """A tree in which every site is replaced, node by node; `tree` stays as it is."""
    firsts = {id(site.nodes[0]): site for site in sites}
    rest = {id(node) for site in sites for node in site.nodes[1:]}

    def visit(node):
        if isinstance(node, list):
            return [new for item in node if id(item) not in rest for new in as_list(visit(item))]
        if not isinstance(node, ast.AST):
            return node
        site = firsts.get(id(node))
        if site is None:
            return type(node)(**{name: visit(value) for name, value in ast.iter_fields(node)})
        new = filled(list(site.template), site.bindings)
        return new[0].value if isinstance(node, ast.expr) else new

    return visit(tree)


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
