"""`breaks new`: a file to fill in, each key with what belongs there."""

from __future__ import annotations

import re
import shlex
import textwrap
from pathlib import Path

from breaks import durable, i18n
from breaks.console import N_
from breaks.errors import BreaksError, Exit

_ = i18n.gettext
ID = re.compile(r"(?=.{1,60}\Z)[a-z0-9]+(-[a-z0-9]+)*")

TEXT = N_(
    """\
# yaml-language-server: $schema=%(schema)s
# One fault that somebody could really make.  Fill in every "" and then run:
#   %(command)s

id: %(id)s    # the name of this file
title: {en: "", es: ""}                   # what goes wrong, in one line

# One of:
%(families)s
family: %(family)s

rewrites:
  - module: minitorch.tensor    # or minitorch.functions, .losses, .optim, …
    scope: Tensor.__add__       # dotted path; of a list, the first that exists
    # Python, in single quotes; $G stands for any expression.  What it matches:
    # breaks check --try 'b.grad += unbroadcast($G, $S)' --scope Tensor.__add__
    pattern: 'b.grad += unbroadcast($G, $S)'
    # Or, instead of `pattern`, several of which any may match:
    # any: ['…', '…']
    replace: 'b.grad += $G'
    # matches: 1                # how many places; any other number is an error
    # where: {G: 'g.*'}         # a regular expression for all of $G

misconception: {en: "", es: ""}           # the belief that leads to the fault

hints:                                    # three, each says more than the last
  - {en: "", es: ""}                      # where to look
  - {en: "", es: ""}                      # what to look for
  - {en: "", es: ""}                      # almost the answer

explain: {en: "", es: ""}                 # the lesson, shown after the check

provenance:                               # where this fault happened for real
  - {library: "", url: "", note: {en: "", es: ""}}

# A break that nothing can observe must say so, and why:
# equivalent: true
# reason: {en: "", es: ""}
"""
)


def write(name: str, folder: Path) -> Path:
    """A new file `name`.yaml in the folder; one that exists is never overwritten."""
    from breaks.model import Family

    if not ID.fullmatch(name):
        raise BreaksError(
            _("a name of small letters and digits with single hyphens, like skip-unbroadcast"),
            repr(name),
            _("Choose such a name; the file is called the same."),
        )
    path = folder / f"{name}.yaml"
    if path.exists() or path.is_symlink():
        raise BreaksError(
            _("a name that is free"),
            _("that %(path)s is there already") % {"path": path},
            _("Edit that file, or choose another name: nothing is overwritten."),
            code=Exit.PRECONDITION,
        )
    families = [family.value for family in Family]
    schema = Path(__file__).with_name("schema") / "break.schema.json"
    fields = {
        "id": name,
        "schema": schema.as_uri(),
        "command": checking(path),
        "family": families[0],
        "families": textwrap.fill(
            " ".join(families), 78, initial_indent="#   ", subsequent_indent="#   "
        ),
    }
    durable.make_folder(folder)
    durable.create(path, (_(TEXT) % fields).encode())
    return path


def from_here(path: Path) -> str:
    """The path as it is typed in the current folder."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path.resolve())


def checking(path: Path) -> str:
    """The command that checks the file."""
    return f"breaks check {shlex.quote(from_here(path))}"
