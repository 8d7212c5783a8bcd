"""`breaks new`: a file to fill in, each key with what belongs there."""

from __future__ import annotations

import re
from pathlib import Path

from breaks import durable, i18n
from breaks.errors import BreaksError, Exit

_ = i18n.gettext
ID = re.compile(r"(?=.{1,60}\Z)[a-z0-9]+(-[a-z0-9]+)*")

TEXT = """\
# yaml-language-server: $schema=%(schema)s
# One fault that somebody could really make.  Fill in every "" and then run:
#   breaks check %(file)s

id: %(id)s    # the name of this file
title: {en: "", es: ""}                   # what goes wrong, in one line

# One of: %(families)s
family: %(family)s

rewrites:
  - module: minitorch.tensor    # or minitorch.optim, minitorch.losses, minitorch.training
    scope: Tensor.__add__       # dotted path; of a list, the first that exists is taken
    # Python, in single quotes; $G stands for any expression.  To see what a pattern matches:
    #   breaks check --try 'b.grad += unbroadcast($G, $S)' --scope Tensor.__add__
    pattern: 'b.grad += unbroadcast($G, $S)'
    # Or, instead of `pattern`, several of which any may match:   any: ['…', '…']
    replace: 'b.grad += $G'
    # matches: 1                # how many places must match; any other number is an error
    # where: {G: 'g.*'}         # a regular expression for the whole text of a metavariable

misconception: {en: "", es: ""}           # the belief that leads to the fault

hints:                                    # three rungs, each says more than the one before
  - {en: "", es: ""}                      # where to look
  - {en: "", es: ""}                      # what to look for
  - {en: "", es: ""}                      # almost the answer

explain: {en: "", es: ""}                 # the lesson, shown after the check

provenance:                               # where this fault happened for real
  - {library: "", url: "", note: ""}

# A break that nothing can observe must say so, and why:
# equivalent: true
# reason: {en: "", es: ""}
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
