"""The `breaks` command as people and programs meet it."""

import inspect
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from breaks import cli as module
from breaks import create, i18n, journal, transaction
from breaks.catalog import load_catalog
from breaks.layout import cells
from breaks.workspace import Workspace

BREAKS = str(Path(sys.executable).with_name("breaks"))
CATALOG = load_catalog()
IDS = CATALOG.ids()


@pytest.fixture(autouse=True)
def environment(monkeypatch, tmp_path):
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LANGUAGE", "LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.chdir(tmp_path)
    yield
    i18n.use(None)


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """A workspace as `breaks init` makes it, and we are in it."""
    ws, _written = create.create(tmp_path / "lab")
    monkeypatch.chdir(ws.root)
    return ws


def document(result):
    code, out, _err = result
    return code, json.loads(out)


@pytest.fixture
def read_once(monkeypatch):
    """The catalogue is read once: for tests that are repeated for every break."""
    monkeypatch.setattr(module, "load_catalog", lambda _folders: CATALOG)


# --- looking ------------------------------------------------------------------------------------


def test_the_first_screen_says_where_you_are_and_what_comes_next(lab, run):
    code, out, err = run()

    assert (0, "") == (code, err)
    assert "as shipped" in out
    assert re.search(r"applied +none", out)
    assert re.search(r"next +grader predict lab\d\d", out)


def test_labs_of_ones_own_are_counted(lab, run):
    before = len(document(run("--json"))[1]["labs"])
    mine = lab.root / "my-labs" / "mine_one"
    mine.mkdir(parents=True)
    (mine / "lab.yaml").write_text("id: mine\n")
    (lab.root / "breaks.toml").write_text('labs = ["my-labs"]\n')

    assert f"0 of {before + 1} " in run()[1]


def test_outside_of_a_workspace_the_first_screen_says_how_to_make_one(run):
    code, out, _err = run()

    assert 0 == code
    assert "breaks init" in out


def test_with_a_break_applied_the_first_screen_leads_back(lab, run):
    run("apply", "skip-unbroadcast")
    assert "breaks revert" in run()[1]

    tensor = lab.root / "minitorch/tensor.py"
    tensor.write_bytes(b"# mine\n" + tensor.read_bytes())
    assert ["skip-unbroadcast"] == document(run("--json"))[1]["applied"]
    run("revert")
    assert "edits of yours" in run()[1]


def test_list_names_every_break_and_marks_the_applied_ones(lab, run):
    code, out, _err = run("list")
    assert 0 == code
    assert set(IDS) <= set(out.split())

    run("apply", IDS[0])
    rows = {row["id"]: row["applied"] for row in document(run("list", "--json"))[1]["breaks"]}
    assert {IDS[0]} == {name for name, applied in rows.items() if applied}
    assert f"● {IDS[0]}\n" in run("list")[1]


def test_list_of_one_family(run):
    found = document(run("list", "--family", "softmax", "--json"))[1]["breaks"]
    assert {"softmax"} == {row["family"] for row in found}

    code, _out, err = run("list", "--family", "sofmax")
    assert 2 == code
    assert "Did you mean softmax?" in err


@pytest.mark.parametrize("name", IDS)
def test_show_has_the_change_and_the_reports_and_spoils_nothing(read_once, run, name):
    brk = CATALOG.get(name)
    code, out, err = run("show", name)
    text = " ".join(out.split())

    assert (0, "") == (code, err)
    assert "\n  - " in out or "\n  + " in out
    assert all(report.url in out for report in brk.provenance)
    for secret in (brk.misconception, brk.explain, *brk.hints):
        assert " ".join(secret["en"].split())[:40] not in text
    shown = document(run("show", name, "--json"))[1]
    assert not {"misconception", "explain", "equivalent", "reason"} & set(shown)
    assert shown["diff"].startswith("--- a/minitorch/")
    assert all(set(report["note"]) == {"en", "es"} for report in shown["provenance"])


def test_show_tells_the_reports_in_the_reader_s_language(read_once, run):
    note = CATALOG.get("skip-unbroadcast").provenance[0].note
    out = run("--lang", "es", "show", "skip-unbroadcast")[1]

    assert note["es"] in " ".join(out.split())
    assert note["en"] not in " ".join(out.split())


def test_hints_come_one_by_one(run):
    name = "skip-unbroadcast"
    hints = [" ".join(hint["en"].split()) for hint in CATALOG.get(name).hints]
    for rungs in (1, 2, 3):
        out = run("show", name, "--hint", rungs)[1]
        text = " ".join(out.split())
        assert [hint in text for hint in hints] == [number < rungs for number in range(3)]
        assert (f"--hint {rungs + 1}" in out) == (rungs < 3)


def test_show_of_a_break_that_does_not_fit_the_edited_library_says_why(lab, run):
    tensor = lab.root / "minitorch/tensor.py"
    tensor.write_bytes(tensor.read_bytes().replace(b"unbroadcast(g, a.shape)", b"fit(g, a)"))
    code, out, _err = run("show", "skip-unbroadcast")

    assert 0 == code
    assert "does not fit" in out


@pytest.mark.parametrize("name", IDS)
def test_a_diff_is_a_patch_that_patch_and_git_can_use(read_once, lab, run, tree, name):
    code, out, _err = run("diff", name)
    assert 0 == code
    run("apply", name)
    broken = tree(lab)
    run("revert")
    subprocess.run(["git", "apply", "-"], input=out.encode(), cwd=lab.root, check=True)

    assert broken == tree(lab)


def test_a_patch_of_a_text_without_a_last_newline_says_so():
    from breaks.difference import unified

    old = {"minitorch": b"", "minitorch.x": b"a\nb"}
    expected = (
        "--- a/minitorch/x.py\n+++ b/minitorch/x.py\n@@ -1,2 +1,2 @@\n a\n"
        "-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"
    )

    assert expected == unified(old, {**old, "minitorch.x": b"a\nc"})


def test_a_diff_is_coloured_only_where_colour_is_wanted(run, monkeypatch):
    assert "\x1b" not in run("diff", "skip-unbroadcast")[1]

    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[32m+" in run("diff", "skip-unbroadcast")[1]


# --- changing -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", IDS)
def test_every_break_goes_in_and_comes_out_to_the_byte(read_once, lab, run, tree, name):
    before = tree(lab)
    code, out, err = run("apply", name)
    assert (0, "") == (code, err)
    assert before != tree(lab)
    assert "breaks revert" in out
    assert name in run("status")[1]

    assert 0 == run("revert")[0]
    assert before == tree(lab)
    assert "none" in run("status")[1]


def test_breaks_that_do_not_overlap_stack_and_come_out_together(read_once, lab, run, tree):
    before, stacked = tree(lab), []
    for name in IDS[::6]:
        code, _out, err = run("apply", name)
        if code == 0:
            stacked.append(name)
        else:
            assert 3 == code
            assert "breaks revert" in err
    assert len(stacked) > 3
    assert stacked == [row["id"] for row in document(run("status", "--json"))[1]["applied"]]

    assert 0 == run("revert", stacked[2], stacked[0])[0]
    assert 0 == run("revert")[0]
    assert before == tree(lab)


def test_commands_find_the_workspace_from_below(lab, run, monkeypatch):
    monkeypatch.chdir(lab.root / "minitorch")

    assert 0 == run("apply", "skip-unbroadcast")[0]
    assert str(lab.root) == document(run("status", "--json"))[1]["workspace"]


REFUSALS = {
    "an unknown break": (["apply", "skip-unbroadcst"], 2, "skip-unbroadcast"),
    "a known and an unknown one": (["apply", IDS[0], "nothing-like-it"], 2, "breaks list"),
    "a break that is not applied": (["revert", "skip-unbroadcast"], 3, "breaks status"),
    "no id": (["apply"], 2, "breaks apply --help"),
    "a hint too high": (["show", "skip-unbroadcast", "--hint", "4"], 2, "from 1 to 3"),
    "an unknown command": (["aply", "x"], 2, "Did you mean apply?"),
    "an unknown option": (["revert", "--kep"], 2, "Did you mean --keep"),
    "an unknown catalogue": (["list", "--catalog", "nowhere"], 2, "nowhere"),
    "a name with capitals": (["new", "My_Break"], 2, "skip-unbroadcast"),
    "an unknown scope": (["check", "--try", "x", "--scope", "Tensor.nope"], 2, "Tensor.nope"),
    "an unknown module": (["check", "--try", "x", "--module", "minitorch.tensr"], 2, "tensor"),
    "a pattern that is no Python": (["check", "--try", "x +"], 2, "x +"),
}


@pytest.mark.parametrize(("line", "code", "words"), REFUSALS.values(), ids=REFUSALS.keys())
def test_a_refusal_has_its_code_its_words_and_changes_nothing(lab, run, tree, line, code, words):
    before = tree(lab)
    found, out, err = run(*line)
    assert (code, "") == (found, out)
    assert words in " ".join(err.split())
    assert "Traceback" not in err
    assert before == tree(lab)

    found, out, _err = run(*line, "--json")
    assert (code, code) == (found, json.loads(out)["error"]["code"])


@pytest.mark.parametrize("line", [["status"], ["apply", "skip-unbroadcast"], ["revert"]])
def test_without_a_workspace_the_way_to_make_one_is_said(run, line):
    code, _out, err = run(*line)

    assert 3 == code
    assert "breaks init" in err


def test_an_edited_break_is_shown_and_kept_on_request(lab, run):
    run("apply", "mean-backward-missing-1-over-n")
    tensor = lab.root / "minitorch/tensor.py"
    broken = document(run("show", "mean-backward-missing-1-over-n", "--json"))[1]["diff"]
    line = next(row[1:] for row in broken.splitlines() if row.startswith("+ "))
    mine = tensor.read_bytes().replace(line.encode(), line.encode() + b"  # mine")
    tensor.write_bytes(mine)

    code, out, err = run("revert")
    assert (3, "") == (code, out)
    assert "# mine" in err
    assert ".breaks/saved/tensor.yours" in err
    assert mine == tensor.read_bytes()
    assert "edited" in run("status")[1]
    assert 0 == run("revert", "mean-backward-missing-1-over-n", "--keep")[0]
    assert mine == tensor.read_bytes()
    assert "none" in run("status")[1]


@pytest.mark.parametrize(
    "line",
    [["list"], ["status"], [], ["show", "skip-unbroadcast"], ["--help"], ["revert"], ["doctor"]],
    ids=lambda line: " ".join(line) or "bare",
)
def test_whichever_command_comes_next_finds_a_stopped_one(lab, run, tree, line):
    before = tree(lab)
    journal.apply(lab, CATALOG.get("skip-unbroadcast"))
    record = journal.load(lab.state)
    changes = record.applied[0].changes
    unfinished = journal.Unfinished("apply", ("skip-unbroadcast",), "t", changes, record.applied)
    (lab.state / "journal.json").write_bytes(transaction.dump(journal.Record((), unfinished)))
    (lab.root / "minitorch/tensor.py").write_bytes(changes[0].before)  # not yet written

    _code, _out, err = run(*line)
    if line != ["--help"]:
        assert "Found a stopped `breaks apply skip-unbroadcast`: it was undone" in " ".join(
            err.split()
        )
        assert journal.load(lab.state).unfinished is None
    assert before == tree(lab)


# --- making -------------------------------------------------------------------------------------


def test_init_makes_a_workspace_and_says_what_comes_next(run, tmp_path):
    code, out, _err = run("init", "mine")

    assert 0 == code
    assert "cd mine && breaks" in out
    assert Workspace.find(tmp_path / "mine").sources()
    assert 3 == run("init", "mine")[0]


def test_new_writes_a_template_that_says_what_is_missing(lab, run):
    code, out, _err = run("new", "my-break")
    assert 0 == code
    assert "breaks check my-break.yaml" in out
    file = Path("my-break.yaml")

    code, found = document(run("check", "my-break.yaml", "--quick", "--json"))
    assert 1 == code
    assert "my-break.yaml:" in found["checked"][0]["findings"][0]["text"]
    assert "found an empty text" in found["checked"][0]["findings"][0]["text"]

    file.write_text(file.read_text().replace('""', '"https://example.org"'))
    assert (0, []) == (
        (result := document(run("check", "my-break.yaml", "--quick", "--json")))[0],
        result[1]["checked"][0]["findings"],
    )


def test_the_template_has_comments_in_the_reader_s_language_and_the_same_keys(lab, run):
    run("new", "my-break")
    run("--lang", "es", "new", "my-break", "--catalog", "es")
    english = Path("my-break.yaml").read_text("utf-8").splitlines()[3:]  # below its own path
    spanish = Path("es/my-break.yaml").read_text("utf-8").splitlines()[3:]

    assert yaml.safe_load("\n".join(english)) == yaml.safe_load("\n".join(spanish))
    assert [line.split("#")[0] for line in english] == [line.split("#")[0] for line in spanish]
    assert "# el nombre de este archivo" in spanish[1]
    assert [] == [line for line in spanish if len(line) > 80]


def pasted(out, run):
    """What the command of the last line answers, typed as it stands there."""
    label, _space, line = out.rstrip().splitlines()[-1].partition(" ")
    assert "next" == label
    return run(*shlex.split(line)[1:])


@pytest.mark.parametrize("folder", [".", "other", "with a space", "deep/er"])
def test_every_hint_of_new_can_be_pasted(lab, run, folder):
    _code, out, _err = run("new", "my-break", "--catalog", folder)
    page = (lab.root / folder / "my-break.yaml").read_text()
    own = next(line for line in page.splitlines() if "breaks check" in line)

    for line in (out, own.replace("#   breaks", "next   breaks")):
        assert 1 == pasted(line.rstrip() + " --quick", run)[0]
    assert [] == [line for line in page.splitlines()[1:] if len(line) > 80]


def test_every_hint_of_show_can_be_pasted(lab, run):
    run("new", "my-break", "--catalog", "with a space")
    file = lab.root / "with a space" / "my-break.yaml"
    file.write_text(file.read_text().replace('""', '"https://example.org"'))
    show = ("show", "my-break", "--catalog", "with a space")

    hint = run(*show, "--hint", "1")[1]
    assert 0 == pasted(hint, run)[0]
    assert 0 == pasted(run(*show)[1], run)[0]
    assert ("my-break",) == journal.status(lab).applied
    assert 0 == pasted(run(*show)[1], run)[0]
    assert () == journal.status(lab).applied


def test_outside_of_a_workspace_show_leads_to_one(run):
    assert 0 == pasted(run("show", "skip-unbroadcast")[1], run)[0]
    assert Workspace.find(Path("my-lab"))


def test_a_break_that_does_not_fit_is_not_offered(lab, run):
    tensor = lab.root / "minitorch/tensor.py"
    tensor.write_bytes(tensor.read_bytes().replace(b"unbroadcast(g, a.shape)", b"fit(g, a)"))

    assert "breaks apply" not in run("show", "skip-unbroadcast")[1]


def test_new_never_overwrites(lab, run):
    Path("my-break.yaml").write_text("mine")

    assert 3 == run("new", "my-break")[0]
    assert "mine" == Path("my-break.yaml").read_text()


@pytest.mark.parametrize(
    "line", [["list"], ["show", "skip-unbroadcast"], ["status"], [], ["check", "skip-unbroadcast"]]
)
def test_a_wrong_configuration_is_heard_of_whatever_the_command(lab, run, line):
    (lab.root / "breaks.toml").write_text('catalogue = ["mine"]')
    code, _out, err = run(*line)

    assert 2 == code
    assert "Did you mean catalog?" in err


def bad_findings(run):
    """What `breaks doctor` wants to be put right."""
    found = document(run("doctor", "--json"))[1]["findings"]
    return [finding for finding in found if finding["health"] == "bad"]


def test_doctor_says_that_the_configuration_is_wrong(lab, run):
    (lab.root / "breaks.toml").write_text('catalogue = ["mine"]')
    code, out, _err = run("doctor")

    assert 0 != code
    assert "catalogue" in out
    (finding,) = bad_findings(run)
    assert "breaks.toml: expected the keys catalog, labs; found 'catalogue'" in finding["seen"]
    assert "Did you mean catalog?" == finding["todo"]


@pytest.mark.parametrize("key", ["catalog", "labs"])
def test_doctor_sees_a_folder_that_is_named_and_not_there(lab, run, key):
    (lab.root / "breaks.toml").write_text(f'{key} = ["mine"]\n')
    (finding,) = bad_findings(run)

    assert "breaks.toml names mine, which is no folder" == finding["seen"]
    assert finding["todo"]
    (lab.root / "mine").mkdir()
    assert [] == bad_findings(run)


def test_doctor_says_in_words_how_an_applied_break_is(lab, run):
    run("apply", "skip-unbroadcast")
    assert "skip-unbroadcast (" not in run("--lang", "es", "doctor")[1]

    file = lab.root / "minitorch/tensor.py"
    file.write_text(file.read_text().replace("a.grad += g\n", "a.grad += g + 0\n", 1))
    assert "skip-unbroadcast (editado después)" in run("--lang", "es", "doctor")[1]


def test_a_catalogue_of_ones_own_is_used_everywhere(lab, run, tree):
    before = tree(lab)
    (lab.root / "breaks.toml").write_text('catalog = ["mine"]\n')
    (lab.root / "mine").mkdir()
    run("new", "my-break")
    file = lab.root / "mine" / "my-break.yaml"
    file.write_text(file.read_text().replace('""', '"https://example.org"'))

    assert "my-break" in run("list")[1]
    assert 0 == run("apply", "my-break")[0]
    assert 0 == run("revert", "my-break")[0]
    after = tree(lab)
    assert {n for n in before if n != "breaks.toml"} == {
        n for n in after if n not in ("breaks.toml", "mine/my-break.yaml") and before[n] == after[n]
    }


def test_a_folder_of_breaks_can_be_named_on_the_line(lab, run):
    (lab.root / "other").mkdir()
    run("new", "my-break", "--catalog", "other")
    file = lab.root / "other" / "my-break.yaml"
    file.write_text(file.read_text().replace('""', '"https://example.org"'))

    assert "my-break" not in run("list")[1]
    assert "my-break" in run("list", "--catalog", "other")[1]
    assert 0 == run("show", "my-break", "--catalog", "other")[0]


def test_check_of_the_catalogue_finds_nothing(run):
    code, found = document(run("check", "--quick", "--json"))

    assert (0, True) == (code, found["fit"])
    assert set(IDS) == {row["break"] for row in found["checked"]}
    assert "fit" in run("check", "--quick")[1]


def test_check_says_what_is_wrong_and_exits_with_1(lab, run):
    Path("bad.yaml").write_text("id: bad\nfamly: softmax\n")
    code, out, _err = run("check", "bad.yaml", "--quick")

    assert 1 == code
    assert "bad.yaml:" in out
    assert "schema" in out


def test_check_asks_the_detectors_where_there_are_any(run, monkeypatch):
    from breaks import authoring

    monkeypatch.setattr(
        authoring, "observer", lambda: lambda breaks, _s: {b.id: ["gradcheck in x"] for b in breaks}
    )
    found = document(run("check", "skip-unbroadcast", "--json"))[1]["checked"][0]
    assert ["gradcheck in x"] == found["seen"]

    monkeypatch.setattr(authoring, "observer", lambda: lambda breaks, _sources: {})
    code, found = document(run("check", "skip-unbroadcast", "--json"))
    assert (1, "live") == (code, found["checked"][0]["findings"][0]["point"])


def test_try_shows_what_a_pattern_matches(run):
    line = ["check", "--try", "unbroadcast($G, $S)", "--scope", "Tensor.__add__"]
    code, found = document(run(*line, "--json"))
    assert (0, 2) == (code, len(found["matches"]))
    assert "matches: 2" in run(*line)[1]

    assert 1 == run("check", "--try", "nothing_like_it($G)")[0]


def test_doctor_finds_nothing_wrong_here_and_names_the_versions(lab, run):
    code, out, _err = run("doctor")

    assert 0 == code
    for word in ("python", "numpy", "scipy", "hypothesis", "workspace", "utf-8", "catalogue"):
        assert word in out.lower()


def test_doctor_says_what_to_put_right_and_exits_with_4(lab, run, monkeypatch):
    from importlib import metadata

    real = metadata.version

    def version(name):
        if name == "rich":
            raise metadata.PackageNotFoundError
        return "1.0" if name == "numpy" else real(name)

    monkeypatch.setattr(metadata, "version", version)
    (lab.root / "minitorch/tensor.py").chmod(0o444)
    code, out, _err = run("doctor")
    assert 4 == code
    assert "pip install 'rich'" in out
    assert "pip install 'numpy>=2.0'" in out
    assert "chmod u+w" in out

    assert {"rich", "numpy", "access"} == {finding["part"] for finding in bad_findings(run)}


def test_doctor_works_on_a_damaged_workspace(lab, run):
    lab.state.mkdir(exist_ok=True)
    (lab.state / "journal.json").write_text("{")
    code, out, _err = run("doctor")

    assert 4 == code
    assert "journal" in out


# --- for everybody ------------------------------------------------------------------------------

COMMANDS = list(module.cli.commands)
DAY = [
    [],
    ["list"],
    ["show", "skip-unbroadcast"],
    ["show", "softmax-backward-missing-sum-term", "--hint", "2"],
    ["apply", "skip-unbroadcast", "mean-backward-missing-1-over-n"],
    ["status"],
    ["list"],
    [],
    ["apply", "skip-unbroadcast"],
    ["revert", "skip-unbroadcast"],
    ["revert"],
    ["revert"],
    ["status"],
    ["check", "--quick"],
    ["check", "--try", "unbroadcast($G, $S)", "--scope", "Tensor.__add__"],
    ["new", "my-break"],
    ["check", "my-break.yaml", "--quick"],
    ["doctor"],
    ["completion", "fish"],
    ["aply"],
    ["show", "skip"],
    ["--help"],
    *([name, "--help"] for name in COMMANDS),
]


class Pseudo:
    """A language in which every sentence is a third longer than in English."""

    def gettext(self, message):
        words = message.split(" ")
        return " ".join([*words, *("ñandú" for _word in words[::3])])

    def ngettext(self, one, many, n):
        return self.gettext(one if n == 1 else many)


def readable(text):
    """Lines that somebody has to read: not what is to be pasted or clicked as it is."""
    return [
        line
        for line in text.splitlines()
        if "https://" not in line and not line.startswith(("    ./", "eval", "_BREAKS"))
    ]


@pytest.mark.parametrize("language", ["en", "es", "pseudo"])
def test_every_screen_of_a_day_fits_80_columns(lab, run, monkeypatch, language):
    if language == "pseudo":
        monkeypatch.setattr(i18n, "catalogue", Pseudo)
    extra = [] if language == "pseudo" else ["--lang", language]
    for line in DAY:
        code, out, err = run(*line, *extra)
        assert code in (0, 1, 2, 3)
        assert "Traceback" not in err
        wide = [row for row in readable(out + err) if cells(row) > 80]
        assert [] == wide, line


@pytest.mark.parametrize("line", DAY[:-1], ids=lambda line: " ".join(line) or "bare")
def test_every_command_answers_with_exactly_one_document(lab, run, line):
    _code, out, _err = run(*line, "--json")

    assert json.loads(out) is not None


def test_documents_are_the_same_in_both_languages(lab, run):
    for line in (["list"], ["status"], ["show", "skp"], ["aply"], ["list", "--help"], ["new", "A"]):
        assert run(*line, "--json", "--lang", "en") == run(*line, "--json", "--lang", "es")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_examples_that_use_it(name):
    command = module.cli.commands[name]

    assert command.examples
    assert all(f"breaks {name}" in line for line, _text in command.examples)
    for line, _text in command.examples:
        named = [word for word in line.split() if word.startswith(("skip-", "mean-", "cat-"))]
        assert set(named) <= set(IDS)


def test_every_sentence_of_help_is_marked_for_translation():
    source = inspect.getsource(module)

    assert not re.findall(r'help="', source)


def test_ascii_terminals_get_ascii(lab):
    env = {**os.environ, "PYTHONIOENCODING": "ascii", "NO_COLOR": "1"}
    for line in (["list"], ["--help"], ["doctor"], ["apply", "skip-unbroadcast"], ["list"]):
        done = subprocess.run([BREAKS, *line], env=env, capture_output=True, check=True)
        done.stdout.decode("ascii")


# --- started for real ---------------------------------------------------------------------------


def test_a_reader_that_leaves_early_is_no_error(lab):
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {BREAKS} show skip-unbroadcast | head -n 1"],
        capture_output=True,
        text=True,
    )

    assert (0, "") == (done.returncode, done.stderr)


HEAVY = ["numpy", "scipy", "torch", "hypothesis", "rich", "jsonschema", "minitorch"]


@pytest.mark.parametrize("line", [["list"], [], ["status"], ["show", "skip-unbroadcast"]])
def test_light_commands_import_nothing_heavy(lab, line):
    code = (
        "import sys; from breaks.cli import cli; cli.run(sys.argv[1:]);"
        f"print([m for m in {HEAVY} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *line], capture_output=True, text=True, check=True
    )

    assert "[]" == done.stderr.strip()


def complete(shell, *words):
    """What a shell is offered for the last of the words."""
    env = {
        **os.environ,
        "_BREAKS_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": " ".join(words),
        "COMP_CWORD": words[-1] if shell == "fish" else str(len(words) - 1),
    }
    return subprocess.run([BREAKS], env=env, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize("command", ["show", "apply", "diff", "check"])
def test_ids_are_completed_in_every_shell(lab, shell, command):
    offered = complete(shell, "breaks", command, "skip-")

    assert "skip-unbroadcast" in offered
    assert "mean-" not in offered


def test_revert_completes_what_is_applied(lab, run):
    assert "skip" not in complete("bash", "breaks", "revert", "s")
    run("apply", "skip-unbroadcast")

    assert "plain,skip-unbroadcast\n" == complete("bash", "breaks", "revert", "s")


def test_commands_and_options_are_completed(lab):
    assert "plain,apply\n" == complete("bash", "breaks", "ap")
    assert "plain,--keep\n" == complete("bash", "breaks", "revert", "--k")


def test_the_line_of_completion_works_in_bash(lab):
    script = (
        f"PATH={Path(BREAKS).parent}:$PATH\n"
        'eval "$(breaks completion bash)"\n'
        "COMP_WORDS=(breaks apply skip-unbroadcast-in) COMP_CWORD=2\n"
        '_breaks_completion breaks && echo "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)

    assert "skip-unbroadcast-in-mul\n" == done.stdout


@pytest.mark.parametrize(
    ("package", "command", "key"), [("breaks", "status", "applied"), ("grader", "labs", "labs")]
)
def test_python_minus_m_is_the_same_command(lab, package, command, key):
    line = [sys.executable, "-m", package, command, "--json"]
    done = subprocess.run(line, capture_output=True, text=True, check=True)

    assert key in json.loads(done.stdout)


@pytest.mark.parametrize("package", ["breaks", "grader"])
def test_ctrl_c_while_modules_are_loaded_shows_no_traceback(lab, package):
    code = (
        "import builtins, os, signal; real = builtins.__import__\n"
        "def load(name, *rest):\n"
        "    if name == 'click': os.kill(os.getpid(), signal.SIGINT)\n"
        "    return real(name, *rest)\n"
        f"from {package}.__main__ import main; builtins.__import__ = load; main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert (130, "") == (done.returncode, done.stderr)


def test_a_reader_that_left_before_an_error_hears_nothing_and_the_code_says_it(lab):
    script = f"set -o pipefail; {BREAKS} show skip-x %s | head -c 0; echo $?"
    for streams in ("--json", "2>&1", "--json 2>&1"):
        line = ["bash", "-c", script % streams]
        done = subprocess.run(line, capture_output=True, text=True)

        assert "2\n" == done.stdout
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("more", [[], ["--json"]], ids=["text", "JSON"])
def test_a_full_disk_under_stdout_is_said(lab, more):
    with open("/dev/full", "w") as full:
        line = [BREAKS, "list", *more]
        done = subprocess.run(line, stdout=full, stderr=subprocess.PIPE, text=True)

    assert 4 == done.returncode
    assert "is done" in done.stderr
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_copy_that_was_edited_where_the_break_belongs_is_a_precondition(lab, run):
    tensor = lab.root / "minitorch/tensor.py"
    tensor.write_bytes(tensor.read_bytes().replace(b"unbroadcast(g, a.shape)", b"fit(g, a)"))
    mine = tensor.read_bytes()

    assert 3 == run("apply", "skip-unbroadcast")[0]
    tensor.write_bytes(mine + b"def half(:\n")
    assert 3 == run("apply", "skip-unbroadcast")[0]
    assert mine + b"def half(:\n" == tensor.read_bytes()


def test_a_break_leaves_a_file_that_is_no_python_at_the_moment(lab, run):
    tensor = lab.root / "minitorch/tensor.py"
    before = tensor.read_bytes()
    run("apply", "skip-unbroadcast")
    tensor.write_bytes(tensor.read_bytes() + b"def half(:\n")

    assert 0 == run("revert")[0]
    assert before + b"def half(:\n" == tensor.read_bytes()
