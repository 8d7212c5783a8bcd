"""Why the engine refuses: a closed list of names, and the error that carries one."""

from enum import StrEnum

from breaks.errors import BreaksError, Exit


class Reason(StrEnum):
    """Why the engine refuses; the name that tests and programs can rely on."""

    UNKNOWN_MODULE = "unknown-module"  # the library has no such module
    UNKNOWN_SCOPE = "unknown-scope"  # no such class or function
    AMBIGUOUS_SCOPE = "ambiguous-scope"  # defined more than once
    MATCH_COUNT = "match-count"  # found more or less often than declared
    OVERLAP = "overlap"  # two matches share code
    UNBOUND_VARIABLE = "unbound-variable"  # the replacement uses what the pattern does not bind
    UNKNOWN_NAME = "unknown-name"  # the replacement uses a name that means nothing there
    MISSING_IMPORT = "missing-import"  # the replacement needs a module that is not imported
    KIND = "kind"  # a statement in the place of an expression
    INVALID_PATTERN = "invalid-pattern"  # not Python, or not a regular expression
    INVALID_SOURCE = "invalid-source"  # the module is not Python, or not UTF-8
    IN_F_STRING = "in-f-string"  # the code stands inside an f-string
    NO_CHANGE = "no-change"  # the replacement is what is there already
    NOT_PROVEN = "not-proven"  # the result is not the substitution that was meant


class Refusal(BreaksError):
    """The engine changed nothing; `reason` says why."""

    def __init__(
        self,
        reason: Reason,
        expected: str,
        found: str,
        todo: str,
        where: str,
        *,
        code: int = Exit.USAGE,
    ) -> None:
        super().__init__(expected, found, todo, code=code, where=where)
        self.reason = reason
