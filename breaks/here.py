"""What is known from here: the breaks and the correct library of the workspace, or as installed."""

from __future__ import annotations

from collections.abc import Mapping

from breaks.catalog import BUILTIN, Catalog, load_catalog
from breaks.errors import BreaksError
from breaks.library import shipped_sources
from breaks.workspace import Workspace


def catalogue() -> Catalog:
    """The breaks that ship and, inside of a workspace, those of its own."""
    ws = Workspace.around()
    return load_catalog([BUILTIN, *(ws.config.catalog if ws else ())])


def sources() -> Mapping[str, bytes]:
    """The library without any break: the workspace's, applied breaks taken out; else as shipped."""
    from breaks import journal

    ws = Workspace.around()
    return journal.pristine_sources(ws) if ws else shipped_sources()


def strays(ws: Workspace) -> tuple[str, ...]:
    """The breaks whose lines are in the library although no record says so.

    None where the library or the catalogue cannot be read: whoever needs those will say it.
    """
    from breaks import journal, original

    try:
        texts = journal.pristine_sources(ws)
        same = all(text == original.original(module) for module, text in texts.items())
        return () if same else tuple(original.strays(texts, catalogue()))
    except (BreaksError, OSError):
        return ()
