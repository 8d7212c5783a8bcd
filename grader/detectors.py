"""The detectors: pure functions from a recording to an answer.

A detector that could not look does not pass: what is missing because the library broke makes it
fire, what is missing for another reason makes it unavailable, and an answer that rests on no
checked entry is never silent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from grader.arrays import Recorded, decode
from grader.compare import Comparison, Verdict, compare, quotients, shape_text
from grader.property_test import drawn, tried_in_order
from grader.reading import UNREADABLE, Reading
from grader.recording import Answer, Detector, Result
from labs.model import Scenario

Case = dict[str, Any]

INSTALL = "pip install 'breaklabs[torch]'"


def detect(
    detector: Detector,
    scenario: Scenario,
    reading: Reading,
    reference: Reading | str,
    numbers: Callable[[], Sequence[int]] = drawn,
) -> Result:
    """The answer of one detector.

    `reference` is torch's reading, or why there is none; `numbers` gives what Hypothesis draws
    (by default, it is asked here).
    """
    try:
        if detector is Detector.PYTORCH_DIFF:
            return pytorch_diff(scenario, reading, reference)
        if detector is Detector.PROPERTY_TEST:
            return property_test(reading, numbers)
        return CHECKS[detector](scenario, reading)
    except UNREADABLE as error:
        return fires(detector, f"unreadable: {error!r:.200}")


def fires(detector: Detector, why: str, cases: Iterable[Case] = (), **evidence: Any) -> Result:
    return Result(detector, Answer.FIRES, {"why": why, **evidence}, tuple(cases))


def settle(detector: Detector, cases: list[Case]) -> Result:
    """The answer that follows from the cases: the first that fires gives the reason."""
    for answer in (Answer.FIRES, Answer.UNAVAILABLE):
        for case in cases:
            if case["answer"] == answer.value:
                evidence = {"why": f"{case['name']}: {case['why']}", "case": case["name"]}
                for key in ("error", "found", "expected"):
                    if case.get(key) is not None:
                        evidence[key] = case[key]
                return Result(detector, answer, evidence, tuple(cases))
    checked = sum(case["checked"] for case in cases)
    if not checked:
        why = "there was nothing to check"
        return Result(detector, Answer.UNAVAILABLE, {"why": why}, tuple(cases))
    evidence = {"why": "", "checked": checked}
    return Result(detector, Answer.SILENT, evidence, tuple(cases))


def case_of(name: str, result: Comparison) -> Case:
    """A case from a comparison; the dead band is no answer."""
    answer = {
        Verdict.AGREES: Answer.SILENT,
        Verdict.NOTHING: Answer.SILENT,
        Verdict.DOUBTFUL: Answer.UNAVAILABLE,
        Verdict.DIFFERS: Answer.FIRES,
    }[result.verdict]
    why = f"within the dead band, {result.why}" if answer is Answer.UNAVAILABLE else result.why
    case: Case = {"name": name, "checked": result.checked, "answer": answer.value, "why": why}
    if result.verdict is Verdict.DIFFERS and result.at:
        case["at"] = list(result.at)
        case["error"], case["found"] = result.error, result.found
        case["expected"] = result.expected
    return case


def plain(name: str, why: str) -> Case:
    """A case without numbers: silent if there is nothing to say."""
    answer = Answer.FIRES if why else Answer.SILENT
    return {"name": name, "checked": 1, "answer": answer.value, "why": why}


# ------------------------------------------------------------------ shape-invariant


def shape_invariant(scenario: Scenario, reading: Reading) -> Result:
    """Every gradient is an ndarray with the shape and dtype of its tensor; no leaf goes without."""
    detector = Detector.SHAPE_INVARIANT
    cases: list[Case] = []
    if crash := reading.crash("program"):
        return fires(detector, f"{crash.phase}: {crash.text}", crash=True)
    y = reading.array("program", "y")
    cases.append(plain("y", dtype_contract(scenario, y)))
    for leaf in scenario.leaves:
        data = reading.array("program", "inputs", leaf.name)
        why = contract(reading.array("program", "grads", leaf.name), data, missing=True)
        cases.append(plain(f"{leaf.name}.grad", why))
    for node in reading.nodes():
        if node["op"] and node["requires_grad"]:
            why = contract(decode(node["grad"]), decode(node["data"]), missing=False)
            cases.append(plain(f"{node['name']}.grad", why))
    if scenario.fit:
        if crash := reading.crash("step"):
            return fires(detector, f"{crash.phase}: {crash.text}", cases, crash=True)
        for leaf in scenario.leaves:
            before = reading.array("program", "inputs", leaf.name)
            why = contract(reading.array("step", "data", leaf.name), before, missing=True)
            cases.append(plain(f"{leaf.name} after the steps", why))
    return settle(detector, cases)


def contract(found: Recorded | None, tensor: Recorded | None, *, missing: bool) -> str:
    """Why `found` does not fit its tensor; "" if it does."""
    if tensor is None:
        return "the tensor was not recorded"
    if found is None:
        return "None, nothing arrived" if missing else ""
    if not found.is_array:
        return f"a {found.kind}, not an ndarray"
    if found.shape != tensor.shape:
        return f"shape {shape_text(found.shape)} instead of {shape_text(tensor.shape)}"
    if found.dtype != tensor.dtype:
        return f"{found.dtype} instead of {tensor.dtype}"
    return ""


def dtype_contract(scenario: Scenario, y: Recorded | None) -> str:
    """Why y has not the dtype that torch's promotion gives: tensors with axes beat 0-d ones."""
    if y is None or not y.is_array:
        return f"a {y.kind if y else 'None'}, not an ndarray"
    floats = [one for one in scenario.inputs if not one.is_integer]
    strong = [one for one in floats if one.shape] or floats
    if not strong:
        return ""
    expected = max((one.dtype for one in strong), key=lambda name: np.dtype(name).itemsize)
    return "" if y.dtype == expected else f"{y.dtype} instead of {expected}"


# ------------------------------------------------------------------ gradcheck


def gradcheck_sum(scenario: Scenario, reading: Reading) -> Result:
    """The gradients of y.sum() against differences: the check of the notes, blind to sums."""
    return against_differences(Detector.GRADCHECK_SUM, "ones", scenario, reading)


def gradcheck(scenario: Scenario, reading: Reading) -> Result:
    """The gradients of y under an irregular cotangent against differences, every entry."""
    return against_differences(Detector.GRADCHECK, "irregular", scenario, reading)


def against_differences(
    detector: Detector, section: str, scenario: Scenario, reading: Reading
) -> Result:
    for name in (section, "differences"):
        if crash := reading.crash(name):
            return fires(detector, f"{crash.phase}: {crash.text}", crash=True)
    y = reading.array("differences", "y")
    if y is None or y.array is None:
        return fires(detector, "y was not recorded")
    if not np.isfinite(y.array).all():
        return fires(detector, "y is not finite: there are no differences to compare with")
    if section == "irregular":
        weights = reading.array("irregular", "cotangent")
        cotangent = None if weights is None else weights.array
        if cotangent is None or cotangent.shape != y.shape:
            return fires(detector, "the two evaluations of y have different shapes")
    else:
        cotangent = np.ones(y.shape)
    cases = [
        difference_case(scenario, reading, section, leaf.name, cotangent)
        for leaf in scenario.leaves
    ]
    return settle(detector, cases)


def difference_case(
    scenario: Scenario, reading: Reading, section: str, leaf: str, cotangent: Any
) -> Case:
    """One leaf: shape first, then every entry."""
    name = f"{leaf}.grad"
    data = reading.array("program", "inputs", leaf) or expected_input(scenario, leaf)
    grad = reading.array(section, "grads", leaf)
    if grad is None or grad.array is None:
        return plain(name, "None, nothing arrived" if grad is None else f"a {grad.kind}")
    if grad.shape != data.shape:
        return plain(name, f"shape {shape_text(grad.shape)} instead of {shape_text(data.shape)}")
    pair = reading.moved(leaf)
    if pair is None or len(pair[0]) != grad.array.size or len(pair[1]) != grad.array.size:
        return plain(name, "its differences were not recorded")
    if not grad.array.size:
        return case_of(name, compare(grad.array, grad.array, rtol=0.0))
    if pair[0].shape != pair[1].shape or pair[0][0].size != cotangent.size:
        return plain(name, "y changes its shape when an entry moves")
    numeric, noise = quotients(pair[0], pair[1], cotangent, scenario.epsilon)
    rtol = 1e-6
    if grad.dtype != "float64":
        rtol, noise = 1e-5, noise + 4e-6 * np.abs(numeric).max(initial=0.0)
    return case_of(name, compare(grad.array.reshape(-1), numeric, rtol=rtol, noise=noise))


def expected_input(scenario: Scenario, leaf: str) -> Recorded:
    """The shape that the scenario declares, where the program section is not there to say it."""
    found = next(one for one in scenario.inputs if one.name == leaf)
    return Recorded("ndarray", found.dtype, found.shape, None)


# ------------------------------------------------------------------ pytorch-diff


def pytorch_diff(scenario: Scenario, reading: Reading, reference: Reading | str) -> Result:
    """Values and gradients against torch float64."""
    detector = Detector.PYTORCH_DIFF
    if isinstance(reference, str):
        return Result(detector, Answer.UNAVAILABLE, {"why": reference, "install": INSTALL})
    sections = ["program", "irregular", *(["step"] if scenario.fit else [])]
    narrow = any(one.dtype == "float32" for one in scenario.inputs)
    cases: list[Case] = []
    for section in sections:
        if refused := reference.crash(section):
            return Result(
                detector, Answer.UNAVAILABLE, {"why": f"torch itself: {refused.text}"}, tuple(cases)
            )
        if crash := reading.crash(section):
            return fires(detector, f"{crash.phase}: {crash.text}", cases, crash=True)
        names = {"program": ("y", "loss"), "step": ("losses",)}.get(section, ())
        for name in names:
            found, expected = reading.array(section, name), reference.array(section, name)
            cases.append(torch_case(name, found, expected, narrow))
        for group in ("grads", *(["data"] if section == "step" else [])):
            for leaf, expected in reference.arrays(section, group).items():
                name = torch_name(section, group, leaf)
                found = reading.array(section, group, leaf)
                cases.append(torch_case(name, found, expected, narrow))
    return settle(detector, cases)


def torch_name(section: str, group: str, leaf: str) -> str:
    where = {"irregular": " (irregular)", "step": " after the steps"}.get(section, "")
    return f"{leaf}{'.grad' if group == 'grads' else ''}{where}"


def torch_case(
    name: str, found: Recorded | None, expected: Recorded | None, narrow: bool = False
) -> Case:
    """One array beside torch's; `narrow`: computed in float32, whatever it is kept as."""
    if expected is None or expected.array is None:  # torch gives no gradient here
        return plain(name, "" if found is None else "torch has no gradient here")
    if found is None or found.array is None:
        return plain(name, "None, nothing arrived" if found is None else f"a {found.kind}")
    size = np.abs(expected.array)
    largest = float(size[np.isfinite(size)].max(initial=0.0))
    narrow = narrow or found.dtype != "float64"
    rtol, noise = (1e-5, 4e-6 * largest) if narrow else (1e-8, 1e-13 * largest)
    return case_of(name, compare(found.array, expected.array, rtol=rtol, noise=noise))


# ------------------------------------------------------------------ property-test


def property_test(reading: Reading, numbers: Callable[[], Sequence[int]]) -> Result:
    """What Hypothesis found over the shapes of the scenario's kind."""
    detector = Detector.PROPERTY_TEST
    if crash := reading.crash("property"):
        return fires(detector, f"{crash.phase}: {crash.text}", crash=True)
    section = reading.raw("property")
    found = tried_in_order(section["shapes"], section["laws"], numbers())
    doubtful = found["doubtful"]
    cases = [
        {"name": shapes_text(one), "checked": 1, "answer": Answer.SILENT.value, "why": ""}
        for one in found["tried"]
    ]
    revealing, hiding = found["revealing"], found["hiding"]
    if revealing:
        evidence = {"revealing": revealing, "hiding": hiding}
        return fires(detector, f"{shapes_text(revealing)}: {found['why']}", cases, **evidence)
    if doubtful:
        why = f"within the dead band for {shapes_text(doubtful[0])}"
        return Result(detector, Answer.UNAVAILABLE, {"why": why}, tuple(cases))
    return settle(detector, cases)


def shapes_text(shapes: Mapping[str, Any]) -> str:
    return "  ".join(f"{name} {shape_text(shape)}" for name, shape in shapes.items())


CHECKS: dict[Detector, Callable[[Scenario, Reading], Result]] = {
    Detector.SHAPE_INVARIANT: shape_invariant,
    Detector.GRADCHECK_SUM: gradcheck_sum,
    Detector.GRADCHECK: gradcheck,
}
