"""Breaks out of YAML files; the readers of documents and schemas that they share with the rest."""

from __future__ import annotations

from pathlib import Path

from breaks import i18n
from breaks.document import LIMIT, Document, Place, read_yaml
from breaks.errors import BreaksError
from breaks.model import Break
from breaks.plain import break_of
from breaks.schemas import SCHEMAS, did_you_mean, schema, validate

__all__ = [
    "LIMIT",
    "SCHEMAS",
    "Document",
    "Place",
    "break_of",
    "did_you_mean",
    "load_break",
    "read_yaml",
    "schema",
    "validate",
]

_ = i18n.gettext


def load_break(path: Path, *, inside: Path | None = None) -> Break:
    """The break in a YAML file, of which `inside` is the catalogue.

    Raises BreaksError with file and line.
    """
    document = read_yaml(path, inside=inside)
    validate(document, "break")
    brk = break_of(document.data)
    if path.suffix == ".yaml" and brk.id != path.stem:
        raise BreaksError(
            _("the id of the file's name, %(name)s") % {"name": path.stem},
            brk.id,
            _("Rename one of them."),
            where=document.where(("id",)),
        )
    return brk
