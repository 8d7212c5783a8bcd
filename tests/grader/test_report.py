"""The pages: self-contained, escaped, and readable without pictures, colour or script."""

import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from breaks.errors import BreaksError
from breaks.model import Break, Family
from grader import pictures, report
from grader.graph import GraphNode, Value
from grader.judge import judge
from grader.prediction import First, Prediction, Said, TrainingSaid
from grader.recording import Form, Mode, Outcome, Phase
from grader.score import calibration
from tests.grader import a_lab, made

XSS = "<script>alert(1)</script> \"'><img src=x onerror=alert(2)> & </svg> {{ 7*7 }}"
BRK = Break(
    "skip-unbroadcast",
    {"en": "A title", "es": "Un título"},
    Family.BROADCASTING,
    (),
    {},
    (),
    {},
    (),
)


def cells(shape, *entries):
    return {"shape": list(shape), "entries": list(entries)}


GRAPH = (
    GraphNode(
        "a", "", (), True, Value("[1 2 3] (3,)", "[1 2 3] (3,)", False),
        Value("[4 4 4] (3,)", "[1 1 1] (1, 3)", True, cells((3,), 4, 4, 4), cells((1, 3), 1, 1, 1)),
    ),
    GraphNode(
        "b", "", (), True, Value("[1] (1,)", "[1] (1,)", False),
        Value("[2 -2] (2,)", "[4 nan] (2,)", True, cells((2,), 2, -2), cells((2,), 4, None)),
    ),
    GraphNode("y", "+", (0, 1), True, Value("…", "…", False), Value("[1 1 1]", "[1 1 1]", False)),
    GraphNode("loss", "sum", (2,), True, Value("6", "6", False), Value("1", "1", False)),
)  # fmt: skip


def parts(because="so", predicted=True, error="ValueError: shapes"):
    difference = made.WRONG_SHAPE._replace(error=error)
    seen = made.observed(
        made.seen("created-axis", difference)._replace(graph=GRAPH),
        made.seen("equal", made.NOTHING, made.SILENT),
        made.seen("trained", made.CRASH),
        trained=made.training(),
    )
    said = {
        "created-axis": Said(
            First(Phase.BACKWARD, Mode.CRASH, "a"), confidence=95, because=because
        ),
        "equal": Said(First(Phase.NOWHERE, Mode.UNAFFECTED), confidence=60),
        "trained": Said(First(Phase.BACKWARD, Mode.CRASH)),
    }
    prediction = Prediction("lab02", "skip-unbroadcast", said, TrainingSaid(Outcome.CRASH))
    verdict = judge(prediction if predicted else None, seen)
    diff = f"--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a.grad += {because}\n+a.grad = g\n"
    return [(a_lab.LAB, BRK, verdict, seen, diff)]


def page(**what):
    return report.lab_page(parts(**what), calibration([(80, True)] * 6))


class Reader(HTMLParser):
    """What a page consists of: its elements, its text, and whether they are closed."""

    VOID = frozenset({"meta", "br", "img", "link", "input", "hr"})

    def __init__(self, text):
        super().__init__()
        self.elements, self.stack, self.text, self.wrong = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if not self.stack or self.stack.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data):
        self.text.append(data)

    def all(self, tag):
        return [attrs for name, attrs in self.elements if name == tag]


PAGES = {
    "a check": lambda: page(),
    "without a prediction": lambda: page(predicted=False),
    "training": lambda: report.training_page(made.CLEAN, [made.training()], tuple(Form)),
}


def test_evidence_of_several_lines_keeps_its_lines():
    assert "\nshould be " in page()
    assert "white-space: pre-line" in page()


@pytest.fixture(params=PAGES.values(), ids=PAGES)
def shown(request):
    return request.param()


def test_every_element_is_closed_in_order(shown):
    found = Reader(shown)

    assert found.wrong == []
    assert found.stack == []


def test_nothing_comes_from_the_network_and_nothing_runs(shown):
    found = Reader(shown)

    assert not found.all("script")
    assert not found.all("link")
    assert not found.all("img")
    assert not found.all("iframe")
    for tag, attrs in found.elements:
        for name, value in attrs.items():
            assert not name.startswith("on"), (tag, name)
            if name in ("href", "src", "xlink:href"):
                assert value.startswith("#")
    urls = set(re.findall(r"(?:https?:)?//[\w.]+", shown))
    assert urls <= {"http://www.w3.org"}  # the name of SVG's own namespace
    assert "url(" not in re.sub(r"url\(#[\w-]+\)", "", shown)
    policy = [m for m in found.all("meta") if m.get("http-equiv") == "Content-Security-Policy"]
    assert policy[0]["content"].startswith("default-src 'none'")


def test_headings_go_down_one_level_at_a_time_from_one_h1(shown):
    levels = [int(tag[1]) for tag, _ in Reader(shown).elements if re.fullmatch(r"h[1-6]", tag)]

    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(new <= old + 1 for old, new in pairwise(levels))


def test_every_id_is_there_once_and_every_reference_leads_somewhere(shown):
    found = Reader(shown)
    ids = [attrs["id"] for _, attrs in found.elements if "id" in attrs]
    wanted = [a["href"][1:] for a in found.all("a")]
    for _, attrs in found.elements:
        wanted += (attrs.get("aria-labelledby") or "").split()

    assert len(ids) == len(set(ids))
    assert set(wanted) <= set(ids)


def test_tables_have_captions_and_scopes(shown):
    found = Reader(shown)

    assert len(found.all("caption")) == len(found.all("table")) > 0
    assert {attrs.get("scope") for attrs in found.all("th")} == {"col", "row"}


def test_pictures_have_titles_and_descriptions_with_their_numbers(shown):
    found = Reader(shown)

    for attrs in found.all("svg"):
        assert attrs["role"] == "img"
        assert len(attrs["aria-labelledby"].split()) == 2
    for svg in re.findall(r"<svg.*?</svg>", shown, re.S):
        tree = ET.fromstring(svg)
        names = [child.tag.rpartition("}")[2] for child in tree]
        assert {"title", "desc"} <= set(names)


def test_the_page_has_a_language_a_title_a_main_part_and_a_way_to_skip_to_it(shown):
    found = Reader(shown)

    assert found.all("html")[0]["lang"] == "en"
    assert found.all("a")[0] == {"class": "skip", "href": "#main"}
    assert found.all("main")[0]["id"] == "main"
    assert len(found.all("title")) >= 1


@pytest.mark.parametrize(
    ("name", "command"), [("a check", "grader report"), ("training", "grader train --html")]
)
def test_the_last_line_names_the_command_that_made_the_page(name, command):
    assert f"Made by `{command}`" in PAGES[name]().split("<footer>")[1]


def test_what_a_learner_wrote_is_text_and_nothing_else():
    shown = page(because=XSS, error=XSS)
    found = Reader(shown)

    assert not found.all("script")
    assert not found.all("img")
    assert found.wrong == []
    assert XSS in "".join(found.text)
    assert "<script" not in shown


@given(st.text(max_size=60))
def test_any_title_of_a_picture_is_text(text):
    clean = "".join(char for char in text if char.isprintable() and char == char.strip("\ud800"))
    try:
        clean.encode()
    except UnicodeEncodeError:
        return
    svg = pictures.heat_map(cells((1, 2), 1.0, -2.0), clean, 2.0)
    tree = ET.fromstring(svg)

    assert (tree.find("{http://www.w3.org/2000/svg}title").text or "") == clean


def test_verdicts_are_words_and_not_colour_alone():
    text = "".join(Reader(page()).text)

    assert "✗ wrong" in text
    assert "✓ right" in text
    assert "– left open" in text


def test_without_a_prediction_nothing_is_said_and_nothing_is_judged():
    text = "".join(Reader(page(predicted=False)).text)

    assert "nothing is scored" in text
    assert "you said" not in text
    assert "wrong-shape" in text


def test_shapes_that_differ_have_no_difference_and_the_page_says_so():

    assert pictures.difference(cells((3,), 1, 1, 1), cells((1, 3), 1, 1, 1)) is None
    assert "the two have different shapes" in page()


def test_a_difference_is_observed_minus_expected_and_nan_stays_apart():
    found = pictures.difference(cells((2,), 4, None), cells((2,), 1, 1))

    assert found == cells((2,), 3, None)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((), (1, 1)),
        ((3,), (1, 3)),
        ((4, 3), (4, 3)),
        ((2, 4, 3), (8, 3)),
        ((0, 3), (0, 3)),
        ((3, 0), (0, 1)),
    ],
)
def test_an_array_is_drawn_as_rows_of_its_last_axis(shape, expected):
    size = 1
    for n in shape:
        size *= n

    assert pictures.as_rows(cells(shape, *[1.0] * size)) == expected


@pytest.mark.parametrize(
    "losses", [(), (1.5,), (None,), (1.5, None), (1.5, 1e300), (2.0, 2.0), (0.1, -3.0)]
)
def test_any_curve_can_be_drawn(losses):
    broken = made.run()._replace(losses=losses)
    tree = ET.fromstring(pictures.loss_curves(broken, made.run(), "t"))

    assert tree.tag.endswith("svg")
    assert ET.fromstring(pictures.loss_curves(broken, None, "t")) is not None


def test_the_correct_library_alone_is_not_called_broken():
    text = pictures.loss_curves(None, made.run(), "t")
    page = report.training_page(made.CLEAN, [], [Form.ONE_HOT])

    assert "correct" in text
    assert "broken" not in text.replace("-broken", "")
    assert "broken" not in re.sub("<style>.*?</style>", "", page, flags=re.DOTALL)


def test_a_run_without_a_loss_is_said_to_have_none():
    run = made.run()._replace(losses=(), first=None, last=None)
    found = made.training()._replace(runs=(run,))
    page = report.training_page(made.CLEAN, [found], [Form.ONE_HOT])

    assert "The broken one has no loss to draw." in page
    assert "The broken library has no loss" in page
    assert "Solid: the broken one" not in page


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_ticks_are_few_round_and_inside(low, size):
    found = pictures.ticks(low, low + size)

    assert len(found) <= 7
    assert all(low - 1e-6 * size <= t <= low + size * (1 + 1e-6) for t in found)


def test_no_two_nodes_of_a_graph_share_a_place_and_parents_stand_above():
    places = pictures.layout(GRAPH)

    assert len(set(places)) == len(GRAPH)
    for node, (_x, y) in zip(GRAPH, places, strict=True):
        assert all(places[parent][1] < y for parent in node.parents)


def test_the_first_wrong_node_is_marked_in_the_graph():
    svg = pictures.computational_graph(GRAPH, Phase.BACKWARD, "a", "t")

    assert svg.count("⚑") == 1
    assert svg.count("✗") == 1
    assert "The first that differs: a." in svg


def test_a_page_has_no_colours_of_a_terminal(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    text = page()

    assert "It starts in minitorch/tensor.py:131" in text
    assert "\x1b" not in text
    assert "[36m" not in text


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (True, "It starts in minitorch/tensor.py:131: a.grad += g"),
        (
            False,
            "It shows first in minitorch/tensor.py:131, a line that the break does not change:"
            " a.grad += g",
        ),
    ],
)
def test_a_graph_says_that_a_fault_starts_only_where_the_break_changes_the_line(changed, words):
    lab, brk, verdict, seen, diff = parts()[0]
    one = seen.observations[0]
    origin = made.ORIGIN._replace(changed=changed)
    one = one._replace(difference=one.difference._replace(origin=origin))
    seen = seen._replace(observations=(one, *seen.observations[1:]))
    text = report.lab_page([(lab, brk, verdict, seen, diff)], calibration([]))

    assert words in text
    assert changed is not ("shows first" in text)
    assert changed is ("starts in" in text)


def test_numbers_in_cells_are_short():
    for value in (0.0, -0.1234567, 123456.0, -1e-12, 3.0, 1e300):
        assert len(pictures.short(value)) <= 7


def test_a_page_is_written_whole_and_a_folder_is_refused(tmp_path):
    report.write(str(tmp_path / "p.html"), "text")

    assert (tmp_path / "p.html").read_text() == "text"
    assert [p.name for p in tmp_path.iterdir()] == ["p.html"]
    for bad in (tmp_path, tmp_path / "nowhere" / "p.html"):
        with pytest.raises(BreaksError):
            report.write(str(bad), "text")
