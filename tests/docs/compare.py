"""Does a page show what was printed?  Line by line; a line `…` stands for any number of lines."""

import difflib
import math
import re
from collections.abc import Callable, Sequence
from datetime import date, timedelta

ELISION = "…"
SECONDS = re.compile(r" *\b(?:\d+(?:\.\d+)? (?:s|ms|µs)|\d+\.\d\ds(?: \(\d:\d\d:\d\d\))?)(?!\w)")
DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
EXIT = re.compile(r"^\(exit \d+\)$")
FLOAT = re.compile(r"[-+]?\d+\.\d+(?:e[-+]?\d+)?|[-+]?\d+e[-+]?\d+")

Same = Callable[[str, str], bool]


def same_line(shown: str, printed: str) -> bool:
    """Equal, but for how long something took, and for the day where it is today's."""
    if any(day in printed for day in today()):
        shown, printed = DATE.sub("today", shown), DATE.sub("today", printed)
    return timeless(shown) == timeless(printed)


def today() -> set[str]:
    """The date here, and wherever it is another already or still."""
    return {str(date.today() + timedelta(days=n)) for n in (-1, 0, 1)}


def timeless(line: str) -> str:
    """The line without the durations in it, however wide they are."""
    return SECONDS.sub(" 0 s", line)


def same_value(shown: str, printed: str) -> bool:
    """Equal, but for the last digits of floats that are shown in full (rounding of a platform)."""
    if FLOAT.sub("#", shown) != FLOAT.sub("#", printed):
        return shown == printed
    pairs = zip(FLOAT.findall(shown), FLOAT.findall(printed), strict=True)
    return all(a == b or (_full(a) and _close(a, b)) for a, b in pairs)


def _full(number: str) -> bool:
    """Whether it is written with so many digits that the last ones are rounding."""
    return len(re.sub(r"e.*|\D", "", number).lstrip("0")) >= 14


def _close(a: str, b: str) -> bool:
    return math.isclose(float(a), float(b), rel_tol=1e-12)


def shows(shown: Sequence[str], printed: Sequence[str], same: Same = same_line) -> bool:
    """Whether the page's lines are what was printed.  An elision never covers `(exit N)`."""
    if _exit(shown) != _exit(printed):
        return False
    return _covers(_body(shown), _body(printed), same)


def _exit(lines: Sequence[str]) -> str:
    return lines[-1] if lines and EXIT.match(lines[-1]) else ""


def _body(lines: Sequence[str]) -> list[str]:
    return list(lines[:-1] if _exit(lines) else lines)


def _covers(shown: list[str], printed: list[str], same: Same) -> bool:
    """Each run of lines between elisions is found in order, the first and the last in place."""
    if ELISION not in shown:
        return len(shown) == len(printed) and all(map(same, shown, printed))
    runs = _runs(shown)
    head, tail = runs[0], runs[-1]
    if len(head) + len(tail) > len(printed):
        return False
    if not all(map(same, head, printed)):
        return False
    if tail and not all(map(same, tail, printed[-len(tail) :])):
        return False
    middle = printed[len(head) : len(printed) - len(tail)]
    at = 0
    for run in runs[1:-1]:
        while at + len(run) <= len(middle) and not all(map(same, run, middle[at:])):
            at += 1
        if at + len(run) > len(middle):
            return False
        at += len(run)
    return True


def _runs(lines: Sequence[str]) -> list[list[str]]:
    runs: list[list[str]] = [[]]
    for line in lines:
        if line == ELISION:
            runs.append([])
        else:
            runs[-1].append(line)
    return runs


def updated(shown: Sequence[str], printed: Sequence[str], same: Same = same_line) -> list[str]:
    """The lines to show from now on: unchanged where they hold, else new, elisions kept."""
    if shows(shown, printed, same):
        return list(shown)
    if ELISION not in shown:
        return list(printed)
    new = _with_elisions(_body(shown), _body(printed))
    new += [_exit(printed)] if _exit(printed) else []
    return new if shows(new, printed, same) else list(printed)


def _with_elisions(shown: list[str], printed: list[str]) -> list[str]:
    """`printed` with the elisions of `shown` put where their neighbours are found again."""
    keys = [timeless(line) for line in shown], [timeless(line) for line in printed]
    matcher = difflib.SequenceMatcher(None, *keys, autojunk=False)
    lines: list[str] = []
    for tag, i, j, k, m in matcher.get_opcodes():
        old, new = shown[i:j], printed[k:m]
        if ELISION in old:
            before = old.index(ELISION)
            after = old[::-1].index(ELISION)
            if before + after <= len(new):
                new = [*new[:before], ELISION, *new[len(new) - after :]]
        lines += old if tag == "equal" else new
    return lines


def difference(shown: Sequence[str], printed: Sequence[str], where: str, source: str) -> str:
    """For a person: what the page shows, what was printed."""
    rows = difflib.unified_diff(
        shown, printed, f"{where}, as the page shows it", "as it was printed", lineterm=""
    )
    return "\n".join([f"{where}: {source}", *rows, "Run `make docs` and read what changed."])
