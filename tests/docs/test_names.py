"""What a page only mentions exists too: commands, options, make targets, files it links to."""

import functools
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.page import Page, pages
from tests.docs.session import environment_of
from tests.tree import ROOT

SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.*)$", re.MULTILINE)
TOOLS = ("breaks", "grader", "make")
on_every_page = pytest.mark.parametrize(
    "path", pages(ROOT), ids=lambda path: path.relative_to(ROOT).as_posix()
)


def commands(page: Page) -> Iterator[list[str]]:
    """The words of each breaks, grader or make command in a `sh` block or between backticks."""
    lines = [line for block in page.blocks() if block.kind == "sh" for line in block.lines]
    for text in [*lines, *SPAN.findall(prose(page))]:
        for part in re.split(r"&&|\|\|?|;|#", text):
            words = split(part)
            while words and re.match(r"\w+=", words[0]):
                words.pop(0)
            if words and words[0] in TOOLS:
                yield words


def split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # a quote or bracket of prose
        return text.split()


def prose(page: Page) -> str:
    """The page without its blocks."""
    lines = page.lines
    for block in page.blocks():
        lines[block.start - 1 : block.start + len(block.lines) + 1] = [""] * (len(block.lines) + 2)
    return "\n".join(lines)


@functools.cache
def help_of(*command: str) -> str | None:
    """What `command --help` prints, None if there is no such command."""
    environment = environment_of(Page("docs/x.md", ""), ROOT, ROOT)
    finished = subprocess.run(
        [
            sys.executable,
            "-c",
            f"from {command[0]}.cli import main; main()",
            *command[1:],
            "--help",
        ],
        env=environment,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    return finished.stdout if finished.returncode == 0 else None


@functools.cache
def targets() -> set[str]:
    """The targets of the Makefile."""
    return set(re.findall(r"^([\w-]+):(?!=)", (ROOT / "Makefile").read_text(), re.MULTILINE))


def unknown(words: list[str]) -> list[str]:
    """The words of a command that name nothing."""
    tool, *rest = words
    if tool == "make":
        return [word for word in rest if "=" not in word and word not in targets()]
    named = [word for word in rest if re.fullmatch(r"[a-z][a-z-]*", word)][:1]
    if rest and rest[0] not in named and not rest[0].startswith("-"):
        named = []  # `breaks …`: a placeholder
    text = help_of(tool, *named)
    if text is None:
        return named
    options = [word.split("=")[0] for word in rest if re.match(r"--\w", word)]
    return [one for one in options if not re.search(rf"(?<![\w-]){one}(?![\w-])", text)]


@on_every_page
def test_every_command_that_a_page_mentions_exists(path):
    page = Page.read(path, ROOT)

    assert [] == [(" ".join(c), bad) for c in commands(page) if (bad := unknown(c))]


def broken_links(page: Page, root: Path = ROOT) -> list[str]:
    """Relative links of a page to files that do not exist, and to headings that are not there."""
    bad = []
    for link in LINK.findall(prose(page)):
        name, _, anchor = link.partition("#")
        if re.match(r"\w+:", link):
            continue
        target = (root / page.name).parent / name
        text = target.read_text("utf-8") if name and target.is_file() else page.text
        if not target.exists() or (anchor and anchor not in anchors(text)):
            bad.append(link)
    return bad


def anchors(text: str) -> set[str]:
    """The names under which GitHub makes headings reachable."""
    headings = HEADING.findall(text)
    return {re.sub(r"[^\w\- ]", "", h.lower()).strip().replace(" ", "-") for h in headings}


@on_every_page
def test_every_link_of_a_page_leads_somewhere(path):
    assert [] == broken_links(Page.read(path, ROOT))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("`make nothing`", ["nothing"]),
        ("```sh\nmake demo && make nothing TORCH=1\n```", ["nothing"]),
        ("```sh\n# a comment\nLANG=es breaks destroy x\n```", ["destroy"]),
        ("Type `grader guess lab02`.", ["guess"]),
        ("`breaks list --backwards`", ["--backwards"]),
    ],
)
def test_a_command_that_does_not_exist_is_found(text, words):
    found = [word for c in commands(Page("docs/x.md", text)) for word in unknown(c)]

    assert words == found


def test_what_is_right_is_not_complained_about():
    text = "`make test`, `breaks`, `breaks list --json`, `breaks ID`, `grader.cli`, a `make`"

    assert [] == [word for c in commands(Page("docs/x.md", text)) for word in unknown(c)]


@pytest.mark.parametrize(
    "link", ["nothing.md", "#nothing", "../README.md#nothing", "adr/nothing.md"]
)
def test_a_link_that_leads_nowhere_is_found(link):
    assert [link] == broken_links(Page("docs/x.md", f"# Here\n\nSee [it]({link})."))


@pytest.mark.parametrize("link", ["../README.md", "#here", "https://example.org/x", "../docs"])
def test_a_link_that_leads_somewhere_is_fine(link):
    assert [] == broken_links(Page("docs/x.md", f"# Here\n\nSee [it]({link})."))
