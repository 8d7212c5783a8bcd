"""The same answer on every run: two orders, two hash seeds, one and two workers, both ways."""

import json
import os
import subprocess
import sys

import pytest

from grader.observe import Question, ask, observe
from tests.grader.kit import SKIP, clean_text, lab02, made_break, probes

SOFTMAX = made_break(
    "softmax-doubled",
    "minitorch.tensor",
    "y * (g - $S)",
    "2 * y * (g - $S)",
    scope="Tensor.softmax",
)


def questions():
    scenarios = tuple(probes().scenarios[name] for name in ("softmax-last", "float32-functions"))
    return [ask(lab02(), SKIP), Question("probes", SOFTMAX, scenarios)]


def told(answers):
    """The answers as JSON, without the times."""
    plain = [one._replace(seconds=0.0).to_json() for one in answers]
    return json.dumps(plain, sort_keys=True)


@pytest.fixture(scope="module")
def wanted():
    return told(observe(questions()))


def test_a_softmax_that_is_doubled_is_seen_by_who_looks_with_irregular_weights(wanted):
    found = {one["scenario"]: one for one in json.loads(wanted)[1]["observations"]}
    answers = {name: r["answer"] for name, r in found["softmax-last"]["detectors"].items()}

    assert {
        "shape-invariant": "silent",
        "gradcheck-sum": "silent",  # a softmax sums to a constant: twice 0 is 0
        "gradcheck": "fires",
        "pytorch-diff": "fires",
        "property-test": "fires",
    } == answers


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_the_number_of_workers_changes_nothing(wanted, workers):
    assert wanted == told(observe(questions(), workers=workers))


def test_the_order_of_the_questions_changes_nothing(wanted):
    assert wanted == told(observe(questions()[::-1])[::-1])


def test_the_spawning_way_changes_nothing(wanted):
    assert wanted == told(observe(questions(), way="spawn"))


def test_a_question_alone_gets_the_answer_that_it_gets_in_company(wanted):
    alone = [observe([one])[0] for one in questions()]

    assert json.loads(wanted)[0]["observations"] == json.loads(told(alone))[0]["observations"]
    assert json.loads(wanted)[1]["observations"] == json.loads(told(alone))[1]["observations"]


RUNS = int(os.environ.get("BREAKLABS_RUNS", "4"))  # `make determinism` asks for a hundred


def test_many_runs_in_two_orders_with_one_and_two_workers_give_one_answer(wanted):
    asked, runs = questions(), set()
    for turn in range(RUNS):
        order = (-1) ** turn
        answers = observe(asked[::order], workers=1 + turn // 2 % 2)
        runs.add(told(answers[::order]))

    assert {wanted} == runs


@pytest.mark.parametrize("hash_seed", ["0", "1", "4242"])
def test_the_hash_seed_changes_nothing(wanted, hash_seed):
    code = (
        "import sys; sys.path.insert(0, '.')\n"
        "from tests.grader.test_determinism import observe, questions, told\n"
        "print(told(observe(questions())))"
    )
    out = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )

    assert wanted == out.stdout.strip()


def test_the_text_of_the_library_is_the_only_thing_that_matters(wanted):
    sources = {name: text.encode() for name, text in reversed(list(clean_text().items()))}

    assert wanted == told(observe(questions(), sources=sources))
