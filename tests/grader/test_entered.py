"""A training is left out only where it would have been the same to the byte."""

import json

import pytest

from breaks.catalog import load_catalog
from grader import pool
from grader.entered import changed, changed_in
from grader.observe import Library, Question, Run, broken_text, training_of
from grader.recording import Form
from tests.grader.kit import SKIP, clean_text, lab02


def code(text):
    return compile(text, "<library>/minitorch/tensor.py", "exec")


def names(before, after):
    return {name for _, name, _ in changed(code(before), code(after))}


BEFORE = (
    "def f(x):\n    def g():\n        return x\n    return g\n\ndef h(x=1):\n    return x + 1.0\n"
)
CASES = {
    "nothing": (BEFORE, set()),
    "lines that moved": ("# a comment\n\n" + BEFORE, set()),
    "a closure": (BEFORE.replace("return x\n", "return -x\n"), {"f.<locals>.g"}),
    "a constant of another type": (BEFORE.replace("1.0", "1"), {"h"}),
    "a default is made by the module": (BEFORE.replace("x=1", "x=2"), {"<module>"}),
    "a function that is gone": (BEFORE[: BEFORE.index("def h")], {"<module>", "h"}),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_code_counts_as_changed_by_what_it_does(case):
    after, expected = CASES[case]

    assert expected == names(BEFORE, after)


def test_a_library_that_is_the_same_has_nothing_changed():
    assert set() == changed_in(clean_text(), dict(clean_text()))


@pytest.fixture(scope="module")
def run():
    sources = {name: text.encode() for name, text in clean_text().items()}
    one = Run([Question("lab02", SKIP, (lab02().scenarios["created-axis"],))], sources)
    clean = Library(one.clean_text, [training_of(entered=True)], "")
    [clean.reports[0]] = pool.run([{**clean.jobs[0], "sources": clean.text}])
    one.proof.append(clean)
    return one


def test_a_break_in_a_function_that_training_enters_is_trained(run):
    assert list(Form) == run.forms_needed(broken_text(run.bytes, SKIP))


def test_without_the_proof_everything_is_trained(run):
    clean = run.clean
    frames = [f for f in clean.training.frames if not f[0].startswith("entered")]
    report, clean.reports[0] = clean.training, pool.Report(frames, pool.End.DONE)
    try:
        assert list(Form) == run.forms_needed(run.clean_text)
    finally:
        clean.reports[0] = report


def test_a_training_that_is_left_out_would_have_been_the_same(run):
    clean, left = run.clean.training.sections(), []
    for brk in load_catalog():
        text = broken_text(run.bytes, brk)
        needed = run.forms_needed(text)
        spared = [form for form in Form if form not in needed]
        left += [(brk.id, text, spared)] if spared else []
    jobs = [{**training_of(forms=spared), "sources": text} for _, text, spared in left]

    assert len(left) > 10
    for (name, _, spared), report in zip(left, pool.run(jobs), strict=True):
        for form in spared:
            told = json.dumps([name, report.sections()[form.value]])
            assert json.dumps([name, clean[form.value]]) == told
