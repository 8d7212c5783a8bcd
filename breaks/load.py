"""Breaks out of YAML files; the readers of documents and schemas that they share with the rest."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from breaks import i18n
from breaks.document import LIMIT, Document, Place, read_yaml
from breaks.errors import BreaksError
from breaks.model import Break, Family, Report, Rewrite
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


def break_of(data: Mapping[str, Any]) -> Break:
    """A Break out of data that the schema accepts."""
    return Break(
        id=data["id"],
        title=data["title"],
        family=Family(data["family"]),
        rewrites=tuple(_rewrite_of(rule) for rule in data["rewrites"]),
        misconception=data.get("misconception", {}),
        hints=tuple(data.get("hints", ())),
        explain=data.get("explain", {}),
        provenance=tuple(Report(**report) for report in data.get("provenance", ())),
        taxonomy=data.get("taxonomy"),
        equivalent=data.get("equivalent", False),
        reason=data.get("reason"),
    )


def _rewrite_of(data: Mapping[str, Any]) -> Rewrite:
    scope = data.get("scope", ())
    return Rewrite(
        module=data["module"],
        scopes=(scope,) if isinstance(scope, str) else tuple(scope),
        patterns=(data["pattern"],) if "pattern" in data else tuple(data["any"]),
        replace=data["replace"],
        matches=data.get("matches", 1),
        where=data.get("where", {}),
    )
