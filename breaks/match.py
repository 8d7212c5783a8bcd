"""Compares a pattern with a node of the source, and binds the pattern's metavariables."""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass

HOLE = re.compile(r"\$([A-Z][A-Z0-9_]*)")
HOLE_NAME = re.compile(r"__hole_([A-Z][A-Z0-9_]*)__")
IGNORED = {"ctx", "type_comment", "kind"}  # do not change what code means

Bindings = dict[str, ast.AST | str]
CUSTOM = {"np": "numpy"}  # how patterns spell modules, whatever the source calls them


def with_identifiers(pattern: str) -> str:
    """The pattern as Python: every $X as an identifier."""
    return HOLE.sub(r"__hole_\1__", pattern)


def hole_names(pattern: str) -> set[str]:
    return set(HOLE.findall(pattern))


def plain(node) -> str:
    """A node as text without positions and contexts: equal for equal code."""
    return re.sub(r"(, )?ctx=(Load|Store|Del)\(\)", "", ast.dump(node))


def match(pattern, node, bindings: Bindings, aliases: "Aliases") -> bool:
    """Whether `node` is the pattern, with its metavariables bound; one that recurs binds equals."""
    if isinstance(pattern, ast.Name) and (hole := HOLE_NAME.fullmatch(pattern.id)):
        return isinstance(node, ast.expr) and _bind(hole.group(1), node, bindings)
    if isinstance(pattern, list):
        return (
            isinstance(node, list)
            and len(pattern) == len(node)
            and all(match(p, n, bindings, aliases) for p, n in zip(pattern, node, strict=True))
        )
    if isinstance(pattern, str):
        hole = HOLE_NAME.fullmatch(pattern)
        if hole and isinstance(node, str):
            return _bind(hole.group(1), node, bindings)
        return pattern == node
    if not isinstance(pattern, ast.AST):
        return type(pattern) is type(node) and pattern == node
    dotted = _dotted(pattern)
    if dotted is not None and isinstance(node, ast.expr):
        there = _dotted(node)
        if there is not None and "__hole_" not in dotted:
            return _full(dotted, CUSTOM) == _full(there, aliases.modules)
    return type(pattern) is type(node) and all(
        match(value, getattr(node, name), bindings, aliases)
        for name, value in ast.iter_fields(pattern)
        if name not in IGNORED
    )


def _bind(name: str, code: ast.AST | str, bindings: Bindings) -> bool:
    known = bindings.setdefault(name, code)
    return known is code or _text(known) == _text(code)


def _text(code: ast.AST | str) -> str:
    """Equal for equal code; a parameter `x` and the name `x` are one."""
    if isinstance(code, ast.Name):
        return code.id
    return code if isinstance(code, str) else plain(code)


def _dotted(node) -> str | None:
    """`a.b.c` of a chain of names; None for anything else."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def _full(dotted: str, modules: Mapping[str, str]) -> str:
    first, dot, rest = dotted.partition(".")
    return modules.get(first, first) + dot + rest


@dataclass(frozen=True, slots=True)
class Aliases:
    """What a module calls the modules that it imports."""

    modules: Mapping[str, str]  # local name → full name

    @classmethod
    def of_module(cls, tree: ast.Module) -> "Aliases":
        modules = {}
        for node in tree.body:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.asname or "." not in alias.name:
                        modules[alias.asname or alias.name] = alias.name
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                for alias in node.names:
                    if node.module in CUSTOM.values():
                        modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        return cls(modules)

    def spelled(self, template: str) -> str | None:
        """A replacement with this module's names for modules; None where one is not imported."""
        for short, full in CUSTOM.items():
            if not re.search(rf"(?<![\w.$]){short}\.", template):
                continue
            mine = [name for name, module in self.modules.items() if module == full]
            if not mine:
                return None
            if short not in mine:
                template = re.sub(rf"(?<![\w.$]){short}\.", f"{mine[0]}.", template)
        return template
