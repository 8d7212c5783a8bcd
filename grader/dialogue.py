"""The conversation in which a prediction is made: on a terminal, or with answers from a pipe.

On a terminal nothing is lost: each answer is kept in a draft at once.  From a pipe the same
questions are answered by one line each, and a line that is no answer ends it, with its number.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from breaks import console, i18n
from breaks.errors import BreaksError, Exit
from grader import ask
from grader.ask import Answers, Question, UnclearError
from labs.model import Lab

_ = i18n.gettext
BACK, HELP = ("b", "<"), "?"


class Source(Protocol):
    """Where answers come from."""

    def read(self) -> str:
        """The next line, without its end.  Raises EOFError when there is none."""

    def refuse(self, problem: UnclearError, typed: str) -> None:
        """A line was no answer.  Raises where nobody is there to say it better."""


@dataclass
class Keyboard:
    """A person at a terminal."""

    prompt: str = "> "

    def __post_init__(self) -> None:
        if sys.stdout.isatty():
            import contextlib

            with contextlib.suppress(ImportError):
                import readline  # noqa: F401 - gives input() its line editing

    def read(self) -> str:
        if sys.stdout.isatty():
            return input(self.prompt)
        print(self.prompt, end="", file=sys.stderr, flush=True)  # stdout goes elsewhere
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        return line.rstrip("\r\n")

    def refuse(self, problem: UnclearError, typed: str) -> None:
        text = _("Not understood: expected %(what)s.") % {"what": problem}
        console.say(console.wrap(text, console.width(), indent="  "))


@dataclass
class Pipe:
    """Lines from a file or another program."""

    number: int = 0
    largest: int = 64 * 1024
    read_so_far: int = field(default=0)

    def read(self) -> str:
        line = sys.stdin.readline(self.largest)
        self.number += 1
        self.read_so_far += len(line)
        if not line:
            raise EOFError
        if self.read_so_far > self.largest:
            raise BreaksError(
                _("answers, one line each"),
                _("more than %(size)d characters") % {"size": self.largest},
                _("Use `grader predict LAB --from FILE` for a prediction file."),
                code=Exit.USAGE,
            )
        return line.rstrip("\r\n")

    def refuse(self, problem: UnclearError, typed: str) -> None:
        raise BreaksError(
            str(problem),
            repr(typed[:60]) if typed else _("an empty line, which answers nothing"),
            _("Correct that line; nothing was committed."),
            code=Exit.USAGE,
            where=_("line %(number)d of the input") % {"number": self.number},
        )


class Dialogue:
    """Asks what is not answered yet; `keep` is called with the answers after each of them."""

    def __init__(
        self,
        lab: Lab,
        break_id: str,
        source: Source,
        *,
        show: Callable[[Question, Question | None], None],
        keep: Callable[[Answers], None] = lambda answers: None,
    ):
        self.lab, self.break_id, self.source = lab, break_id, source
        self.show, self.keep = show, keep

    def run(self, answers: Answers) -> Answers:
        """Complete answers.  Raises EOFError where they end too early."""
        shown: Question | None = None
        while (question := ask.following(self.lab, self.break_id, answers)) is not None:
            self.show(question, shown)
            shown = question
            typed = self.source.read().strip()
            names = [choice.word for choice in question.choices]
            if typed in BACK and typed not in names:
                self.back(answers)
            elif typed.startswith(HELP):
                console.say(explained(question, typed.removeprefix(HELP).strip()))
            else:
                try:
                    answers[question.key] = question.parse(typed)
                except UnclearError as problem:
                    self.source.refuse(problem, typed)
                self.keep(answers)
        return answers

    def back(self, answers: Answers) -> None:
        """Takes the last answer back."""
        last = ask.previous(self.lab, self.break_id, answers)
        if last is None:
            console.say("  " + _("This is the first question."))
            return
        del answers[last.key]
        self.keep(answers)

    def confirm(self, answers: Answers, text: str) -> bool:
        """Whether the prediction is to be committed; `b` goes back into the questions first."""
        while True:
            if text:
                console.say(text)
            typed = self.source.read().strip().lower()
            if typed in BACK:
                self.back(answers)
                self.run(answers)
                return False
            if typed in YES:
                return True
            if typed in NO:
                raise Left
            self.source.refuse(UnclearError(_("yes, no, or b to go back")), typed)


class Left(Exception):
    """The answer to the last question was no."""


YES = ("y", "yes", "s", "si", "sí")
NO = ("n", "no")


def explained(question: Question, word: str) -> str:
    """Every choice with its meaning, or the one that was asked about."""
    if question.free is not None:
        return "  " + console.wrap(free_help(question), console.width(), indent="  ").strip()
    chosen = question.choices
    if word:
        try:
            name = ask.pick(word, [choice.word for choice in chosen])
            chosen = tuple(choice for choice in chosen if choice.word == name)
        except UnclearError:
            pass  # all of them, then
    rows = [(f"{choice.word}", choice.meaning) for choice in chosen]
    return console.table(rows, indent="  ")


def free_help(question: Question) -> str:
    """What can be typed where there is no list."""
    kind = question.key.rpartition("/")[2]
    return {
        "shape": _("A shape such as (4, 3); () for a single number; an empty line leaves it open."),
        "factor": _("A number such as 5, 0.2 or 1/3; an empty line leaves it open."),
        "confidence": _("From 0 to 100: how often would you be right, saying this?"),
        "because": _("Your reason, in your own words. It is shown again beside what happened."),
    }.get(kind, "")
