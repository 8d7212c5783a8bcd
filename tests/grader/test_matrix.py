"""The kill matrix: who sees what, where nobody looks, and why."""

import pytest

from breaks.model import Family
from grader.matrix import Cell, Matrix, Row, choose_probes, matrix, spread
from grader.recording import PER_SCENARIO, Answer, Detector, Mode, Outcome, Phase, Reach
from tests.grader.kit import SKIP, lab02, made_break, probes

SILENT = dict.fromkeys(PER_SCENARIO, Answer.SILENT)


def cell(*seers, mode=Mode.WRONG_VALUES, reach=Reach.PROPAGATED, name="one"):
    answers = {**SILENT, **dict.fromkeys(seers, Answer.FIRES)}
    return Cell("lab02", name, Phase.BACKWARD, mode, reach, answers)


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
    one = cell(Detector.GRADCHECK, Detector.PYTORCH_DIFF)
    alarmed = Cell(**{**fields(one), "false_alarms": ("gradcheck",)})

    assert (Detector.PYTORCH_DIFF,) == row("a", alarmed).seers
    assert ["gradcheck"] == alarmed.to_json()["false_alarms"]


def fields(one):
    return {name: getattr(one, name) for name in one.__slots__}


BLIND = {
    "unreached": cell(mode=Mode.UNAFFECTED, reach=Reach.UNREACHED),
    "not-infected": cell(mode=Mode.UNAFFECTED, reach=Reach.NOT_INFECTED),
    "not-propagated": cell(mode=Mode.UNAFFECTED, reach=Reach.NOT_PROPAGATED),
    "not-revealed": cell(),
}


@pytest.mark.parametrize("reason", BLIND)
def test_a_blind_spot_has_a_reason(reason):
    found = Matrix((row("a", BLIND[reason]),), {}).blind()

    assert {reason} == {one.reason for one in found}
    assert len(PER_SCENARIO) == len(found)


def test_the_farthest_scenario_gives_the_reason():
    both = row("a", BLIND["unreached"], cell(name="two"))
    found = Matrix((both,), {}).blind()

    assert {("not-revealed", ("lab02/two",))} == {(one.reason, one.scenarios) for one in found}


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
    assert 8 == len(rows["skip-unbroadcast"].cells)
    assert Outcome.FASTER is rows["skip-unbroadcast"].training
    assert 0 < rows["softmax-doubled"].fires(Detector.GRADCHECK)
    assert () == rows["same"].seers
    assert () == found.empty_rows
    assert "lab02/created-axis: backward wrong-shape" in found.snapshot()
    assert ("softmax-doubled", Detector.SHAPE_INVARIANT) in {
        (one.break_id, one.detector) for one in found.blind()
    }


def test_a_spread_keeps_the_first_and_the_last():
    assert ["a", "b"] == spread(["a", "b"])
    assert ["a", "d", "g", "j"] == spread(list("abcdefghij"))
