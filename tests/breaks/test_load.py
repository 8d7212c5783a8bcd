"""A YAML file is data: bounded, plain, and every complaint names its line."""

import os

import pytest
import yaml

from breaks.catalog import load_catalog
from breaks.errors import BreaksError
from breaks.load import LIMIT, load_break, read_yaml, schema

BREAK = """\
id: my-break
title: {en: A title}
family: broadcasting
rewrites:
  - module: minitorch.tensor
    scope: Tensor.__add__
    pattern: 'unbroadcast($G, $S)'
    replace: '$G'
    matches: 2
"""


def complaint(text):
    with pytest.raises(BreaksError) as caught:
        read_yaml(text, name="file.yaml")
    return caught.value


REFUSED = {
    "an alias": ("a: [1]\nb: *a", 2, "alias"),
    "an anchor": ("a: &here [1]", 1, "anchor &here"),
    "billion laughs": ("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]", 1, "anchor"),
    "a tag": ("a: !!python/object/apply:os.system [ls]", 1, "tag"),
    "a tag of one's own": ("a: !secret x", 1, "tag"),
    "a second document": ("a: 1\n---\nb: 2", 2, "second document"),
    "a duplicate key": ("a: 1\nb:\n  c: 1\n  c: 2", 4, "c again, first on line 3"),
    "a key that is a boolean": ("a: 1\non: 2", 2, "'on'"),
    "a key that is a number": ("1: 2", 1, "'1'"),
    "a key that is a list": ("? [a]\n: 1", 1, "collection"),
    "a merge key": ("a: 1\n<<: {b: 2}", 2, "'<<'"),
    "a date": ("a: 2026-01-01", 1, "'2026-01-01'"),
    "binary": ("a: !!binary aGk=", 1, "tag"),
    "no number": ("a: .nan", 1, ".nan"),
    "no end": ("a: [1, -.inf]", 1, "-.inf"),
    "a time, which is a number": ("a: 12:30", 1, "12:30"),
    "an octal number": ("a: 1\nb: 010", 2, "010"),
    "a control character as an escape": ('a: "x\\0"', 1, "U+0000"),
    "too deep": ("[" * 30 + "]" * 30, 1, "levels"),
    "not closed": ("a: [1, 2", 1, ""),
    "a tab": ("a:\n\t- 1", 2, ""),
}


@pytest.mark.parametrize(("text", "line", "found"), REFUSED.values(), ids=REFUSED)
def test_a_document_is_refused_with_its_line(text, line, found):
    error = complaint(text)

    assert error.where.startswith("file.yaml:")
    assert abs(int(error.where.rpartition(":")[2]) - line) <= 1
    assert found in error.found


UNREADABLE = {
    "text behind brackets": ("a: {1: y}[1]\nb: 2", 1, 10, "text behind the end of a value"),
    "text behind quotes": ("a: 1\np: 'a' + 'b'", 2, 8, "text behind the end of a value"),
    "a quote left open": ("a: 'x\nb: 2\n", 1, 4, "a quote that is not closed"),
    "a bracket left open": ("a: 1\nb: [1, 2\nc: 3\n", 2, 4, "a bracket that is not closed"),
    "an indentation of its own": ("a:\n  - 1\n b: 2", 3, 2, "indented like nothing above it"),
    "a key among items": ("- a\nb: 1", 2, 1, "indented like nothing above it"),
    "a second colon": ("a: b: c", 1, 5, "a colon that no key can have"),
    "a key alone": ("a: 1\nb\n", 2, 1, "a key without a colon"),
    "an item in a line": ("a: -\n  b", 1, 4, "a list item that cannot be there"),
    "an unknown escape": ('a: "x\\q"', 1, 6, "a backslash with a letter"),
    "a closing bracket": ("a: ]", 1, 4, "no value where one belongs"),
    "a sign that is kept": ("a: @x", 1, 4, "@ at the start of a value"),
    "a tab": ("a:\n\tb: 1", 2, 1, "a tab"),
    "anything else": ("a: >x\n  y", 1, 5, "what YAML does not allow there"),
}


@pytest.mark.parametrize("loader", ["CSafeLoader", "SafeLoader"])
@pytest.mark.parametrize(("text", "line", "column", "found"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_is_no_yaml_is_said_in_plain_words_and_shown(
    text, line, column, found, loader, monkeypatch
):
    monkeypatch.setattr("breaks.document.LOADER", getattr(yaml, loader))
    error = complaint(text)

    assert f"file.yaml:{line}" == error.where
    assert found in error.found
    shown = f" of `{text.splitlines()[line - 1].strip()}`"
    assert any(f"at column {at}{shown}" in error.found for at in (column, column + 1))


def test_a_control_character_is_refused():
    assert "control" in complaint("a: \x00").found


def test_a_document_over_the_limit_is_refused():
    assert "KiB" in complaint("a: " + "x" * LIMIT).expected


def test_plain_values_and_their_lines():
    document = read_yaml("a: 1\nb:\n  - x\n  - y: null\nc: 1.5\nd: true\n", name="f")

    assert document.data == {"a": 1, "b": ["x", {"y": None}], "c": 1.5, "d": True}
    assert document.where(("b", 1, "y")) == "f:4"
    assert document.where(("c", "missing")) == "f:5"


def test_an_empty_document_is_null():
    assert read_yaml("").data is None


@pytest.fixture
def file(tmp_path):
    def write(content, name="my-break.yaml"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_a_break_is_loaded(file):
    brk = load_break(file(BREAK))

    assert brk.id == "my-break"
    assert brk.rewrites[0].patterns == ("unbroadcast($G, $S)",)
    assert brk.rewrites[0].matches == 2


def test_a_byte_order_mark_and_crlf_do_not_matter(file):
    assert load_break(file(b"\xef\xbb\xbf" + BREAK.replace("\n", "\r\n").encode())).id == "my-break"


MISTAKES = {
    "an unknown key": ("family:", "familly: x\nfamily:", "Did you mean family?", 3),
    "an unknown family": ("broadcasting", "broadcastin", "Did you mean broadcasting?", 3),
    "a missing key": ("id: my-break\n", "", "Add it", 1),
    "a number for a text": ("A title", "5", "Correct the value", 2),
    "another module": ("minitorch.tensor", "os.path", "Correct the value", 5),
    "a path for a module": ("minitorch.tensor", "minitorch\\tensor.py", "Correct the value", 5),
    "an escape": ("minitorch.tensor", "../minitorch/tensor", "Correct the value", 5),
    "an absolute path": ("minitorch.tensor", "/etc/passwd", "Correct the value", 5),
    "no matches": ("matches: 2", "matches: 0", "Correct the value", 9),
    "a boolean for a number": ("matches: 2", "matches: yes", "YAML reads yes as", 9),
    "an outcome": ("family:", "outcome: crash\nfamily:", "Remove the key", 3),
    "both pattern and any": ("    replace:", "    any: ['x']\n    replace:", "all but one", 8),
    "neither pattern nor any": ("    pattern: 'unbroadcast($G, $S)'\n", "", "Add one of them", 5),
    "a line break in the id": ("id: my-break", 'id: "my-break\\n"', "Correct the value", 1),
    "a regular expression that is none": (
        "matches: 2",
        "matches: 2\n    where: {G: '('}",
        "Correct the value",
        10,
    ),
    "a metavariable in small letters": (
        "matches: 2",
        "matches: 2\n    where: {g: x}",
        "Rename the key",
        10,
    ),
    "equivalent without a reason": ("family:", "equivalent: true\nfamily:", "Add it, or", 1),
    "a number for a rule": ("rewrites:", "rewrites:\n  - 0", "Correct the value", 5),
    "no for a word": ("broadcasting", "no", "YAML reads no as", 3),
}


@pytest.mark.parametrize(("old", "new", "todo", "line"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_in_a_break_is_named_with_its_line(file, old, new, todo, line):
    with pytest.raises(BreaksError) as caught:
        load_break(file(BREAK.replace(old, new)))

    assert caught.value.where == f"my-break.yaml:{line}"
    assert todo in caught.value.todo


WHERE = "matches: 2\n    where: {{G: '{}'}}"
QUICK = [
    r"inverse|np\.argsort.*",
    r"a|b|c|d|e|f",
    r"(?!b).*",
    r"np\.sum\(.*\)",
    r"[*+?]+",
    r"[()|]+",
    r"[]*]+",
    r"[^]*]+",
    r"[[a]",
    r"a|(?:b)c{2}",
]
SLOW = {
    "a group that is repeated": r"(a+)+b",
    "a group that is counted": r"(?:a*){9}b",
    "a group that may be absent": r"(a+)?b",
    "four repetitions": r"a*a*a*a*b",
    "alternatives in groups": r"(a|a)(a|a)(a|a)(a|a)b",
    "a flag, with which a comment may open a class": "(?x)# [ a*a*a*a* ]",
    "a comment that opens a class": "(?#[)a*a*a*a*]",
    "a class that begins with its own end": "[][]a*a*a*a*]",
    "the same, negated": "[^][]a*a*a*a*]",
    "a group with a name": "(?P<x>a*)(?P=x)",
}


@pytest.mark.parametrize("expression", QUICK)
@pytest.mark.filterwarnings("error")
def test_a_regular_expression_that_takes_no_time_is_fine(file, expression):
    brk = load_break(file(BREAK.replace("matches: 2", WHERE.format(expression))))

    assert {"G": expression} == brk.rewrites[0].where


@pytest.mark.parametrize("expression", SLOW.values(), ids=SLOW)
def test_a_regular_expression_that_may_take_for_ever_is_refused(file, expression):
    with pytest.raises(BreaksError, match="a regular expression") as caught:
        load_break(file(BREAK.replace("matches: 2", WHERE.format(expression))))

    assert "my-break.yaml:10" == caught.value.where


def test_the_id_is_the_name_of_the_file(file):
    with pytest.raises(BreaksError, match="other-name"):
        load_break(file(BREAK, "other-name.yaml"))


UNREADABLE = {
    "nothing": lambda folder: folder / "nothing.yaml",
    "a folder": lambda folder: folder,
    "a pipe": lambda folder: (os.mkfifo(folder / "pipe"), folder / "pipe")[1],
    "a device": lambda folder: folder.__class__("/dev/zero"),
    "a broken link": lambda folder: (os.symlink("nowhere", folder / "l"), folder / "l")[1],
    "a name with NUL": lambda folder: folder / "a\0b",
}


@pytest.mark.parametrize("make", UNREADABLE.values(), ids=UNREADABLE)
def test_what_is_no_file_is_refused(tmp_path, make):
    with pytest.raises(BreaksError, match="file"):
        load_break(make(tmp_path))


def test_a_link_that_leads_out_of_the_catalogue_is_refused(file, tmp_path):
    outside = file(BREAK, "outside.yaml")
    folder = tmp_path / "catalogue"
    folder.mkdir()
    (folder / "my-break.yaml").symlink_to(outside)
    with pytest.raises(BreaksError, match="link"):
        load_catalog([folder]).get("my-break")


@pytest.mark.parametrize("content", [b"\xff\xfe", b"a: \xe9"], ids=["UTF-16", "Latin-1"])
def test_a_file_that_is_not_utf8_is_refused(file, content):
    with pytest.raises(BreaksError, match="UTF-8"):
        load_break(file(content))


def test_a_huge_file_is_not_read_whole(file):
    with pytest.raises(BreaksError, match="KiB"):
        load_break(file(b"a: 1\n" * (LIMIT // 2)))


@pytest.mark.parametrize("kind", ["break", "lab", "prediction"])
def test_the_published_schemas_are_schemas(kind):
    from jsonschema import Draft202012Validator

    Draft202012Validator.check_schema(schema(kind))
