"""`make locale`: what the code says to people, into the Spanish catalogue, and that compiled."""

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from tests.tree import ROOT

PACKAGES = ("breaks", "labs", "grader")
SCHEMAS = "breaks/schema"
KEYWORDS = {"_": None, "N_": None, "gettext": None, "ngettext": (1, 2)}
PO = ROOT / "breaks" / "locale" / "es" / "LC_MESSAGES" / "breaklabs.po"


def extracted(root: Path = ROOT) -> Catalog:
    """Every message of the code, and each description of a schema: errors quote them."""
    catalog = Catalog()
    for package in PACKAGES:
        folder = root / package
        for file, line, message, _comments, context in extract_from_dir(
            folder, [("**.py", "python")], keywords=KEYWORDS
        ):
            if message:
                catalog.add(message, locations=[(f"{package}/{file}", line)], context=context)
    for path in sorted((root / SCHEMAS).glob("*.json")):
        for text in descriptions(json.loads(path.read_text("utf-8"))):
            catalog.add(text, locations=[(f"{SCHEMAS}/{path.name}", 1)])
    return catalog


def descriptions(schema: Any) -> Iterator[str]:
    """Each `description` in a JSON Schema, at any depth."""
    if isinstance(schema, dict):
        if isinstance(text := schema.get("description"), str):
            yield text
        schema = list(schema.values())
    for part in schema if isinstance(schema, list) else ():
        yield from descriptions(part)


def read(po: bytes) -> Catalog:
    return read_po(io.BytesIO(po), locale="es")


def updated(po: bytes, messages: Catalog) -> bytes:
    """The .po with exactly these messages; known translations stay, none is guessed."""
    catalog = read(po)
    catalog.update(messages, no_fuzzy_matching=True, update_creation_date=False)
    catalog.obsolete.clear()
    out = io.BytesIO()
    write_po(out, catalog, width=100, sort_by_file=True, include_lineno=False)
    return out.getvalue()


def compiled(po: bytes) -> bytes:
    """The .mo of a .po."""
    out = io.BytesIO()
    write_mo(out, read(po))
    return out.getvalue()


def untranslated(catalog: Catalog) -> list[str]:
    """What says nothing in Spanish yet; of a plural, one form is enough to name it."""
    return [_first(one.id) for one in catalog if one.id and not all(forms(one.string))]


def forms(text: str | tuple[str, ...] | list[str]) -> tuple[str, ...]:
    """The singular and plural forms of a message or a translation; most have one."""
    return (text,) if isinstance(text, str) else tuple(text)


def _first(text: str | tuple[str, ...] | list[str]) -> str:
    return forms(text)[0]


def main() -> int:
    """Extracts, updates, compiles; says what is left to translate."""
    po = updated(PO.read_bytes(), extracted())
    PO.write_bytes(po)
    PO.with_suffix(".mo").write_bytes(compiled(po))
    left = untranslated(read(po))
    for text in left:
        print(f"to translate: {text!r}", file=sys.stderr)
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
