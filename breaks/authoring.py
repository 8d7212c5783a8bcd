"""What an author of breaks asks: which files are checked, and what a pattern matches."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from breaks import i18n
from breaks.catalog import BUILTIN, must_exist
from breaks.check import Checked, Finding, Observer, Point, Seen, check_file, observer
from breaks.errors import BreaksError
from breaks.load import load_break
from breaks.model import Break, Rewrite
from breaks.rewrite import mutate

_ = i18n.gettext
Sources = Mapping[str, bytes]


def chosen(names: Sequence[str], folders: Iterable[Path]) -> list[Path]:
    """The files of the named breaks: ids of the catalogue, or paths; all if none is named."""
    known: dict[str, Path] = {}
    for folder in (BUILTIN, *folders):
        must_exist(folder)
        for path in sorted(folder.glob("*.yaml")):
            known.setdefault(path.stem, path)
    return [_file(name, known) for name in names] if names else list(known.values())


def _file(name: str, known: Mapping[str, Path]) -> Path:
    if name in known:
        return known[name]
    path = Path(name)
    if path.is_file():
        return path
    from breaks.command import did_you_mean

    raise BreaksError(
        _("the id of a break, or a file"),
        repr(name),
        did_you_mean(name, list(known)) or _("`breaks list` lists the ids."),
    )


def witnessed(paths: Sequence[Path], sources: Sources) -> Seen | BreaksError | None:
    """What the detectors see, every break that can be applied asked about in one run.

    None if there are no detectors; the error if they could not come to an answer.
    """
    look = _observer()
    if look is None:
        return None
    breaks: dict[str, Break] = {}
    for path in paths:
        with contextlib.suppress(BreaksError):  # the file's own findings say it
            brk = load_break(path)
            mutate(sources, brk)
            breaks.setdefault(brk.id, brk)
    try:
        return look(list(breaks.values()), sources) if breaks else {}
    except BreaksError as error:
        return error


def examined(
    paths: Sequence[Path], sources: Sources, seen: Seen | BreaksError | None
) -> Iterator[Checked]:
    """Each file's findings, one after the other; `seen` is what `witnessed` said."""
    for path in paths:
        if isinstance(seen, BreaksError):
            yield _with(check_file(path, sources), seen)
        else:
            yield check_file(path, sources, seen)


def _observer() -> Observer | None:
    """Who runs the detectors; nobody, if that part of the kit cannot be loaded."""
    try:
        return observer()
    except (ImportError, AttributeError):
        return None


def _with(result: Checked, error: BreaksError) -> Checked:
    """The result; if it has no finding of its own, then what the detectors stumbled over."""
    if result.findings:
        return result
    finding = Finding(Point.LIVE, str(error))
    return Checked(result.name, result.places, result.lines, None, (finding,))


def matches(
    sources: Sources, pattern: str, scope: str | None, module: str
) -> list[tuple[int, str]]:
    """The line and the source of everything that a pattern matches."""
    from breaks.rewrite import find

    if module not in sources:
        from breaks.command import did_you_mean

        raise BreaksError(
            _("a module: %(modules)s") % {"modules": ", ".join(sources)},
            repr(module),
            did_you_mean(module, list(sources)) or _("Choose one of them."),
        )
    rule = Rewrite(module, (scope,) if scope else (), (pattern,), pattern)
    return find(sources[module], rule, name="--try")
