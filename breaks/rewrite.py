"""Applies the rules of a break to source text: match trees, splice bytes, prove the result.

A pattern is Python with $METAVARIABLES.  It is compared with the nodes inside a scope; what it
matches is replaced in the original bytes, so that comments, layout and line endings around it stay.
Then the result is parsed again and must equal the original tree with the substitution made on
nodes.  Parentheses are added only where that proof asks for them.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from breaks import i18n, scope
from breaks import source as text
from breaks.match import Aliases, Bindings, match, same
from breaks.model import Break, Rewrite
from breaks.pattern import TOKEN, Pattern, hole, parse, regular
from breaks.proof import substituted
from breaks.refusal import Reason, Refusal
from breaks.source import Source
from breaks.spelling import Site, spelled

__all__ = ["Reason", "Refusal", "find", "mutate", "rewrite"]

_ = i18n.gettext
T = TypeVar("T")

MANY = 8  # lines that a refusal shows
LONGEST = 300  # characters of source that a `where:` looks at: the time grows with their cube


def mutate(sources: Mapping[str, bytes], brk: Break) -> dict[str, bytes]:
    """All texts of the library with the rules of the break applied.  Raises Refusal."""
    changed = dict(sources)
    for module in dict.fromkeys(rule.module for rule in brk.rewrites):
        if module not in sources:
            raise Refusal(
                Reason.UNKNOWN_MODULE,
                _("a module of the library"),
                module,
                _("It has %(names)s.") % {"names": ", ".join(sorted(sources))},
                brk.id,
            )
        rules = [rule for rule in brk.rewrites if rule.module == module]
        try:
            changed[module] = rewrite(sources[module], rules, name=brk.id)
        except Refusal as refusal:
            from breaks.original import explained

            raise explained(refusal, sources, brk) from None
    return changed


def rewrite(source: bytes, rules: Sequence[Rewrite], *, name: str) -> bytes:
    """The text with every rule applied at once.  Raises Refusal, by name, and changes nothing."""
    return _bounded(name, partial(_rewrite, source, rules, name))


def find(source: bytes, rule: Rewrite, *, name: str) -> list[tuple[int, str]]:
    """The line and the source of everything that the rule's pattern matches, however often."""

    def found() -> list[tuple[int, str]]:
        module = text.read(source, name, rule.module)
        sites = _matches(module, rule, name)
        return [(site.line, module.body[site.start : site.end].decode()) for site in sites]

    return _bounded(name, found)


def _bounded(name: str, work: Callable[[], T]) -> T:
    """The result of `work`, provided that trees are not nested deeper than Python can follow."""
    try:
        return work()
    except RecursionError:
        raise Refusal(
            Reason.INVALID_SOURCE,
            _("code that is nested less deeply"),
            _("more levels than Python can follow"),
            _("Split the expression or the pattern."),
            name,
        ) from None


def _rewrite(source: bytes, rules: Sequence[Rewrite], name: str) -> bytes:
    module = text.read(source, name, rules[0].module)
    sites = [site for rule in rules for site in _declared(module, rule, name)]
    sites.sort(key=lambda site: (site.start, site.end))
    _refuse_overlap(sites, name)
    meant = substituted(module.tree, sites)
    if meant is not None and same(module.tree, meant):
        raise Refusal(
            Reason.NO_CHANGE,
            _("a replacement that changes something"),
            _("the code that is there already"),
            _("Change the replacement."),
            name,
        )
    return module.bom + spelled(module, sites, meant, name)


def _refuse_overlap(sites: Sequence[Site], name: str) -> None:
    for one, other in itertools.pairwise(sites):
        if other.start < one.end:
            raise Refusal(
                Reason.OVERLAP,
                _("matches that do not overlap"),
                _("two that share code, on lines %(a)d and %(b)d")
                % {"a": one.line, "b": other.line},
                _("Make the pattern larger, or name the scope more closely."),
                name,
            )


# -------------------------------------------------------------------- finding


def _declared(module: Source, rule: Rewrite, name: str) -> list[Site]:
    """The matches of a rule, exactly as many as it declares."""
    sites = _matches(module, rule, name)
    if len(sites) == rule.matches:
        return sites
    expected = i18n.ngettext(
        "pattern %(pattern)s to match once in %(scope)s",
        "pattern %(pattern)s to match %(n)d times in %(scope)s",
        rule.matches,
    ) % {
        "pattern": _(" or ").join(f"{pattern!r:.80}" for pattern in rule.patterns),
        "n": rule.matches,
        "scope": _(" or ").join(rule.scopes) or rule.module,
    }
    if not sites:
        todo = _("Look at the source with `breaks check --try PATTERN --scope SCOPE%(more)s`.") % {
            "more": "" if rule.module == "minitorch.tensor" else f" --module {rule.module}"
        }
        raise Refusal(Reason.MATCH_COUNT, expected, _("no match"), todo, name)
    lines = list(dict.fromkeys(str(site.line) for site in sites))
    shown = ", ".join(lines[:MANY]) + (", …" if len(lines) > MANY else "")
    found = i18n.ngettext(
        "%(n)d match, on line %(lines)s", "%(n)d matches, on lines %(lines)s", len(sites)
    ) % {"n": len(sites), "lines": shown}
    todo = _("Name the parent (b.grad += …), add a where:, or set matches: %(n)d.")
    raise Refusal(Reason.MATCH_COUNT, expected, found, todo % {"n": len(sites)}, name)


def _matches(module: Source, rule: Rewrite, name: str) -> list[Site]:
    """Everything in the rule's scope that one of its patterns matches, in order."""
    inside = scope.find(module.tree, rule, name)
    aliases = Aliases.of_module(module.tree)
    spelling, replacement = _replacement(rule, aliases, name)
    patterns = [parse(pattern, name) for pattern in rule.patterns]
    _refuse_unbound(rule, patterns, replacement, name)
    sites: dict[tuple[int, int], Site] = {}
    for pattern in patterns:
        expression = pattern.expression if replacement.expression is not None else None
        wanted = [expression] if expression is not None else pattern.body
        for nodes, in_f_string in _candidates(inside, expression is not None, len(wanted)):
            bindings: Bindings = {}
            pairs = zip(wanted, nodes, strict=True)
            if not all(match(p, node, bindings, aliases) for p, node in pairs):
                continue
            if not _fits(module, rule, bindings):
                continue
            if in_f_string:
                raise _in_f_string(nodes[0], name)
            start, end = module.span(nodes)
            site = Site(tuple(nodes), start, end, bindings, rule, spelling, replacement.body)
            _refuse_unknown_names(module, site, name)
            sites.setdefault((start, end), site)
    if not sites and replacement.expression is None:
        _refuse_statement_for_expression(inside, patterns, aliases, name)
    return sorted(sites.values(), key=lambda site: site.start)


def _candidates(
    inside: scope.Scope, expressions: bool, length: int
) -> Iterator[tuple[Sequence[Any], bool]]:
    """What a pattern is compared with: one expression or statements in a row; in an f-string?"""
    stack: list[tuple[ast.AST, bool]] = [(inside, False)]
    while stack:
        node, in_f_string = stack.pop()
        if expressions:
            if isinstance(node, ast.expr):
                yield [node], in_f_string
        else:
            for _field, body in ast.iter_fields(node):
                if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
                    for i in range(len(body) - length + 1):
                        yield body[i : i + length], False
        in_f_string = in_f_string or isinstance(node, ast.JoinedStr)
        stack += [(child, in_f_string) for child in ast.iter_child_nodes(node)]


def _fits(module: Source, rule: Rewrite, bindings: Bindings) -> bool:
    """Whether every `where:` matches the whole source of its metavariable."""
    for variable, expression in rule.where.items():
        bound = bindings[variable]
        code = bound if isinstance(bound, str) else module.text(bound)
        if len(code) > LONGEST or not regular(expression).fullmatch(code):
            return False
    return True


# -------------------------------------------------------------------- what a rule must be


def _replacement(rule: Rewrite, aliases: Aliases, name: str) -> tuple[str, Pattern]:
    """The replacement with this module's names for modules, as text and parsed."""
    plain = parse(rule.replace, name)

    def local(token: re.Match[str]) -> str:
        root = token["root"]
        if root is None:
            return token.group()
        known = aliases.local(root)
        if known is None:
            raise Refusal(
                Reason.MISSING_IMPORT,
                _("a module that imports %(name)s") % {"name": root},
                f"{rule.replace!r:.80}",
                _("Write the replacement with what the module imports."),
                name,
            )
        return known

    spelling = TOKEN.sub(local, plain.text)
    return spelling, parse(spelling, name)


def _refuse_unbound(
    rule: Rewrite, patterns: Sequence[Pattern], replacement: Pattern, name: str
) -> None:
    """Refuses metavariables that a pattern does not bind, and a `where:` that is no expression."""
    used = replacement.holes | rule.where.keys()
    for variable in sorted(v for v in used if not all(v in p.holes for p in patterns)):
        raise Refusal(
            Reason.UNBOUND_VARIABLE,
            _("metavariables that the pattern binds"),
            f"${variable}",
            _("Use the variable in the pattern, or drop it."),
            name,
        )
    for variable, expression in rule.where.items():
        try:
            regular(expression)
        except (re.error, RecursionError, OverflowError) as error:
            raise Refusal(
                Reason.INVALID_PATTERN,
                _("a regular expression for $%(name)s") % {"name": variable},
                f"{expression!r:.80} ({error})",
                _("Mend it; a literal dot or bracket needs a backslash."),
                name,
            ) from None


def _refuse_unknown_names(module: Source, site: Site, name: str) -> None:
    """A name of the replacement must mean something there: a local may have been renamed."""
    mine = {
        node.id
        for statement in site.template
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and not hole(node)
    }
    for statement in site.template:
        mine -= set(scope.bound_in(statement, deep=True))
    if not mine:
        return
    known = scope.known_names(module.tree, site.nodes[0])
    unknown = sorted(mine - known) if known is not None else []
    if unknown:
        raise Refusal(
            Reason.UNKNOWN_NAME,
            _("names that mean something on line %(line)d") % {"line": site.line},
            ", ".join(unknown),
            _("Bind them with a metavariable of the pattern; a local may have been renamed."),
            name,
        )


def _refuse_statement_for_expression(
    inside: scope.Scope, patterns: Sequence[Pattern], aliases: Aliases, name: str
) -> None:
    expressions = [p.expression for p in patterns if p.expression is not None]
    for (node,), _in in _candidates(inside, True, 1) if expressions else ():
        if any(match(expression, node, {}, aliases) for expression in expressions):
            raise Refusal(
                Reason.KIND,
                _("an expression in the place of an expression (line %(line)d)")
                % {"line": node.lineno},
                _("a statement"),
                _("Write the whole statement as the pattern, or an expression as replacement."),
                name,
            )


def _in_f_string(node: ast.AST, name: str) -> Refusal:
    return Refusal(
        Reason.IN_F_STRING,
        _("code outside of f-strings"),
        _("a match inside one, line %(line)d") % {"line": node.lineno},  # type: ignore[attr-defined]
        _("Choose a pattern for the whole statement."),
        name,
    )
