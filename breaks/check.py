"""Is a break fit for the catalogue?  Everything that can be said without believing its author."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from breaks import i18n
from breaks.difference import sites, unified
from breaks.errors import BreaksError
from breaks.load import load_break
from breaks.model import Break
from breaks.rewrite import mutate
from breaks.untangle import take_out

_ = i18n.gettext

SMALL = 8  # changed lines; a learner reads the diff before everything else
Sources = Mapping[str, bytes]
Seen = Mapping[str, Sequence[str]]  # break id → what saw it, as "detector in scenario"
Observer = Callable[[Sequence[Break], Sources], Seen]


class Point(StrEnum):
    """What is looked at, in this order."""

    SCHEMA = "schema"  # the file is what the schema says
    MATCHES = "matches"  # the pattern is found as often as declared, and the rewrite is proven
    DIFF = "diff"  # the change is small
    COMPILES = "compiles"  # the broken modules are Python
    REVERTS = "reverts"  # taking the change out gives the original bytes
    TEXTS = "texts"  # title, misconception, lesson and three hints, in each language
    PROVENANCE = "provenance"  # somebody really made the fault
    LIVE = "live"  # a detector sees it; or, if it is declared equivalent, none does


class Finding(NamedTuple):
    """A point that does not hold, and why."""

    point: Point
    text: str


class Checked(NamedTuple):
    """What is known of one break."""

    name: str
    places: int
    lines: int
    seen: tuple[str, ...] | None  # None: nobody looked
    findings: tuple[Finding, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "break": self.name,
            "places": self.places,
            "lines": self.lines,
            "seen": None if self.seen is None else list(self.seen),
            "findings": [{"point": one.point.value, "text": one.text} for one in self.findings],
        }


def check_file(path: Path, sources: Sources, seen: Seen | None = None) -> Checked:
    """The findings for a file, which may not be a break at all."""
    try:
        brk = load_break(path)
    except BreaksError as error:
        return Checked(path.stem, 0, 0, None, (Finding(Point.SCHEMA, str(error)),))
    return check_break(brk, sources, seen)


def check_break(brk: Break, sources: Sources, seen: Seen | None = None) -> Checked:
    """The findings for one break; `seen` is what an observer saw, None if nobody looked."""
    said = (*_texts(brk), *_provenance(brk))
    try:
        broken = mutate(sources, brk)
    except BreaksError as error:  # what cannot be applied was shown to nobody
        return Checked(brk.id, 0, 0, None, (Finding(Point.MATCHES, str(error)), *said))
    by = None if seen is None else tuple(seen.get(brk.id, ()))
    said = (*said, *_live(brk, by))
    lines = [line for line in unified(sources, broken).splitlines() if line[:1] in "+-"]
    changed = [line for line in lines if not line.startswith(("+++", "---"))]
    found = (*_diff(len(changed)), *_compiles(sources, broken), *_reverts(sources, broken))
    return Checked(brk.id, len(sites(sources, broken)), len(changed), by, (*found, *said))


def observer() -> Observer | None:
    """Who can tell a broken library from the correct one: the grader, where it is installed.

    It is found by its entry point, because nothing here may import it.
    """
    from importlib.metadata import entry_points

    for entry in entry_points(group="breaklabs.observers"):
        return entry.load()
    return None


def _diff(changed: int) -> list[Finding]:
    if changed <= SMALL:
        return []
    text = _("%(n)d changed lines, at most %(most)d") % {"n": changed, "most": SMALL}
    return [Finding(Point.DIFF, text)]


def _compiles(sources: Sources, broken: Sources) -> list[Finding]:
    found = []
    for module, text in broken.items():
        if text != sources[module]:
            try:
                compile(text, module, "exec", dont_inherit=True)
            except (SyntaxError, ValueError) as error:
                found.append(Finding(Point.COMPILES, f"{module}: {error}"))
    return found


def _reverts(sources: Sources, broken: Sources) -> list[Finding]:
    return [
        Finding(Point.REVERTS, _("%(module)s comes back with other bytes") % {"module": module})
        for module, text in broken.items()
        if take_out(sources[module], text, text) != sources[module]
    ]


def _texts(brk: Break) -> list[Finding]:
    texts = {"title": brk.title, "misconception": brk.misconception, "explain": brk.explain}
    texts |= {f"hints[{i}]": hint for i, hint in enumerate(brk.hints)}
    if brk.equivalent:
        texts["reason"] = brk.reason or {}
    texts |= {f"provenance[{i}].note": report.note for i, report in enumerate(brk.provenance)}
    missing = [
        f"{name}.{language}"
        for name, text in texts.items()
        for language in i18n.LANGUAGES
        if not text.get(language, "").strip()
    ]
    if len(brk.hints) != 3:
        missing.append(_("three hints"))
    return [Finding(Point.TEXTS, _("missing: %(names)s") % {"names": ", ".join(missing)})] * bool(
        missing
    )


def _provenance(brk: Break) -> list[Finding]:
    text = _("no report of where it happened; a fault that nobody made teaches little")
    return [] if brk.provenance else [Finding(Point.PROVENANCE, text)]


def _live(brk: Break, seen: Sequence[str] | None) -> list[Finding]:
    if seen is None:
        return []
    if brk.equivalent and seen:
        text = _("declared equivalent, but seen by %(names)s") % {"names": ", ".join(seen[:3])}
        return [Finding(Point.LIVE, text)]
    if not brk.equivalent and not seen:
        text = _("no detector sees it in any scenario; add a scenario, or declare equivalent: true")
        return [Finding(Point.LIVE, text)]
    return []
