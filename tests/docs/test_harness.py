"""The harness that runs the pages is fed pages that lie, and must object."""

import pytest

from tests.docs import session
from tests.docs.__main__ import regenerated
from tests.docs.compare import shows, updated
from tests.docs.page import Page, PageError
from tests.docs.test_pages import failures


def page(text: str, name: str = "docs/page.md", place: str = "empty") -> Page:
    return Page(name, f"<!-- runs-in: {place} -->\n\n{text}\n")


def console(*lines: str, **options: str) -> Page:
    return page("\n".join(["```console", *lines, "```"]), **options)


def pycon(*lines: str) -> Page:
    return page("\n".join(["```pycon", *lines, "```"]))


def raised(error: str) -> list[str]:
    return ["Traceback (most recent call last):", "  ...", error]


TRUE_PAGES = {
    "one line": console("$ echo 3", "3"),
    "no output": console("$ true"),
    "several commands, one shell": console("$ x=4; cd /", "$ echo $x; pwd", "4", "/"),
    "a failure is shown": console("$ sh -c 'echo no; exit 3'", "no", "(exit 3)"),
    "errors are shown in their place": console("$ echo a; echo b >&2; echo c", "a", "b", "c"),
    "no input": console("$ wc -c", "0"),
    "a line without an end": console("$ printf a", "a"),
    "a continued command": console("$ cat <<END", "> two", "> lines", "> END", "two", "lines"),
    "an elision": console("$ seq 100", "1", "2", "…", "100"),
    "an elision of nothing": console("$ seq 2", "1", "…", "2"),
    "two elisions": console("$ seq 100", "…", "7", "8", "…"),
    "durations": console("$ echo 'took 2.1 s,   33 ms'", "took 99 s, 0.1 ms"),
    "durations as pytest writes them": console("$ echo in 62.73s '(0:01:02)'", "in 0.18s"),
    "the day": console("$ date +'on %F'", "on 2020-01-01"),
    "a folder of this run": console("$ pwd; echo $TMPDIR/x", "/home/you/workspace", "/tmp/x"),
    "80 columns": console(
        "$ python -c 'import shutil; print(shutil.get_terminal_size().columns)'", "80"
    ),
    "Python": pycon(">>> x = 2", ">>> x + 1", "3"),
    "an exception": pycon(">>> 1 / 0", *raised("ZeroDivisionError: division by zero")),
    "a blank line": pycon(r">>> print('a\n\nb')", "a", "<BLANKLINE>", "b"),
    "the last digit of a float": pycon(">>> 0.1 + 0.2", "0.30000000000000010"),
    "both in one workspace": page(
        "```console\n$ echo 'x = 5' > mine.py\n```\n\n```pycon\n>>> import mine; mine.x\n5\n```"
    ),
    "an indented block": page("- so:\n\n  ```console\n  $ seq 2\n  1\n  2\n  ```\n"),
}  # fmt: skip

LYING_PAGES = {
    "a wrong number": console("$ echo 3", "4"),
    "a missing line": console("$ seq 3", "1", "3"),
    "a line too many": console("$ seq 2", "1", "2", "3"),
    "no line at all": console("$ echo 3"),
    "a success shown as a failure": console("$ echo a", "a", "(exit 3)"),
    "a failure shown as a success": console("$ sh -c 'exit 3'"),
    "another exit code": console("$ sh -c 'exit 3'", "(exit 2)"),
    "a failure behind an elision": console("$ sh -c 'seq 9; exit 3'", "1", "…"),
    "a line that is not there, after an elision": console("$ seq 9", "1", "…", "7", "9"),
    "lines in another order": console("$ seq 9", "…", "5", "…", "4", "…"),
    "one line for two ends": console("$ seq 1", "1", "…", "1"),
    "space at the end of a line": console("$ echo 'a '", "a"),
    "an indented elision is text": console("$ seq 9", " …"),
    "a number that looks like a duration": console("$ echo 2.1 steps", "2.2 steps"),
    "a day that is not today's": console("$ echo 2020-01-01", "2020-01-02"),
    "today and a lie": console("$ date +'%F yes'", "2020-01-01 no"),
    "a command that does not exist": console("$ breaks-nothing", "fine"),
    "a wrong value": pycon(">>> 1 + 1", "3"),
    "a rounded float": pycon(">>> 0.5 + 0.25", "0.8"),
    "a float that is shown in full and wrong": pycon(">>> 0.1 + 0.2", "0.30000000100000004"),
    "an exception of another kind": pycon(">>> 1 / 0", *raised("ValueError: division by zero")),
    "an exception that is not raised": pycon(">>> 1 / 1", *raised("ValueError: no")),
    "an exception that is not shown": pycon(">>> 1 / 0"),
}  # fmt: skip


@pytest.mark.parametrize("name", TRUE_PAGES)
def test_a_true_page_passes_and_stays_as_it_is(name):
    assert failures(TRUE_PAGES[name]) == []
    assert regenerated(TRUE_PAGES[name]).text == TRUE_PAGES[name].text


@pytest.mark.parametrize("name", LYING_PAGES)
def test_a_lie_is_found_and_make_docs_mends_it(name):
    assert len(failures(LYING_PAGES[name])) == 1

    mended = regenerated(LYING_PAGES[name])
    assert failures(mended) == []
    assert [e.source for e in mended.examples()] == [e.source for e in LYING_PAGES[name].examples()]


def test_a_failure_names_the_line_and_shows_both():
    (text,) = failures(console("$ echo 3", "4"))

    assert "docs/page.md:4: echo 3" in text
    assert "-4" in text
    assert "+3" in text


@pytest.mark.parametrize(
    "lines",
    [["echo 3", "3"], []],
    ids=["a console block without a prompt", "an empty console block"],
)
def test_a_block_that_would_run_nothing_is_an_error(lines):
    with pytest.raises(PageError, match=r"docs/page\.md:4"):
        console(*lines).examples()


def test_a_block_that_is_never_closed_is_an_error():
    with pytest.raises(PageError, match="never closed"):
        page("```console\n$ echo 3\n").examples()


def test_a_page_that_runs_nowhere_is_an_error():
    with pytest.raises(PageError, match="runs-in is one of"):
        failures(console("$ echo 3", "3", place="the-moon"))


def test_output_that_looks_like_a_command_cannot_be_shown():
    with pytest.raises(PageError, match="starts a command"):
        regenerated(console("$ echo '$ echo 3'"))


def test_a_command_that_never_ends_is_stopped(monkeypatch):
    monkeypatch.setattr(session, "LIMIT", 0.3)

    with pytest.raises(session.SessionError, match="took over"):
        failures(console("$ sleep 60"))


def test_a_page_speaks_the_language_of_its_name():
    line = "```console\n$ echo $LANGUAGE\n"

    assert failures(page(f"{line}en\n```", "docs/a.md")) == []
    assert failures(page(f"{line}es\n```", "docs/a.es.md")) == []


def test_a_page_that_runs_in_a_clone_has_a_clean_copy_of_the_repository():
    new = regenerated(console("$ pwd; ls Makefile; git status --short", place="clone")).examples()[
        0
    ]

    assert new.shown == ("/home/you/breaklabs", "Makefile")


def test_a_page_in_a_workspace_has_a_library_and_no_repository():
    new = regenerated(console("$ ls minitorch/tensor.py .git", place="workspace")).examples()[0]

    assert "minitorch/tensor.py" in new.shown
    assert "(exit 2)" in new.shown


ELISIONS = [
    (["1", "…", "9"], ["1", "2", "9"], ["1", "…", "9"]),
    (["1", "…", "8"], ["1", "2", "9"], ["1", "…", "9"]),
    (["0", "…", "9"], ["1", "2", "9"], ["1", "…", "9"]),
    (["a", "b", "…"], ["a", "c", "d", "e"], ["a", "c", "…"]),
    (["…", "a", "b"], ["x", "y", "c", "b"], ["…", "c", "b"]),
    (["a", "…", "b", "(exit 1)"], ["a", "x", "b", "(exit 2)"], ["a", "…", "b", "(exit 2)"]),
    (["a", "…", "b"], ["z"], ["z"]),
    (["a", "b"], ["a", "c"], ["a", "c"]),
]


@pytest.mark.parametrize(("shown", "printed", "expected"), ELISIONS)
def test_elisions_are_kept_where_they_still_fit(shown, printed, expected):
    assert expected == updated(shown, printed)
    assert shows(expected, printed)
