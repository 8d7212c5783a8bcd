"""What an author of breaks asks: which files are checked, and what a pattern matches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from breaks import i18n
from breaks.catalog import BUILTIN
from breaks.check import Checked, Finding, Observer, Point, check_break, check_file, observer
from breaks.errors import BreaksError
from breaks.load import load_break
from breaks.model import Rewrite

_ = i18n.gettext
Sources = Mapping[str, bytes]


def chosen(names: Sequence[str], folders: Iterable[Path]) -> list[Path]:
    """The files of the named breaks: ids of the catalogue, or paths; all if none is named."""
    known: dict[str, Path] = {}
    for folder in (BUILTIN, *folders):
        if not folder.is_dir():
            raise BreaksError(
                _("a folder of breaks"), str(folder), _("Check the path; `breaks new` makes one.")
            )
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


def examined(paths: Sequence[Path], sources: Sources, quick: bool) -> Iterator[Checked]:
    """Each file's findings, one after the other; the detectors are asked too, unless `quick`."""
    look = None if quick else _observer()
    for path in paths:
        try:
            brk = load_break(path)
            seen = look([brk], sources) if look else None
        except BreaksError as error:
            yield _with(check_file(path, sources), error)
            continue
        yield check_break(brk, sources, seen)


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
