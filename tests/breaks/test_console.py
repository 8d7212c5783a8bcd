"""What both command lines show: to people, to programs, on poor terminals, in two languages."""

import io
import json
import os
import signal
import sys

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from breaks import console, i18n, terminal
from breaks.command import N_
from breaks.errors import BreaksError, Exit
from breaks.layout import cells, table, wrap


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LANGUAGE", "LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("TERM", "xterm")
    yield
    i18n.use(None)


@pytest.fixture
def cli():
    """A small command line with every kind of parameter and every kind of end."""
    group = console.Cli("kit", version="1.2", help=N_("A kit."), examples=[("kit", N_("hello"))])

    @group.root
    def home():
        return console.Reply({"home": True}, "at home")

    @group.command(
        help=N_("Greet somebody.\n\nAs often as wanted."), examples=[("kit greet a", "x")]
    )
    @click.argument("name")
    @click.option("--times", type=click.IntRange(1, 3), default=1, help=N_("How often."))
    @click.option("--tone", type=click.Choice(["warm", "cold"]), help=N_("How."))
    def greet(name, times, tone):
        return console.Reply({"hello": name}, lambda: " ".join([f"hello {name}"] * times))

    @group.command()
    def refuse():
        raise BreaksError("a fish", "a stone", "Look again.", code=Exit.PRECONDITION, where="sea:3")

    @group.command()
    def find():
        return console.Reply([], "one finding", code=Exit.FINDING)

    @group.command()
    @click.argument("how")
    def fail(how):
        raise {
            "bug": ZeroDivisionError("oops"),
            "disk": OSError(28, "No space left on device", "some/file"),
            "ctrl-c": KeyboardInterrupt(),
            "eof": EOFError(),
        }[how]

    @group.command()
    def term():
        os.kill(os.getpid(), signal.SIGTERM)
        signal.pause()

    @group.command()
    def chatty():
        console.out("a line")
        console.say("a message")
        return console.Reply({"chat": 1}, "the end")

    console.completion(group)
    return group


@pytest.fixture
def run(cli, capsys):
    def go(*line):
        code = cli.run(list(line))
        out, err = capsys.readouterr()
        return code, out, err

    return go


def test_a_reply_is_text_for_a_person_and_one_document_for_a_program(run):

    assert (0, "hello Ada hello Ada\n", "") == run("greet", "Ada", "--times", "2")
    code, out, err = run("greet", "Ada", "--json")
    assert (0, {"hello": "Ada"}, "") == (code, json.loads(out), err)
    assert {"hello": "Ada"} == json.loads(run("--json", "greet", "Ada")[1])


def test_without_a_command_the_root_answers(run):

    assert (0, "at home\n", "") == run()
    assert {"home": True} == json.loads(run("--json")[1])


def test_a_finding_is_exit_code_1(run):

    assert 1 == run("find")[0]


def test_in_json_mode_nothing_else_reaches_stdout(run):
    code, out, err = run("chatty", "--json")

    assert (0, {"chat": 1}, "a message\n") == (code, json.loads(out), err)
    assert "a line\nthe end\n" == run("chatty")[1]


MISTAKES = {
    "unknown command": (["gret", "Ada"], 2, "Did you mean greet?"),
    "unknown option": (["greet", "Ada", "--tims", "2"], 2, "Did you mean --times?"),
    "no argument": (["greet"], 2, "NAME"),
    "a word too many": (["greet", "Ada", "Bob"], 2, "Bob, one word too many"),
    "not a number": (["greet", "Ada", "--times", "two"], 2, "--times"),
    "a number out of range": (["greet", "Ada", "--times", "9"], 2, "from 1 to 3"),
    "an unknown choice": (["greet", "Ada", "--tone", "warn"], 2, "Did you mean warm?"),
    "an option without its value": (["greet", "Ada", "--tone"], 2, "--help"),
    "an unknown language": (["greet", "Ada", "--lang", "fr"], 2, "en, es"),
    "a refusal": (["refuse"], 3, "sea:3: expected a fish; found a stone. Look again."),
    "a full disk": (["fail", "disk"], 4, "No space left on device: some/file"),
    "a bug": (["fail", "bug"], 5, "ZeroDivisionError: oops"),
    "no more input": (["fail", "eof"], 2, "end of the input"),
    "ctrl-c": (["fail", "ctrl-c"], 130, "interrupted"),
    "sigterm": (["term"], 130, "interrupted"),
}


@pytest.mark.parametrize(("line", "code", "words"), MISTAKES.values(), ids=MISTAKES.keys())
def test_every_mistake_has_its_code_and_its_words_and_no_traceback(run, line, code, words):
    found, out, err = run(*line)

    assert (code, "") == (found, out)
    assert words in " ".join(err.split())
    assert "Traceback" not in err
    assert max(map(len, err.splitlines())) <= 80


@pytest.mark.parametrize(("line", "code", "words"), MISTAKES.values(), ids=MISTAKES.keys())
def test_every_mistake_is_one_document_for_a_program(run, line, code, words):
    found, out, _err = run(*line, "--json") if line[-1] != "--tone" else run("--json", *line)

    error = json.loads(out)["error"]
    assert (code, code) == (found, error["code"])
    assert {"code", "expected", "found", "todo", "where"} == set(error)


def test_a_refusal_of_many_lines_sets_what_to_do_apart(cli, capsys):
    @cli.command()
    def long():
        raise BreaksError("x", "this:\n  - a\n  + b", "Do that.")

    cli.run(["long"])

    expected = "kit: expected x; found this:\n  - a\n  + b\n\n  Do that.\n"
    assert expected == capsys.readouterr().err.replace("  \n", "\n").replace(
        "    -", "  -"
    ).replace("    +", "  +")


def test_help_begins_with_examples(run):
    code, out, _err = run("greet", "--help")

    assert 0 == code
    assert out.index("kit greet a") < out.index("Greet somebody.") < out.index("--times")
    assert "1|2" not in out
    assert "warm|cold" in out
    assert max(map(len, out.splitlines())) <= 80
    assert out == run("greet", "-h")[1]


def test_the_help_of_the_group_lists_its_commands_in_order(run):
    out = run("--help")[1]

    names = ["greet", "refuse", "find", "fail", "term", "chatty", "completion"]
    assert names == [line.split()[0] for line in out.split("Commands\n")[1].splitlines()[:7]]
    assert "Greet somebody." in out
    assert "As often" not in out


def test_help_and_version_are_documents_too(run):

    assert "Usage" in json.loads(run("greet", "--help", "--json")[1])["help"]
    assert {"name": "kit", "version": "1.2"} == json.loads(run("--json", "--version")[1])
    assert "kit 1.2\n" == run("--version")[1]


def test_a_value_after_two_dashes_is_no_option(run):

    assert (0, "hello --json\n", "") == run("greet", "--", "--json")


def test_a_reader_that_leaves_early_is_no_error(cli, monkeypatch, tmp_path):
    with open(tmp_path / "out", "w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)

        @cli.command()
        def burst():
            raise BrokenPipeError

        assert 0 == cli.run(["burst"])


def test_clicks_own_test_runner_works(cli):
    from click.testing import CliRunner

    result = CliRunner().invoke(cli, ["greet", "Ada"])
    assert (0, "hello Ada\n") == (result.exit_code, result.output)


def test_the_signal_handler_is_as_before_afterwards(run):
    before = signal.getsignal(signal.SIGTERM)
    run("term")

    assert before is signal.getsignal(signal.SIGTERM)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_one_line_to_source(run, shell):
    code, out, _err = run("completion", shell)

    assert (0, 1) == (code, len(out.splitlines()))
    assert f"_KIT_COMPLETE={shell}_source" in out


# --- colours and signs --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environment", "is_terminal", "coloured"),
    [
        pytest.param({}, True, True, id="a terminal"),
        pytest.param({}, False, False, id="a pipe"),
        pytest.param({"NO_COLOR": "1"}, True, False, id="a terminal, not wanted"),
        pytest.param({"NO_COLOR": ""}, True, True, id="an empty NO_COLOR says nothing"),
        pytest.param({"TERM": "dumb"}, True, False, id="a dumb terminal"),
        pytest.param({"FORCE_COLOR": "1"}, False, True, id="a pipe, insisted"),
        pytest.param({"FORCE_COLOR": "0"}, False, False, id="not insisted"),
        pytest.param({"FORCE_COLOR": "1", "NO_COLOR": "1"}, True, False, id="no beats yes"),
    ],
)
def test_colour_only_where_it_is_wanted(monkeypatch, environment, is_terminal, coloured):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    stream = Terminal() if is_terminal else io.StringIO()

    assert coloured == ("\x1b" in console.style("word", "bad", stream=stream))


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        ("utf-8", "✓ línea — “x” … 2 × 3 ¿sí?"),
        ("latin-1", '+ línea -- "x" ... 2 × 3 ¿sí?'),
        ("ascii", '+ linea -- "x" ... 2 x 3 si?'),
    ],
)
def test_text_is_spelt_in_what_the_stream_can_carry(monkeypatch, encoding, expected):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding))
    console.out("✓ línea — “x” … 2 × 3 ¿sí?")

    assert expected == raw.getvalue().decode(encoding).rstrip("\n")


def test_glyphs_follow_the_encoding_of_the_moment(monkeypatch):
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    assert ("+", "x", "->") == (console.glyphs.good, console.glyphs.bad, console.glyphs.arrow)

    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))
    assert ("✓", "✗", "→") == (console.glyphs.good, console.glyphs.bad, console.glyphs.arrow)


@given(st.text())
def test_any_text_can_be_printed_to_an_ascii_stream(text):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")

    assert console.plain(text, stream).isascii()


def test_progress_is_silent_through_a_pipe(capsys):

    assert [1, 2] == list(console.progress([1, 2], "counting"))
    assert ("", "") == tuple(capsys.readouterr())


def test_progress_shows_on_a_terminal_and_leaves_nothing(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)

    assert [1, 2] == list(console.progress([1, 2], "counting"))
    assert "counting" in stream.getvalue()
    assert "rich" in sys.modules


# --- widths -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [("abc", 3), ("año", 3), ("an\u0303o", 3), ("漢字", 4), ("\x1b[31mred\x1b[0m", 3), ("", 0)],
)
def test_width_is_counted_in_columns(text, expected):

    assert expected == cells(text)


WORDS = st.lists(st.text("abcñ漢", min_size=1, max_size=9), max_size=30).map(" ".join)


@given(text=WORDS, width=st.integers(20, 80))
def test_wrapped_prose_fits_and_keeps_every_word(text, width):
    wrapped = wrap(text, width, indent="  ", hanging="    ")

    assert text.split() == wrapped.split()
    assert all(cells(line) <= width for line in wrapped.split("\n"))


def test_wrapping_leaves_indented_lines_alone():
    code = "    a.grad += " + "x" * 90

    assert code == wrap(code, 40)


@given(rows=st.lists(st.lists(WORDS, min_size=3, max_size=3), min_size=1, max_size=6))
def test_a_table_fits_80_columns_and_keeps_every_letter(rows):
    text = table(rows, ["one", "two", "three"])

    assert all(cells(line) <= 80 for line in text.split("\n"))
    letters = sorted("".join("".join(row) for row in rows).replace(" ", "") + "onetwothree")
    assert letters == sorted(text.replace(" ", "").replace("\n", ""))


def test_a_table_aligns_numbers_to_the_right():
    text = table([["a", 1], ["bb", 100]], ["name", "count"], align="<>")

    assert ["name  count", "a         1", "bb      100"] == text.split("\n")


def test_a_row_that_is_a_string_is_a_heading_and_widens_no_column():
    heading = "a heading that is longer than the columns below it"

    assert f"  n  one\n{heading}\n  1  a" == table([heading, ["1", "a"]], ["n", "one"], indent="  ")


def test_an_empty_table_is_empty():

    assert "" == table([])


@pytest.mark.parametrize(("columns", "expected"), [("200", 80), ("60", 60), ("10", 40)])
def test_no_screen_is_wider_than_80_columns(monkeypatch, columns, expected):
    monkeypatch.setenv("COLUMNS", columns)

    assert expected == terminal.width()
