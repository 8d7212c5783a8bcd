"""Reads YAML as data: bounded, one document, no aliases, no tags; every value knows its line."""

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from breaks import i18n
from breaks.errors import BreaksError
from breaks.model import Break, Family, Report, Rewrite

_ = i18n.gettext

LIMIT = 64 * 1024  # bytes
DEPTH = 20
SCHEMAS = Path(__file__).with_name("schema")
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
KINDS = {
    "tag:yaml.org,2002:str": str,
    "tag:yaml.org,2002:int": int,
    "tag:yaml.org,2002:float": float,
    "tag:yaml.org,2002:bool": bool,
    "tag:yaml.org,2002:null": type(None),
}
Place = tuple[str | int, ...]  # the keys and indices that lead to a value


@dataclass(frozen=True, slots=True)
class Document:
    """The data of a file, and the line of every value in it."""

    name: str
    data: Any
    lines: Mapping[Place, int] = field(default_factory=dict)

    def where(self, place: Place = ()) -> str:
        """`file:line` of the value at `place`, or of the nearest one around it."""
        while place and place not in self.lines:
            place = place[:-1]
        return f"{self.name}:{self.lines.get(place, 1)}"


def read_yaml(source: Path | str, *, name: str | None = None) -> Document:
    """The document in a file (a Path) or a text (a str).

    Raises BreaksError with file and line for what is not UTF-8, larger than 64 KiB, nested deeper
    than 20, not YAML, more than one document; for aliases, anchors, tags, duplicate keys, keys that
    are not text, and values that are not text, numbers, booleans or null.
    """
    name = name or (source.name if isinstance(source, Path) else "<text>")
    text = _file_text(source, name) if isinstance(source, Path) else source
    if len(text.encode("utf-8", "surrogatepass")) > LIMIT:
        raise _too_large(name)
    try:
        _refuse_events(text, name)
        loader = LOADER(text)
        try:
            node = loader.get_single_node()
            lines: dict[Place, int] = {}
            return Document(name, _value(loader, node, (), lines, name) if node else None, lines)
        finally:
            loader.dispose()
    except (yaml.YAMLError, UnicodeError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise BreaksError(
            _("a YAML document"),
            problem,
            _("Mend the line; quote text that has : # { [ or a leading quote."),
            where=f"{name}:{mark.line + 1}" if mark else name,
        ) from None


def _file_text(path: Path, name: str) -> str:
    try:
        if not path.is_file():
            found = _("nothing") if not path.exists() else _("something else")
            raise BreaksError(_("a file"), found, _("Check the path."), where=str(path))
        with path.open("rb") as file:
            raw = file.read(LIMIT + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise BreaksError(
            _("a file that can be read"), reason, _("Check the path."), where=str(path)
        ) from None
    if len(raw) > LIMIT:
        raise _too_large(name)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BreaksError(
            _("text in UTF-8"),
            _("byte 0x%(byte)02x at offset %(offset)d")
            % {"byte": raw[error.start], "offset": error.start},
            _("Save the file as UTF-8."),
            where=name,
        ) from None


def _too_large(name: str) -> BreaksError:
    return BreaksError(
        _("at most %(n)d KiB") % {"n": LIMIT // 1024},
        _("a larger file"),
        _("Make it smaller."),
        where=name,
    )


def _refuse_events(text: str, name: str) -> None:
    """Walks over the document without building it, and refuses what is not plain data."""
    depth = documents = 0
    for event in yaml.parse(text, Loader=LOADER):
        found = None
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            found = _("a second document") if documents > 1 else None
        elif isinstance(event, yaml.AliasEvent):
            found = _("the alias *%(name)s") % {"name": event.anchor}
        elif isinstance(event, yaml.NodeEvent):
            tag = getattr(event, "tag", None)
            if event.anchor:
                found = _("the anchor &%(name)s") % {"name": event.anchor}
            elif tag and tag != "!":
                found = _("the tag %(name)s") % {"name": tag}
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                found = _("more than %(n)d levels") % {"n": DEPTH} if depth > DEPTH else found
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if found:
            raise BreaksError(
                _("plain data: mappings, lists, text, numbers"),
                found,
                _("Write the value out."),
                where=f"{name}:{event.start_mark.line + 1 if event.start_mark else 1}",
            )


def _value(loader: Any, node: Any, place: Place, lines: dict[Place, int], name: str) -> Any:
    lines[place] = line = node.start_mark.line + 1
    if isinstance(node, yaml.SequenceNode):
        return [_value(loader, n, (*place, i), lines, name) for i, n in enumerate(node.value)]
    if isinstance(node, yaml.MappingNode):
        out: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = _key(loader, key_node, name)
            if key in out:
                raise BreaksError(
                    _("each key once"),
                    _("%(key)s again, first on line %(line)d")
                    % {"key": key, "line": lines[(*place, key)]},
                    _("Remove one of them."),
                    where=f"{name}:{key_node.start_mark.line + 1}",
                )
            out[key] = _value(loader, value_node, (*place, key), lines, name)
            lines[(*place, key)] = key_node.start_mark.line + 1
        return out
    try:
        if node.tag not in KINDS:
            raise ValueError
        value = loader.construct_object(node)
    except (ValueError, OverflowError, KeyError, yaml.YAMLError):
        raise BreaksError(
            _("text, a number, true, false or null"),
            f"{node.value!r:.60}",
            _("Put it in quotes to mean text."),
            where=f"{name}:{line}",
        ) from None
    return value


def _key(loader: Any, node: Any, name: str) -> str:
    if isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:str":
        return str(node.value)
    found = f"{node.value!r:.60}" if isinstance(node, yaml.ScalarNode) else _("a collection")
    raise BreaksError(
        _("keys that are text"),
        found,
        _("Put the key in quotes: YAML reads yes, no, on, off and numbers as other things."),
        where=f"{name}:{node.start_mark.line + 1}",
    )


# -------------------------------------------------------------------- validation


@cache
def schema(kind: str) -> dict[str, Any]:
    """The published JSON Schema of "break", "lab" or "prediction"."""
    return json.loads((SCHEMAS / f"{kind}.schema.json").read_text("utf-8"))


def validate(document: Document, kind: str) -> None:
    """Raises BreaksError for the first place, in the order of lines, that breaks the schema."""
    from jsonschema import Draft202012Validator

    errors = list(Draft202012Validator(schema(kind)).iter_errors(document.data))
    if errors:
        problems = [_problem(document, _deepest(error)) for error in errors]
        raise min(problems, key=lambda problem: int(problem.where.rpartition(":")[2]))


def _deepest(error: Any) -> Any:
    """The error that says most: inside anyOf/oneOf, the one that came furthest."""
    while error.context:
        error = max(error.context, key=lambda inner: (len(inner.absolute_path), -len(str(inner))))
    return error


def _problem(document: Document, error: Any) -> BreaksError:
    place: Place = tuple(error.absolute_path)
    at = ".".join(map(str, place)) or _("the document")
    if error.validator == "additionalProperties":
        known = list(error.schema.get("properties", {}))
        unknown = next(key for key in error.instance if key not in known)
        return BreaksError(
            _("one of the keys %(keys)s") % {"keys": ", ".join(known)},
            unknown,
            did_you_mean(unknown, known) or _("Remove the key."),
            where=document.where((*place, unknown)),
        )
    if error.validator == "required":
        missing = [key for key in error.validator_value if key not in error.instance]
        return BreaksError(
            _("the key %(keys)s in %(at)s") % {"keys": ", ".join(missing), "at": at},
            _("no such key"),
            _("Add it."),
            where=document.where(place),
        )
    found = f"{error.instance!r:.80}"
    if error.validator == "enum":
        known = [str(word) for word in error.validator_value]
        expected = _("one of %(words)s for %(at)s") % {"words": ", ".join(known), "at": at}
        todo = did_you_mean(str(error.instance), known) or _("Choose one of these words.")
        return BreaksError(expected, found, todo, where=document.where(place))
    wanted = error.schema.get("description") or f"{error.validator} {error.validator_value}"
    return BreaksError(
        _("for %(at)s: %(wanted)s") % {"at": at, "wanted": f"{wanted!s:.200}"},
        found,
        _("Correct the value."),
        where=document.where(place),
    )


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """A sentence with the nearest known word; empty where none is near."""
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return _("Did you mean %(word)s?") % {"word": near[0]} if near else ""


# -------------------------------------------------------------------- breaks


def load_break(path: Path) -> Break:
    """The break in a YAML file.  Raises BreaksError with file and line."""
    document = read_yaml(path)
    validate(document, "break")
    brk = break_of(document.data)
    if path.suffix == ".yaml" and brk.id != path.stem and path.stem != "sentinel":
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
