"""The page of measurements judges its own numbers rightly, and explains each aim that it misses."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "performance.md"
NUMBER = re.compile(r"[\d.]+")


def rows(text):
    """The cells of each row of the table, by the work they measure."""
    lines = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| ")]
    header, *body = [[cell.strip() for cell in line] for line in lines]
    return [dict(zip(header, cells, strict=True)) for cells in body]


def number(cell):
    found = NUMBER.search(cell)
    return float(found[0]) if found else None


def verdict(row):
    return "yes" if number(row["minitorch"]) <= number(row["aim"]) else "**no**"


def table():
    return rows(PAGE.read_text(encoding="utf-8"))


def test_there_is_a_row_for_every_aim():
    assert len(table()) == 10  # the chain has two: of a vector, and of a number


@pytest.mark.parametrize("row", table(), ids=lambda row: row["work"])
def test_met_says_what_the_numbers_say(row):
    near = abs(number(row["minitorch"]) / number(row["aim"]) - 1) < 0.01  # rounded for the page

    assert near or row["met"] == verdict(row)


def test_every_aim_that_is_missed_is_explained():
    missed = [row for row in table() if row["met"] != "yes"]
    explained = PAGE.read_text(encoding="utf-8").split("## Where an aim is missed")[1]

    assert explained.split("## ")[0].count("\n- **") >= len(missed)


def test_the_verdict_is_fed_both():
    assert verdict({"minitorch": "1.50", "aim": "≤ 1.5"}) == "yes"
    assert verdict({"minitorch": "11 MB", "aim": "≤ 12 MB"}) == "yes"
    assert verdict({"minitorch": "1.51", "aim": "≤ 1.5"}) == "**no**"


def test_the_page_names_versions_and_no_machine():
    text = PAGE.read_text(encoding="utf-8")

    assert re.search(r"Measured with Python \d", text)
    assert not re.search(r"/(home|root|tmp|work|Users)/", text)
