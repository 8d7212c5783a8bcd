"""The grammar grid, its split, its floor, and the two forms of the MLP."""

import math
from collections import Counter, defaultdict

import pytest

import minitorch
from grader.screens import floor_text
from labs.grammar import PERSONS, TENSES, VERBS, GrammarMLP, conjugate, floor, grid, split


def test_the_grid_has_300_cells_in_order():
    assert (20, 3, 5) == (len(VERBS), len(PERSONS), len(TENSES))
    assert 300 == len(set(grid()))


FORMS = {
    ("work", 2, 1): "works",
    ("study", 2, 1): "studies",
    ("watch", 2, 1): "watches",
    ("study", 0, 2): "studied",
    ("like", 1, 3): "liked",
    ("be", 0, 1): "am",
    ("be", 1, 1): "are",
    ("be", 2, 2): "was",
    ("be", 1, 2): "were",
    ("have", 2, 1): "has",
    ("do", 2, 3): "done",
    ("go", 0, 2): "went",
    ("come", 0, 3): "come",
    ("see", 2, 4): "will see",
    ("eat", 0, 0): "to eat",
    ("write", 1, 3): "written",
}


@pytest.mark.parametrize("cell", FORMS)
def test_the_forms_are_english(cell):
    assert FORMS[cell] == conjugate(*cell)


def test_the_split_is_fixed_disjoint_and_of_60_and_30():
    train, held_out = split()

    assert (60, 30) == (len(train), len(held_out))
    assert not set(train) & set(held_out)
    assert split() == (train, held_out)


def test_the_counts_that_are_said_of_the_split_are_those_of_the_split():
    train, validate = split()
    pairs = Counter((cell.verb, cell.person) for cell in train)
    repeated = sum((cell.verb, cell.person) in pairs for cell in validate)

    said = floor_text(floor())
    assert f"{len(train)} training cells" in said
    assert f"Of the {len(validate)} validation cells {repeated} repeat a pair" in said
    assert f"{len(validate) - repeated} have a new pair" in said
    assert 3 == max(pairs.values())  # lab08: with up to three


def test_the_floor_is_the_best_that_a_table_of_frequencies_reaches():
    train, _ = split()
    tenses = defaultdict(Counter)
    for cell in train:
        tenses[cell.verb, cell.person][cell.tense] += 1
    losses = [
        -math.log(tenses[c.verb, c.person][c.tense] / tenses[c.verb, c.person].total())
        for c in train
    ]

    assert floor() == pytest.approx(sum(losses) / len(losses))
    assert floor() > 0


@pytest.mark.parametrize("form", ["one-hot", "embedding"])
def test_the_model_gives_five_logits_and_a_gradient_for_every_parameter(form):
    train, _ = split()
    model = GrammarMLP(minitorch, form)
    model.loss(train).backward()

    assert (60, 5) == model.logits(train).shape
    assert all(p.grad.shape == p.shape for p in model.parameters)


def test_one_hot_rows_have_23_columns_and_two_ones():
    train, _ = split()
    rows = GrammarMLP(minitorch).inputs(train).data

    assert (60, 23) == rows.shape
    assert (rows.sum(axis=1) == 2).all()


def test_an_unknown_form_is_refused():
    with pytest.raises(ValueError, match="form must be"):
        GrammarMLP(minitorch, "both")
