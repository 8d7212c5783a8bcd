"""What goes wrong with an observation itself: the grader's word would not be worth having."""

from breaks.errors import BreaksError


class GraderError(BreaksError):
    """A missing proof (code 5), a missing tool (code 4), or a question that cannot be asked."""
