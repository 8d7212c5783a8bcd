"""What each word of a prediction means, in a sentence for the reader.  The words are tokens."""

from __future__ import annotations

from enum import StrEnum

from breaks import i18n
from breaks.command import N_
from grader.judge import Why
from grader.recording import Answer, Detector, Mode, Outcome, Pattern, Phase

# Pairs, not a dict: two enums may share a token (crash), and equal tokens are equal keys.
_MEANINGS: tuple[tuple[StrEnum, str], ...] = (
    (Phase.FORWARD, N_("while the expression is evaluated")),
    (Phase.BACKWARD, N_("while the gradients are computed")),
    (Phase.STEP, N_("while the parameters are updated")),
    (Phase.NOWHERE, N_("never: this scenario does not notice the break")),
    (Mode.CRASH, N_("it raises an exception, or the process ends")),
    (Mode.HANG, N_("it does not end within the time limit")),
    (Mode.WRONG_SHAPE, N_("an array of another shape, without an exception")),
    (Mode.WRONG_DTYPE, N_("the right shape in another dtype")),
    (Mode.NAN_OR_INF, N_("NaN or infinity where the correct library has numbers")),
    (Mode.WRONG_VALUES, N_("the right kind of array with other numbers, or no array at all")),
    (Mode.UNAFFECTED, N_("no difference at all")),
    (Pattern.MISSING, N_("there is no gradient (.grad is None)")),
    (Pattern.ZERO, N_("zeros where there should be numbers")),
    (Pattern.SIGN_FLIPPED, N_("every entry times -1")),
    (Pattern.SCALED, N_("every entry times one factor")),
    (Pattern.PERMUTED, N_("the right numbers in other places")),
    (Pattern.OFFSET, N_("every entry plus one constant")),
    (Pattern.PARTIAL, N_("some entries are right, others are not")),
    (Pattern.OTHER, N_("none of the other patterns")),
    (Outcome.CRASH, N_("it stops with an error")),
    (Outcome.NAN, N_("the loss or a parameter becomes NaN or infinite")),
    (Outcome.DIVERGES, N_("the loss ends higher than it started")),
    (Outcome.FLAT, N_("the loss does not move")),
    (Outcome.SLOWER, N_("it learns, and ends farther from the floor")),
    (Outcome.SAME, N_("the same curve as on the correct library")),
    (Outcome.FASTER, N_("it ends nearer to the floor")),
    (Outcome.UNCERTAIN, N_("too near to a threshold to say")),
    (Answer.FIRES, N_("it objects")),
    (Answer.SILENT, N_("it looks, and finds nothing")),
    (Answer.UNAVAILABLE, N_("it could not look")),
    (Detector.SHAPE_INVARIANT, N_("every gradient has the shape and dtype of its tensor")),
    (Detector.GRADCHECK_SUM, N_("difference quotients of the plain sum of the result")),
    (Detector.GRADCHECK, N_("difference quotients under irregular weights, every entry")),
    (Detector.PYTORCH_DIFF, N_("values and gradients compared with PyTorch in float64")),
    (Detector.PROPERTY_TEST, N_("Hypothesis tries many shapes of this kind")),
    (Detector.TRAINING, N_("the grammar MLP learns as on the correct library")),
    (Why.UNAVAILABLE, N_("not scored: the detector could not look")),
    (Why.UNCERTAIN, N_("not scored: too near to a threshold")),
    (Why.CHANGED, N_("not scored: this scenario has changed since you predicted")),
    (Why.NOT_ASKED, N_("not scored")),
)
_BY_NAME = {(type(word).__name__, word.value): text for word, text in _MEANINGS}


def meaning(word: StrEnum) -> str:
    """The sentence for a word."""
    return i18n.gettext(_BY_NAME[type(word).__name__, word.value])
