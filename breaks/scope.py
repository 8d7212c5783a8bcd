"""Finds the class or function that a rule names, and the names that are known in it."""

from __future__ import annotations

import ast
import builtins
import itertools
from collections.abc import Iterator

from breaks import i18n
from breaks.model import Rewrite
from breaks.refusal import Reason, Refusal

_ = i18n.gettext

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
Scope = ast.Module | Definition
BUILTINS = frozenset(vars(builtins)) | {"__file__", "__name__"}


def find(tree: ast.Module, rule: Rewrite, name: str) -> Scope:
    """The first of the rule's scopes that exists; the module where the rule names none."""
    if not rule.scopes:
        return tree
    for path in rule.scopes:
        scope: Scope | None = tree
        for part in path.split("."):
            scope = _inner(tree, scope, part, name) if scope is not None else None
        if scope is not None:
            return scope
    raise _unknown(tree, rule, name)


def _inner(tree: ast.Module, scope: Scope, part: str, name: str) -> Scope | None:
    found = [definition for definition in _definitions(scope) if definition.name == part]
    if len(found) > 1:
        raise Refusal(
            Reason.AMBIGUOUS_SCOPE,
            _("one definition of %(name)s") % {"name": part},
            _("several, on lines %(lines)s")
            % {"lines": ", ".join(str(definition.lineno) for definition in found)},
            _("Name the scope more closely."),
            name,
        )
    return found[0] if found else _inherited(tree, scope, part, name)


def _inherited(tree: ast.Module, scope: Scope, part: str, name: str) -> Scope | None:
    """The method of that name in a base class of the same module."""
    bases = scope.bases if isinstance(scope, ast.ClassDef) else []
    names = [base.id for base in bases if isinstance(base, ast.Name)]
    for parent in _definitions(tree):
        earlier = parent is not scope and parent.lineno < getattr(scope, "lineno", 0)
        if earlier and parent.name in names:
            inner = _inner(tree, parent, part, name)
            if inner is not None:
                return inner
    return None


def _definitions(scope: ast.AST) -> Iterator[Definition]:
    """The classes and functions of a scope, also those under its ifs and tries."""
    for child in ast.iter_child_nodes(scope):
        if isinstance(child, Definition):
            yield child
        elif not isinstance(child, ast.expr):
            yield from _definitions(child)


def _unknown(tree: ast.Module, rule: Rewrite, name: str) -> Refusal:
    import difflib

    known = list(_paths(tree))
    near = difflib.get_close_matches(rule.scopes[0], known, n=1)
    if near:
        todo = _("Did you mean %(word)s?") % {"word": near[0]}
    elif not known:
        todo = _("It has neither: put the text of the module back.")
    else:
        classes = [path for path in known if "." not in path]
        todo = _("It has %(names)s.") % {"names": ", ".join(itertools.islice(classes, 12))}
    return Refusal(
        Reason.UNKNOWN_SCOPE,
        _("a class or function of %(module)s") % {"module": rule.module},
        " | ".join(rule.scopes),
        todo,
        name,
    )


def _paths(scope: ast.AST, prefix: str = "") -> Iterator[str]:
    for definition in _definitions(scope):
        yield prefix + definition.name
        yield from _paths(definition, f"{prefix}{definition.name}.")


# -------------------------------------------------------------------- names


def known_names(tree: ast.Module, node: ast.AST) -> frozenset[str] | None:
    """The names that mean something where `node` stands; None if one cannot know (import *).

    Generous: whatever is bound anywhere in the outermost function around the node counts.
    """
    around = _outermost(tree, node)
    names = set(BUILTINS)
    for part in (tree.body, [around] if around else []):
        for one in part:
            names |= set(bound_in(one, deep=one is around))
    return None if "*" in names else frozenset(names)


def _outermost(scope: ast.AST, node: ast.AST) -> Definition | None:
    """The outermost function around the node, or the class that it stands in directly."""
    for definition in _definitions(scope):
        if definition.lineno <= node.lineno <= (definition.end_lineno or 0):  # type: ignore[attr-defined]
            inner = isinstance(definition, ast.ClassDef) and _outermost(definition, node)
            return inner or definition
    return None


def bound_in(node: ast.AST, *, deep: bool) -> Iterator[str]:
    """The names that a statement binds; `deep`, also inside of classes and functions."""
    stack = [node]
    while stack:
        one = stack.pop()
        yield from _bound_by(one)
        if deep or not isinstance(one, Definition | ast.Lambda):
            stack.extend(ast.iter_child_nodes(one))


def _bound_by(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, Definition):
        yield node.name
    elif isinstance(node, ast.alias):
        yield node.asname or node.name.partition(".")[0]
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        yield node.name
