"""The catalogue: every break that ships is fit to be taught with."""

import json

import pytest

from breaks import broken
from breaks.catalog import BUILTIN, INDEX, build_index, load_catalog
from breaks.check import check_break
from breaks.errors import BreaksError
from breaks.library import shipped_sources
from breaks.load import load_break
from breaks.model import Family

CATALOG = load_catalog()
ALL = list(CATALOG)


@pytest.mark.parametrize("brk", ALL, ids=CATALOG.ids())
def test_a_break_of_the_catalogue_has_no_finding(brk):
    assert check_break(brk, shipped_sources()).findings == ()


def test_every_family_has_breaks():
    assert {brk.family for brk in ALL} == set(Family)


def test_no_break_says_what_is_observed():
    words = {"outcome", "expected", "observed", "crash", "mode"}
    for path in BUILTIN.glob("*.yaml"):
        keys = {line.split(":")[0].strip() for line in path.read_text("utf-8").splitlines()}

        assert not keys & words, path.name


def test_provenance_is_a_public_report():
    for brk in ALL:
        for report in brk.provenance:
            assert report.url.startswith("https://"), brk.id


def test_the_index_is_the_catalogue():
    assert INDEX.read_text("utf-8") == build_index(), "run: make index"


def test_a_file_that_differs_from_the_index_is_read_itself(tmp_path, monkeypatch):
    path = next(BUILTIN.glob("*.yaml"))
    index = json.loads(INDEX.read_text("utf-8"))
    index[path.name]["data"]["title"] = {"en": "from the index"}
    forged = tmp_path / "index.json"
    forged.write_text(json.dumps(index))
    monkeypatch.setattr("breaks.catalog.INDEX", forged)

    assert load_catalog().get(path.stem).title["en"] == "from the index"

    index[path.name]["sha256"] = "0" * 64
    forged.write_text(json.dumps(index))

    assert load_catalog().get(path.stem) == load_break(path)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"x.yaml": 1}'], ids=repr)
def test_a_damaged_index_is_ignored(tmp_path, monkeypatch, content):
    (tmp_path / "index.json").write_text(content)
    monkeypatch.setattr("breaks.catalog.INDEX", tmp_path / "index.json")

    assert load_catalog().ids() == CATALOG.ids()


def test_an_unknown_id_gets_the_nearest_one():
    with pytest.raises(BreaksError, match="Did you mean skip-unbroadcast"):
        CATALOG.get("skip-unbroadcats")


def test_two_breaks_of_one_id_are_refused(tmp_path):
    (tmp_path / "skip-unbroadcast.yaml").write_text(
        (BUILTIN / "skip-unbroadcast.yaml").read_text("utf-8"), "utf-8"
    )
    with pytest.raises(BreaksError, match="one break of each id"):
        load_catalog([BUILTIN, tmp_path])


def test_a_file_that_is_no_break_yet_stands_in_nobodys_way(tmp_path):
    (tmp_path / "half-done.yaml").write_text("id: half-done\n", "utf-8")
    known = load_catalog([BUILTIN, tmp_path])

    assert known.ids() == CATALOG.ids()
    assert ["half-done"] == list(known.unready)
    with pytest.raises(BreaksError, match=r"half-done\.yaml"):
        known.get("half-done")


def test_a_broken_library_is_a_module_of_its_own():
    import minitorch

    with broken("skip-unbroadcast") as mt:
        a = mt.Tensor([1.0, 2.0, 3.0], requires_grad=True)
        (a + mt.Tensor([[1.0] * 3] * 4)).sum().backward()
    b = minitorch.Tensor([1.0, 2.0, 3.0], requires_grad=True)
    (b + minitorch.Tensor([[1.0] * 3] * 4)).sum().backward()

    assert a.grad.shape == (4, 3)
    assert b.grad.shape == (3,)
    assert mt is not minitorch


def test_two_breaks_are_in_one_library():
    with broken("skip-unbroadcast", "relu-gradient-one-at-zero") as mt:
        x = mt.Tensor([-1.0, 0.0, 1.0], requires_grad=True)
        (x.relu() + mt.Tensor([[0.0] * 3] * 2)).sum().backward()

    assert x.grad.tolist() == [[0.0, 1.0, 1.0]] * 2


def test_broken_takes_an_id_that_exists():
    with pytest.raises(BreaksError, match="no-such-break"), broken("no-such-break"):
        pass
