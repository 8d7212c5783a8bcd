"""`breaks new`: a file to fill in, each key with what belongs there."""

from __future__ import annotations

import re
from pathlib import Path

from breaks import durable, i18n
from breaks.errors import BreaksError, Exit

_ = i18n.gettext
ID = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")

TEXT = """\
# yaml-language-server: $schema=%(schema)s
# One fault that somebody could really make.  Fill in each line, then run: breaks check %(file)s

id: %(id)s                # the name of this file without .yaml
title: {en: "What goes wrong, in one line", es: "Lo que falla, en una línea"}

# One of: %(families)s
family: %(family)s

rewrites:
  - module: minitorch.tensor          # or minitorch.optim, minitorch.losses, minitorch.training
    scope: Tensor.__add__             # dotted path; of a list, the first that exists
    # Python with $METAVARIABLES, each standing for any expression.  In single quotes.
    # Try it first: breaks check --try 'b.grad += unbroadcast($G, $S)' --scope Tensor.__add__
    pattern: 'b.grad += unbroadcast($G, $S)'
    # Instead of one pattern, alternatives may be given:   pattern: {any: ['…', '…']}
    replace: 'b.grad += $G'
    # matches: 1                      # how many places must match; any other number is an error
    # where: {G: '.*'}                # a regular expression for the text of a metavariable

# The wrong idea behind the fault: what somebody believes who writes it.
misconception: {en: "…", es: "…"}

# Three rungs: where to look, what to look for, almost the answer.
hints:
  - {en: "…", es: "…"}
  - {en: "…", es: "…"}
  - {en: "…", es: "…"}

# The lesson.  It is shown after the check.
explain: {en: "…", es: "…"}

# Where this fault happened for real.
provenance:
  - {library: "…", url: 'https://…', note: "…"}

# A break that nothing can observe must say so, and why:
# equivalent: true
# reason: {en: "…", es: "…"}
"""


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
    fields = {"id": name, "file": path.name, "family": families[0], "schema": schema.as_uri()}
    durable.make_folder(folder)
    durable.create(path, (TEXT % {**fields, "families": " ".join(families)}).encode())
    return path
