"""A page on a terminal: what is wrapped, what is dropped, what stays folded."""

import pytest

from grader import markdown

LESSON = """<details>
<summary>After the check of <code>b1</code></summary>

Because.

</details>"""

PAGES = [
    ("# One\n\nTwo\nthree.", "One\n───\n\nTwo three."),
    ("### One\ntwo", "One\n\ntwo"),
    ("<!-- runs-in: empty -->\n\nOne.", "One."),
    ("# A\n\n*En español: [A](README.es.md).*\n\nOne.", "A\n─\n\nOne."),
    ("```console\n$ echo 1\n\n1\n```\nAfter.", "$ echo 1\n\n1\n\nAfter."),
    ("A **very [good](https://x.org/a)** [word](../b.md).", "A very good (https://x.org/a) word."),
    ("A *small* `a * b` and `c * d`, 2 * 3.", "A small `a * b` and `c * d`, 2 * 3."),
    ("**Bold `a ** b`.** And `c ** d`.", "Bold `a ** b`. And `c ** d`."),
    ("```sh\ngrader\n```", "    grader"),
    ("- one\n  more\n- two", "· one more\n· two"),
    ("1. one\n2. two", "1. one\n2. two"),
    ("| a | b |\n|---|---|\n| 1 | `x \\| y` |", "a  b\n1  `x | y`"),
]


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.mark.parametrize(("page", "expected"), PAGES)
def test_markdown_becomes_text(page, expected):
    assert expected == markdown.text(page, lambda summary: True, "(folded)")


def test_a_lesson_is_folded_until_somebody_unfolds_it():
    asked = []

    folded = markdown.text(LESSON, lambda summary: bool(asked.append(summary)), "(folded)")

    assert ["After the check of `b1`"] == asked
    assert "After the check of `b1`\n\n(folded)" == folded
    assert "Because." in markdown.text(LESSON, lambda summary: True, "(folded)")


def test_prose_is_wrapped_and_code_is_not(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    line = "word " * 12

    assert "\n" in markdown.text(line, lambda summary: True, "")
    assert line in markdown.text(f"```text\n{line}\n```", lambda summary: True, "")
