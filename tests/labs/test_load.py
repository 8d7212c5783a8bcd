"""Labs are data: what is wrong with one is said with file, line and what to do."""

import shutil

import pytest

from breaks.errors import BreaksError
from labs.errors import LabsError
from labs.load import (
    BUILTIN,
    find_lab,
    function_text,
    load_lab,
    load_labs,
    load_probes,
    shared_text,
)
from labs.model import Loss

YAML = """\
id: mine
title: {en: Mine}
minutes: 5
breaks:
  skip-unbroadcast: [one]
scenarios:
  one:
    title: {en: One}
    inputs: {a: [3], b: [4, 3]}
    variant: {inputs: {a: [2], b: [5, 2]}}
"""
FUNCTIONS = '''\
"""Mine."""

import numpy as np


def one(lib, a, b):
    return a + b
'''


def written(folder, yaml=YAML, functions=FUNCTIONS):
    lab = folder / "mine"
    lab.mkdir(exist_ok=True)
    (lab / "lab.yaml").write_text(yaml)
    (lab / "scenarios.py").write_text(functions)
    return lab


def test_a_lab_of_ones_own_is_read(tmp_path):
    written(tmp_path)
    lab = load_labs([BUILTIN, tmp_path])["mine"]
    scenario = lab.scenarios["one"]

    assert "skip-unbroadcast" == lab.main_break
    assert ("one",) == lab.breaks["skip-unbroadcast"]
    assert [(3,), (4, 3)] == [one.shape for one in scenario.inputs]
    assert Loss.SUM is scenario.loss
    assert "a + b" == scenario.expression


FAULTS = {
    "unknown key": ("minutes: 5", "minute: 5", "mine/lab.yaml"),
    "duplicate key": ("minutes: 5", "minutes: 5\nminutes: 6", "mine/lab.yaml:4"),
    "not a list": ("[one]", "one", "mine/lab.yaml:5"),
    "no such scenario": ("[one]", "[two]", "mine/lab.yaml:5"),
    "a length below 0": ("a: [3]", "a: [-3]", "mine/lab.yaml"),
    "another function": ("  one:", "  other:", "mine/lab.yaml:5"),
    "other arguments": ("{a: [3], b: [4, 3]}", "{a: [3]}", "mine/lab.yaml:7"),
    "uneven values": ("a: [3]", "a: {shape: [3], values: [1.0, 2.0]}", "mine/lab.yaml:9"),
    "nothing to differentiate": (
        "a: [3], b: [4, 3]}\n",
        "a: {shape: [3], constant: true}, b: {shape: [2], dtype: int64}}\n",
        "mine/lab.yaml:9",
    ),
    "another input in the variant": ("{a: [2], b: [5, 2]}", "{a: [2]}", "mine/lab.yaml:10"),
    "an unknown loss": (
        "    inputs: {a: [3]",
        "    loss: total\n    inputs: {a: [3]",
        "lab.yaml:9",
    ),
    "an alias": ("title: {en: Mine}", "title: &t {en: Mine}", "mine/lab.yaml:2"),
}


@pytest.mark.parametrize("what", FAULTS)
def test_a_lab_with_a_fault_is_refused_with_its_line(tmp_path, what):
    old, new, where = FAULTS[what]
    lab = written(tmp_path, YAML.replace(old, new, 1))
    with pytest.raises(BreaksError) as caught:
        load_lab(lab)

    assert where in caught.value.where
    assert caught.value.todo


def test_functions_that_are_not_python_are_refused_with_their_line(tmp_path):
    lab = written(tmp_path, functions=FUNCTIONS.replace("return", "retrun"))
    with pytest.raises(LabsError) as caught:
        load_lab(lab)

    assert "mine/scenarios.py:7" == caught.value.where


def test_functions_are_never_executed_by_who_reads_them(tmp_path):
    lab = written(tmp_path, functions=FUNCTIONS + "\nraise SystemExit\n")

    assert "mine" == load_lab(lab).id


def test_a_missing_scenarios_file_is_said(tmp_path):
    lab = written(tmp_path)
    (lab / "scenarios.py").unlink()
    with pytest.raises(LabsError, match=r"scenarios\.py"):
        load_lab(lab)


def test_two_labs_of_one_id_are_refused(tmp_path):
    shutil.copytree(written(tmp_path), tmp_path / "twin")
    with pytest.raises(LabsError, match="one lab of each id"):
        load_labs([tmp_path])


def test_an_unknown_lab_names_the_nearest():
    with pytest.raises(LabsError, match="Did you mean lab02"):
        find_lab(load_labs(), "lab2")


def test_the_variant_is_the_same_function_on_other_shapes():
    lab, variant = load_labs()["lab02"], find_lab(load_labs(), "lab02.b")

    assert "lab02.b" == variant.id
    for name, scenario in lab.scenarios.items():
        other = variant.scenarios[name]

        assert scenario.expression == other.expression
        assert scenario.digest != other.digest
        assert [one.shape for one in scenario.inputs] != [one.shape for one in other.inputs]


def test_a_digest_depends_on_function_helpers_and_data_and_on_nothing_else(tmp_path):
    def digest(yaml=YAML, functions=FUNCTIONS):
        return load_lab(written(tmp_path, yaml, functions)).scenarios["one"].digest

    same = digest()

    assert same == digest(functions=FUNCTIONS.replace("Mine.", "Another docstring."))
    assert same == digest(yaml=YAML.replace("en: One", "en: Uno"))
    assert same != digest(functions=FUNCTIONS.replace("a + b", "a - b"))
    assert same != digest(functions=FUNCTIONS.replace("import numpy", "import math, numpy"))
    assert same != digest(yaml=YAML.replace("b: [4, 3]", "b: [5, 3]"))


def test_the_text_of_a_function_ends_where_the_next_begins():
    source = "def a(lib):\n    return 1\n\n\ndef ab(lib):\n    return 2\n"

    assert "def a(lib):\n    return 1\n" == function_text(source, "a")
    assert "def ab(lib):\n    return 2\n" == function_text(source, "ab")
    assert "" == function_text(source, "b")
    assert "" == shared_text(source, ["a", "ab"])


def test_every_shipped_scenario_has_a_function_and_fits_the_schema():
    from labs.load import build_index

    assert build_index()
    assert len(load_probes().scenarios) >= 25


def every_shipped_lab():
    """Each lab and its second attempt."""
    return [one for lab in load_labs().values() for one in (lab, lab.variant())]


def test_every_lab_has_two_to_four_breaks():
    counts = {lab.id: len(lab.breaks) for lab in every_shipped_lab()}

    assert {} == {key: n for key, n in counts.items() if not 2 <= n <= 4}


def test_every_break_of_a_lab_has_three_to_six_scenarios():
    counts = {
        (lab.id, brk): len(of) for lab in every_shipped_lab() for brk, of in lab.breaks.items()
    }

    assert {} == {key: n for key, n in counts.items() if not 3 <= n <= 6}


def test_every_scenario_of_a_lab_belongs_to_one_of_its_breaks():
    for lab in load_labs().values():
        assert set(lab.scenarios) == {name for of in lab.breaks.values() for name in of}, lab.id


def test_an_index_that_is_stale_or_broken_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setattr("labs.load.INDEX", tmp_path / "index.json")
    for text in ("", "{", "[]", '{"lab02_broadcasting": {"sha256": "x", "data": {}}}'):
        (tmp_path / "index.json").write_text(text)

        assert "lab02" in load_labs()
