"""A workspace is found from any folder below it, made without overwriting, never left."""

import os
import subprocess
import sys

import pytest

from breaks import create, journal, workspace
from breaks.errors import BreaksError, Exit
from breaks.workspace import Workspace


@pytest.mark.parametrize("below", ["", "minitorch", "a/b/c"])
def test_it_is_found_from_any_folder_below(ws, below):
    (ws.root / below).mkdir(parents=True, exist_ok=True)

    assert ws == Workspace.find(ws.root / below)


def test_it_is_found_from_the_current_folder(ws, monkeypatch):
    monkeypatch.chdir(ws.root / "minitorch")

    assert ws == Workspace.find()


def test_the_nearest_one_counts(ws, make_ws):
    inner = make_ws(ws.root / "inner")

    assert inner == Workspace.find(inner.root / "minitorch")


def test_without_one_the_way_to_make_one_is_said(tmp_path):
    with pytest.raises(BreaksError, match="breaks init") as refusal:
        Workspace.find(tmp_path)

    assert Exit.PRECONDITION == refusal.value.code


def test_a_module_is_a_file_below_minitorch(ws):
    assert ws.root / "minitorch/tensor.py" == ws.path_of("minitorch.tensor")
    assert ws.root / "minitorch/__init__.py" == ws.path_of("minitorch")
    assert ["minitorch", "minitorch.optim", "minitorch.tensor"] == ws.modules()
    assert set(ws.modules()) == set(ws.sources())


@pytest.mark.parametrize(
    "name",
    [
        "minitorch/tensor.py",
        r"minitorch\tensor",
        r"minitorch\tensor.py",
        "C:\\minitorch",
        "/etc/passwd",
        "minitorch..tensor",
        "minitorch.../x",
        "minitorch.",
        "minitorch.tensor\n",
        "numpy.core",
        "os",
        "",
        "Minitorch.tensor",
    ],
)
def test_what_is_no_module_of_minitorch_is_refused(ws, name):
    with pytest.raises(BreaksError, match=r"minitorch\.tensor"):
        ws.path_of(name)


def test_state_that_is_a_link_is_refused(ws, tmp_path, breaks):
    (tmp_path / "elsewhere").mkdir()
    (ws.root / ".breaks").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BreaksError, match="link"):
        journal.apply(ws, breaks["minus"])

    assert [] == list((tmp_path / "elsewhere").iterdir())


def test_a_missing_library_is_said(ws):
    (ws.root / "minitorch" / "__init__.py").unlink()
    with pytest.raises(BreaksError, match=r"minitorch/__init__\.py"):
        ws.sources()


# --- configuration ------------------------------------------------------------------------------


def test_folders_of_ones_own_are_read(ws):
    (ws.root / "breaks.toml").write_text('catalog = ["mine", "ours/breaks"]\nlabs = ["my-labs"]\n')
    config = Workspace.find(ws.root).config

    assert (ws.root / "mine", ws.root / "ours/breaks") == config.catalog
    assert (ws.root / "my-labs",) == config.labs


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param('catalogue = ["x"]', "Did you mean catalog", id="unknown key"),
        pytest.param('catalog = "x"', "a list of folders", id="not a list"),
        pytest.param("catalog = [1]", "a list of folders", id="not text"),
        pytest.param('catalog = ["../x"]', "inside the workspace", id="above"),
        pytest.param('labs = ["/etc"]', "inside the workspace", id="absolute"),
        pytest.param('catalog = ["a"', "TOML", id="not TOML"),
        pytest.param("catalog = []\ncatalog = []", "TOML", id="a key twice"),
        pytest.param('labs = ["out"]', "inside the workspace", id="through a link"),
        pytest.param('labs = ["a\\u0000"]', "inside the workspace", id="no name of a folder"),
        pytest.param("labs = " + "[" * 5000, "TOML", id="too deep"),
        pytest.param("labs = [" + '"mine", ' * 9000 + "]", "KiB", id="too large"),
    ],
)
def test_a_wrong_configuration_is_refused_with_its_file(ws, tmp_path, text, words):
    (ws.root / "out").symlink_to(tmp_path)
    (ws.root / "breaks.toml").write_text(text)
    with pytest.raises(BreaksError, match=words) as refusal:
        Workspace.find(ws.root)

    assert Exit.USAGE == refusal.value.code
    assert refusal.value.where.endswith("breaks.toml")


def test_a_configuration_that_is_not_utf_8_is_refused(ws):
    (ws.root / "breaks.toml").write_bytes(b'catalog = ["\xe1"]')
    with pytest.raises(BreaksError, match="TOML"):
        Workspace.find(ws.root)


# --- breaks init --------------------------------------------------------------------------------


def test_a_new_workspace_has_the_library_the_pages_and_its_marker(tmp_path):
    from breaks.library import shipped_sources

    made, written = create.create(tmp_path / "mine")

    assert made == Workspace.find(tmp_path / "mine" / "minitorch")
    assert dict(shipped_sources()) == made.sources()
    assert "breaks.toml" == written[-1], "only a whole workspace has the marker"
    pages = {f"labs/{page.parent.name}/{page.name}" for page in create._pages()}
    assert pages == {name for name in written if name.startswith("labs/")}
    assert "labs/lab02_broadcasting/example-prediction.yaml" in pages
    assert not list(made.root.rglob("lab.yaml"))
    assert not list(made.root.rglob("scenarios.py"))
    assert ".breaks/" in (made.root / ".gitignore").read_text()


def test_python_started_there_imports_the_copy(tmp_path):
    made, _written = create.create(tmp_path / "mine")
    code = "import minitorch; print(minitorch.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=made.root, capture_output=True, text=True, check=True
    )

    assert str(made.root / "minitorch/__init__.py") == done.stdout.strip()


def test_it_is_made_beside_files_of_other_names(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    create.create(tmp_path)

    assert "mine" == (tmp_path / "notes.txt").read_text()


@pytest.mark.parametrize("name", ["minitorch/tensor.py", ".gitignore", "labs"])
def test_nothing_that_exists_is_overwritten(tmp_path, name):
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("mine")
    with pytest.raises(BreaksError, match="overwritten") as refusal:
        create.create(tmp_path)

    assert Exit.PRECONDITION == refusal.value.code
    assert "mine" == file.read_text()
    assert [file.name] == [path.name for path in tmp_path.rglob("*") if path.is_file()]


def test_a_second_time_is_refused_and_loses_nothing(tmp_path, tree):
    made, _written = create.create(tmp_path)
    (made.root / "minitorch/tensor.py").write_text("# mine\n")
    before = tree(made)
    with pytest.raises(BreaksError, match="already") as refusal:
        create.create(tmp_path)

    assert Exit.PRECONDITION == refusal.value.code
    assert before == tree(made)


def test_an_interrupted_init_can_be_run_again(tmp_path):
    made, _written = create.create(tmp_path)
    (made.root / "breaks.toml").unlink()
    (made.root / "minitorch/optim.py").unlink()
    _made, written = create.create(tmp_path)

    assert ["minitorch/optim.py", "breaks.toml"] == written


def test_a_file_is_no_place_for_a_workspace(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(BreaksError, match="is a file"):
        create.create(tmp_path / "file")


def test_a_linked_folder_inside_is_not_written_through(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "minitorch").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BreaksError, match="overwritten"):
        create.create(tmp_path / "ws")

    assert [] == list((tmp_path / "elsewhere").iterdir())


@pytest.mark.parametrize("folder", ["site-packages", "dist-packages/x"])
def test_installed_packages_are_never_touched(tmp_path, folder):
    with pytest.raises(BreaksError, match="never touches") as refusal:
        create.create(tmp_path / folder)
    assert Exit.PRECONDITION == refusal.value.code
    assert [] == list(tmp_path.iterdir())

    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / folder / "breaks.toml").touch()
    with pytest.raises(BreaksError, match="never touches"):
        Workspace.find(tmp_path / folder)


def test_from_a_broken_clone_the_correct_library_is_copied(ws, breaks, tmp_path, monkeypatch):
    correct = ws.sources()
    journal.apply(ws, breaks["minus"])
    spec = type("Spec", (), {"origin": str(ws.root / "minitorch" / "__init__.py")})()
    monkeypatch.setattr(create.importlib.util, "find_spec", lambda name: spec)
    monkeypatch.setattr(create, "_pages", list)
    made, _written = create.create(tmp_path / "mine")

    assert correct == made.sources()


def test_every_name_of_a_module_is_portable():
    assert workspace.MODULE.fullmatch("minitorch.tensor")
    assert os.sep not in "minitorch.tensor"
