"""What goes wrong with a lab: an expectation, what was found, and what to do."""

from breaks.errors import BreaksError


class LabsError(BreaksError):
    """A lab that cannot be read, or a name that no lab has."""
