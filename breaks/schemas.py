"""Compares a document with its published JSON Schema, and says in words what does not fit."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from breaks import i18n
from breaks.document import Document, Place
from breaks.errors import BreaksError

_ = i18n.gettext

SCHEMAS = Path(__file__).with_name("schema")


@cache
def schema(kind: str) -> dict[str, Any]:
    """The published JSON Schema of "break", "lab" or "prediction"."""
    return json.loads((SCHEMAS / f"{kind}.schema.json").read_text("utf-8"))


def validate(document: Document, kind: str) -> None:
    """Raises BreaksError for the first place, in the order of lines, that breaks the schema."""
    errors = list(_validator(kind).iter_errors(document.data))
    if errors:
        problems = [_problem(document, _telling(error)) for error in errors]
        raise min(problems, key=lambda problem: problem[0])[1]


@cache
def _validator(kind: str) -> Any:
    from jsonschema import Draft202012Validator, FormatChecker, ValidationError
    from jsonschema.validators import extend

    def whole(_validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[Any]:
        """`pattern`, with a $ that is the end, as in JSON Schema: Python's allows one newline."""
        strict = pattern.removesuffix("$") + r"\Z" if pattern.endswith("$") else pattern
        if isinstance(instance, str) and not re.search(strict, instance):
            yield ValidationError(f"{instance!r} does not match")

    kinds = extend(Draft202012Validator, {"pattern": whole})
    formats = FormatChecker([])
    formats.checks("regex", (re.error, RecursionError, OverflowError))(_is_regular)
    return kinds(schema(kind), format_checker=formats)


def _is_regular(instance: Any) -> bool:
    from breaks.pattern import regular

    return not isinstance(instance, str) or bool(regular(instance))


def _telling(error: Any) -> Any:
    """The error that says most: of several alternatives, in the one that came furthest."""
    while error.context and not _choice(error):
        inner = max(error.context, key=lambda inner: len(inner.absolute_path))
        if len(inner.absolute_path) == len(error.absolute_path):
            break  # no alternative fits at all: the description of the whole says more
        error = inner
    return error


def _choice(error: Any) -> list[str]:
    """The keys of which exactly one is needed, where that is what `oneOf` says."""
    branches = error.validator_value if error.validator == "oneOf" else []
    keys = [branch.get("required", []) for branch in branches]
    return [key for (key,) in keys] if all(len(key) == 1 for key in keys) else []


Problem = tuple[int, BreaksError]  # with its line


def _problem(document: Document, error: Any) -> Problem:
    place: Place = tuple(error.absolute_path)
    at = at_text(place)

    def problem(expected: str, found: str, todo: str, *more: str) -> Problem:
        where = (*place, *more)
        return document.line(where), BreaksError(expected, found, todo, where=document.where(where))

    if error.validator == "additionalProperties":
        known = list(error.schema.get("properties", {}))
        unknown = next(key for key in error.instance if key not in known)
        expected = _("one of the keys %(keys)s") % {"keys": ", ".join(known)}
        return problem(
            expected, unknown, did_you_mean(unknown, known) or _("Remove the key."), unknown
        )
    if error.validator in ("required", "dependentRequired"):
        missing, todo = _missing(error)
        expected = _("the key %(keys)s in %(at)s") % {"keys": ", ".join(missing), "at": at}
        return problem(expected, _shown(document, place, error.instance), todo)
    if (choice := _choice(error)) and isinstance(error.instance, dict):
        there = [key for key in choice if key in error.instance]
        expected = _("one of %(keys)s in %(at)s") % {"keys": ", ".join(choice), "at": at}
        found = _(" and ").join(there) if there else _("neither")
        todo = _("Remove all but one.") if there else _("Add one of them.")
        return problem(expected, found, todo, *there[-1:])
    if "propertyNames" in error.absolute_schema_path:
        wanted = _description(error.parent)
        expected = _("for the keys of %(at)s: %(wanted)s") % {"at": at, "wanted": _wanted(error)}
        return problem(expected, f"{error.instance!r:.80}", wanted or _("Rename the key."))
    found = _shown(document, place, error.instance)
    if error.validator == "enum":
        known = [str(word) for word in error.validator_value if word is not None]
        expected = _("one of %(words)s for %(at)s") % {"words": ", ".join(known), "at": at}
        todo = did_you_mean(found, known) or _("Choose one of these words.")
        return problem(expected, found, _trap(document, place, error.instance) or todo)
    expected = _("for %(at)s: %(wanted)s") % {"at": at, "wanted": _wanted(error)}
    todo = _trap(document, place, error.instance) or _("Correct the value.")
    return problem(expected, found, todo)


def _missing(error: Any) -> tuple[list[str], str]:
    if error.validator == "required":
        return [key for key in error.validator_value if key not in error.instance], _("Add it.")
    for key, needed in error.validator_value.items():
        missing = [other for other in needed if other not in error.instance]
        if key in error.instance and missing:
            return missing, _("Add it, or remove %(key)s.") % {"key": key}
    return [], _("Add it.")


def _wanted(error: Any) -> str:
    """What a place is for, by its schema."""
    if not error.absolute_path and error.validator == "type":
        keys = ", ".join(error.schema.get("required", ()))
        return _("a mapping with the keys %(keys)s") % {"keys": keys}
    if error.validator == "format":
        return _("a regular expression")
    wanted = _description(error) or _description(error.parent)
    return f"{wanted or _plain(error):.200}"


def _description(error: Any) -> str:
    """What the schema says of the place of an error, in the language of the reader."""
    text = error.schema.get("description") if error else ""
    return _(text) if text else ""


def _plain(error: Any) -> str:
    words = {
        "string": _("text"),
        "integer": _("a whole number"),
        "number": _("a number"),
        "boolean": _("true or false"),
        "array": _("a list"),
        "object": _("a mapping"),
        "null": _("nothing"),
    }
    if error.validator == "type":
        kinds = error.validator_value
        return _(" or ").join(words[k] for k in ([kinds] if isinstance(kinds, str) else kinds))
    if error.validator == "pattern":
        return _("text like %(pattern)s") % {"pattern": error.validator_value}
    return f"{error.validator} {error.validator_value}"


def _shown(document: Document, place: Place, value: Any) -> str:
    """What was found, as it was written."""
    if place in document.written and value is not None:
        return f"{document.written[place]:.80}"
    if isinstance(value, dict):
        return _("a mapping with the keys %(keys)s") % {"keys": f"{', '.join(value):.60}"}
    if isinstance(value, list):
        return i18n.ngettext("a list of %(n)d", "a list of %(n)d", len(value)) % {"n": len(value)}
    if value == "":
        return _("an empty text")
    return _("nothing") if value is None else f"{value!r:.80}"


def _trap(document: Document, place: Place, value: Any) -> str:
    """The sentence for what YAML reads otherwise than most people do."""
    written = document.written.get(place, "")
    if isinstance(value, bool) and written.lower() not in ("true", "false"):
        return _("Put it in quotes, or choose another word: YAML reads %(word)s as a boolean.") % {
            "word": written
        }
    if isinstance(value, str) and re.fullmatch(r"[-+]?[0-9]+e[-+]?[0-9]+", written):
        mantissa, exponent = written.split("e")
        number = f"{mantissa}.0e{exponent}"
        return _("Write %(number)s: without a dot YAML reads text.") % {"number": number}
    return ""


def at_text(place: Place) -> str:
    """`rewrites[0].matches` for a place."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)
    return text.removeprefix(".") or _("the document")


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """A sentence with the nearest known word; empty where none is near."""
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return _("Did you mean %(word)s?") % {"word": near[0]} if near else ""
