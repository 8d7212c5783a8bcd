"""A command line whose every command has examples, --json, --lang, and errors in three parts."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NamedTuple

import click

from breaks import i18n, terminal
from breaks.errors import BreaksError, Exit
from breaks.layout import table, wrap

_ = i18n.gettext


def N_(text: str) -> str:  # noqa: N802 - the name that catalogue extractors know
    """Marks a sentence that is translated later, when it is shown."""
    return text


class Reply(NamedTuple):
    """What a command answers: a document for programs, a text for people, an exit code.

    `text` may be a function, called only when a person reads.
    """

    document: Any = None
    text: str | Callable[[], str] = ""
    code: int = Exit.DONE


Example = tuple[str, str]  # what to type, and what it does: N_("…")


class Helped:
    """Help with examples first, and the two options that every command has."""

    examples: tuple[Example, ...]

    def usage(self, ctx: click.Context) -> str:
        command = ctx.command
        pieces = [ctx.command_path, _("[options]")]
        pieces += [_argument(p) for p in command.params if isinstance(p, click.Argument)]
        if isinstance(command, click.Group):
            pieces.append(_("[command]"))
        return " ".join(pieces)

    def get_help(self, ctx: click.Context) -> str:
        """The whole help page; in JSON mode a document that holds it."""
        command, width = ctx.command, terminal.width()
        parts = [wrap(_("Usage:") + " " + self.usage(ctx), width, hanging="  ")]
        if self.examples:
            rows = [(line, _(text)) for line, text in self.examples]
            parts += [_title(_("Examples")) + "\n" + _pairs(rows, width)]
        if command.help:
            text = _(command.help)
            parts += ["\n\n".join(wrap(p, width) for p in text.split("\n\n"))]
        if isinstance(command, click.Group):
            rows = [
                (name, summary(sub)) for name, sub in command.commands.items() if not sub.hidden
            ]
            parts += [_title(_("Commands")) + "\n" + _pairs(rows, width)]
        rows = [_option(p) for p in command.get_params(ctx) if isinstance(p, click.Option)]
        parts += [_title(_("Options")) + "\n" + _pairs(rows, width)]
        page = "\n\n".join(parts)
        return json.dumps({"help": page}) if terminal.json_mode() else terminal.plain(page)


def summary(command: click.Command) -> str:
    """The first sentence of a command's help, in the language of the reader."""
    return _(command.help).split("\n\n")[0] if command.help else ""


def _title(text: str) -> str:
    return terminal.style(text, "title")


def _pairs(rows: Sequence[tuple[str, str]], width: int) -> str:
    """What to type beside what it does; below each other where the left is long."""
    if max(len(left) for left, _right in rows) <= width // 2:
        return table(rows, width=width, indent="  ")
    lines = (f"  {left}\n" + wrap(right, width, indent="      ") for left, right in rows)
    return "\n".join(lines)


def _argument(param: click.Argument) -> str:
    text = param.metavar or (param.name or "").upper()
    if param.nargs != 1:
        text += "..."
    return text if param.required else f"[{text}]"


def _option(param: click.Option) -> tuple[str, str]:
    names = ", ".join([*param.opts, *param.secondary_opts])
    if not (param.is_flag or param.count):
        names += " " + (param.metavar or _choices(param.type) or (param.name or "").upper())
    help_text = _(param.help) if param.help else ""
    if param.show_default:
        help_text += " " + _("[default: %(value)s]") % {"value": param.default}
    return names, help_text


def _choices(kind: click.ParamType) -> str:
    return "|".join(str(c) for c in kind.choices) if isinstance(kind, click.Choice) else ""


def _common() -> list[click.Parameter]:
    """--json, --lang and --help.  They are read from the line before anything is parsed."""
    return [
        click.Option(["--json"], is_flag=True, expose_value=False, help=N_("One JSON document.")),
        click.Option(
            ["--lang"],
            metavar="en|es",
            expose_value=False,
            shell_complete=_languages,
            help=N_("Language of the sentences (else the locale decides)."),
        ),
        click.Option(
            ["-h", "--help"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_show_help,
            help=N_("Show this page."),
        ),
    ]


def _languages(_ctx: click.Context, _param: click.Parameter, start: str) -> list[str]:
    return [language for language in i18n.LANGUAGES if language.startswith(start)]


def _show_help(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        terminal.write(ctx.get_help())
        ctx.exit()


class Command(Helped, click.Command):
    """One command: parse, call one function, return a `Reply`."""

    def __init__(self, *args: Any, examples: Sequence[Example] = (), **kwargs: Any) -> None:
        kwargs["params"] = [*(kwargs.get("params") or []), *_common()]
        kwargs["add_help_option"] = False  # ours is among the common ones
        super().__init__(*args, **kwargs)
        self.examples = tuple(examples)


class Cli(Helped, click.Group):
    """A group of commands.  `run()` answers with an exit code, for any mistake and any failure."""

    command_class = Command

    def __init__(
        self, *args: Any, examples: Sequence[Example] = (), version: str = "", **kwargs: Any
    ) -> None:
        kwargs["params"] = [*(kwargs.get("params") or []), *_version(version), *_common()]
        kwargs |= {"invoke_without_command": True, "add_help_option": False}
        super().__init__(*args, **kwargs)
        self.examples = tuple(examples)
        self.before: Callable[[], object] = lambda: None  # runs first, whatever the command

    def root(self, function: Callable[[], Reply]) -> Callable[[], Reply]:
        """Decorates what answers when no command is named."""
        self.callback = self._started(function)
        return function

    def _started(self, function: Callable[[], Reply]) -> Callable[[], Reply | None]:
        def start() -> Reply | None:
            self.before()
            bare = click.get_current_context().invoked_subcommand is None
            return function() if bare else None

        return start

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)  # in the order of a learner's day, not of the alphabet

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in self.commands and not name.startswith("-") and not ctx.resilient_parsing:
            raise BreaksError(
                _("a command of %(name)s") % {"name": ctx.command_path},
                repr(name),
                did_you_mean(name, list(self.commands))
                or _("See `%(command)s --help`.") % {"command": ctx.command_path},
                code=Exit.USAGE,
            )
        return super().resolve_command(ctx, args)

    def main(  # type: ignore[override]
        self, args: Any = None, prog_name: str | None = None, **extra: Any
    ) -> Any:
        """`run`, then exit with its code: what an entry point and click's test runner call."""
        extra.pop("standalone_mode", None)
        sys.exit(self.run(args, prog_name=prog_name, **extra))

    def run(
        self, args: Sequence[str] | None = None, *, prog_name: str | None = None, **extra: Any
    ) -> int:
        """Runs one command line; its exit code.  Never raises, never shows a traceback."""
        line = list(sys.argv[1:] if args is None else args)
        terminal.set_json_mode("--json" in _before_dashes(line))
        try:
            with _terminations():
                language = _language(line)
                i18n.use("en" if terminal.json_mode() else language)  # JSON is never translated
                reply = super().main(
                    line, prog_name=prog_name or self.name, standalone_mode=False, **extra
                )
                return _answer(reply)
        except (
            BrokenPipeError
        ):  # `breaks list | head -1`: nobody reads any more, and that is no error
            _silence()
            return Exit.DONE
        except BaseException as error:
            return _failure(self.name or "", error)
        finally:
            terminal.set_json_mode(False)


def _version(version: str) -> list[click.Parameter]:
    if not version:
        return []

    def show(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
        if wanted and not ctx.resilient_parsing:
            name = ctx.command_path
            _answer(Reply({"name": name, "version": version}, f"{name} {version}"))
            ctx.exit()

    return [
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=show,
            help=N_("Show the version."),
        )
    ]


def _answer(reply: Any) -> int:
    """Prints what a command returned, once, for whoever reads; its exit code."""
    if not isinstance(reply, Reply):
        return reply if isinstance(reply, int) else Exit.DONE
    if terminal.json_mode():
        text = json.dumps(reply.document, indent=2, ensure_ascii=True, allow_nan=False)
    else:
        text = reply.text if isinstance(reply.text, str) else reply.text()
    try:
        if text:
            terminal.write(text)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _unsaid(error) from error
    return int(reply.code)


def _unsaid(error: OSError) -> BreaksError:
    return BreaksError(
        _("an output that can be written"),
        f"{error.strerror or error}",
        _("The command itself is done; only its answer is lost."),
        code=Exit.ENVIRONMENT,
    )


def _failure(name: str, error: BaseException) -> int:
    """Shows what went wrong and returns the documented exit code for it."""
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else Exit.DONE
    if isinstance(error, KeyboardInterrupt) or (
        isinstance(error, click.Abort) and not isinstance(error.__cause__, EOFError)
    ):
        return _complain(name, _interrupted())
    if isinstance(error, BreaksError):
        return _complain(name, error)
    if isinstance(error, click.ClickException | click.Abort):
        return _complain(name, _misuse(error))
    if isinstance(error, OSError):
        return _complain(name, _no_access(error))
    if os.environ.get("BREAKS_TRACEBACK"):
        import traceback

        terminal.say("".join(traceback.format_exception(error)))
    return _complain(name, _fault_of_ours(error))


def _complain(name: str, error: BreaksError) -> int:
    """Says the error where somebody hears it; the exit code tells it in any case."""
    try:
        if terminal.json_mode():
            document = {"error": error.as_json()}
            terminal.write(json.dumps(document, indent=2, ensure_ascii=True))
        else:
            _say_error(name, error)
    except OSError:
        _silence()
        with suppress(OSError):  # stdout takes no document; if stderr takes nothing, nobody is told
            _say_error(name, error)
    return int(error.code)


def _say_error(name: str, error: BreaksError) -> None:
    head = terminal.style(f"{name}:", "bad", stream=sys.stderr)
    terminal.say(wrap(f"{head} {_sentence(error)}", terminal.width(), hanging="  "))


def _sentence(error: BreaksError) -> str:
    """The error for a screen; what takes several lines stands apart from what to do."""
    if error.code == Exit.INTERRUPTED:
        return f"{error.found}. {error.todo}"
    if "\n" not in error.found:
        return str(error)
    parts = {"expected": error.expected, "found": error.found}
    text = _("expected %(expected)s; found %(found)s") % parts
    return (f"{error.where}: " if error.where else "") + f"{text}\n\n{error.todo}"


def _interrupted() -> BreaksError:
    return BreaksError(
        _("the end of the command"),
        _("interrupted; nothing is left half done"),
        _("Run the same command again when you like."),
        code=Exit.INTERRUPTED,
    )


def _no_access(error: OSError) -> BreaksError:
    place = str(error.filename or "")
    return BreaksError(
        _("files that can be read and written"),
        f"{error.strerror or error}" + (f": {place}" if place else ""),
        _("Check the space left and the permissions, then run the command again."),
        code=Exit.ENVIRONMENT,
    )


def _fault_of_ours(error: BaseException) -> BreaksError:
    return BreaksError(
        _("a command that works"),
        f"{type(error).__name__}: {error}",
        _("This is a fault of the kit: please report it with the output of `breaks doctor`."),
        code=Exit.KIT,
    )


def _misuse(error: click.ClickException | click.Abort) -> BreaksError:
    """One of click's own errors, said in three parts and in the language of the reader."""
    if isinstance(error, click.Abort):
        return BreaksError(
            _("an answer"),
            _("the end of the input"),
            _("Run it on a terminal, or give the answer as an option; see --help."),
            code=Exit.USAGE,
        )
    ctx = getattr(error, "ctx", None)
    path = ctx.command_path if ctx else ""
    see = _("See `%(command)s --help`.") % {"command": path}
    if isinstance(error, click.NoSuchOption):
        known = [name for p in ctx.command.params for name in p.opts] if ctx else []
        todo = did_you_mean(error.option_name, known) or see
        expected = _("an option of %(name)s") % {"name": path}
        return BreaksError(expected, repr(error.option_name), todo, code=Exit.USAGE)
    if isinstance(error, click.MissingParameter):
        expected = f"{path} {_name(error.param)}".strip()
        return BreaksError(expected, _("nothing in its place"), see, code=Exit.USAGE)
    if isinstance(error, click.BadParameter):
        return _bad_value(error, see)
    if isinstance(error, click.UsageError) and (extra := re.search(r"\((.*)\)", error.message)):
        found = _("%(words)s, one word too many") % {"words": extra[1]}
        expected = ctx.command.usage(ctx) if ctx and isinstance(ctx.command, Helped) else path
        return BreaksError(expected, found, see, code=Exit.USAGE)
    return BreaksError(_("a correct command line"), error.format_message(), see, code=Exit.USAGE)


def _bad_value(error: click.BadParameter, see: str) -> BreaksError:
    """A value of the wrong kind.  Click keeps the value only inside its sentence."""
    kind = error.param.type if error.param else None
    quoted = re.search(r"'((?:[^'\\]|\\.)*)'", error.message)
    found = repr(quoted[1]) if quoted else error.message.rstrip(".")
    name = _name(error.param)
    if isinstance(kind, click.Choice):
        choices = [str(choice) for choice in kind.choices]
        expected = _("%(name)s: one of %(choices)s") % {"name": name, "choices": ", ".join(choices)}
        todo = did_you_mean(quoted[1], choices) if quoted else ""
        return BreaksError(expected, found, todo or see, code=Exit.USAGE)
    if isinstance(kind, click.IntRange):
        bounds = {"name": name, "low": kind.min, "high": kind.max}
        expected = (
            _("%(name)s: a whole number, at least %(low)s")
            if kind.max is None
            else _("%(name)s: a whole number from %(low)s to %(high)s")
        ) % bounds
        number = re.match(r"-?\d+", error.message)
        return BreaksError(expected, number[0] if number else found, see, code=Exit.USAGE)
    words = dict.fromkeys(("float", "float range"), _("a number")) | {
        "integer": _("a whole number")
    }
    expected = f"{name}: " + words.get(getattr(kind, "name", ""), _("a value that fits"))
    return BreaksError(expected, found, see, code=Exit.USAGE)


def _name(param: click.Parameter | None) -> str:
    if isinstance(param, click.Argument):
        return param.metavar or (param.name or "").upper()
    return param.opts[-1] if param else ""


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """A sentence that names the closest known words, or nothing when none is close."""
    from difflib import get_close_matches

    close = get_close_matches(word, known, n=3, cutoff=0.6)
    return _("Did you mean %(words)s?") % {"words": _(" or ").join(close)} if close else ""


def _before_dashes(line: Sequence[str]) -> list[str]:
    words = list(line)
    return words[: words.index("--")] if "--" in words else words


def _language(line: Sequence[str]) -> str | None:
    """The last --lang of the line, so that help and errors speak it too."""
    chosen, words = None, _before_dashes(line)
    for word, following in zip(words, [*words[1:], ""], strict=False):
        if word == "--lang":
            chosen = following
        elif word.startswith("--lang="):
            chosen = word.removeprefix("--lang=")
    if chosen is not None and chosen not in i18n.LANGUAGES:
        expected = "--lang: " + ", ".join(i18n.LANGUAGES)
        raise BreaksError(expected, repr(chosen), _("Choose one of them."))
    return chosen


def _silence() -> None:
    """What still waits for a stream that takes nothing goes nowhere."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class Terminated(KeyboardInterrupt):
    """SIGTERM, handled like Ctrl-C: what is half done is undone, then the command ends."""


@contextmanager
def _terminations() -> Iterator[None]:
    """While a command runs, SIGTERM raises where it can be answered."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise Terminated

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


_COMPLETION = {
    "bash": 'eval "$(%(variable)s=bash_source %(name)s)"',
    "zsh": 'eval "$(%(variable)s=zsh_source %(name)s)"',
    "fish": "%(variable)s=fish_source %(name)s | source",
}
_START_FILES = {"bash": "~/.bashrc", "zsh": "~/.zshrc", "fish": "~/.config/fish/config.fish"}


def completion(cli: Cli) -> None:
    """Gives a command line its `completion` command."""
    name = cli.name or ""
    variable = f"_{name.upper()}_COMPLETE"

    @cli.command(
        "completion",
        examples=[
            (f"{name} completion bash >> ~/.bashrc", N_("for every bash from now on")),
            (f"{name} completion fish | source", N_("only for this fish")),
        ],
        help=N_("Print the line that makes a shell complete commands and names."),
    )
    @click.argument("shell", type=click.Choice(list(_COMPLETION)), required=False)
    def complete(shell: str | None) -> Reply:
        shell = shell or os.path.basename(os.environ.get("SHELL", "bash"))
        shell = shell if shell in _COMPLETION else "bash"
        line = _COMPLETION[shell] % {"name": name, "variable": variable}
        if terminal.interactive() and not terminal.json_mode():
            terminal.say(_("Add this line to %(file)s:") % {"file": _START_FILES[shell]})
        document = {"shell": shell, "line": line, "file": _START_FILES[shell]}
        return Reply(document, line)
