"""The kill matrix: who sees what, where nobody looks, and why."""

import re

import pytest

from breaks.library import shipped_sources
from breaks.model import Family
from grader import matrix_screen
from grader.matrix import (
    Cell,
    Matrix,
    Row,
    choose_probes,
    matrix,
    ordinary,
    same_curve,
    seen,
    spread,
    why_blind,
)
from grader.matrix_text import snapshot
from grader.recording import PER_SCENARIO, Answer, Detector, Mode, Outcome, Phase, Reach
from labs.model import Fill, Fit, Input
from tests.grader.kit import SKIP, lab02, made_break, probes

SILENT = dict.fromkeys(PER_SCENARIO, Answer.SILENT)


def cell(
    *seers,
    mode=Mode.WRONG_VALUES,
    reach=Reach.PROPAGATED,
    name="one",
    alarms=(),
    ordinary=False,
    answers=None,
):
    said = {**SILENT, **dict.fromkeys(seers, Answer.FIRES), **(answers or {})}
    return Cell("lab02", name, Phase.BACKWARD, mode, reach, said, alarms, ordinary)


def row(name, *cells, training=Outcome.SAME, equivalent=False):
    return Row(name, Family.SOFTMAX.value, equivalent, cells, training, Phase.NOWHERE)


def test_a_row_counts_the_scenarios_in_which_a_detector_fires():
    one = row("a", cell(Detector.GRADCHECK), cell(), training=Outcome.FLAT)

    assert 1 == one.fires(Detector.GRADCHECK)
    assert 0 == one.fires(Detector.PYTORCH_DIFF)
    assert (Detector.GRADCHECK, Detector.TRAINING) == one.seers


def test_what_only_one_sees_what_training_alone_sees_and_what_nobody_sees():
    found = Matrix(
        (
            row("one", cell(Detector.PYTORCH_DIFF)),
            row("trained", cell(mode=Mode.UNAFFECTED), training=Outcome.SLOWER),
            row("hidden", cell(Detector.GRADCHECK), cell(name="two")),
            row("nothing", cell(mode=Mode.UNAFFECTED)),
            row("same", cell(mode=Mode.UNAFFECTED), equivalent=True),
        ),
        {},
    )

    assert ("one", Detector.PYTORCH_DIFF) in found.only_one_sees
    assert ("trained",) == found.training_alone
    assert (("hidden", "lab02", "two"),) == found.nobody_sees
    assert ("nothing",) == found.empty_rows
    assert Detector.SHAPE_INVARIANT in found.empty_columns
    assert found.to_json()["training_alone"] == ["trained"]


def test_a_false_alarm_sees_nothing():
    alarmed = cell(Detector.GRADCHECK, Detector.PYTORCH_DIFF, alarms=("gradcheck",))

    assert (Detector.PYTORCH_DIFF,) == row("a", alarmed).seers
    assert ["gradcheck"] == alarmed.to_json()["false_alarms"]


BLIND = {
    "unreached": cell(mode=Mode.UNAFFECTED, reach=Reach.UNREACHED),
    "not-infected": cell(mode=Mode.UNAFFECTED, reach=Reach.NOT_INFECTED),
    "not-propagated": cell(mode=Mode.UNAFFECTED, reach=Reach.NOT_PROPAGATED),
    "not-revealed": cell(),
}


def of_scenarios(*rows):
    return [one for one in Matrix(rows, {}).blind() if one.detector is not Detector.TRAINING]


@pytest.mark.parametrize("reason", BLIND)
def test_a_blind_spot_has_a_reason(reason):
    found = of_scenarios(row("a", BLIND[reason]))

    assert {reason} == {one.reason for one in found}
    assert list(PER_SCENARIO) == [one.detector for one in found]


def test_the_farthest_scenario_gives_the_reason():
    both = row("a", BLIND["unreached"], cell(name="two"))
    found = of_scenarios(both)

    assert {("not-revealed", ("lab02/two",))} == {(one.reason, one.scenarios) for one in found}


HIDDEN = {
    "not-revealed": cell(Detector.PYTORCH_DIFF),
    "alarmed": cell(Detector.GRADCHECK, alarms=("gradcheck",)),
    "unavailable": cell(answers={Detector.GRADCHECK: Answer.UNAVAILABLE}),
}


@pytest.mark.parametrize("reason", HIDDEN)
def test_what_came_out_and_was_missed_has_a_reason_too(reason):
    found = why_blind(row("a", HIDDEN[reason]), Detector.GRADCHECK)

    assert (reason, Phase.BACKWARD, Mode.WRONG_VALUES) == (found.reason, found.phase, found.mode)


@pytest.mark.parametrize("reason", {**BLIND, **HIDDEN})
def test_the_page_has_a_sentence_for_every_reason(reason):
    found = Matrix((row("a", {**BLIND, **HIDDEN}[reason]),), {})
    text = matrix_screen.page(found)

    assert reason in {one.reason for one in found.blind()}
    assert matrix_screen.REASONS[reason] in text
    assert "Made by `grader matrix --html`" in text.split("<footer>")[1]


TRAINED = {
    Reach.UNREACHED: "unreached",
    Reach.NOT_INFECTED: "not-infected",
    Reach.PROPAGATED: "not-revealed",
}


@pytest.mark.parametrize("reach", TRAINED)
def test_training_misses_what_it_does_not_execute_or_what_does_not_come_out(reach):
    one = Row("a", "softmax", False, (cell(),), Outcome.SAME, Phase.NOWHERE, reach)

    assert TRAINED[reach] == why_blind(one, Detector.TRAINING).reason


def test_curves_are_the_same_up_to_the_order_of_additions():
    assert same_curve((1.0, 0.5), (1.0, 0.5 + 1e-13))
    assert not same_curve((1.0, 0.5), (1.0, 0.500001))
    assert not same_curve((1.0,), (1.0, 0.5))
    assert not same_curve((1.0, None), (1.0, 0.5))


# --- ordinary scenarios


def scenario(**changes):
    plain = {"backward": 1, "fit": None, "vary": True, "false_alarms": (), "inputs": ()}
    inputs = changes.pop("inputs", (Input("a", (3, 2)),))
    return lab02().scenarios["equal-shapes"]._replace(**{**plain, **changes, "inputs": inputs})


def test_an_ordinary_scenario_is_what_one_types_first():
    assert ordinary(scenario())
    assert ordinary(scenario(inputs=(Input("a", (4, 3)), Input("b", (3,)))))
    assert ordinary(scenario(inputs=(Input("z", (4, 3)), Input("t", (4,), "int64", high=3))))


UNUSUAL = {
    "float32": {"inputs": (Input("a", (3, 2), "float32"),)},
    "an axis of one": {"inputs": (Input("a", (3, 1)),)},
    "no axes": {"inputs": (Input("a", ()),)},
    "three axes": {"inputs": (Input("a", (2, 3, 4)),)},
    "chosen numbers": {"inputs": (Input("a", (2,), values=(0.0, 1.0)),)},
    "zeros": {"inputs": (Input("a", (2,), fill=Fill.ZEROS),)},
    "called twice": {"backward": 2},
    "trained": {"fit": Fit()},
    "shapes that may not vary": {"vary": False},
    "a checker that is fooled": {"false_alarms": ("gradcheck",)},
}


@pytest.mark.parametrize("what", UNUSUAL)
def test_what_is_not_ordinary(what):
    assert not ordinary(scenario(**UNUSUAL[what]))


def test_what_escapes_the_checks_of_the_notes():
    usual = cell(Detector.GRADCHECK, ordinary=True)
    caught = cell(Detector.PYTORCH_DIFF, ordinary=True)
    special = cell(Detector.PYTORCH_DIFF, name="two")

    assert row("a", usual, special).escapes_the_notes
    assert not row("a", caught, special).escapes_the_notes
    assert not row("nobody sees it", cell()).escapes_the_notes


def test_where_one_detector_covers_another():
    found = Matrix((row("a", cell(Detector.GRADCHECK), cell(*PER_SCENARIO)),), {})

    assert ("a in lab02/one",) == found.uncovered(Detector.GRADCHECK, Detector.PYTORCH_DIFF)
    assert () == found.uncovered(Detector.PYTORCH_DIFF, Detector.GRADCHECK)


# --- observing

SOFTMAX = made_break(
    "softmax-doubled",
    "minitorch.tensor",
    "y * (g - $S)",
    "2 * y * (g - $S)",
    scope="Tensor.softmax",
)
STRIDES = made_break("same", "minitorch.tensor", "y = -x.data", "y = 0 - x.data", equivalent=True)


def test_breaks_of_no_lab_are_tried_on_probes_that_they_change():
    chosen = choose_probes([SOFTMAX, SKIP, STRIDES], probes())

    assert set(chosen["softmax-doubled"]) <= {
        "softmax-last",
        "softmax-first",
        "softmax-extreme",
        "float32-functions",
        "shared-reductions",
    }
    assert 4 == len(chosen["skip-unbroadcast"])
    assert chosen["same"]


def test_the_matrix_of_three_breaks():
    found = matrix([SOFTMAX, SKIP, STRIDES], {"lab02": lab02()}, probes())
    rows = {one.break_id: one for one in found.rows}

    assert ["same", "skip-unbroadcast", "softmax-doubled"] == list(rows)
    assert 7 == len(rows["skip-unbroadcast"].cells)  # those of lab02, and an ordinary probe
    assert Outcome.FASTER is rows["skip-unbroadcast"].training
    assert 0 < rows["softmax-doubled"].fires(Detector.GRADCHECK)
    assert () == rows["same"].seers
    assert () == found.empty_rows
    assert Reach.UNREACHED is rows["softmax-doubled"].training_reach
    assert not rows["softmax-doubled"].escapes_the_notes
    assert re.search("lab02/created-axis +backward wrong-shape +shape sum", snapshot(found))
    assert ("softmax-doubled", Detector.SHAPE_INVARIANT) in {
        (one.break_id, one.detector) for one in found.blind()
    }


def test_a_spread_keeps_the_first_and_the_last():
    assert ["a", "b"] == spread(["a", "b"])
    assert ["a", "d", "g", "j"] == spread(list("abcdefghij"))


def test_progress_counts_to_the_end_of_the_first_look_and_of_the_observing():
    told = []
    lab = lab02()
    matrix(
        [SKIP, STRIDES, SOFTMAX], {lab.id: lab}, probes(), progress=lambda *one: told.append(one)
    )
    ends = {total: [done for done, of, _what in told if of == total] for _, total, _what in told}

    assert 2 == len(ends)
    for total, done in ends.items():
        assert total == done[-1]
        assert done == sorted(done)


def test_who_sees_a_break_is_said_with_the_place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = seen([SKIP, STRIDES], shipped_sources())

    assert "pytorch-diff in lab02/created-axis" in said["skip-unbroadcast"]
    assert "training in the grammar MLP: faster" == said["skip-unbroadcast"][-1]
    assert () == said["same"]
