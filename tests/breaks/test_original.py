"""A copy of the library beside the one that was handed out: what differs, and what to do."""

import json
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from breaks import create, here, i18n, journal, original
from breaks.catalog import load_catalog

SKIP = "skip-unbroadcast"
GIT = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]


@pytest.fixture
def catalog():
    return load_catalog()


@pytest.fixture(params=["workspace", "clone"])
def lab(request, tmp_path, monkeypatch):
    """A workspace of one's own, or a clone: there what ships is the working copy itself."""
    known = original.original
    known.cache_clear()
    ws, _written = create.create(tmp_path / "lab")
    if request.param == "clone":
        for line in (["init", "-q"], ["add", "."], ["commit", "-qm", "all"]):
            subprocess.run([*GIT, *line], cwd=ws.root, check=True)
        monkeypatch.setattr(original, "ROOT", ws.root)
    else:
        monkeypatch.setattr(original, "a_clone", lambda: False)
        correct = ws.sources()
        monkeypatch.setattr(original, "shipped_sources", lambda: correct)
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.chdir(ws.root)
    yield ws
    known.cache_clear()
    i18n.use(None)


def edit(ws, old, new):
    path = ws.path_of("minitorch.tensor")
    text = path.read_bytes()
    assert old in text
    path.write_bytes(text.replace(old, new, 1))


@pytest.mark.parametrize("verb", ["apply", "diff"])
def test_a_break_refused_because_of_an_edit_is_a_precondition_everywhere(lab, run, verb):
    edit(lab, b"unbroadcast(g, a.shape)", b"fit(g, a)")
    code, _out, err = run(verb, SKIP)

    assert 3 == code
    assert "The library was edited there" in err.replace("\n  ", " ")


@pytest.mark.parametrize("verb", ["apply", "diff"])
def test_a_break_that_fits_no_library_is_misuse_everywhere(lab, run, verb):
    (lab.root / "own").mkdir()
    shipped = (Path(original.__file__).parent / "catalog" / f"{SKIP}.yaml").read_text("utf-8")
    mine = shipped.replace(SKIP, "mine").replace("unbroadcast($G", "no_such_thing($G")
    (lab.root / "own" / "mine.yaml").write_text(mine, "utf-8")

    assert 2 == run(verb, "mine", "--catalog", "own")[0]


def test_where_nobody_can_tell_a_break_of_the_catalogue_is_taken_to_fit(lab, run, monkeypatch):
    monkeypatch.setattr(original, "original", lambda _module: None)
    edit(lab, b"unbroadcast(g, a.shape)", b"fit(g, a)")

    assert 3 == run("apply", SKIP)[0]


def test_without_git_or_a_commit_nobody_can_tell(tmp_path, monkeypatch):
    ws, _written = create.create(tmp_path / "lab")
    monkeypatch.setattr(original, "ROOT", ws.root)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    original.original.cache_clear()

    assert original.original("minitorch.tensor") is None
    monkeypatch.setenv("PATH", "")
    original.original.cache_clear()
    assert original.original("minitorch.tensor") is None
    original.original.cache_clear()


@pytest.mark.parametrize("line", [["status"], ["revert"], []], ids=["status", "revert", "home"])
def test_a_break_whose_record_was_deleted_is_named_with_the_way_out(lab, run, catalog, line):
    journal.apply(lab, catalog.get(SKIP))
    shutil.rmtree(lab.state)
    broken = lab.sources()
    code, out, _err = run(*line)

    assert 0 == code
    assert SKIP in out
    if line:
        commands = out.rstrip().splitlines()[-1].removeprefix("next").strip()
        for command in commands.split("&&"):
            assert broken == lab.sources()
            assert 0 == run(*shlex.split(command)[1:])[0]
        assert () == journal.status(lab).applied
        assert SKIP not in run("status")[1]
    else:
        assert "breaks status" in out


@pytest.mark.parametrize("verb", ["diff", "show"])
def test_its_lines_are_recognised_when_it_is_asked_for(lab, run, catalog, verb):
    journal.apply(lab, catalog.get(SKIP))
    shutil.rmtree(lab.state)
    _code, out, err = run(verb, SKIP)

    assert f"`breaks apply {SKIP}`" in " ".join((out + err).split())


def test_programs_are_told_of_it_too(lab, run, catalog):
    journal.apply(lab, catalog.get(SKIP))
    shutil.rmtree(lab.state)

    assert [SKIP] == json.loads(run("status", "--json")[1])["unrecorded"]
    assert [SKIP] == json.loads(run("--json")[1])["unrecorded"]


def test_going_on_record_again_keeps_every_byte_and_every_edit(lab, catalog):
    correct = lab.sources()
    journal.apply(lab, catalog.get(SKIP))
    shutil.rmtree(lab.state)
    edit(lab, b"def __mul__", b"# mine\n    def __mul__")
    mine = lab.sources()

    journal.apply(lab, catalog.get(SKIP))
    assert mine == lab.sources()
    journal.revert(lab, SKIP)
    edit(lab, b"# mine\n    def __mul__", b"def __mul__")
    assert correct == lab.sources()


def test_an_edit_of_ones_own_is_mistaken_for_no_break(lab, run):
    edit(lab, b"unbroadcast(g, a.shape)", b"fit(g, a)")
    edit(lab, b"def __mul__", b"# mine\n    def __mul__")

    assert () == here.strays(lab)
    assert "record" not in run("status")[1]


def test_of_breaks_with_lines_in_common_the_one_that_explains_most_is_named(lab, catalog):
    """Every break, its record deleted: it is found, and nothing else."""
    for brk in catalog:
        if brk.id.startswith("sum-") and original.effect(brk):
            journal.apply(lab, brk)
            shutil.rmtree(lab.state)

            assert (brk.id,) == here.strays(lab)
            journal.apply(lab, brk)
            journal.revert(lab)


@pytest.mark.parametrize("line", [["status"], ["revert"], []], ids=["status", "revert", "home"])
def test_a_catalogue_that_cannot_be_read_stands_in_nobodys_way(lab, run, catalog, line):
    journal.apply(lab, catalog.get(SKIP))
    shutil.rmtree(lab.state)
    (lab.root / "breaks.toml").write_text('catalog = ["nowhere"]')

    assert 0 == run(*line)[0]


def test_with_other_line_endings_it_is_recognised_and_leaves_as_well(lab, run, catalog):
    correct = lab.path_of("minitorch.tensor").read_bytes().replace(b"\n", b"\r\n")
    journal.apply(lab, catalog.get(SKIP))
    shutil.rmtree(lab.state)
    path = lab.path_of("minitorch.tensor")
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))

    assert (SKIP,) == here.strays(lab)
    assert 0 == run("apply", SKIP)[0]
    assert 0 == run("revert", SKIP)[0]
    assert correct == path.read_bytes()


@pytest.mark.parametrize("content", [b"", b"\xff", b"def half(:\n", None])
def test_a_library_that_is_no_python_is_no_obstacle(lab, run, content):
    path = lab.path_of("minitorch.tensor")
    path.unlink() if content is None else path.write_bytes(content)

    for line in (["status"], ["revert"], []):
        assert 0 == run(*line)[0]
