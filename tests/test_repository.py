"""What is in the repository can be installed, read and run anywhere, by anybody."""

import ast
import gettext
import io
import re
import subprocess
import sys
import zipfile

import pytest
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from tests.tree import ROOT, files

PACKAGES = ("minitorch", "breaks", "labs", "grader")
# Each word is cut in two, so that this file does not find itself.
MACHINE = re.compile(
    r"(^|[^A-Za-z0-9_.])/(wo"
    r"rk|far"
    r"m|ro"
    r"ot|Use"
    r"rs|opt/whe"
    r"els)/|/ho"
    r"me/(?!you\b)",
    re.MULTILINE,
)
OPEN = re.compile(
    r"\b(TO" r"DO|FIX" r"ME|XX" r"X|NotImplemented" r"Error)\b"
    r"|pytest\.mark\.(sk" r"ip|xfa" r"il)|pytest\.(sk" r"ip|xfa" r"il|importor" r"skip)\("
    r"|unittest\.sk" r"ip|@sk" r"ip"
)  # fmt: skip
TEXTS = [name for name in files() if b"\0" not in (ROOT / name).read_bytes()[:4096]]
MODULES = [name for name in TEXTS if name.endswith(".py")]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def lines_with(pattern: re.Pattern[str], source: str) -> list[str]:
    """The lines in which the pattern is found."""
    return [line for line in source.splitlines() if pattern.search(line)]


def starts_with_its_idea(source: str) -> bool:
    """Whether the first line of a module is a docstring that says something."""
    opened = re.match(r'[rR]?"""\S', source)
    return bool(opened and ast.get_docstring(ast.parse(source)))


def test_no_file_names_a_path_of_one_machine():
    found = {name: lines for name in TEXTS if (lines := lines_with(MACHINE, text(name)))}

    assert {} == found


def test_nothing_is_left_open_in_the_code_and_no_test_is_skipped():
    found = {name: lines for name in MODULES if (lines := lines_with(OPEN, text(name)))}

    assert {} == found


def test_the_first_line_of_each_module_says_its_idea():
    assert [] == [name for name in MODULES if not starts_with_its_idea(text(name))]


def test_every_data_file_is_in_the_wheel_to_the_byte(tmp_path):
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (path,) = tmp_path.glob("breaklabs-*.whl")
    with zipfile.ZipFile(path) as wheel:
        packed = {name: wheel.read(name) for name in wheel.namelist()}
    ours = [name for name in files() if name.split("/")[0] in PACKAGES]

    assert [] == [name for name in ours if packed.get(name) != (ROOT / name).read_bytes()]
    assert {"yaml", "json", "md", "mo", "py"} <= {name.rpartition(".")[2] for name in ours}
    assert set() == {name.split("/")[0] for name in packed if ".dist-info/" not in name} - {
        *PACKAGES
    }


def messages(compiled: bytes) -> dict:
    """What a compiled catalogue says."""
    return vars(gettext.GNUTranslations(io.BytesIO(compiled)))["_catalog"]


def compiled(po: bytes) -> bytes:
    """The `.po` file as Babel compiles it."""
    out = io.BytesIO()
    write_mo(out, read_po(io.BytesIO(po)))
    return out.getvalue()


def test_the_compiled_translations_are_those_of_the_po_file():
    folder = ROOT / "breaks" / "locale" / "es" / "LC_MESSAGES"
    po, mo = (folder / f"breaklabs.{kind}" for kind in ("po", "mo"))

    assert messages(compiled(po.read_bytes())) == messages(mo.read_bytes())


def ci_commands(script: str) -> list[str]:
    """What `.ci/run` runs, beside its set-up."""
    lines = [line for line in script.splitlines() if line and not line.startswith("#")]
    return [line for line in lines if not line.startswith(("set ", "cd "))]


def test_ci_runs_the_test_commands_of_the_readme_and_nothing_else():
    section = text("README.md").partition("\n## Tests\n")[2]
    documented = re.search(r"```sh\n(.*?)\n```", section, re.DOTALL)

    assert documented
    assert documented[1].splitlines() == ci_commands(text(".ci/run"))


# ---------------------------------------------------------------- each check, fed a violation


@pytest.mark.parametrize(
    "line",
    ["see /wo" "rk/main", '"/ro' 'ot/x"', "/ho" "me/ana/breaklabs", "in /Use" "rs/ana"],
)  # fmt: skip
def test_a_path_of_a_machine_is_found(line):
    assert [line] == lines_with(MACHINE, f"fine\n{line}\n")


@pytest.mark.parametrize("line", ["/home/you/breaklabs", "network/x", "/tmp", "my/work/", "root/x"])
def test_other_paths_are_fine(line):
    assert [] == lines_with(MACHINE, line)


@pytest.mark.parametrize(
    "line",
    ["# TO" "DO: later", "@pytest.mark.sk" "ip", "@pytest.mark.xfa" "il(strict=True)",
     "raise NotImplemented" "Error", "torch = pytest.importor" "skip('torch')"],
)  # fmt: skip
def test_what_is_left_open_is_found(line):
    assert [line] == lines_with(OPEN, line)


@pytest.mark.parametrize("source", ["", "import os\n", '# A comment\n"""Late."""\n', '""" """\n'])
def test_a_module_without_an_idea_is_found(source):
    assert not starts_with_its_idea(source)


def test_a_translation_that_was_not_compiled_is_found():
    old, new = (compiled(f'msgid "a"\nmsgstr "{text}"\n'.encode()) for text in ("á", "à"))

    assert messages(old) != messages(new)


def test_a_second_command_in_ci_is_found():
    assert ["make test", "make deploy"] == ci_commands("#!/bin/sh\nset -eu\nmake test\nmake deploy")
