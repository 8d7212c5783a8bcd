"""`grader check`: the committed prediction beside what really happens."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from breaks import console, i18n
from breaks.console import Reply
from breaks.errors import BreaksError, Exit
from grader import learner
from grader.commits import Commit
from grader.judge import Verdict, judge
from grader.recording import Observed
from grader.session import Session, no_prediction
from labs.model import Lab

_ = i18n.gettext
UNSEEN = object()
PAUSE = 0.25  # seconds between two looks at a watched file


class Look(NamedTuple):
    """How to observe."""

    live: bool = False
    cache: bool = True


def checked(
    here: Session,
    lab: Lab,
    wanted: str | None,
    look: Look,
    *,
    min_score: float | None = None,
    strict: bool = False,
) -> Reply:
    """Judges the committed prediction and puts the result on record."""
    break_id = here.break_id(lab, wanted, here.last_predicted(lab))
    commit = committed(here, lab, break_id)
    changed = commit.changed({one.name: one.digest for one in lab.of(break_id)})
    observed = here.observe(lab, here.catalogue.get(break_id), live=look.live, cache=look.cache)
    verdict = judge(commit.prediction, observed, changed=changed)
    learner.note_check(
        here.workspace,
        commit.hash,
        lab.id,
        break_id,
        score=verdict.score,
        misses=verdict.misses,
        answers=verdict.answers,
    )
    table = here.record.calibration
    following = here.command("explain", lab.id, break_id)
    document = {
        **document_of(verdict, observed),
        "commit": {
            "hash": commit.hash,
            "time": commit.time,
            "attempt": commit.attempt,
            "peeked": commit.peeked,
        },
        "chain_intact": here.chain.intact,
        "changed_scenarios": list(changed),
        "calibration": table.to_json(),
        "next": following,
    }

    def text() -> str:
        from grader import screens

        return screens.check(
            lab,
            verdict,
            observed,
            calibration=table,
            notes=notes(here, commit, changed),
            following=following,
        )

    return Reply(document, text, code=exit_code(verdict, min_score, strict))


def exit_code(verdict: Verdict, min_score: float | None, strict: bool) -> int:
    """1 below the wanted score, or for a miss where none is wanted; else 0."""
    too_low = min_score is not None and (verdict.score or 0.0) < min_score
    missed = strict and verdict.misses > 0
    return Exit.FINDING if too_low or missed else Exit.DONE


def committed(here: Session, lab: Lab, break_id: str) -> Commit:
    """The prediction to check.  Raises BreaksError (exit 3) without one, or for an edited one."""
    fault = here.chain.fault_of(lab.id, break_id)
    if fault is not None:
        again = here.command("predict", f"{lab.id.removesuffix('.b')}.b", break_id)
        raise BreaksError(
            _("the prediction as it was committed"),
            _("line %(line)d of .breaks/commits.jsonl, edited since it was written")
            % {"line": fault.number},
            _("Put the file back from a copy, or make a second attempt: `%(again)s`.")
            % {"again": again},
            code=Exit.PRECONDITION,
        )
    commit = here.chain.find(lab.id, break_id)
    if commit is None:
        raise no_prediction(lab, break_id, here.command("predict", lab.id, break_id), "check")
    return commit


def notes(here: Session, commit: Commit, changed: Sequence[str]) -> list[str]:
    """What a reader of the score should know beside it."""
    found = []
    if commit.peeked:
        found.append(_("Noted: this break was applied or shown here before you predicted."))
    if not here.chain.intact:
        text = _("The chain of predictions is damaged elsewhere: see `grader verify`.")
        found.append(text)
    if changed:
        text = _("Changed since you predicted, so not scored: %(names)s")
        found.append(text % {"names": ", ".join(changed)})
    return found


def shown(here: Session, lab: Lab, wanted: str | None, look: Look) -> Reply:
    """What happens, without a prediction; scores nothing, and is noted."""
    break_id = here.break_id(lab, wanted, here.next_to_predict(lab))
    observed = here.observe(lab, here.catalogue.get(break_id), live=look.live, cache=look.cache)
    looked(here, lab, break_id)
    verdict = judge(None, observed)
    following = here.command("explain", lab.id, break_id) + " --give-up"
    document = {**document_of(verdict, observed), "next": following}

    def text() -> str:
        from grader import screens

        return screens.check(lab, verdict, observed, following=following)

    return Reply(document, text)


def looked(here: Session, lab: Lab, break_id: str) -> None:
    """Notes that the outcome was shown, if that was before a commit."""
    if here.chain.find(lab.id, break_id) is None and not here.record.looked(break_id):
        learner.note(here.workspace, learner.Event.LOOKED, lab.id, break_id)


def document_of(verdict: Verdict, observed: Observed) -> dict[str, Any]:
    return {
        "lab": verdict.lab,
        "break": verdict.break_id,
        "score": verdict.score,
        "verdict": verdict.to_json(),
        "observed": observed.to_json(),
    }


# --- watching a draft ---------------------------------------------------------------------------


def watch(here: Session, lab: Lab, wanted: str | None, file: str, look: Look) -> Reply:
    """Judges a draft whenever it is saved, until Ctrl-C.  Nothing is scored or committed."""
    path = Path(file)
    break_id = here.break_id(lab, wanted, "") or None
    if console.json_mode():
        return Reply(judged_draft(here, lab, break_id, path, look)[0])
    seen: object = UNSEEN  # not None: a file that is not there yet is worth a word too
    while True:
        now = _stamp(path)
        if now != seen:
            if seen is not UNSEEN:
                console.out("\n" + console.glyphs.rule * console.width())
            seen = now
            _show_draft(here, lab, break_id, path, look)
            console.say(_("Watching %(file)s; Ctrl-C ends.") % {"file": file})
        time.sleep(PAUSE)


def _stamp(path: Path) -> tuple[int, int] | None:
    """Tells a saved file from the same file before; None where there is none at the moment."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _show_draft(here: Session, lab: Lab, break_id: str | None, path: Path, look: Look) -> None:
    try:
        _document, text = judged_draft(here, lab, break_id, path, look)
    except BreaksError as error:
        if error.code != Exit.USAGE:
            raise
        console.say(console.wrap(str(error), console.width(), hanging="  "))
    else:
        console.out(text)


def judged_draft(
    here: Session, lab: Lab, break_id: str | None, path: Path, look: Look
) -> tuple[dict[str, Any], str]:
    """A draft beside what happens, as a document and as a screen."""
    from grader import screens
    from grader.prediction_file import read

    prediction = read(path, lab, break_id)
    brk = here.catalogue.get(prediction.break_id)
    observed = here.observe(lab, brk, live=look.live, cache=look.cache)
    looked(here, lab, prediction.break_id)
    verdict = judge(prediction, observed)
    text = screens.check(lab, verdict, observed, scored=False)
    return {**document_of(verdict, observed), "scored": False}, text
