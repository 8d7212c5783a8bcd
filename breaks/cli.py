"""The `breaks` command: parse, call one function, print."""

from __future__ import annotations

import contextlib
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from breaks import __version__, console, i18n
from breaks.catalog import Catalog, load_catalog
from breaks.console import N_, Reply
from breaks.errors import BreaksError, Exit
from breaks.workspace import Workspace

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from breaks.model import Break

_ = i18n.gettext
Sources = Mapping[str, bytes]
FOLDER = click.Path(readable=False)  # so that shells complete it; nothing is asked of it here

cli = console.Cli(
    "breaks",
    version=__version__,
    help=N_(
        "Faults as data: look at them, put them into a copy of minitorch, take them out.\n\n"
        "The copy is the workspace around the current folder; `breaks init DIR` makes one."
    ),
    examples=[
        ("breaks", N_("where you are and what comes next")),
        ("breaks list", N_("all breaks")),
        ("breaks show skip-unbroadcast", N_("one of them, with what it changes")),
        ("breaks apply skip-unbroadcast", N_("break your copy of the library")),
        ("breaks revert", N_("put everything back")),
    ],
)


def main() -> None:
    """The entry point."""
    sys.exit(cli.run())


# --- what every command needs -------------------------------------------------------------------


def workspace() -> Workspace:
    """The workspace around the current folder, with what a stopped command left put in order."""
    ws = _found() or Workspace.find()
    if not ws.untouched:
        from breaks import journal, screens

        recovery = journal.recover(ws)
        if recovery is not None:
            console.say(screens.recovered(recovery))
    return ws


def workspace_or_none() -> Workspace | None:
    """The same, for commands that can do without."""
    return workspace() if _found() or Workspace.around() else None


def _put_in_order() -> None:
    """Before any command, even one that needs no workspace: nothing stays half done."""
    with contextlib.suppress(BreaksError, OSError):  # who needs the workspace will say so
        click.get_current_context().obj = Workspace.find()
        workspace()


cli.before = _put_in_order


def catalogue(ws: Workspace | None, folders: Sequence[str]) -> Catalog:
    """The breaks that ship, those of the workspace, and those of folders named on the line."""
    from breaks.catalog import BUILTIN

    own = list(ws.config.catalog) if ws else []
    return load_catalog([BUILTIN, *own, *map(Path, folders)])


def applied_in(ws: Workspace | None) -> tuple[str, ...]:
    """The ids of the breaks that are in the files of the workspace."""
    if ws is None or ws.untouched:
        return ()
    from breaks import journal

    return journal.status(ws).applied


def sources(ws: Workspace | None) -> Sources:
    """The correct library: the workspace's, its breaks taken out; without one, as installed."""
    if ws is not None:
        from breaks import journal

        return journal.pristine_sources(ws)
    from breaks.library import shipped_sources

    return shipped_sources()


def _ids(ctx: click.Context, _param: click.Parameter, start: str) -> list[CompletionItem]:
    """The ids of breaks that begin like this, with their titles."""
    from click.shell_completion import CompletionItem

    try:
        known = catalogue(_quiet_workspace(), ctx.params.get("catalog") or ())
    except (BreaksError, OSError):
        return []
    return [
        CompletionItem(brk.id, help=i18n.pick(brk.title))
        for brk in known
        if brk.id.startswith(start) and brk.id not in (ctx.params.get("ids") or ())
    ]


def _ids_and_files(ctx: click.Context, param: click.Parameter, start: str) -> list[CompletionItem]:
    """The ids that begin like this; the shell adds its files."""
    from click.shell_completion import CompletionItem

    return [*_ids(ctx, param, start), CompletionItem(start, type="file")]


def _families(_ctx: click.Context, _param: click.Parameter, start: str) -> list[str]:
    """The families that begin like this."""
    from breaks.model import Family

    return [family.value for family in Family if family.value.startswith(start)]


def _applied_ids(ctx: click.Context, _param: click.Parameter, start: str) -> list[CompletionItem]:
    """The ids of applied breaks that begin like this."""
    from click.shell_completion import CompletionItem

    try:
        applied = applied_in(_quiet_workspace())
    except (BreaksError, OSError):
        return []
    return [CompletionItem(name) for name in applied if name.startswith(start)]


def _quiet_workspace() -> Workspace | None:
    try:
        return _found() or Workspace.find()
    except BreaksError:
        return None


def _found() -> Workspace | None:
    """What an earlier look in this run found."""
    context = click.get_current_context(silent=True)
    return context.find_root().obj if context else None


def _catalog_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--catalog",
        multiple=True,
        metavar="DIR",
        type=FOLDER,
        help=N_("A folder of breaks of your own, beside those that ship."),
    )(command)


def _difference(ws: Workspace | None, brk: Break) -> tuple[Sources, Sources]:
    from breaks.rewrite import mutate

    old = sources(ws)
    return old, mutate(old, brk)


# --- looking ------------------------------------------------------------------------------------


@cli.root
def home() -> Reply:
    from breaks import home as page

    ws = workspace_or_none()
    state = page.look(ws)
    return Reply(state.as_json(), lambda: page.screen(state))


@cli.command(
    "list",
    help=N_("List the breaks.\n\nA mark shows which are applied in this workspace."),
    examples=[
        ("breaks list", N_("all")),
        ("breaks list --family broadcasting", N_("of one family")),
        ("breaks list --json | jq -r '.breaks[].id'", N_("for a program")),
    ],
)
@click.option("--family", shell_complete=_families, help=N_("Only breaks of this family."))
@_catalog_option
def list_(family: str | None, catalog: tuple[str, ...]) -> Reply:
    from breaks import screens

    ws = workspace_or_none()
    known = catalogue(ws, catalog)
    applied = applied_in(ws)
    wanted = [brk for brk in known if family in (None, brk.family.value)]
    if family is not None and not wanted:
        families = sorted({brk.family.value for brk in known})
        raise BreaksError(
            _("a family: %(families)s") % {"families": ", ".join(families)},
            repr(family),
            console.did_you_mean(family, families) or _("Run `breaks list` to see all."),
        )
    rows = [
        {
            "id": brk.id,
            "title": dict(brk.title),
            "family": brk.family.value,
            "applied": brk.id in applied,
        }
        for brk in wanted
    ]
    unready = {name: error.as_json() for name, error in known.unready.items()}

    def text() -> str:
        for error in known.unready.values():
            line = _("not ready: %(problem)s") % {"problem": error}
            console.say(console.wrap(line, console.width(), hanging="  "))
        return screens.listing(wanted, applied)

    return Reply({"breaks": rows, "unready": unready}, text)


@cli.command(
    help=N_(
        "Show one break: what it changes, and where it happened for real.\n\n"
        "The wrong idea behind it and the lesson come later, with `grader explain`."
    ),
    examples=[
        ("breaks show skip-unbroadcast", N_("the change and its reports")),
        ("breaks show skip-unbroadcast --hint 1", N_("with the first hint")),
    ],
)
@click.argument("break_id", metavar="ID", shell_complete=_ids)
@click.option("--hint", type=click.IntRange(1, 3), metavar="N", help=N_("The first N hints of 3."))
@_catalog_option
def show(break_id: str, hint: int | None, catalog: tuple[str, ...]) -> Reply:
    from breaks import screens
    from breaks.difference import sites, unified

    ws = workspace_or_none()
    brk = catalogue(ws, catalog).get(break_id)
    rungs = min(hint or 0, len(brk.hints))
    try:
        old, new = _difference(ws, brk)
        found, diff, problem = sites(old, new), unified(old, new), ""
    except BreaksError as error:
        found, diff, problem = None, None, str(error)
    document = {
        "id": brk.id,
        "title": dict(brk.title),
        "family": brk.family.value,
        "diff": diff,
        "problem": problem or None,
        "hints": [dict(rung) for rung in brk.hints[:rungs]],
        "provenance": [
            {"library": report.library, "url": report.url, "note": dict(report.note)}
            for report in brk.provenance
        ],
    }

    def text() -> str:
        more = "".join(f" --catalog {shlex.quote(folder)}" for folder in catalog)
        page = screens.card(brk, found, problem, rungs=rungs, more=more)
        pairs = []
        if brk.hints and not rungs:
            pairs.append((_("hint  %(command)s"), f"breaks show {brk.id} --hint 1{more}"))
        if found and not rungs:
            pairs.append((_("next  %(command)s"), _after_show(ws, brk.id, more)))
        lines = [line % {"command": command} for line, command in pairs]
        return "\n\n".join([page, "\n".join(lines)]) if lines else page

    return Reply(document, text)


def _after_show(ws: Workspace | None, break_id: str, more: str) -> str:
    """What can be done with a break that was looked at."""
    if ws is None:
        return "breaks init my-lab"
    if break_id in applied_in(ws):
        return f"breaks revert {break_id}"
    return f"breaks apply {break_id}{more}"


@cli.command(
    help=N_(
        "Print what a break changes, as a patch.\n\n"
        "Against the library of the workspace without its breaks, or the one that is installed."
    ),
    examples=[
        ("breaks diff skip-unbroadcast", N_("on the screen, in colours")),
        ("breaks diff skip-unbroadcast > fault.patch", N_("for `git apply` or `patch -p1`")),
    ],
)
@click.argument("break_id", metavar="ID", shell_complete=_ids)
@_catalog_option
def diff(break_id: str, catalog: tuple[str, ...]) -> Reply:
    from breaks import screens
    from breaks.difference import unified

    ws = workspace_or_none()
    brk = catalogue(ws, catalog).get(break_id)
    text = unified(*_difference(ws, brk))
    return Reply({"id": brk.id, "diff": text}, lambda: screens.coloured(text))


@cli.command(
    help=N_("Say which breaks are applied, by what is in the files."),
    examples=[
        ("breaks status", N_("what is applied, and what was edited since")),
        ("breaks status --json", N_("for a program")),
    ],
)
def status() -> Reply:
    from breaks import here, journal, screens

    ws = workspace()
    found = journal.status(ws)
    document = {
        "workspace": str(ws.root),
        "applied": [
            {
                "id": item.id,
                "state": item.state.value,
                "time": item.when,
                "files": list(item.files),
            }
            for item in found.breaks
        ],
        "edited": list(found.edited),
        "missing": list(found.missing),
        "unrecorded": list(strays := here.strays(ws)),
    }
    return Reply(document, lambda: screens.standing(found, strays))


# --- changing -----------------------------------------------------------------------------------


@cli.command(
    help=N_(
        "Put breaks into the library of this workspace.\n\n"
        "All that are named or none. Several may be applied as long as they change different"
        " lines. What you edited stays."
    ),
    examples=[
        ("breaks apply skip-unbroadcast", N_("one")),
        ("breaks apply skip-unbroadcast cat-negative-axis", N_("two, which must not overlap")),
    ],
)
@click.argument("ids", nargs=-1, required=True, metavar="ID", shell_complete=_ids)
@_catalog_option
def apply(ids: tuple[str, ...], catalog: tuple[str, ...]) -> Reply:
    from breaks import journal, screens
    from breaks.difference import sites

    ws = workspace()
    known = catalogue(ws, catalog)
    breaks = [known.get(name) for name in dict.fromkeys(ids)]
    changes = journal.apply(ws, *breaks)
    old = {change.module: change.before for change in changes}
    new = {change.module: change.after for change in changes}
    found = sites(old, new)
    names = [brk.id for brk in breaks]
    document = {
        "applied": names,
        "changes": [
            {
                "file": site.file,
                "line": site.line,
                "removed": list(site.removed),
                "added": list(site.added),
            }
            for site in found
        ],
    }
    return Reply(document, lambda: screens.applied_now(names, found))


@cli.command(
    help=N_(
        "Take breaks out of the library of this workspace; all of them if none is named.\n\n"
        "What you edited elsewhere in the files stays. If you edited the very lines of a break,"
        " nothing is changed, both versions are shown and saved, and you choose."
    ),
    examples=[
        ("breaks revert", N_("all")),
        ("breaks revert skip-unbroadcast", N_("one, in any order")),
        ("breaks revert skip-unbroadcast --keep", N_("leave the file as it is, forget the break")),
    ],
)
@click.argument("ids", nargs=-1, metavar="ID", shell_complete=_applied_ids)
@click.option("--keep", is_flag=True, help=N_("Change no file: my edits replace the break."))
def revert(ids: tuple[str, ...], keep: bool) -> Reply:
    from breaks import here, journal, screens

    ws = workspace()
    gone = journal.forget(ws, *ids) if keep else journal.revert(ws, *ids)
    left = list(journal.status(ws).applied)
    document = {"reverted": gone, "kept_files": keep, "applied": left}
    strays = here.strays(ws) if not gone else ()
    return Reply(document, lambda: screens.reverted(gone, left, keep, strays))


# --- making one's own ---------------------------------------------------------------------------


@cli.command(
    help=N_(
        "Make a workspace: a copy of minitorch to break, and the pages of the labs.\n\n"
        "Nothing that exists is overwritten. In a clone of the project there is one already."
    ),
    examples=[("breaks init my-lab && cd my-lab", N_("a new folder, and into it"))],
)
@click.argument("folder", metavar="DIR", type=FOLDER)
def init(folder: str) -> Reply:
    from breaks.create import create

    ws, written = create(Path(folder))

    def text() -> str:
        count = i18n.ngettext("%(n)d file", "%(n)d files", len(written)) % {"n": len(written)}
        head = _("made  %(folder)s   %(count)s") % {"folder": folder, "count": count}
        return (
            head
            + "\n"
            + _("next  %(command)s") % {"command": f"cd {shlex.quote(folder)} && breaks"}
        )

    return Reply({"workspace": str(ws.root), "written": written}, text)


@cli.command(
    help=N_("Write a commented file for a break of your own, to fill in.\n\nNever overwrites one."),
    examples=[
        ("breaks new my-first-break", N_("in the folder that breaks.toml names, or here")),
        ("breaks new my-first-break --catalog my-breaks", N_("in another folder")),
    ],
)
@click.argument("break_id", metavar="ID")
@click.option("--catalog", metavar="DIR", type=FOLDER, help=N_("The folder to write to."))
def new(break_id: str, catalog: str | None) -> Reply:
    from breaks import template

    ws = workspace_or_none()
    if break_id in load_catalog():
        raise BreaksError(
            _("a name that is free"),
            _("that %(id)s is a break of the catalogue") % {"id": break_id},
            _("Choose another name."),
            code=Exit.PRECONDITION,
        )
    own = ws.config.catalog[0] if ws and ws.config.catalog else Path()
    path = template.write(break_id, Path(catalog) if catalog else own)

    def text() -> str:
        return (
            _("wrote  %(path)s") % {"path": template.from_here(path)}
            + "\n"
            + _("next   %(command)s") % {"command": template.checking(path)}
        )

    return Reply({"id": break_id, "file": str(path)}, text)


@cli.command(
    help=N_(
        "Say whether breaks are fit for the catalogue; all of them if none is named.\n\n"
        "For each: the schema, how often the pattern matches, the proof, the size of the change,"
        " that it compiles and comes out again, its texts, its reports, and who sees it."
        " Exit code 1 if anything is wrong."
    ),
    examples=[
        ("breaks check", N_("the whole catalogue")),
        ("breaks check my-breaks/my-first-break.yaml", N_("one file")),
        ("breaks check skip-unbroadcast --quick", N_("one break, without running the detectors")),
        (
            "breaks check --try 'b.grad += $G' --scope Tensor.__add__",
            N_("only show what a pattern matches"),
        ),
    ],
)
@click.argument("names", nargs=-1, metavar="ID|FILE", shell_complete=_ids_and_files)
@click.option("--quick", is_flag=True, help=N_("Do not run the detectors."))
@click.option("--try", "pattern", metavar="PATTERN", help=N_("Show what a pattern matches."))
@click.option("--scope", metavar="SCOPE", help=N_("With --try: a class or function."))
@click.option(
    "--module",
    metavar="MODULE",
    default="minitorch.tensor",
    show_default=True,
    help=N_("With --try: the module."),
)
@_catalog_option
def check(
    names: tuple[str, ...],
    quick: bool,
    pattern: str | None,
    scope: str | None,
    module: str,
    catalog: tuple[str, ...],
) -> Reply:
    from breaks import screens

    ws = workspace_or_none()
    if pattern is not None:
        return _try_pattern(sources(ws), pattern, scope, module)
    from breaks.authoring import chosen, examined, witnessed

    folders = [*(ws.config.catalog if ws else ()), *map(Path, catalog)]
    paths = chosen(names, folders)
    correct = sources(ws)
    seen = None if quick else witnessed(paths, correct)  # draws a bar of its own
    checks = examined(paths, correct, seen)
    results = list(console.progress(checks, _("checking"), len(paths)))
    wrong = any(result.findings for result in results)
    document = {"checked": [result.as_json() for result in results], "fit": not wrong}
    code = Exit.FINDING if wrong else Exit.DONE
    return Reply(document, lambda: screens.fitness(results), code)


def _try_pattern(texts: Sources, pattern: str, scope: str | None, module: str) -> Reply:
    from breaks import screens
    from breaks.authoring import matches

    found = matches(texts, pattern, scope, module)
    document = {
        "pattern": pattern,
        "scope": scope,
        "module": module,
        "matches": [{"line": line, "source": source} for line, source in found],
    }
    code = Exit.DONE if found else Exit.FINDING
    return Reply(document, lambda: screens.matched(found, scope or module), code)


@cli.command(
    help=N_(
        "Examine the installation and say what is wrong with it.\n\n"
        "The page is made to be pasted into a report. Exit code 4 if something must be put right."
    ),
    examples=[
        ("breaks doctor", N_("the page")),
        ("breaks doctor > report.txt", N_("in a file")),
    ],
)
def doctor() -> Reply:
    from breaks import screens
    from breaks.doctor import Health, examine

    findings = examine()
    bad = [finding for finding in findings if finding.health is Health.BAD]
    document = {"healthy": not bad, "findings": [finding.as_json() for finding in findings]}
    code = Exit.ENVIRONMENT if bad else Exit.DONE
    return Reply(document, lambda: screens.examination(findings), code)


console.completion(cli)
