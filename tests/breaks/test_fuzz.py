"""Hostile documents and hostile patterns: a refusal or a proven rewrite, never a traceback.

BREAKLABS_FUZZ=10000 asks for that many of each (`make fuzz`).
"""

import ast
import os
import re
import textwrap

import yaml
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from breaks.errors import BreaksError
from breaks.load import break_of, read_yaml, validate
from breaks.model import Rewrite
from breaks.rewrite import find, rewrite

EXAMPLES = int(os.environ.get("BREAKLABS_FUZZ", "300"))

# -------------------------------------------------------------------- documents

WORDS = """
id title family rewrites module scope pattern any replace matches where misconception hints explain
provenance library url note en es broadcasting minitorch.tensor Tensor.__add__ $G on yes no null
.nan 1e-3 12:30 ../x /etc/passwd C:\\x 0x1F 1_000 ~ = << !!str &a *a | >
"""
OPERATORS = "+ - * / @ ** and or == if"
words = st.sampled_from(WORDS.split())
scalars = st.one_of(words, st.text(max_size=20), st.integers(), st.floats(), st.booleans())
values = st.recursive(
    scalars | st.none(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=5),
    max_leaves=20,
)
raw_text = st.text(
    st.sampled_from(list("abc:-?[]{},&*!|>'\"%@`#\n\t \\0é\u2028\x85\ufeff")), max_size=120
)
good = {
    "id": "a-break",
    "title": {"en": "x"},
    "family": "shapes",
    "rewrites": [
        {"module": "minitorch.tensor", "scope": "f", "pattern": "x", "replace": "y"},
    ],
}


@st.composite
def documents(draw):
    """Text of any kind, dumped data of any shape, and good breaks with one thing changed."""
    kind = draw(st.integers(0, 3))
    if kind == 0:
        return draw(raw_text)
    if kind == 1:
        return yaml.safe_dump(draw(values), allow_unicode=True)
    data = {**good, draw(words): draw(values)}
    if kind == 3:
        rule = {**good["rewrites"][0], draw(words): draw(values)}
        data["rewrites"] = [rule]
    return yaml.safe_dump(data, allow_unicode=True)


@settings(max_examples=EXAMPLES)
@given(documents())
@example("a: 1" + "0" * 5000)
@example("a: 1:2:3:4")
@example("a: 0b")
@example("? ? ? a")
@example("\ud800")
@example("a: .inf\nb: -.inf")
@example("!<tag:yaml.org,2002:int> x")
def test_a_document_becomes_a_break_or_a_refusal(text):
    brk, error = attempt(lambda: read_break(text))

    assert error.where.startswith("fuzz.yaml") if error else brk.id == brk.id.lower()


def read_break(text):
    document = read_yaml(text, name="fuzz.yaml")
    validate(document, "break")
    return break_of(document.data)


def attempt(action):
    """(result, None) or (None, refusal); anything else is a traceback and fails the test."""
    try:
        return action(), None
    except BreaksError as error:
        return None, error


# -------------------------------------------------------------------- patterns

names = st.sampled_from(["a", "b", "np", "x"])
holes = st.sampled_from(["$A", "$B"])
atoms = st.one_of(names, st.sampled_from(["1", "'ñ'", "()", "[]", "x.y", "f(a)", "a[0]", "None"]))


def expressions(leaves):
    return st.recursive(
        leaves,
        lambda e: st.one_of(
            st.tuples(e, st.sampled_from(OPERATORS.split()), e).map(
                lambda t: f"{t[0]} {t[1]} {t[2]}" + (" else 0" if t[1] == "if" else "")
            ),
            e.map(lambda x: f"({x})"),
            e.map(lambda x: f"-{x}"),
            e.map(lambda x: f"not {x}"),
            e.map(lambda x: f"f({x}, k={x})"),
            e.map(lambda x: f"lambda a: {x}"),
            e.map(lambda x: f"[{x} for a in {x}]"),
            e.map(lambda x: f"{x}.grad"),
            e.map(lambda x: f"({x},)"),
            e.map(lambda x: f"f'{{({x})}}'" if "'" not in x and "$" not in x else x),
            e.map(lambda x: f"(a := {x})"),
            e.map(lambda x: f"await {x}"),
            e.map(lambda x: f"(yield {x})"),
        ),
        max_leaves=5,
    )


def statements(leaves):
    e = expressions(leaves)
    return st.one_of(
        e,
        e.map(lambda x: f"a = {x}"),
        e.map(lambda x: f"a.grad += {x}"),
        e.map(lambda x: f"return {x}"),
        e.map(lambda x: f"if {x}: a = {x}; b = 1"),
        e.map(lambda x: f"if {x}:\n    a = {x}\nelse:\n    pass  # c"),
        e.map(lambda x: f"for a in {x}:\n    b = '''two\n  lines'''"),
        e.map(lambda x: f"@{x}\ndef g(a={x}):\n    return {x}"),
        e.map(lambda x: f"a = {x}; b = {x}"),
        st.just("pass"),
        st.just("x = (\n  1,\n\n  2)  # c"),
    )


KINDS = {  # by the metavariables in it, made once: strategies are dear
    mine: (expressions(leaves), statements(leaves))
    for mine in ("", "$A", "$B", "$A$B")
    for leaves in [atoms | st.sampled_from(re.findall(r"\$.", mine)) if mine else atoms]
}
bodies = st.lists(KINDS[""][1], min_size=1, max_size=2)
bound = atoms | KINDS[""][0].map(lambda x: f"({x})")
patterns = st.one_of(KINDS["$A$B"][1], st.text(max_size=10), holes)


def laid_out(lines, ending, last):
    """A module with a function of these statements."""
    head = "import numpy as np\n\n\ndef f(a, b, x):\n"
    text = head + textwrap.indent("\n".join(lines), "    ") + ("\n" if last else "")
    return text.replace("\n", ending)


@st.composite
def cases(draw):
    """A module, a pattern and a replacement; in most cases with a match that was put there."""
    lines = draw(bodies)
    ending, last = draw(st.sampled_from(["\n", "\r\n"])), draw(st.booleans())
    if draw(st.integers(0, 3)) == 0:
        return laid_out(lines, ending, last), draw(patterns), draw(patterns)
    kind = draw(st.integers(0, 1))
    pattern = draw(KINDS["$A$B"][kind])
    planted = pattern.replace("$A", draw(bound)).replace("$B", draw(bound))
    if kind == 0:
        around = ["{}", "a = {}", "a = {} * b", "a = f({}, {})", "a = -{}", "a = ({}).grad"]
        planted = draw(st.sampled_from(around)).replace("{}", planted)
    lines.insert(draw(st.integers(0, len(lines))), planted)
    mine = "".join(hole for hole in ("$A", "$B") if hole in pattern)
    replacement = draw(KINDS[mine][kind])
    return laid_out(lines, ending, last), pattern, replacement


def rule(pattern, replace, matches=1):
    return Rewrite("minitorch.tensor", ("f",), (pattern,), replace, matches)


@settings(max_examples=EXAMPLES)
@given(cases())
@example(("def f(a, b, x):\n    a = a * b + x\n", "$A * $B", "$A + $B"))
@example(("def f(a, b, x):\n    a = f'{a}'\n", "a", "b"))
@example(("def f(a, b, x): a = 1; b = 2\n", "b = 2", "if a:\n    pass"))
@example(("def f(a, b, x):\n    a = 'ñ' + b\n", "b", "a if b else x"))
@example(("def f(a, b, x):\n    if a: b\n    else: x\n", "x", "pass"))
def test_a_rewrite_is_refused_by_name_or_proven(case):
    source, pattern, replace = case
    text = source.encode()
    found, refusal = attempt(lambda: find(text, rule(pattern, replace), name="fuzz"))
    count = max(len(found or ()), 1)
    new, refusal = attempt(lambda: rewrite(text, [rule(pattern, replace, count)], name="fuzz"))
    event("rewritten" if new else refusal.reason)
    if new is None:
        assert refusal.reason
        assert str(refusal).startswith("fuzz: ")
        return

    assert new != text
    assert plain(by_hand(text, pattern, replace)) == plain(ast.parse(new))


# -------------------------------------------------------------------- an engine of three functions

HOLE = re.compile(r"hole_([AB])")


def by_hand(source, pattern, replace):
    """The tree with every match replaced, outermost first: no bytes, no scopes, no refusals."""
    old, new = (ast.parse(re.sub(r"\$", "hole_", text)).body for text in (pattern, replace))
    whole = not (len(new) == 1 and isinstance(new[0], ast.Expr))
    expression = len(old) == 1 and isinstance(old[0], ast.Expr) and not whole

    def visit(node):
        if isinstance(node, list):
            out, i = [], 0
            while i < len(node):
                window, bound = node[i : i + len(old)], {}
                if (
                    not expression
                    and node
                    and isinstance(node[0], ast.stmt)
                    and fits(old, window, bound)
                ):
                    out += filled(new, bound)
                    i += len(old)
                else:
                    out.append(visit(node[i]))
                    i += 1
            return out
        if not isinstance(node, ast.AST):
            return node
        bound = {}
        if expression and isinstance(node, ast.expr) and fits(old[0].value, node, bound):
            return filled(new[0].value, bound)
        return type(node)(**{name: visit(value) for name, value in ast.iter_fields(node)})

    return visit(ast.parse(source))


def fits(pattern, node, bound):
    if isinstance(pattern, ast.Name) and (hole := HOLE.fullmatch(pattern.id)):
        return isinstance(node, ast.expr) and plain(bound.setdefault(hole[1], node)) == plain(node)
    if isinstance(pattern, list):
        return len(pattern) == len(node) and all(
            fits(p, n, bound) for p, n in zip(pattern, node, strict=True)
        )
    if not isinstance(pattern, ast.AST) or isinstance(pattern, ast.expr_context):
        return isinstance(pattern, ast.AST) or (type(pattern), pattern) == (type(node), node)
    return type(pattern) is type(node) and all(
        fits(value, getattr(node, name), bound) for name, value in ast.iter_fields(pattern)
    )


def filled(node, bound):
    if isinstance(node, list):
        return [filled(item, bound) for item in node]
    if isinstance(node, ast.Name) and (hole := HOLE.fullmatch(node.id)):
        return bound[hole[1]]
    if not isinstance(node, ast.AST):
        return node
    return type(node)(**{name: filled(value, bound) for name, value in ast.iter_fields(node)})


def plain(node):
    return re.sub(r"(, )?ctx=(Load|Store|Del)\(\)", "", ast.dump(node))
