"""What goes wrong with an observation itself: the grader's word would not be worth having."""

from breaks import i18n
from breaks.errors import BreaksError

_ = i18n.gettext


class GraderError(BreaksError):
    """A missing proof (code 5), a missing tool (code 4), or a question that cannot be asked."""


def last_line(said: bytes) -> str:
    """The last line of what a process said on stderr: of a traceback, the error."""
    lines = said.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else _("no output")
