"""Training the grammar MLP: outcomes are fractions of the correct library's progress."""

import pytest

from breaks.rewrite import mutate
from grader import pool, training
from grader.observe import as_text
from grader.recording import Answer, Form, Outcome, Phase
from grader.train import happened
from labs import grammar
from tests.grader.kit import SKIP, clean_text, made_break

CLEAN = [2.0 - i / 100 for i in range(101)]  # progress 1.0
CURVES = {
    "itself": (CLEAN, Outcome.SAME),
    "rounding": ([x + 1e-9 for x in CLEAN], Outcome.SAME),
    "a little off": ([x + 0.005 for x in CLEAN[:-1]] + [1.005], Outcome.UNCERTAIN),
    "not a number": ([*CLEAN[:50], None, *CLEAN[51:]], Outcome.NAN),
    "flat": ([2.0] * 101, Outcome.FLAT),
    "nearly flat": ([2.0 - i / 2000 for i in range(101)], Outcome.UNCERTAIN),
    "half as fast": ([2.0 - i / 200 for i in range(101)], Outcome.SLOWER),
    "a third slower": ([2.0 - i / 150 for i in range(101)], Outcome.SLOWER),
    "faster": ([2.0 - i / 80 for i in range(101)], Outcome.FASTER),
    "upwards": ([2.0 + i / 100 for i in range(101)], Outcome.DIVERGES),
    "barely upwards": ([2.0 + i / 2000 for i in range(101)], Outcome.UNCERTAIN),
}


@pytest.mark.parametrize("name", CURVES)
def test_a_curve_has_an_outcome(name):
    curve, outcome = CURVES[name]

    assert outcome is training.compare(CLEAN, curve)


def trained(*breaks):
    """The observations of breaks, beside the correct library."""
    sources = {name: text.encode() for name, text in clean_text().items()}
    texts = [clean_text(), *(as_text(mutate(sources, brk)) for brk in breaks)]
    reports = pool.run([{"kind": "training", "sources": text, "seed": 7} for text in texts])
    return [training.observe(reports[0], report, "x") for report in reports[1:]] + [
        training.observe(None, reports[0], "")
    ]


def sgd(pattern, replace, scope="SGD.step"):
    return made_break("made", "minitorch.optim", pattern, replace, scope=scope)


def tensor(pattern, replace, scope):
    return made_break("made", "minitorch.tensor", pattern, replace, scope=scope)


OUTCOMES = {
    "uphill": (sgd("p.data - lr * v", "p.data + lr * v"), {Outcome.DIVERGES}),
    "no step": (sgd("p.data - lr * v", "p.data - 0 * v"), {Outcome.FLAT}),
    "a tenth of the step": (
        sgd("p.data - lr * v", "p.data - 0.1 * lr * v"),
        {Outcome.SLOWER},
    ),
    "twice the step": (sgd("p.data - lr * v", "p.data - 2 * lr * v"), {Outcome.FASTER}),
    "crash in the step": (sgd("p.data - lr * v", "p.data @ p.data"), {Outcome.CRASH}),
    "not a number": (tensor("np.maximum(x.data, 0)", "x.data / 0", "Tensor.relu"), {Outcome.NAN}),
}


@pytest.mark.parametrize("what", OUTCOMES)
def test_a_break_has_the_outcome_that_one_expects(what):
    brk, outcomes = OUTCOMES[what]
    found, _ = trained(brk)

    assert found.outcome in outcomes
    assert found.result.answer is Answer.FIRES


def test_the_phase_of_a_crash_is_where_it_happened():
    found, _ = trained(OUTCOMES["crash in the step"][0])

    assert Phase.STEP is found.phase
    assert found.decisive.error.startswith("ValueError")


def test_a_skipped_unbroadcast_learns_its_rows_by_heart_and_cannot_be_validated():
    found, clean = trained(SKIP)
    one_hot, embedding = found.runs

    assert Outcome.FASTER is one_hot.outcome
    assert one_hot.distance < 0  # below what any function of the input can reach
    assert one_hot.accuracy is None
    assert one_hot.validation.startswith("ValueError")
    assert "memorised" in happened(one_hot)
    assert "memorised" not in happened(embedding)
    assert (Outcome.CRASH, Phase.BACKWARD) == (embedding.outcome, embedding.phase)
    assert all(run.distance > 0 for run in clean.runs)


def test_the_correct_library_learns_and_does_not_beat_the_floor():
    [clean] = trained()

    for run in clean.runs:
        assert Outcome.SAME is run.outcome
        assert run.floor < run.last < run.first / 2
        assert pytest.approx(grammar.floor()) == run.floor
        assert len(run.losses) == training.STEPS[run.form] + 1


def test_a_training_that_hangs_is_a_crash_that_says_so():
    text = {**clean_text()}
    text["minitorch.training"] += "\n\ndef fit(*arguments):\n    while True:\n        pass\n"
    jobs = [{"kind": "training", "sources": text, "seed": 7}]
    [report] = pool.run(jobs, limits=pool.Limits(cpu=1))
    found = training.observe(None, report, "x")

    assert Outcome.CRASH is found.outcome
    assert "time" in found.decisive.error


def test_the_first_form_that_differs_decides():
    brk = tensor(
        "x.grad += $G", "x.grad += 0 * g[..., :1].sum() + 0 * x.data", "Tensor.__getitem__"
    )
    found, _ = trained(brk)

    assert [Outcome.SAME, Outcome.SLOWER] == [run.outcome for run in found.runs]
    assert Form.EMBEDDING is found.decisive.form
