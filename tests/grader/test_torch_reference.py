"""Torch behind minitorch's names, and the references that ship: each is derived again here."""

import json
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from grader import torch_reference as reference
from grader.arrays import decode, encode
from grader.errors import GraderError
from grader.observe import REFERENCES, as_job
from labs.load import load_labs, load_probes
from tests.grader.kit import lab02


def all_labs():
    labs = [*load_labs().values()]
    return [*labs, *(lab.variant() for lab in labs), load_probes()]


LABS = {lab.id: lab for lab in all_labs()}


@pytest.fixture(scope="module")
def derived():
    """What torch says now, of every shipped scenario."""
    return reference.derive_apart([as_job(s) for lab in all_labs() for s in lab.scenarios.values()])


@pytest.mark.parametrize("lab", LABS)
def test_every_shipped_reference_is_what_torch_says_now(lab, derived):
    """`make references` records them again."""
    recorded, version = reference.read_references(REFERENCES, lab)

    assert derived["torch"] == version
    for name, scenario in LABS[lab].scenarios.items():
        assert scenario.digest in recorded, f"{lab} {name} has no reference: make references"
        live = reference.to_text(derived["scenarios"][scenario.digest])

        assert_same(recorded[scenario.digest], live)


def assert_same(recorded, live):
    if isinstance(live, dict) and "numbers" in live:
        assert recorded["shape"] == live["shape"]
        np.testing.assert_allclose(
            np.array(live["numbers"], float), np.array(recorded["numbers"], float), rtol=1e-10,
            atol=1e-14,
        )  # fmt: skip
    elif isinstance(live, dict):
        assert set(recorded) == set(live)
        for key in live:
            assert_same(recorded[key], live[key])
    else:
        assert recorded == live


def test_a_reference_that_was_changed_is_noticed(derived):
    scenario = lab02().scenarios["created-axis"]
    recorded, _ = reference.read_references(REFERENCES, "lab02")
    wrong = json.loads(json.dumps(recorded[scenario.digest]))
    wrong["program"]["grads"]["a"]["numbers"][0] += 1e-6
    with pytest.raises(AssertionError):
        assert_same(wrong, reference.to_text(derived["scenarios"][scenario.digest]))


def test_references_are_read_as_they_were_written():
    for array in (np.zeros((0, 3)), np.array(2.5), np.array([[1.0, np.inf], [np.nan, -0.1]])):
        text = json.loads(json.dumps(reference.to_text(encode(array)), allow_nan=False))
        back = decode(reference.from_text(text)).array

        np.testing.assert_array_equal(array, back)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"scenarios": {"a": 1}}', '{"scenarios": []}'])
def test_a_broken_reference_file_is_as_good_as_none(tmp_path, text):
    (tmp_path / "lab02.json").write_text(text)

    assert ({}, "") == reference.read_references(tmp_path, "lab02")


def test_a_program_that_torch_refuses_is_recorded_as_refused():
    job = {**as_job(lab02().scenarios["created-axis"])}
    job["source"] = job["source"].replace("return a + b", "return a @ b @ b @ b")
    answer = reference.derive_apart([job])

    assert answer["scenarios"][job["digest"]]["program"]["error"]["type"] == "RuntimeError"


OPTIMISERS = [(0.1, 0.0, 0.0), (0.1, 0.9, 0.0), (0.2, 0.0, 0.5), (0.1, 0.5, 0.1)]


@pytest.mark.parametrize(("lr", "momentum", "weight_decay"), OPTIMISERS)
def test_the_steps_are_those_of_torchs_own_optimiser(lr, momentum, weight_decay):
    code = f"""
        import numpy as np, torch
        from grader.torch_reference import adapter
        lib = adapter()
        start = np.array([1.0, -2.0, 3.0])
        ours = lib.Tensor(start, requires_grad=True)
        theirs = torch.tensor(start, requires_grad=True)
        settings = dict(lr={lr}, momentum={momentum}, weight_decay={weight_decay})
        one, other = lib.SGD([ours, ours], **settings), torch.optim.SGD([theirs], **settings)
        for _ in range(4):
            for optimiser in (one, other):
                optimiser.zero_grad()
            (ours * ours * ours).sum().backward()
            (theirs * theirs * theirs).sum().backward()
            one.step(), other.step()
        assert (ours.data == theirs.detach().numpy()).all(), (ours.data, theirs)
        assert (ours.data != start).all()
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)


def test_torch_is_imported_in_its_own_process_only():
    code = "import sys, grader.torch_reference, grader.observe; print('torch' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "False\n" == out.stdout


def test_a_torch_that_cannot_be_imported_is_an_error_of_the_environment(monkeypatch, tmp_path):
    (tmp_path / "torch.py").write_text("raise ImportError('no torch here')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(GraderError) as caught:
        reference.derive_apart([as_job(lab02().scenarios["created-axis"])])

    assert 4 == caught.value.code
    assert "breaklabs[torch]" in caught.value.todo


def test_a_torch_that_dies_is_an_error_of_the_environment(monkeypatch, tmp_path):
    (tmp_path / "torch.py").write_text("import os; os._exit(1)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(GraderError) as caught:
        reference.derive_apart([as_job(lab02().scenarios["created-axis"])])

    assert 4 == caught.value.code
