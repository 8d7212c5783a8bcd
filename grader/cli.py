"""The `grader` command: parse, call one function, print."""

from __future__ import annotations

import contextlib
import copy
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from breaks import __version__, console, i18n, journal
from breaks.console import N_, Reply
from breaks.errors import BreaksError, Exit
from breaks.workspace import Workspace
from grader.session import Session

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_ = i18n.gettext

cli = console.Cli(
    "grader",
    version=__version__,
    help=N_(
        "Predict how a broken library will fail, check it, understand it.\n\n"
        "Three verbs, always in this order: predict, check, explain."
    ),
    examples=[
        ("grader", N_("where you are and what comes next")),
        ("grader predict lab01", N_("say what will happen, one question at a time")),
        ("grader check lab01", N_("see what really happens")),
        ("grader explain lab01", N_("the lesson, after your own sentence")),
    ],
)
FILE = click.Path(readable=False)  # so that shells complete it; who uses it says what is wrong


def main() -> None:
    """The entry point."""
    sys.exit(cli.run())


# --- what every command needs -------------------------------------------------------------------


def session() -> Session:
    """This run, with what a stopped command left put in order first."""
    try:
        ws = Workspace.find()
    except BreaksError as error:
        if error.code != Exit.PRECONDITION:
            raise
        return Session(None)
    recovery = journal.recover(ws)
    if recovery is not None:
        from breaks import screens

        console.say(screens.recovered(recovery))
    return Session(ws)


def in_workspace() -> Session:
    """The same, for commands that need a workspace (exit 3 without)."""
    here = session()
    if here.ws is None:
        Workspace.find()
    return here


def _quiet() -> Session | None:
    with contextlib.suppress(BreaksError, OSError):
        return Session(Workspace.find())
    return Session(None)


def _labs(ctx: click.Context, _param: click.Parameter, start: str) -> list[CompletionItem]:
    """The labs that begin like this, with their titles."""
    from click.shell_completion import CompletionItem

    with contextlib.suppress(BreaksError, OSError):
        here = _quiet()
        labs = here.labs.values() if here else ()
        return [
            CompletionItem(name, help=i18n.pick(lab.title))
            for lab in labs
            for name in (lab.id, f"{lab.id}.b")
            if name.startswith(start)
        ]
    return []


def _breaks(ctx: click.Context, _param: click.Parameter, start: str) -> list[CompletionItem]:
    """The breaks of the lab that is named on the line, or all of them."""
    from click.shell_completion import CompletionItem

    with contextlib.suppress(BreaksError, OSError):
        here = _quiet()
        if here is None:
            return []
        name = ctx.params.get("lab")
        if name is None and "lab" in ctx.params and ctx.args:
            name = ctx.args[0]  # click leaves it there while the value of --break is missing
        known = list(here.lab(name).breaks) if isinstance(name, str) else here.catalogue.ids()
        return [CompletionItem(one) for one in known if one.startswith(start)]
    return []


def lab_argument(*, required: bool = True) -> Callable[..., Any]:
    return click.argument("lab", metavar="LAB", required=required, shell_complete=_labs)


def break_option(help_text: str) -> Callable[..., Any]:
    return click.option("--break", "break_id", metavar="ID", shell_complete=_breaks, help=help_text)


# --- looking ------------------------------------------------------------------------------------


@cli.root
def home() -> Reply:
    from grader import overview

    here = session()
    return Reply(overview.home_json(here), lambda: overview.home(here))


@cli.command(
    help=N_("List the labs and how far you have come."),
    examples=[
        ("grader labs", N_("all of them")),
        ("grader labs --json", N_("for a program")),
    ],
)
def labs() -> Reply:
    from grader import overview

    here = session()
    return Reply(overview.labs_json(here), lambda: overview.labs(here))


alias = copy.copy(labs)  # whoever types `grader list` means the same
alias.hidden = True
cli.add_command(alias, "list")


@cli.command(
    help=N_("Print the page of a lab, in your language."),
    examples=[
        ("grader show lab02", N_("on the screen")),
        ("grader show lab02 --lang es | less", N_("in Spanish, page by page")),
        ("grader show lab02 --break skip-unbroadcast", N_("only the scenarios of one break")),
    ],
)
@lab_argument()
@break_option(N_("Only the scenarios of this break."))
@click.option("--unfold", is_flag=True, help=N_("Also the lessons of what you have not checked."))
def show(lab: str, break_id: str | None, unfold: bool) -> Reply:
    from grader import overview

    here = session()
    found = here.lab(lab)
    if break_id is not None:
        break_id = here.break_id(found, break_id, "")
        document = overview.page_json(found)
        document["breaks"] = {break_id: document["breaks"][break_id]}
        return Reply(document, lambda: overview.outline(here, found, break_id))
    return Reply(overview.page_json(found), lambda: overview.page(here, found, unfold=unfold))


# --- predict ------------------------------------------------------------------------------------


@cli.command(
    help=N_(
        "Say how a break will fail, before you see it.\n\n"
        "On a terminal you are asked one thing at a time. With a file: print a --template, fill"
        " it in, hand it over with --from. Through a pipe: one answer per line. A committed"
        " prediction cannot be changed; until then an invalid file or an interruption costs"
        " nothing. Each prediction is chained to the one before by its SHA-256: an edit afterwards"
        " is evident. That is no proof: whoever can write the file can write a new chain."
    ),
    examples=[
        ("grader predict lab02", N_("asked step by step")),
        ("grader predict lab02 --template > p.yaml", N_("a file to fill in")),
        ("grader predict lab02 --from p.yaml", N_("commit that file")),
        ("grader predict lab02 --from - < p.yaml", N_("the same from a pipe")),
        ("grader predict lab02.b", N_("the second attempt, with other shapes")),
    ],
)
@lab_argument()
@break_option(N_("Which break of the lab [default: the first without a prediction]."))
@click.option(
    "--from",
    "file",
    metavar="FILE",
    type=FILE,
    help=N_("Read the prediction from a file; - is stdin."),
)
@click.option("--template", is_flag=True, help=N_("Print a file to fill in."))
@click.option("--yes", is_flag=True, help=N_("Commit without asking once more."))
@click.option("--restart", is_flag=True, help=N_("Forget the draft and begin anew."))
def predict(
    lab: str, break_id: str | None, file: str | None, template: bool, yes: bool, restart: bool
) -> Reply:
    from grader import predicting

    here = in_workspace()
    found = here.lab(lab)
    if template:
        return predicting.template(here, found, break_id)
    if file is not None:
        return predicting.from_file(here, found, break_id, file)
    return predicting.asked(here, found, break_id, yes=yes, restart=restart)


# --- check --------------------------------------------------------------------------------------


@cli.command(
    help=N_(
        "Compare your prediction with what really happens.\n\n"
        "The break is applied to a copy, in a process of its own; your files are not touched. A"
        " wrong prediction is a normal event (exit 0). Exit 1 only below --min-score, or for a"
        " miss under --strict; 3 without a prediction; 5 if the kit itself failed. --watch ends"
        " with Ctrl-C (exit 130)."
    ),
    examples=[
        ("grader check lab02", N_("the verdict")),
        ("grader check lab02 --no-predict", N_("only look; nothing is scored")),
        ("grader check lab02 --watch p.yaml", N_("a draft, again whenever it is saved; unscored")),
        ("grader check lab02 --min-score 6 --json", N_("for a program; exit 1 below 6")),
    ],
)
@lab_argument()
@break_option(N_("Which break of the lab [default: the last predicted]."))
@click.option("--no-predict", is_flag=True, help=N_("Show without a prediction; scores nothing."))
@click.option(
    "--min-score",
    type=click.FloatRange(0, 10),
    metavar="N",
    help=N_("Exit 1 if the score is below N of 10."),
)
@click.option("--strict", is_flag=True, help=N_("Exit 1 if anything is not as predicted."))
@click.option("--live", is_flag=True, help=N_("Ask torch now, not the recorded references."))
@click.option("--no-cache", is_flag=True, help=N_("Observe again, whatever is known."))
@click.option(
    "--watch", metavar="FILE", type=FILE, help=N_("Judge a draft whenever it is saved; unscored.")
)
def check(
    lab: str,
    break_id: str | None,
    no_predict: bool,
    min_score: float | None,
    strict: bool,
    live: bool,
    no_cache: bool,
    watch: str | None,
) -> Reply:
    from grader import checking

    here = in_workspace()
    found = here.lab(lab)
    look = checking.Look(live=live, cache=not no_cache)
    if watch is not None:
        return checking.watch(here, found, break_id, watch, look)
    if no_predict:
        return checking.shown(here, found, break_id, look)
    return checking.checked(here, found, break_id, look, min_score=min_score, strict=strict)


# --- explain ------------------------------------------------------------------------------------


@cli.command(
    help=N_(
        "The lesson of a break: first your own sentence, then the explanation.\n\n"
        "After the check; before it you need --give-up."
    ),
    examples=[
        ("grader explain lab02", N_("asks for your sentence first")),
        ('grader explain lab02 --because "nobody adds the copies"', N_("with it on the line")),
        ("grader explain lab02 --give-up", N_("before a check")),
    ],
)
@lab_argument()
@break_option(N_("Which break of the lab [default: the last predicted]."))
@click.option(
    "--because", metavar="TEXT", help=N_("Your own sentence: why does it fail like this?")
)
@click.option("--give-up", is_flag=True, help=N_("Show the lesson without a check."))
def explain(lab: str, break_id: str | None, because: str | None, give_up: bool) -> Reply:
    from grader import explain as lesson

    here = in_workspace()
    return lesson.explain(here, here.lab(lab), break_id, because=because, give_up=give_up)


@cli.command(
    help=N_("What you have done, how sure you were, and what is worth repeating."),
    examples=[
        ("grader progress", N_("the overview")),
        ("grader progress --export me.json", N_("everything on record, in a file")),
    ],
)
@click.option(
    "--export", "file", metavar="FILE", type=FILE, help=N_("Write the whole record to a file.")
)
def progress(file: str | None) -> Reply:
    from grader import overview

    return overview.progress(in_workspace(), file)


@cli.command(
    help=N_(
        "Follow the chain of your committed predictions.\n\n"
        "Exit 1 if a line was edited, removed or moved since. The chain makes that evident; it is"
        " no proof, for whoever can write the file can write a new chain."
    ),
    examples=[("grader verify", N_("every line of .breaks/commits.jsonl"))],
)
def verify() -> Reply:
    from grader import overview

    return overview.verify(in_workspace())


# --- many breaks --------------------------------------------------------------------------------


@cli.command(
    help=N_(
        "Train the grammar MLP on the correct library, and on broken ones.\n\n"
        "Without an ID the correct library alone. The floor is the least loss that any function of"
        " the input can reach on the training cells."
    ),
    examples=[
        ("grader train", N_("the correct library")),
        ("grader train skip-unbroadcast", N_("a broken one beside it")),
        ("grader train --all", N_("one row per break")),
        ("grader train --all --html train.html", N_("with every curve, in a page")),
    ],
)
@click.argument("ids", nargs=-1, metavar="ID", shell_complete=_breaks)
@click.option("--all", "every", is_flag=True, help=N_("Every break of the catalogue."))
@click.option(
    "--form",
    type=click.Choice(["one-hot", "embedding", "both"]),
    default="both",
    show_default=True,
    help=N_("The form of the input."),
)
@click.option("--html", "file", metavar="FILE", type=FILE, help=N_("Write a page with the curves."))
def train(ids: tuple[str, ...], every: bool, form: str, file: str | None) -> Reply:
    from grader import train as training

    return training.train(session(), ids, every=every, form=form, file=file)


@cli.command(
    help=N_(
        "Show which detector sees which break.\n\n"
        "Breaks that a lab asks about are run in its scenarios, others in probes. What only one"
        " detector sees, what nobody sees in a scenario, and what training alone sees follow."
    ),
    examples=[
        ("grader matrix", N_("every break")),
        ("grader matrix --lab lab02", N_("the breaks of one lab")),
        ("grader matrix --break skip-unbroadcast", N_("one break, scenario by scenario")),
        ("grader matrix --html matrix.html", N_("as a page")),
    ],
)
@click.option(
    "--break",
    "ids",
    multiple=True,
    metavar="ID",
    shell_complete=_breaks,
    help=N_("Only this break; may be repeated."),
)
@click.option("--lab", metavar="LAB", shell_complete=_labs, help=N_("Only the breaks of a lab."))
@click.option("--live", is_flag=True, help=N_("Ask torch now, not the recorded references."))
@click.option("--no-cache", is_flag=True, help=N_("Observe again, whatever is known."))
@click.option("--html", "file", metavar="FILE", type=FILE, help=N_("Write a page."))
def matrix(
    ids: tuple[str, ...], lab: str | None, live: bool, no_cache: bool, file: str | None
) -> Reply:
    from grader import matrix_screen

    return matrix_screen.show(session(), ids, lab, live=live, cache=not no_cache, file=file)


@cli.command(
    help=N_(
        "Write one HTML page about what you checked: verdicts, curves, heat maps, graphs.\n\n"
        "It needs no network and no script, prints well, and follows light and dark. Without LAB"
        " everything that you predicted. A lab without a prediction needs --no-predict."
    ),
    examples=[
        ("grader report lab02", N_("lab02.html in this folder")),
        ("grader report -o all.html", N_("every lab that you checked, in one page")),
    ],
)
@lab_argument(required=False)
@break_option(N_("Only this break of the lab."))
@click.option("-o", "--output", "file", metavar="FILE", type=FILE, help=N_("The file to write."))
@click.option("--no-predict", is_flag=True, help=N_("Show a lab that you did not predict."))
def report(lab: str | None, break_id: str | None, file: str | None, no_predict: bool) -> Reply:
    from grader import reporting

    return reporting.report(in_workspace(), lab, break_id, file, no_predict=no_predict)


console.completion(cli)
