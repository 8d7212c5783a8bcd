"""Reads YAML as data: bounded, one document, no aliases, no tags; every value knows its line."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from breaks import i18n
from breaks.errors import BreaksError

_ = i18n.gettext

LIMIT = 64 * 1024  # bytes
DEPTH = 20
SHOWN = 48  # characters of a line that cannot be read
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
TAG = "tag:yaml.org,2002:"
KINDS = {TAG + kind for kind in ("str", "int", "float", "bool", "null")}
CONTROL = re.compile(  # of terminals, of writing direction (they hide code), and what is no text
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
SURPRISE = re.compile(r"[-+]?(0[0-7_]+|[0-9][0-9_]*(:[0-9:._]+)+)")  # 010 is 8, 12:30 is 750
Place = tuple[str | int, ...]  # the keys and indices that lead to a value


class Document(NamedTuple):
    """The data of a file, the line of every value in it, and how unquoted values were written."""

    name: str
    data: Any
    lines: Mapping[Place, int] = {}
    written: Mapping[Place, str] = {}

    def line(self, place: Place = ()) -> int:
        """The line of the value at `place`, or of the nearest one around it."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, 1)

    def where(self, place: Place = ()) -> str:
        """`file:line` of the same."""
        return f"{self.name}:{self.line(place)}"


def read_yaml(
    source: Path | str, *, name: str | None = None, inside: Path | None = None
) -> Document:
    """The document in a file (a Path) or a text (a str).

    Raises BreaksError with file and line for what is not UTF-8, larger than 64 KiB, nested deeper
    than 20, not YAML, more than one document; for aliases, anchors, tags, duplicate keys, keys that
    are not text, and values that are not text, finite numbers, booleans or null.  With `inside`,
    a link that leads out of that folder is refused too.
    """
    if isinstance(source, Path):
        name = name or source.name
        text = _file_text(source, name, inside)
    else:
        name, text = name or "<text>", source
    if len(text.encode("utf-8", "surrogatepass")) > LIMIT:
        raise _too_large(name)
    _refuse_control(text, name)
    try:
        _refuse_events(text, name)
        loader = LOADER(text)
        try:
            return _Reader(loader, name).document()
        finally:
            loader.dispose()
    except (yaml.YAMLError, UnicodeError, RecursionError) as error:
        raise _syntax(error, text, name) from None


# -------------------------------------------------------------------- files


def _file_text(path: Path, name: str, inside: Path | None) -> str:
    try:
        if not path.is_file():
            raise BreaksError(_("a file"), _kind(path), _("Check the path."), where=str(path))
        if inside is not None and not path.resolve().is_relative_to(inside.resolve()):
            raise BreaksError(
                _("a file inside %(folder)s") % {"folder": inside},
                _("a link to %(path)s") % {"path": path.resolve()},
                _("Copy the file into the folder."),
                where=str(path),
            )
        with path.open("rb") as file:
            raw = file.read(LIMIT + 1)
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise BreaksError(
            _("a file that can be read"), reason, _("Check the path."), where=str(path)
        ) from None
    if len(raw) > LIMIT:
        raise _too_large(name)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise BreaksError(
            _("text in UTF-8"),
            _("byte 0x%(byte)02x") % {"byte": raw[error.start]},
            _("Save the file as UTF-8."),
            where=f"{name}:{line}",
        ) from None


def _kind(path: Path) -> str:
    if not path.exists():
        return _("a link to nothing") if path.is_symlink() else _("nothing")
    return _("a folder") if path.is_dir() else _("a pipe or a device")


def _too_large(name: str) -> BreaksError:
    return BreaksError(
        _("at most %(n)d KiB") % {"n": LIMIT // 1024},
        _("a larger file"),
        _("Make it smaller."),
        where=name,
    )


# -------------------------------------------------------------------- before anything is built


def _refuse_control(text: str, name: str) -> None:
    found = CONTROL.search(text)
    if found:
        raise _control(found.group(), f"{name}:{text.count(chr(10), 0, found.start()) + 1}")


def _control(character: str, where: str) -> BreaksError:
    return BreaksError(
        _("text without control characters"),
        _("the control character U+%(code)04X") % {"code": ord(character)},
        _("Remove the character."),
        where=where,
    )


def _refuse_events(text: str, name: str) -> None:
    """Walks over the document without building it, and refuses what is not plain data."""
    depth = documents = 0
    event: Any
    for event in yaml.parse(text, Loader=LOADER):
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
        elif isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        for found in _not_plain(event, depth, documents):
            raise BreaksError(
                _("plain data: mappings, lists, text, numbers"),
                found,
                _("Write the value out."),
                where=f"{name}:{event.start_mark.line + 1}",
            )


def _not_plain(event: Any, depth: int, documents: int) -> Iterator[str]:
    if documents > 1:
        yield _("a second document")
    if depth > DEPTH:
        yield _("more than %(n)d levels") % {"n": DEPTH}
    if isinstance(event, yaml.AliasEvent):
        yield _("the alias *%(name)s") % {"name": event.anchor}
    elif getattr(event, "anchor", None):
        yield _("the anchor &%(name)s") % {"name": event.anchor}
    elif getattr(event, "tag", None):
        yield _("the tag %(name)s") % {"name": event.tag.replace(TAG, "!!")}


def _syntax(error: Exception, text: str, name: str) -> BreaksError:
    """What the parser objects to, in plain words, with the line and the column."""
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    if mark is None:
        return BreaksError(_("a YAML document"), problem, _("Mend it."), where=name)
    lines = [*text.split("\n"), ""]
    line = lines[min(mark.line, len(lines) - 1)]
    indented = len(line) - len(line.lstrip())
    if "\t" in line[:indented]:
        found, todo, begun = _("a tab"), _("Indent with spaces."), False
    elif line[mark.column : mark.column + 1] in set("@`%"):
        found = _("%(character)s at the start of a value") % {"character": line[mark.column]}
        todo, begun = _("Put the value in quotes."), False
    else:
        found, todo, begun = _in_words(problem, first=mark.column <= indented)
    if begun:  # the parser noticed it at the end; the mistake is where that begins
        mark = getattr(error, "context_mark", None) or mark
        line = lines[min(mark.line, len(lines) - 1)]
    if line.strip():
        place = {"problem": found, "column": mark.column + 1, "line": line.strip()[:SHOWN]}
        found = _("%(problem)s, at column %(column)d of `%(line)s`") % place
    return BreaksError(_("a YAML document"), found, todo, where=f"{name}:{mark.line + 1}")


def _in_words(problem: str, *, first: bool) -> tuple[str, str, bool]:
    """The parser's jargon for a reader: what is there, what to do, and whether it begins earlier.

    `first`: the parser stopped at the first word of a line.
    """
    if re.search("end of stream|document (indicator|separator)", problem):
        todo = _("Close it; in single quotes, a single quote is written twice.")
        return _("a quote that is not closed"), todo, True
    if re.search("',' or", problem):
        todo = _("Close it, or put text that has a bracket in quotes.")
        return _("a bracket that is not closed, or a comma that is missing"), todo, True
    if "could not find expected ':'" in problem:
        return _("a key without a colon"), _("Write the colon and the value."), True
    if re.search("expected (key|<block end>)|'-' indicator", problem):
        if first:
            todo = _("Begin the line in the column of the keys or items that it stands beside.")
            return _("a line that is indented like nothing above it"), todo, False
        todo = _("Put the whole value in single quotes; a single quote in it is written twice.")
        return _("text behind the end of a value"), todo, False
    if "mapping values" in problem:
        todo = _("Put text that has a colon in quotes, and look at the indentation.")
        return _("a colon that no key can have there"), todo, False
    if "sequence entries" in problem:
        todo = _("Begin each item on a line of its own.")
        return _("a list item that cannot be there"), todo, False
    if re.search("escape|hexa?decimal", problem):
        todo = _("Use single quotes: in them a backslash is a backslash.")
        return _("a backslash with a letter that means nothing"), todo, False
    if "node content" in problem:
        todo = _("Write a value; put text that has a bracket or begins with a comma in quotes.")
        return _("no value where one belongs"), todo, False
    todo = _("Mend the line; quote text that has : # { [ or a leading quote.")
    return _("what YAML does not allow there"), todo, False


# -------------------------------------------------------------------- nodes to data


class _Reader:
    """Makes data of nodes, and notes their lines."""

    def __init__(self, loader: Any, name: str) -> None:
        self.loader = loader
        self.name = name
        self.lines: dict[Place, int] = {}
        self.written: dict[Place, str] = {}

    def document(self) -> Document:
        node = self.loader.get_single_node()
        data = None if node is None else self.value(node, ())
        return Document(self.name, data, self.lines, self.written)

    def value(self, node: Any, place: Place) -> Any:
        self.lines.setdefault(place, node.start_mark.line + 1)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*place, i)) for i, item in enumerate(node.value)]
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, place)
        return self.scalar(node, place)

    def mapping(self, node: Any, place: Place) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = self.key(key_node)
            here = (*place, key)
            if key in out:
                raise BreaksError(
                    _("each key once"),
                    _("%(key)s again, first on line %(line)d")
                    % {"key": key, "line": self.lines[here]},
                    _("Remove one of them."),
                    where=self.where(key_node),
                )
            self.lines[here] = key_node.start_mark.line + 1
            out[key] = self.value(value_node, here)
        return out

    def key(self, node: Any) -> str:
        if isinstance(node, yaml.ScalarNode) and node.tag == TAG + "str":
            return self.clean(node)
        found = f"{node.value!r:.60}" if isinstance(node, yaml.ScalarNode) else _("a collection")
        raise BreaksError(
            _("keys that are text"),
            found,
            _("Put the key in quotes: YAML reads yes, no, on, off and numbers as other things."),
            where=self.where(node),
        )

    def scalar(self, node: Any, place: Place) -> Any:
        if not node.style:  # unquoted
            self.written[place] = node.value
        if node.tag == TAG + "str":
            return self.clean(node)
        try:
            if node.tag not in KINDS:
                raise ValueError
            value = self.loader.construct_object(node)
        except (ValueError, OverflowError, KeyError, yaml.YAMLError):
            raise self.not_plain(node, _("Put it in quotes to mean text.")) from None
        if isinstance(value, float) and not math.isfinite(value):
            todo = _("YAML reads %(word)s as a number that is none: write a finite one.")
            raise self.not_plain(node, todo % {"word": node.value})
        if isinstance(value, int | float) and SURPRISE.fullmatch(node.value):
            todo = _("YAML reads %(word)s as %(number)s: put text in quotes.")
            raise self.not_plain(node, todo % {"word": node.value, "number": f"{value:g}"})
        return value

    def not_plain(self, node: Any, todo: str) -> BreaksError:
        return BreaksError(
            _("text, a finite number, true, false or null"),
            f"{node.value!r:.60}",
            todo,
            where=self.where(node),
        )

    def clean(self, node: Any) -> str:
        """The text of a node; its escapes, such as "\\0", may have smuggled characters in."""
        found = CONTROL.search(node.value)
        if found:
            raise _control(found.group(), self.where(node))
        return str(node.value)

    def where(self, node: Any) -> str:
        return f"{self.name}:{node.start_mark.line + 1}"
