"""Writes what a rule puts in the place of a match, so that the result proves itself."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Collection, Sequence
from functools import partial
from typing import NamedTuple

from breaks import i18n
from breaks.match import Bindings
from breaks.model import Rewrite
from breaks.pattern import TOKEN
from breaks.proof import proves, substituted
from breaks.refusal import Reason, Refusal
from breaks.source import Source

_ = i18n.gettext

OUTER = -1  # parentheses around the whole replacement; those around the nth $X are n
MANY = 8  # with more places for parentheses, only none and all are tried


class Site(NamedTuple):
    """One match: the nodes, where they stand, what the metavariables are bound to, what comes."""

    nodes: tuple[ast.AST, ...]
    start: int  # byte offsets
    end: int
    bindings: Bindings
    rule: Rewrite
    spelling: str  # the replacement, with this module's names for modules
    template: tuple[ast.stmt, ...]  # the same as a tree

    @property
    def line(self) -> int:
        return self.nodes[0].lineno  # type: ignore[attr-defined]

    @property
    def in_expression(self) -> bool:
        return isinstance(self.nodes[0], ast.expr)


def spelled(module: Source, sites: Sequence[Site], meant: ast.Module | None, name: str) -> bytes:
    """The body with every site replaced, proven.  Parentheses only where it takes them."""
    for chosen in (_plain, partial(_proven, module, name=name)):
        pieces = [(site.start, site.end, _bytes(module, site, chosen(site))) for site in sites]
        result = module.spliced(pieces)
        if proves(meant, result):
            return result
    raise Refusal(
        Reason.NOT_PROVEN,
        _("the tree of the source with the substitution made"),
        _("another tree"),
        _("Write the replacement with its own parentheses, or as whole statements."),
        name,
    )


def _plain(_site: Site) -> Collection[int]:
    return ()


def _proven(module: Source, site: Site, *, name: str) -> Collection[int]:
    """The fewest places for parentheses with which this site, alone, proves itself."""
    places = _places(site)
    meant = substituted(module.tree, [site])
    one_by_one = [] if len(places) > MANY else [{place} for place in places]
    for chosen in ((), *one_by_one, places):
        if not _proves(module, site, meant, chosen):
            continue
        if len(chosen) <= MANY:
            for place in sorted(chosen):
                if _proves(module, site, meant, set(chosen) - {place}):
                    chosen = set(chosen) - {place}
        return chosen
    raise Refusal(
        Reason.KIND if site.in_expression else Reason.NOT_PROVEN,
        _("a replacement that fits where the pattern matches (line %(line)d)")
        % {"line": site.line},
        f"{site.rule.replace!r:.80}",
        _("Replace a whole statement by statements, an expression by an expression."),
        name,
    )


def _proves(
    module: Source, site: Site, meant: ast.Module | None, parentheses: Collection[int]
) -> bool:
    new = _bytes(module, site, parentheses)
    return proves(meant, module.spliced([(site.start, site.end, new)]))


def _places(site: Site) -> set[int]:
    """Where parentheses could be needed: around an expression, and around what a $X stands for."""
    holes = [token["hole"] for token in TOKEN.finditer(site.spelling) if token["hole"]]
    places = {i for i, h in enumerate(holes) if not isinstance(site.bindings[h], str | ast.Name)}
    return places | ({OUTER} if site.in_expression else set())


def _bytes(module: Source, site: Site, parentheses: Collection[int]) -> bytes:
    """The replacement as source, with parentheses at these places."""
    count = itertools.count()

    def fill(token: re.Match[str]) -> str:
        if token["hole"] is None:
            return token.group()
        bound = site.bindings[token["hole"]]
        code = bound if isinstance(bound, str) else module.text(bound)
        return f"({code})" if next(count) in parentheses else code

    new = TOKEN.sub(fill, _laid_out(module, site))
    return (f"({new})" if OUTER in parentheses else new).encode()


def _laid_out(module: Source, site: Site) -> str:
    """The replacement with the line ends and the indentation of the place where it comes to stand.

    Behind a colon or a semicolon there is no line of its own: simple statements then share one.
    """
    lines = site.spelling.split("\n")
    if site.in_expression:
        return module.newline(site.start).join(lines)
    indent = module.indent(site.start)
    if indent is None:
        return "; ".join(lines)
    glue = module.newline(site.start)
    return glue.join([lines[0], *(indent + line if line.strip() else line for line in lines[1:])])
