"""Applies the rules of a break to source text: match trees, splice bytes, prove the result.

A pattern is Python with $METAVARIABLES.  It is compared with the nodes inside a scope; what it
matches is replaced in the original bytes, so that comments, layout and line endings around it stay.
Then the result is parsed again and must equal the original tree with the substitution made on
nodes.  Parentheses are added only where that proof asks for them.
"""

import ast
import copy
import io
import itertools
import re
import textwrap
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from breaks import i18n
from breaks.errors import BreaksError
from breaks.match import HOLE, Aliases, Bindings, hole_names, match, plain, with_identifiers
from breaks.model import Break, Rewrite

_ = i18n.gettext

BOM = b"\xef\xbb\xbf"
Scope = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class Reason(StrEnum):
    """Why the engine refuses; the name that tests and programs can rely on."""

    UNKNOWN_MODULE = "unknown-module"  # the library has no such module
    UNKNOWN_SCOPE = "unknown-scope"  # no such class or function
    AMBIGUOUS_SCOPE = "ambiguous-scope"  # defined more than once
    MATCH_COUNT = "match-count"  # found more or less often than declared
    OVERLAP = "overlap"  # two matches share code
    UNBOUND_VARIABLE = "unbound-variable"  # the replacement uses what the pattern does not bind
    KIND = "kind"  # an expression for a statement
    INVALID_PATTERN = "invalid-pattern"  # not Python
    INVALID_SOURCE = "invalid-source"  # the module is not Python, or not UTF-8
    IN_F_STRING = "in-f-string"  # the code stands inside an f-string
    MISSING_IMPORT = "missing-import"  # the replacement needs a module that is not imported
    NO_CHANGE = "no-change"  # the replacement is what is there already
    NOT_PROVEN = "not-proven"  # the result is not the substitution that was meant


class Refusal(BreaksError):
    """The engine changed nothing; `reason` says why."""

    def __init__(self, reason: Reason, expected: str, found: str, todo: str, where: str) -> None:
        super().__init__(expected, found, todo, where=where)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Site:
    """One match: the nodes, where they stand, and what the metavariables are bound to."""

    nodes: tuple[ast.AST, ...]
    start: int  # byte offsets
    end: int
    bindings: Bindings
    rule: Rewrite

    @property
    def line(self) -> int:
        return self.nodes[0].lineno  # type: ignore[attr-defined]


def mutate(sources: Mapping[str, bytes], brk: Break) -> dict[str, bytes]:
    """All texts of the library with the rules of the break applied.  Raises Refusal."""
    changed = dict(sources)
    for module, rules in itertools.groupby(
        sorted(brk.rewrites, key=lambda rule: rule.module), key=lambda rule: rule.module
    ):
        if module not in sources:
            raise Refusal(
                Reason.UNKNOWN_MODULE,
                _("a module of the library"),
                module,
                _("Known are: %(names)s.") % {"names": ", ".join(sorted(sources))},
                brk.id,
            )
        changed[module] = rewrite(sources[module], tuple(rules), name=brk.id)
    return changed


def rewrite(source: bytes, rules: Sequence[Rewrite], *, name: str) -> bytes:
    """The text with every rule applied at once.  Raises Refusal, by name, and changes nothing."""
    text = Text.read(source, name)
    sites = [site for rule in rules for site in sites_of(text, rule, name)]
    sites.sort(key=lambda site: site.start)
    for one, other in itertools.pairwise(sites):
        if other.start < one.end:
            raise Refusal(
                Reason.OVERLAP,
                _("matches that do not overlap"),
                _("lines %(a)d and %(b)d of one piece of code") % {"a": one.line, "b": other.line},
                _("Make the pattern larger, or name the scope more closely."),
                name,
            )
    pieces = [(site, replacement_bytes(text, site, name)) for site in sites]
    result = text.spliced([(site.start, site.end, new) for site, new in pieces])
    if result == text.body:
        raise Refusal(
            Reason.NO_CHANGE,
            _("a replacement that changes something"),
            _("the text that is there already"),
            _("Change the replacement."),
            name,
        )
    if not proves(text, sites, result):
        raise Refusal(
            Reason.NOT_PROVEN,
            _("the tree of the source with the substitution made"),
            _("another tree"),
            _("Write the replacement with its own parentheses, or as whole statements."),
            name,
        )
    return text.bom + result


def find(source: bytes, rule: Rewrite, *, name: str) -> list[tuple[int, str]]:
    """The line and the source of everything that the rule's pattern matches, however often."""
    text = Text.read(source, name)
    return [(s.line, text.body[s.start : s.end].decode()) for s in matches_of(text, rule, name)]


# -------------------------------------------------------------------- the text


@dataclass(frozen=True, slots=True)
class Text:
    """Source as bytes and as a tree, and the way from one to the other."""

    bom: bytes
    body: bytes
    tree: ast.Module
    starts: tuple[int, ...]  # the byte offset of every line
    aliases: Aliases

    @classmethod
    def read(cls, source: bytes, name: str) -> "Text":
        bom, body = (BOM, source[3:]) if source.startswith(BOM) else (b"", source)
        try:
            encoding, _lines = tokenize.detect_encoding(io.BytesIO(source).readline)
            if encoding not in ("utf-8", "utf-8-sig"):
                raise SyntaxError(f"encoding {encoding}")
            body.decode()
            tree = ast.parse(body)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise Refusal(
                Reason.INVALID_SOURCE,
                _("a module in Python and UTF-8"),
                str(error),
                _("Mend the module first."),
                name,
            ) from None
        starts = [0, *(m.end() for m in re.finditer(rb"\r\n|\r|\n", body))]
        return cls(bom, body, tree, tuple(starts), Aliases.of_module(tree))

    def offset(self, line: int, column: int) -> int:
        return self.starts[line - 1] + column

    def span(self, nodes: Sequence[ast.AST]) -> tuple[int, int]:
        first, last = nodes[0], nodes[-1]
        decorators = getattr(first, "decorator_list", None)
        if decorators:
            start = self.offset(decorators[0].lineno, decorators[0].col_offset)
            start = self.body.rindex(b"@", 0, start)
        else:
            start = self.offset(first.lineno, first.col_offset)  # type: ignore[attr-defined]
        return start, self.offset(last.end_lineno, last.end_col_offset)  # type: ignore[attr-defined]

    def segment(self, node: ast.AST) -> bytes:
        start, end = self.span([node])
        return self.body[start:end]

    def spliced(self, pieces: Sequence[tuple[int, int, bytes]]) -> bytes:
        out, at = [], 0
        for start, end, new in pieces:
            out += [self.body[at:start], new]
            at = end
        return b"".join([*out, self.body[at:]])

    def indent_of(self, start: int) -> bytes | None:
        """The white space before `start` on its line; None where something else stands there."""
        line = max(s for s in self.starts if s <= start)
        before = self.body[line:start]
        return before if not before.strip() else None

    def newline_at(self, start: int) -> bytes:
        found = re.compile(rb"\r\n|\r|\n").search(self.body, start) or re.search(
            rb"\r\n|\r|\n", self.body
        )
        return found.group() if found else b"\n"


# -------------------------------------------------------------------- finding


def sites_of(text: Text, rule: Rewrite, name: str) -> list[Site]:
    """The matches of a rule, exactly as many as it declares."""
    sites = matches_of(text, rule, name)
    if len(sites) != rule.matches:
        lines = ", ".join(str(site.line) for site in sites)
        where = next((s for s in rule.scopes), rule.module)
        raise Refusal(
            Reason.MATCH_COUNT,
            _("pattern %(pattern)r to match %(n)d time(s) in %(scope)s")
            % {"pattern": " | ".join(rule.patterns), "n": rule.matches, "scope": where},
            _("%(n)d (lines %(lines)s)") % {"n": len(sites), "lines": lines}
            if sites
            else _("no match"),
            _("Name the parent (b.grad += …), add a where:, or set matches: %(n)d.")
            % {"n": len(sites)}
            if sites
            else _("Look at the source with `breaks check --try PATTERN --scope SCOPE`."),
            name,
        )
    return sites


def matches_of(text: Text, rule: Rewrite, name: str) -> list[Site]:
    scope = scope_of(text.tree, rule, name)
    whole = replacement_is_statement(rule, name)
    sites: dict[tuple[int, int], Site] = {}
    for pattern in rule.patterns:
        wanted = parse_pattern(pattern, name)
        for nodes, in_f_string in candidates(scope, wanted, whole):
            bindings: Bindings = {}
            if not all(
                match(p, n, bindings, text.aliases)
                for p, n in zip(wanted_nodes(wanted, whole), nodes, strict=True)
            ):
                continue
            if not fits(text, rule, bindings, name):
                continue
            if in_f_string:
                raise Refusal(
                    Reason.IN_F_STRING,
                    _("code outside of f-strings"),
                    _("a match inside one, line %(line)d") % {"line": nodes[0].lineno},  # type: ignore[attr-defined]
                    _("Choose a pattern for the whole statement."),
                    name,
                )
            start, end = text.span(nodes)
            sites.setdefault((start, end), Site(tuple(nodes), start, end, bindings, rule))
    return sorted(sites.values(), key=lambda site: site.start)


def fits(text: Text, rule: Rewrite, bindings: Bindings, name: str) -> bool:
    """Whether every `where:` matches the whole source of its metavariable."""
    for variable, expression in rule.where.items():
        if variable not in bindings:
            raise unbound(variable, name)
        bound = bindings[variable]
        source = bound if isinstance(bound, str) else text.segment(bound).decode()
        if re.fullmatch(expression, source) is None:
            return False
    return True


def unbound(variable: str, name: str) -> Refusal:
    return Refusal(
        Reason.UNBOUND_VARIABLE,
        _("metavariables that the pattern binds"),
        f"${variable}",
        _("Use the variable in the pattern, or drop it."),
        name,
    )


def scope_of(tree: ast.Module, rule: Rewrite, name: str) -> Scope:
    """The first of the rule's scopes that exists; the module where it names none."""
    if not rule.scopes:
        return tree
    for dotted in rule.scopes:
        scope: Scope | None = tree
        for part in dotted.split("."):
            scope = _inner(tree, scope, part, name) if scope is not None else None
        if scope is not None:
            return scope
    raise Refusal(
        Reason.UNKNOWN_SCOPE,
        _("a class or function of %(module)s") % {"module": rule.module},
        " | ".join(rule.scopes),
        _("Known are: %(names)s.") % {"names": ", ".join(itertools.islice(_names(tree), 60))},
        name,
    )


def _inner(tree: ast.Module, scope: Scope, part: str, name: str) -> Scope | None:
    found = [s for s in _definitions(scope) if s.name == part]
    if len(found) > 1:
        raise Refusal(
            Reason.AMBIGUOUS_SCOPE,
            _("one definition of %(name)s") % {"name": part},
            _("lines %(lines)s") % {"lines": ", ".join(str(s.lineno) for s in found)},
            _("Name the scope more closely."),
            name,
        )
    if found:
        return found[0]
    for base in scope.bases if isinstance(scope, ast.ClassDef) else []:  # a mixin, same module
        if isinstance(base, ast.Name):
            for parent in _definitions(tree):
                if parent.name == base.id and parent is not scope:
                    inner = _inner(tree, parent, part, name)
                    if inner is not None:
                        return inner
    return None


def _definitions(scope: ast.AST) -> Iterator[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    """The classes and functions of a scope, also those under its ifs and tries."""
    for child in ast.iter_child_nodes(scope):
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield child
        elif not isinstance(child, ast.expr):
            yield from _definitions(child)


def _names(scope: ast.AST, prefix: str = "") -> Iterator[str]:
    for definition in _definitions(scope):
        yield prefix + definition.name
        yield from _names(definition, f"{prefix}{definition.name}.")


def candidates(
    scope: Scope, wanted: list[ast.stmt], whole: bool
) -> Iterator[tuple[list[ast.AST], bool]]:
    """What a pattern is compared with: statements in a row or one expression; in an f-string?"""
    if len(wanted) == 1 and isinstance(wanted[0], ast.Expr) and not whole:
        for node, in_f_string in walk(scope):
            if isinstance(node, ast.expr):
                yield [node], in_f_string
        return
    for node, _in in walk(scope):
        for _field, body in ast.iter_fields(node):
            if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
                for i in range(len(body) - len(wanted) + 1):
                    yield body[i : i + len(wanted)], False


def walk(node: ast.AST, in_f_string: bool = False) -> Iterator[tuple[ast.AST, bool]]:
    """Every node in source order, and whether it stands in an f-string."""
    stack = [(node, in_f_string)]
    while stack:
        node, inside = stack.pop()
        yield node, inside
        inside = inside or isinstance(node, ast.JoinedStr)
        stack += [(child, inside) for child in reversed(list(ast.iter_child_nodes(node)))]


# -------------------------------------------------------------------- patterns and replacements


def parse_pattern(pattern: str, name: str) -> list[ast.stmt]:
    """The statements of a pattern or replacement; an expression is one Expr statement."""
    try:
        body = ast.parse(with_identifiers(textwrap.dedent(pattern).strip("\n"))).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        body, problem = [], str(error)
    else:
        problem = _("nothing")
    if not body:
        raise Refusal(
            Reason.INVALID_PATTERN,
            _("a Python expression or statement with $METAVARIABLES"),
            f"{pattern!r:.80} ({problem})",
            _("Mend it; metavariables are written in capitals."),
            name,
        )
    return body


def wanted_nodes(wanted: list[ast.stmt], whole: bool) -> list[ast.AST]:
    """The nodes to compare: the bare expression, unless whole statements are replaced."""
    if len(wanted) == 1 and isinstance(wanted[0], ast.Expr) and not whole:
        return [wanted[0].value]
    return list(wanted)


def replacement_is_statement(rule: Rewrite, name: str) -> bool:
    """Whether whole statements are replaced.  Refuses variables that no pattern binds."""
    new = parse_pattern(rule.replace, name)
    for pattern in rule.patterns:
        for variable in sorted(hole_names(rule.replace) - hole_names(pattern)):
            raise unbound(variable, name)
    return not (len(new) == 1 and isinstance(new[0], ast.Expr))


def replacement_bytes(text: Text, site: Site, name: str) -> bytes:
    """The new bytes of a site: the first spelling that proves itself."""
    for hole_parentheses, outer_parentheses in itertools.product((False, True), repeat=2):
        new = spell(text, site, name, hole_parentheses, outer_parentheses)
        if new is None:
            continue
        if proves(text, [site], text.spliced([(site.start, site.end, new)])):
            return new
    raise Refusal(
        Reason.KIND if isinstance(site.nodes[0], ast.expr) else Reason.NOT_PROVEN,
        _("a replacement that fits where the pattern matches (line %(line)d)")
        % {"line": site.line},
        f"{site.rule.replace!r:.80}",
        _("Replace a whole statement by statements, an expression by an expression."),
        name,
    )


def spell(text: Text, site: Site, name: str, holes: bool, outer: bool) -> bytes | None:
    """The replacement as source, with or without parentheses; None where that cannot be written."""

    def fill(found: re.Match[str]) -> str:
        bound = site.bindings[found.group(1)]
        if isinstance(bound, str):
            return bound
        source = text.segment(bound).decode()
        atom = isinstance(bound, ast.Name | ast.Constant | ast.Attribute | ast.Call | ast.Subscript)
        return f"({source})" if holes and not atom else source

    template = text.aliases.spelled(textwrap.dedent(site.rule.replace).strip("\n"))
    if template is None:
        raise Refusal(
            Reason.MISSING_IMPORT,
            _("names that the module imports"),
            f"{site.rule.replace!r:.80}",
            _("Write the replacement with what the module imports."),
            name,
        )
    lines = template.split("\n")
    if isinstance(site.nodes[0], ast.expr):
        new = HOLE.sub(fill, template)
        return (f"({new})" if outer else new).encode()
    if outer:
        return None
    indent = text.indent_of(site.start)
    if len(lines) > 1 and indent is None:
        return None  # `if x: y`, or behind a semicolon
    glue = text.newline_at(site.start).decode() + (indent or b"").decode()
    return glue.join(HOLE.sub(fill, line) if line.strip() else line for line in lines).encode()


# -------------------------------------------------------------------- the proof


def proves(text: Text, sites: Sequence[Site], result: bytes) -> bool:
    """Whether the result parses to the original tree with the substitution made on nodes."""
    try:
        actual = ast.parse(result)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return plain(actual) == plain(substituted(text, sites))


def substituted(text: Text, sites: Sequence[Site]) -> ast.Module:
    """A copy of the tree in which every site is replaced, node by node."""
    firsts = {id(site.nodes[0]): site for site in sites}
    rest = {id(node) for site in sites for node in site.nodes[1:]}
    return _Substitute(text.aliases, firsts, rest).visit(text.tree)


class _Substitute:
    def __init__(self, aliases: Aliases, firsts: dict[int, Site], rest: set[int]) -> None:
        self.aliases = aliases
        self.firsts = firsts
        self.rest = rest

    def visit(self, node):
        """A new tree; the old one keeps its identity, by which sites are found."""
        if isinstance(node, list):
            out = []
            for item in node:
                if id(item) in self.rest:
                    continue
                new = self.visit(item)
                out += new if isinstance(new, list) else [new]
            return out
        if not isinstance(node, ast.AST):
            return node
        site = self.firsts.get(id(node))
        if site is not None:
            return self.replacement(site)
        return type(node)(**{name: self.visit(value) for name, value in ast.iter_fields(node)})

    def replacement(self, site: Site):
        template = self.aliases.spelled(textwrap.dedent(site.rule.replace).strip("\n")) or ""
        body = [_fill(n, site.bindings) for n in ast.parse(with_identifiers(template)).body]
        return body[0].value if isinstance(site.nodes[0], ast.expr) else body  # type: ignore[attr-defined]


def _fill(node, bindings: Bindings):
    """A copy of a template's node with the bound code in the place of its metavariables."""
    if isinstance(node, list):
        return [_fill(item, bindings) for item in node]
    if isinstance(node, str):
        found = HOLE_NAME.fullmatch(node)
        bound = bindings[found.group(1)] if found else node
        return bound if isinstance(bound, str) else ast.unparse(bound)
    if not isinstance(node, ast.AST):
        return node
    if isinstance(node, ast.Name) and (found := HOLE_NAME.fullmatch(node.id)):
        bound = bindings[found.group(1)]
        return ast.Name(bound, ast.Load()) if isinstance(bound, str) else copy.deepcopy(bound)
    return type(node)(**{name: _fill(value, bindings) for name, value in ast.iter_fields(node)})


HOLE_NAME = re.compile(r"__hole_([A-Z][A-Z0-9_]*)__")
