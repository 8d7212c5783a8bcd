"""What a command says when it cannot go on: what was expected, what was found, what to do."""

from enum import IntEnum


class Exit(IntEnum):
    """How a command ends."""

    DONE = 0  # done; a wrong prediction is a normal event
    FINDING = 1  # a check found something
    USAGE = 2  # unknown name, bad flag, invalid file
    PRECONDITION = 3  # no prediction yet, edited tree, already applied
    ENVIRONMENT = 4  # torch missing, no write access
    KIT = 5  # the kit itself failed: break not live, control not silent
    INTERRUPTED = 130  # interrupted, everything restored


class BreaksError(Exception):
    """A refusal that a person can act on; `where` is a file, a line or a name."""

    def __init__(
        self, expected: str, found: str, todo: str, *, code: int = Exit.USAGE, where: str = ""
    ) -> None:
        self.expected = expected
        self.found = found
        self.todo = todo
        self.code = Exit(code)
        self.where = where
        super().__init__(expected, found, todo)

    def __str__(self) -> str:
        from breaks.i18n import gettext as _

        text = _("expected %(expected)s; found %(found)s. %(todo)s") % {
            "expected": self.expected,
            "found": self.found,
            "todo": self.todo,
        }
        return f"{self.where}: {text}" if self.where else text

    def as_json(self) -> dict[str, str | int]:
        """The same as plain data, for `--json`."""
        return {
            "code": int(self.code),
            "where": self.where,
            "expected": self.expected,
            "found": self.found,
            "todo": self.todo,
        }
