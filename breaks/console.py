"""What both command lines talk through: streams, tables, progress, commands, errors.

A command is declared once and answers with a `Reply`:

    cli = console.Cli("grader", help=N_("Predict, check, explain."), version=__version__)

    @cli.command(examples=[("grader check lab02", N_("check your prediction"))], help=N_("…"))
    @click.argument("lab")
    def check(lab: str) -> console.Reply:
        verdict = judge(lab)
        return console.Reply(verdict.as_json(), lambda: screen(verdict), code=verdict.exit_code)

    def main() -> None:
        sys.exit(cli.run())

`Reply.document` is printed under --json, `Reply.text` otherwise; raise `BreaksError` for the rest.
"""

from collections.abc import Iterable, Sequence

from breaks.command import N_, Cli, Command, Reply, completion, did_you_mean, summary
from breaks.layout import cells, fold, pad, wrap
from breaks.layout import table as _table
from breaks.terminal import (
    advancing,
    carries,
    colourful,
    glyphs,
    interactive,
    json_mode,
    out,
    plain,
    progress,
    say,
    style,
    width,
    write,
)

__all__ = [
    "N_",
    "Cli",
    "Command",
    "Reply",
    "advancing",
    "carries",
    "cells",
    "colourful",
    "completion",
    "did_you_mean",
    "fold",
    "glyphs",
    "interactive",
    "json_mode",
    "out",
    "pad",
    "plain",
    "progress",
    "say",
    "style",
    "summary",
    "table",
    "width",
    "wrap",
    "write",
]


def table(
    rows: Iterable[Sequence[object] | str],
    header: Sequence[str] = (),
    *,
    align: str = "",
    indent: str = "",
) -> str:
    """Rows as aligned columns with a quiet header, as wide as the terminal allows (at most 80).

    A row that is a string is a heading over the rows below it.
    """
    titles = [style(title, "dim") for title in header]
    return _table(rows, titles, width=width(), align=align, indent=indent)
