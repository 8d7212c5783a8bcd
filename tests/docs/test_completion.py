"""The Tab key, as the manual describes it: both tools in bash, zsh and fish."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.page import Page
from tests.docs.session import environment_of

BIN = Path(sys.executable).parent
SHELLS = ["bash", "zsh", "fish"]
ASKED = {
    "a command": ("grader pre", "predict"),
    "a lab": ("grader predict lab0", "lab02"),
    "the variant of a lab": ("grader check lab02.", "lab02.b"),
    "a break": ("breaks show skip-", "skip-unbroadcast"),
    "a break of an option": ("grader matrix --break skip-", "skip-unbroadcast"),
    "an option": ("grader check lab02 --no-p", "--no-predict"),
    "a family": ("breaks list --family broad", "broadcasting"),
    "a language": ("breaks --lang e", "es"),
}


def ask(line: str, shell: str, folder: Path) -> str:
    """What a tool answers to the completion function of a shell, the last word begun."""
    tool, words = line.split()[0], line.split(" ")
    environment = environment_of(Page("docs/x.md", ""), folder, folder) | {
        f"_{tool.upper()}_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": words[-1] if shell == "fish" else str(len(words) - 1),
    }
    return subprocess.run(
        [BIN / tool], cwd=folder, env=environment, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(("line", "wanted"), ASKED.values(), ids=ASKED)
def test_what_was_begun_is_completed(tmp_path, shell, line, wanted):
    answers = [piece for row in ask(line, shell, tmp_path).split("\n") for piece in row.split(",")]

    assert wanted in [answer.split("\t")[0] for answer in answers]


@pytest.mark.parametrize("shell", SHELLS)
def test_only_the_breaks_of_the_lab_are_offered_beside_it(tmp_path, shell):
    answers = ask("grader check lab02 --break ", shell, tmp_path)

    assert "skip-unbroadcast" in answers
    assert "grad-assign-not-accumulate" not in answers


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    "line",
    [
        "grader predict lab02 --from p",
        "grader check lab02 --watch p",
        "grader report lab02 -o p",
        "grader train --all --html p",
        "grader matrix --html p",
        "grader progress --export p",
        "breaks list --catalog p",
        "breaks check p",
    ],
)
def test_where_a_file_or_a_folder_is_named_the_shell_completes_paths(tmp_path, shell, line):
    answers = re.split("[,\n]", ask(line, shell, tmp_path))

    assert {"file", "dir"} & set(answers)


@pytest.mark.parametrize("shell", SHELLS)
def test_what_does_not_exist_is_not_offered(tmp_path, shell):
    assert "" == ask("grader predict xyz", shell, tmp_path).strip()


@pytest.mark.parametrize(("line", "wanted"), ASKED.values(), ids=ASKED)
def test_the_lines_of_the_manual_work_in_bash(tmp_path, line, wanted):
    tool, words = line.split()[0], line.split(" ")
    script = (
        f'eval "$({tool} completion bash)"\n'
        f"COMP_WORDS=({line}) COMP_CWORD={len(words) - 1}\n"
        f'_{tool}_completion {tool} && printf "%s\\n" "${{COMPREPLY[@]}}"\n'
    )
    finished = subprocess.run(
        ["bash", "--norc", "-c", script],
        cwd=tmp_path,
        env=environment_of(Page("docs/x.md", ""), tmp_path, tmp_path),
        capture_output=True,
        text=True,
    )

    assert wanted in finished.stdout.split(), finished.stderr
