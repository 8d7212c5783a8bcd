"""A Break out of plain data that the schema accepts; nothing here reads YAML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from breaks.model import Break, Family, Report, Rewrite


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
