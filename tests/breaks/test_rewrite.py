"""The engine replaces what a pattern matches, proves it, and refuses everything else by name."""

import ast
import time

import pytest

from breaks.model import Rewrite
from breaks.rewrite import Reason, Refusal, find, rewrite

SOURCE = b'''\
"""A module."""

import numpy as np


class Tensor:
    def add(self, other):
        a, b = self, other  # operands

        def _backward(g):
            if a.requires_grad:
                a.grad += unbroadcast(g, a.shape)  # comment \xc3\xb1
            if b.requires_grad:
                b.grad += unbroadcast(
                    g,
                    b.shape,
                )

        return a.data + b.data

    def scale(self, n):
        if n: return f"{self.data * n}"
        return 2 * (self.data + n)


def helper(x): y = x - 1; return y
'''


def rule(pattern, replace, scope="Tensor.add", matches=1, **more):
    scopes = (scope,) if isinstance(scope, str) else scope
    patterns = (pattern,) if isinstance(pattern, str) else pattern
    return Rewrite("minitorch.tensor", scopes, patterns, replace, matches, **more)


def changed(source, *rules):
    """The lines that differ, as (old, new) texts."""
    new = rewrite(source, rules, name="test")
    old_lines, new_lines = source.decode().splitlines(), new.decode().splitlines()
    same = 0
    while old_lines[: same + 1] == new_lines[: same + 1]:
        same += 1
    tail = 0
    while old_lines[-tail - 1 :] == new_lines[-tail - 1 :]:
        tail += 1
    return "\n".join(new_lines[same : len(new_lines) - tail])


REWRITES = {
    "an expression": (
        rule("a.grad += unbroadcast($G, $S)", "a.grad += $G"),
        "                a.grad += g  # comment ñ",
    ),
    "over several lines": (
        rule("b.grad += unbroadcast($G, $S)", "b.grad += $G"),
        "                b.grad += g",
    ),
    "a part of a product gets parentheses": (
        rule("$X + n", "$X - n", "Tensor.scale"),
        "        return 2 * (self.data - n)",
    ),
    "a sum in the place of a name is put into parentheses": (
        rule("x", "x + x", "helper"),
        "def helper(x): y = x + x - 1; return y",
    ),
    "a hole is put into parentheses where it must be": (
        rule("2 * $X", "$X * 2", "Tensor.scale"),
        "        return (self.data + n) * 2",
    ),
    "statements keep the indentation": (
        rule("a.grad += $V", "a.grad = $V\nb.grad = $V"),
        "                a.grad = unbroadcast(g, a.shape)\n"
        "                b.grad = unbroadcast(g, a.shape)  # comment ñ",
    ),
    "a block keeps the indentation": (
        rule("a.grad += $V", "if $V:\n    pass\nelse:\n    a.grad += 1"),
        "                if unbroadcast(g, a.shape):\n"
        "                    pass\n"
        "                else:\n"
        "                    a.grad += 1  # comment ñ",
    ),
    "a statement behind a semicolon": (
        rule("return $Y", "return None", "helper"),
        "def helper(x): y = x - 1; return None",
    ),
    "two statements behind a semicolon": (
        rule("return $Y", "x = $Y\nreturn x", "helper"),
        "def helper(x): y = x - 1; x = y; return x",
    ),
    "two statements in a row": (
        rule("y = $X\nreturn y", "return $X", "helper"),
        None,
    ),
    "any of several patterns": (
        rule(("nothing($V)", "a.grad += $V"), "a.grad -= $V"),
        None,
    ),
    "the first scope that exists": (
        rule("return $X", "return None", ("Tensor.plus", "Tensor.add")),
        "        return None",
    ),
    "a closure named by its path": (
        rule("a.grad += $V", "pass", "Tensor.add._backward"),
        "                pass  # comment ñ",
    ),
    "a whole function": (
        rule("def helper($X):\n    y = $X - 1\n    return y", "helper = None", scope=()),
        "helper = None",
    ),
    "a metavariable that recurs": (
        rule("a.grad += unbroadcast($G, $A.shape)", "$A.grad += $G"),
        "                a.grad += g  # comment ñ",
    ),
    "a metavariable for a name in a longer chain": (
        rule("$P.grad += unbroadcast($G, $P.shape)", "$P.grad += $G", matches=2),
        None,
    ),
    "where narrows it down": (
        rule("$P.grad += $V", "$P.grad -= $V", where={"P": "a|c"}),
        "                a.grad -= unbroadcast(g, a.shape)  # comment ñ",
    ),
}


@pytest.mark.parametrize(("given", "expected"), REWRITES.values(), ids=REWRITES)
def test_a_rule_rewrites(given, expected):
    if expected is None:
        assert ast.parse(rewrite(SOURCE, [given], name="test"))
        assert find(SOURCE, given, name="test")
    else:
        assert expected == changed(SOURCE, given)


def refused(source, *rules):
    with pytest.raises(Refusal) as caught:
        rewrite(source, rules, name="my-break")
    assert str(caught.value).startswith("my-break: ")
    return caught.value.reason


REFUSALS = {
    "unknown scope": (rule("a", "b", "Tensor.nothing"), Reason.UNKNOWN_SCOPE),
    "no match": (rule("a.grad -= $V", "pass"), Reason.MATCH_COUNT),
    "too many matches": (rule("unbroadcast($G, $S)", "$G"), Reason.MATCH_COUNT),
    "unbound variable": (rule("a.grad += $V", "a.grad += $W"), Reason.UNBOUND_VARIABLE),
    "unbound where": (rule("a.grad += $V", "pass", where={"W": "x"}), Reason.UNBOUND_VARIABLE),
    "expression by statement": (rule("unbroadcast(g, a.shape)", "pass"), Reason.KIND),
    "a block behind a semicolon": (
        rule("return y", "if y:\n    return x", "helper"),
        Reason.NOT_PROVEN,
    ),
    "pattern that is not Python": (rule("a grad +=", "pass"), Reason.INVALID_PATTERN),
    "replacement that is not Python": (rule("a.grad += $V", "= ="), Reason.INVALID_PATTERN),
    "empty pattern": (rule("", "pass"), Reason.INVALID_PATTERN),
    "inside an f-string": (rule("self.data * n", "n", "Tensor.scale"), Reason.IN_F_STRING),
    "nothing changes": (rule("a.grad += $V", "a.grad += $V"), Reason.NO_CHANGE),
}


@pytest.mark.parametrize(("given", "reason"), REFUSALS.values(), ids=REFUSALS)
def test_a_rule_is_refused_by_name(given, reason):
    assert reason == refused(SOURCE, given)


def test_matches_that_overlap_are_refused():
    assert refused(b"x = f(f(1))\n", rule("f($X)", "len($X)", (), matches=2)) == Reason.OVERLAP


def test_rules_that_overlap_are_refused():
    rules = rule("a.grad += $V", "pass"), rule("unbroadcast($G, a.shape)", "$G")

    assert refused(SOURCE, *rules) == Reason.OVERLAP


def test_two_rules_apply_at_once_and_each_sees_the_original():
    new = rewrite(b"a = 1\nb = 2\n", [rule("1", "2", ()), rule("b = 2", "b = 1", ())], name="t")

    assert new == b"a = 2\nb = 1\n"


@pytest.mark.parametrize(
    "source",
    [
        b"def f(:\n",
        b"x = '\xff'\n",
        "# -*- coding: latin-1 -*-\nx = 'ñ'\n".encode("latin-1"),
        b"\0",
    ],
    ids=["syntax", "not UTF-8", "another encoding", "NUL"],
)
def test_a_module_that_is_not_python_in_utf8_is_refused(source):
    assert refused(source, rule("x", "y", ())) == Reason.INVALID_SOURCE


def test_a_module_that_does_not_parse_is_named_with_the_line():
    with pytest.raises(Refusal) as caught:
        rewrite(b"a = 1\ndef f(:\n", [rule("a", "b", ())], name="my-break")

    assert "minitorch.tensor in Python" in caught.value.expected
    assert caught.value.found == "invalid syntax on line 2"


def test_a_name_defined_twice_is_refused():
    source = b"def f():\n    return 1\n\n\ndef f():\n    return 2\n"

    assert refused(source, rule("return $X", "pass", "f")) == Reason.AMBIGUOUS_SCOPE


@pytest.mark.parametrize(
    "around",
    [
        lambda text: text.replace(b"\n", b"\r\n"),
        lambda text: b"\xef\xbb\xbf" + text,
        lambda text: text.rstrip(b"\n"),
        lambda text: text.replace(b"    ", b"\t"),
        lambda text: text.replace(b"class", b"\x0c\nclass"),
    ],
    ids=["CRLF", "BOM", "no newline at the end", "tabs", "form feed"],
)
def test_every_byte_outside_of_the_match_stays(around):
    source = around(SOURCE)
    new = rewrite(source, [rule("a.grad += unbroadcast($G, $S)", "a.grad += $G")], name="test")

    assert new == source.replace(b"unbroadcast(g, a.shape)", b"g")


def test_replaced_lines_end_like_their_neighbours():
    source = SOURCE.replace(b"\n", b"\r\n")
    new = rewrite(source, [rule("a.grad += $V", "x = 1\ny = 2")], name="test")

    assert b"x = 1\r\n                y = 2" in new
    assert new.count(b"\n") == new.count(b"\r\n")


def test_numpy_is_matched_under_any_name_and_written_under_the_modules():
    source = b"import numpy\n\n\ndef f(x):\n    return numpy.exp(x)\n"
    new = rewrite(source, [rule("np.exp($X)", "np.log($X)", "f")], name="test")

    assert b"return numpy.log(x)" in new


def test_a_replacement_that_needs_a_missing_import_is_refused():
    source = b"def f(x):\n    return x + 1\n"

    assert refused(source, rule("$X + 1", "np.log($X)", "f")) == Reason.MISSING_IMPORT


def test_a_method_is_found_in_a_mixin_of_the_module():
    source = SOURCE.replace(b"class Tensor:", b"class Ops:") + b"\n\nclass Tensor(Ops):\n    pass\n"

    assert b"a.grad += g " in rewrite(
        source, [rule("a.grad += unbroadcast($G, $S)", "a.grad += $G")], name="test"
    )


def test_a_decorated_function_is_replaced_with_its_decorator():
    source = b"@wraps\n@other\ndef f():\n    return 1\nx = 2\n"
    new = rewrite(source, [rule("@wraps\n@other\ndef f():\n    return 1", "f = 3", ())], name="t")

    assert new == b"f = 3\nx = 2\n"


def test_find_tells_the_line_and_the_text_of_each_match():
    assert find(SOURCE, rule("$P.grad += $V", "pass"), name="t") == [
        (12, "a.grad += unbroadcast(g, a.shape)"),
        (14, "b.grad += unbroadcast(\n                    g,\n                    b.shape,\n"
         "                )"),
    ]  # fmt: skip


def one(source, pattern, replace, **more):
    return rewrite(source.encode(), [rule(pattern, replace, (), **more)], name="t").decode()


SPELLINGS = {
    "only the hole that needs them": ("y = (a + b) * c\n", "$X * $Y", "$X + $X ** $Y",
                                      "y = a + b + (a + b) ** c\n"),
    "only around the whole": ("y = -(a * b)\n", "$X * $Y", "$X + $Y", "y = -(a + b)\n"),
    "around a whole that had none": ("y = c * f(a)\n", "f($X)", "$X + 1", "y = c * (a + 1)\n"),
    "a value over two lines": ("y = f(\n    a\n    + b\n)\n", "f($X)", "$X",
                               "y = (a\n    + b)\n"),
    "a tuple as an argument": ("y = x[a, b]\n", "x[$I]", "f($I)", "y = f((a, b))\n"),
    "a generator": ("y = f(a for a in b)\n", "f($X)", "len($X)", "y = len((a for a in b))\n"),
    "a dollar in a string is text": ("y = f(a)\n", "f($X)", "f($X, '$X')", "y = f(a, '$X')\n"),
    "keywords in any order": ("y = f(k=1, j=2)\n", "f(j=$J, k=$K)", "f($J)", "y = f(2)\n"),
    "an annotated assignment": ("y: int = f(1)\n", "y = f($X)", "y = $X", "y = 1\n"),
    "an imported name": ("from numpy import exp as e\ny = e(1)\n", "np.exp($X)", "$X",
                         "from numpy import exp as e\ny = 1\n"),
    "a parameter and its name are one": ("def f(g):\n    return g\n",
                                         "def f($G):\n    return $G", "def f($G):\n    return -$G",
                                         "def f(g):\n    return -g\n"),
    "a lone carriage return ends a line": ("a = 1\rb = 2\r", "b = $X", "b = a\nc = $X",
                                           "a = 1\rb = a\rc = 2\r"),
}  # fmt: skip


@pytest.mark.parametrize(("source", "pattern", "replace", "new"), SPELLINGS.values(), ids=SPELLINGS)
def test_a_replacement_is_spelled_with_the_fewest_parentheses(source, pattern, replace, new):
    free = "a = b = c = x = f = 0\n" if "def f" not in source and "\r" not in source else ""

    assert free + new == one(free + source, pattern, replace)


def test_a_name_that_means_nothing_there_is_refused():
    source = b"def f(inverse):\n    return len(inverse)\n"
    renamed = source.replace(b"inverse", b"order")
    given = rule("len($X)", "len(inverse)", "f")

    assert refused(renamed, given) == Reason.UNKNOWN_NAME
    assert refused(source, given) == Reason.NO_CHANGE


@pytest.mark.parametrize(
    "replace",
    ["[k for k in $X]", "(lambda k: k)($X)", "(k := $X)", "print($X)", "__name__"],
    ids=["comprehension", "lambda", "walrus", "builtin", "module"],
)
def test_a_name_that_the_replacement_binds_is_known(replace):
    assert one("def f(x):\n    return len(x)\n", "len($X)", replace)


def test_a_where_that_is_no_regular_expression_is_refused():
    assert refused(SOURCE, rule("a.grad += $V", "pass", where={"V": "("})) == Reason.INVALID_PATTERN


def test_a_where_looks_at_short_code_only():
    def source(length):
        return b"def f(x):\n    return len(" + b"a" * length + b")\n"

    given = rule("len($X)", "id($X)", "f", where={"X": ".*"})

    assert b"id(aaa" in rewrite(source(300), [given], name="test")
    assert refused(source(301), given) == Reason.MATCH_COUNT


def test_the_slowest_where_is_quick_on_the_longest_code():
    source = b"def f(x):\n    return len(" + b"a" * 300 + b")\n"
    began = time.monotonic()

    given = rule("len($X)", "id($X)", "f", where={"X": "(?:a*)(?:a*)(?:a*)b"})

    assert refused(source, given) == Reason.MATCH_COUNT
    assert time.monotonic() - began < 2


def test_code_that_is_nested_too_deeply_is_refused():
    source = b"y = " + b"a + " * 3000 + b"a\n"

    assert refused(source, rule("a", "b", ())) in (Reason.INVALID_SOURCE, Reason.UNKNOWN_NAME)
    assert refused(SOURCE, rule("-" * 1500 + "$X", "$X")) in (
        Reason.MATCH_COUNT,
        Reason.INVALID_PATTERN,
        Reason.INVALID_SOURCE,
    )


def test_a_metavariable_for_a_name_takes_only_a_name():
    assert refused(b"y = f(a.b)\n", rule("f($X)", "id.$X", ())) == Reason.KIND
    assert one("y = f(a)\n", "f($X)", "id.$X") == "y = id.a\n"


def test_a_refusal_shows_at_most_eight_lines():
    with pytest.raises(Refusal) as caught:
        rewrite(b"a = 1\n" * 20, [rule("a = 1", "a = 2", ())], name="t")

    assert caught.value.found == "20 matches, on lines 1, 2, 3, 4, 5, 6, 7, 8, …"


def test_a_module_without_any_scope_is_said_to_have_none():
    with pytest.raises(Refusal, match=r"It has neither: put the text of the module back\."):
        rewrite(b"", [rule("a", "b")], name="test")
