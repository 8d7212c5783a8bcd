"""Evidence in the reader's language.

What was observed is kept as data, in English and the same everywhere, with Python's own exceptions
in it.  Its few phrases are put into the reader's language when they are shown.
"""

from __future__ import annotations

import re
from functools import partial

from breaks import i18n
from breaks.command import N_

_ = i18n.gettext

# What the detectors write, and the sentence for it: the groups keep their names.
_PHRASES = (
    (
        r"has shape (?P<found>\([^)]*\)) instead of (?P<expected>\([^)]*\))",
        N_("has shape %(found)s instead of %(expected)s"),
    ),
    (
        r"shape (?P<found>\([^)]*\)) instead of (?P<expected>\([^)]*\))",
        N_("shape %(found)s instead of %(expected)s"),
    ),
    (
        r"\bis (?P<found>\S+) instead of (?P<expected>\S+)",
        N_("is %(found)s instead of %(expected)s"),
    ),
    (r"(?P<found>\S+) instead of (?P<expected>\S+)", N_("%(found)s instead of %(expected)s")),
    (r"None, nothing arrived", N_("None, nothing arrived")),
    (r"\ba (?P<kind>\w+), not an ndarray", N_("a %(kind)s, not an ndarray")),
    (r"(?<=\.grad )is (?P<kind>\w+)\Z", N_("is %(kind)s")),
    (r"\Aa (?P<kind>\w+)\Z", N_("a %(kind)s")),
    (r"within the dead band for (?P<what>.+)", N_("too near to a threshold for %(what)s")),
    (r"within the dead band, (?P<what>.+)", N_("too near to a threshold, %(what)s")),
    (r"no entry to compare", N_("no entry to compare")),
    (r"no exception", N_("no exception")),
    (r"torch has no gradient here", N_("torch has no gradient here")),
    (r"torch itself: (?P<text>.+)", N_("torch itself: %(text)s")),
    (r"\bunreadable: (?P<text>.+)", N_("unreadable: %(text)s")),
    (r"\bafter the steps\b", N_("after the steps")),
    (r"\b(?P<name>\w+) was not recorded", N_("%(name)s was not recorded")),
    (r"its differences were not recorded", N_("its differences were not recorded")),
    (
        r"the two evaluations of y have different shapes",
        N_("the two evaluations of y have different shapes"),
    ),
    (r"y changes its shape when an entry moves", N_("y changes its shape when an entry moves")),
    (
        r"printed (?P<all>\d+) bytes; (?P<kept>\d+) kept",
        N_("printed %(all)s bytes; %(kept)s kept"),
    ),
    (
        r"(?P<count>\d+) bytes on the result pipe are not the recorder's",
        N_("%(count)s bytes on the result pipe are not the recorder's"),
    ),
    (
        r"the process ended by (?P<end>\w+) \((?P<status>-?\w+)\)",
        N_("the process ended by %(end)s (%(status)s)"),
    ),
    (r"there was nothing to check", N_("there was nothing to check")),
    (r"the time limit passed", N_("the time limit passed")),
    (r"stopped: it printed without end", N_("stopped: it printed without end")),
    (r"killed by (?P<signal>\w+)", N_("killed by %(signal)s")),
    (
        r"the process left with exit code (?P<code>-?\d+)",
        N_("the process left with exit code %(code)s"),
    ),
    (
        r"y is not finite: there are no differences to compare with",
        N_("y is not finite: there are no differences to compare with"),
    ),
    (
        r"torch is not installed, and no reference was recorded for this scenario",
        N_("torch is not installed, and no reference was recorded for this scenario"),
    ),
    (r"the library replaced (?P<name>numpy\.\w+)", N_("the library replaced %(name)s")),
)


def localised(text: str) -> str:
    """The evidence with its phrases in the language in use; what is no phrase stays."""
    if i18n.language() == "en":
        return text
    for pattern, phrase in _PHRASES:
        sentence = _(phrase)
        text, count = re.subn(pattern, partial(_filled, sentence), text)
        if count and "instead of" in pattern:
            break  # a shorter phrase would find itself again in what was just written
    return text


def _filled(sentence: str, match: re.Match[str]) -> str:
    return sentence % match.groupdict()
