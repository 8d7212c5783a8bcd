"""Hostile documents and hostile patterns: a refusal or a proven rewrite, never a traceback.

BREAKLABS_FUZZ=10000 asks for that many of each (`make fuzz`).
"""

import ast
import os
import textwrap

import yaml
from hypothesis import example, given, settings
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
            e.map(lambda x: f"f'{{({x})}}'" if "'" not in x else x),
            e.map(lambda x: f"(a := {x})"),
            e.map(lambda x: f"await {x}"),
            e.map(lambda x: f"(yield {x})"),
            e.map(lambda x: f"*{x}"),
        ),
        max_leaves=6,
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


bodies = st.lists(statements(atoms), min_size=1, max_size=4).map("\n".join)
sources = st.tuples(bodies, st.sampled_from(["\n", "\r\n"]), st.booleans()).map(
    lambda t: (
        "import numpy as np\n\n\ndef f(a, b, x):\n"
        + textwrap.indent(t[0], "    ")
        + ("\n" if t[2] else "")
    ).replace("\n", t[1])
)
patterns = st.one_of(statements(atoms | holes), st.text(max_size=10), holes)


def rule(pattern, replace, matches=1):
    return Rewrite("minitorch.tensor", ("f",), (pattern,), replace, matches)


@settings(max_examples=EXAMPLES)
@given(sources, patterns, patterns)
@example("def f(a, b, x):\n    a = a * b + x\n", "$A * $B", "$A + $B")
@example("def f(a, b, x):\n    a = f'{a}'\n", "a", "b")
@example("def f(a, b, x): a = 1; b = 2\n", "b = 2", "if a:\n    pass")
@example("def f(a, b, x):\n    a = 'ñ' + b\n", "b", "a if b else x")
@example("def f(a, b, x):\n    if a: b\n    else: x\n", "x", "pass")
def test_a_rewrite_is_refused_by_name_or_proven(source, pattern, replace):
    text = source.encode()
    found, refusal = attempt(lambda: find(text, rule(pattern, replace), name="fuzz"))
    count = max(len(found or ()), 1)
    new, refusal = attempt(lambda: rewrite(text, [rule(pattern, replace, count)], name="fuzz"))
    if new is None:
        assert refusal.reason
        assert str(refusal).startswith("fuzz: ")
        return

    assert new != text
    assert ast.parse(new)
    again, refusal = attempt(lambda: find(new, rule(replace, replace), name="fuzz"))
    assert again or refusal.reason == "in-f-string"  # what was written is there to be found
