"""The prediction file: read safely, each problem with its line; its canonical form."""

import json
import os
import re
import sys
from pathlib import Path
from urllib.parse import unquote, urlparse

import jsonschema
import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from breaks.errors import BreaksError
from breaks.load import LIMIT, schema
from breaks.workspace import Config, Workspace
from grader import prediction_file, prediction_template
from grader.prediction import First, Prediction, Said, TrainingSaid
from grader.recording import PER_SCENARIO, Answer, Detector, Mode, Outcome, Pattern, Phase
from tests.grader import a_lab

LAB = a_lab.LAB
FUZZ = int(os.environ.get("BREAKLABS_FUZZ", "300"))

GOOD = """\
lab: lab02
break: skip-unbroadcast
scenarios:
  created-axis:
    first: {phase: backward, mode: wrong-shape, tensor: a.grad, shape: [4, 3]}
    detectors: {shape-invariant: fires, gradcheck-sum: fires, gradcheck: fires}
    confidence: 80
    because: nobody adds the four copies up again
  equal:
    first: {phase: nowhere, mode: unaffected}
  trained:
    first:
      phase: step
      mode: wrong-values
      pattern: scaled
      factor: 0.5
training: {outcome: crash, phase: step}
"""


def read(text, lab=LAB, brk=None):
    return prediction_file.read(text, lab, brk, name="p.yaml")


def refusal(text, **more):
    with pytest.raises(BreaksError) as caught:
        read(text, **more)
    return caught.value


def changed(old, new):
    assert old in GOOD
    return GOOD.replace(old, new)


def test_a_good_file_says_what_it_says():

    assert read(GOOD) == Prediction(
        "lab02",
        "skip-unbroadcast",
        {
            "created-axis": Said(
                First(Phase.BACKWARD, Mode.WRONG_SHAPE, "a", (4, 3)),
                dict.fromkeys(PER_SCENARIO[:3], Answer.FIRES),
                80,
                "nobody adds the four copies up again",
            ),
            "equal": Said(First(Phase.NOWHERE, Mode.UNAFFECTED)),
            "trained": Said(
                First(Phase.STEP, Mode.WRONG_VALUES, pattern=Pattern.SCALED, factor=0.5)
            ),
        },
        TrainingSaid(Outcome.CRASH, Phase.STEP),
    )


def test_json_and_back_is_the_same_prediction():
    made = read(GOOD)

    assert Prediction.from_json(json.loads(json.dumps(made.to_json()))) == made


def test_the_order_of_keys_and_the_style_make_no_difference_to_the_digest():
    other = yaml.safe_dump(yaml.safe_load(GOOD), sort_keys=True, default_flow_style=True)

    assert read(other).digest == read(GOOD).digest


def test_the_break_may_be_left_out_or_be_another_one_of_the_lab():
    other = "lab: lab02\nscenarios: {equal: {first: {phase: nowhere, mode: unaffected}}}\n"

    assert read(changed("break: skip-unbroadcast\n", "")).break_id == "skip-unbroadcast"
    assert read(other, brk="other-break").break_id == "other-break"
    assert read("break: other-break\n" + other).break_id == "other-break"


MISTAKES = {
    # what is wrong: (old, new, line, in the message)
    "an unknown word": ("phase: backward", "phase: backwards", 5, "Did you mean backward?"),
    "a word in capitals": ("mode: unaffected", "mode: Unaffected", 10, "Did you mean unaffected?"),
    "an unknown key": ("confidence: 80", "confidense: 80", 7, "Did you mean confidence?"),
    "an unknown key at the top": ("training:", "trainig:", 16, "Did you mean training?"),
    "an unknown scenario": ("  equal:", "  equals:", 9, "Did you mean equal?"),
    "an unknown detector": ("gradcheck-sum:", "gradchecksum:", 6, "Did you mean gradcheck-sum"),
    "an unknown break": ("break: skip-unbroadcast", "break: skip-unbroadcst", 2, "Did you mean"),
    "another lab": ("lab: lab02", "lab: lab03", 1, "lab: lab02"),
    "a missing mode": ("mode: wrong-shape, ", "", 5, "nothing"),
    "a missing phase": ("phase: nowhere, ", "", 10, "nothing"),
    "nowhere that crashes": ("mode: unaffected", "mode: crash", 10, "together"),
    "unaffected somewhere": ("phase: nowhere", "phase: forward", 10, "together"),
    "a step where there is none": ("phase: nowhere", "phase: step", 10, "backward, nowhere"),
    "an unknown tensor": ("tensor: a.grad", "tensor: z", 5, "y, loss, a, b"),
    "a shape in quotes": ("shape: [4, 3]", "shape: '(4, 3)'", 5, "[4, 3]"),
    "a negative axis": ("shape: [4, 3]", "shape: [-4, 3]", 5, "whole numbers"),
    "a shape of truths": ("shape: [4, 3]", "shape: [yes, 3]", 5, "whole numbers"),
    "too many axes": ("shape: [4, 3]", f"shape: {[1] * 9}", 5, "whole numbers"),
    "more than sure": ("confidence: 80", "confidence: 180", 7, "0 to 100"),
    "sure by half": ("confidence: 80", "confidence: 80.5", 7, "whole number"),
    "a sentence that is a list": ("because: nobody adds", "because: [nobody] #", 8, "a sentence"),
    "a sentence that is a mapping": ("because: nobody", "because: {x: 1} #", 8, "a sentence"),
    "a phase without a crash": ("outcome: crash", "outcome: flat", 16, "only for outcome crash"),
    "uncertain is no prediction": ("outcome: crash", "outcome: uncertain", 16, "crash, nan"),
    "unavailable is no prediction": ("gradcheck: fires", "gradcheck: unavailable", 6, "silent"),
    "a detector that is a number": ("gradcheck: fires", "gradcheck: 1", 6, "fires, silent"),
    "a scenario that is a list": ("first: {phase: nowhere, mode: unaffected}", "- 1", 9, "a list"),
    "an outcome without a word": ("{outcome: crash, phase: step}", "{phase: step}", 16, "nothing"),
    "an alias": ("because: nobody", "because: *x #", 8, "alias"),
    "an anchor": ("because: nobody", "because: &x n #", 8, "anchor"),
    "a tag": ("because: nobody", "because: !!python/name:os.system x #", 8, "tag"),
    "a duplicate key": ("confidence: 80", "confidence: 80\n    confidence: 95", 8, "line 7"),
    "a tab": ("    confidence: 80", "\tconfidence: 80", 7, "YAML"),
    "an unclosed bracket": ("shape: [4, 3]", "shape: [4, 3", 5, "YAML"),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "line", "words"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_named_with_its_line(old, new, line, words):
    error = refusal(changed(old, new))

    assert error.code == 2
    assert words in str(error)
    assert error.where in (f"p.yaml:{line}", f"p.yaml:{line + 1}")


BECAUSE = "because: nobody adds the four copies up again"
TRAPS = {
    "no is false": ("gradcheck: fires", "gradcheck: no", "on and off as true and false"),
    "on is true": ("gradcheck: fires", "gradcheck: on", "on and off as true and false"),
    "yes for a sentence": (BECAUSE, "because: yes", "yes, no"),
    "1e-3 is text": ("factor: 0.5", "factor: 1e-3", "1.0e-3"),
    "12:30 is a number": (BECAUSE, "because: 12:30", "12:30"),
    ".nan is a float": ("factor: 0.5", "factor: .nan", ".nan"),
    ".inf is a float": ("factor: 0.5", "factor: -.inf", ".inf"),
    "80 in quotes is text": ("confidence: 80", "confidence: '80'", "no quotes"),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "words"), TRAPS.values(), ids=TRAPS)
def test_a_trap_of_yaml_is_explained(old, new, words):

    assert words in refusal(changed(old, new)).todo


def test_a_key_that_yaml_reads_as_a_truth_value_is_explained():

    assert "quotes" in refusal(GOOD + "on: 1\n").todo


def test_a_percentage_that_is_too_high_is_not_taken_for_a_time_of_day():
    error = refusal(changed("confidence: 80", "confidence: 500"))

    assert "0 to 100" in str(error)
    assert "12:30" not in str(error)


def test_how_many_problems_follow_the_first_is_said():
    text = changed("phase: backward", "phase: back").replace("mode: unaffected", "mode: ok")

    assert "There is 1 more problem" in refusal(text).todo


@pytest.mark.parametrize("text", ["", "# nothing", "- a", "3", "null", "just text", "{}"])
def test_a_file_that_is_no_mapping_or_empty_says_how_to_start(text):
    error = refusal(text)

    assert error.code == 2
    assert error.where.startswith("p.yaml")


@pytest.mark.parametrize(
    "text",
    [
        "a: &x [1]\nb: *x\n",
        "[" * 5000,
        "{" * 5000,
        "a: " * 5000,
        "x" * (LIMIT + 1),
        "lab: !!python/object/apply:os.system ['true']",
        "lab: lab02\n---\nlab: lab02\n",
        "\x00",
        "lab: \ud800",
        "confidence: " + "9" * 5000,
        "? [1, 2]\n: 3",
        "<<: {lab: lab02}",
        "lab: 2024-02-30",
        "lab: =",
    ],
    ids=range(14),
)
def test_hostile_text_is_refused_in_three_parts(text):
    error = refusal(text)

    assert error.expected
    assert error.found
    assert error.todo


@pytest.mark.parametrize("character", ["\\e[2J", "\\u202e", "\\0"])
def test_control_characters_in_a_sentence_do_not_reach_a_terminal(character):
    error = refusal(changed("because: nobody adds", f'because: "{character}nobody adds" #'))

    assert "control character" in error.found


def test_a_file_that_is_not_there_or_a_folder_is_refused(tmp_path):
    for path in (tmp_path / "nowhere.yaml", tmp_path):
        with pytest.raises(BreaksError) as caught:
            prediction_file.read(path, LAB)

        assert str(path) in caught.value.where


# --- 10,000 files -------------------------------------------------------------------------------

tokens = st.sampled_from(
    [
        "lab", "lab02", "break", "skip-unbroadcast", "scenarios", "created-axis", "equal", "first",
        "phase", "backward", "mode", "crash", "detectors", "gradcheck", "fires", "no", "on", "yes",
        "confidence", "80", "1e-3", "12:30", ".nan", "-.inf", "training", "outcome", "because",
        ":", ": ", "\n", "\n  ", "\n    ", "- ", "{", "}", "[", "]", ", ", "&a ", "*a", "!!int ",
        "!x ", "|", ">", "'", '"', "#", "? ", "%", "@", "`", "---", "...", "\t", "\x00", "\ufeff",
        "0x1F", "0o7", "1_000", "2001-12-14", "~", "null", "<<: ", "=", "é", "\u2028", "\ud800",
    ]
)  # fmt: skip
soup = st.lists(tokens, max_size=60).map("".join)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | tokens,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=8) | tokens, inner, max_size=4)
    ),
    max_leaves=12,
)


@st.composite
def broken_files(draw):
    """A good file with some values or keys replaced, removed or added at any depth."""
    data = yaml.safe_load(GOOD)
    for _round in range(draw(st.integers(1, 3))):
        node = data
        while True:
            keys = list(node) if isinstance(node, dict) else list(range(len(node)))
            key = draw(st.sampled_from(keys)) if keys else None
            if key is None:
                break
            if isinstance(node[key], dict | list) and node[key] and draw(st.booleans()):
                node = node[key]
                continue
            action = draw(st.sampled_from(["replace", "remove", "add"]))
            if action == "remove":
                del node[key]
            elif action == "replace" or isinstance(node, list):
                node[key] = draw(values)
            else:
                node[draw(tokens)] = draw(values)
            break
    return yaml.safe_dump(data, allow_unicode=draw(st.booleans()))


@settings(
    max_examples=FUZZ,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(soup | broken_files() | st.text(max_size=200))
@example(GOOD)
def test_any_file_is_a_prediction_or_a_refusal(text):
    made = outcome(text)

    if isinstance(made, BreaksError):
        assert made.code == 2
        assert made.where.startswith("p.yaml")
        assert made.expected
        assert str(made)
    else:
        assert Prediction.from_json(json.loads(made.canonical)) == made
        assert set(made.scenarios) == set(LAB.breaks[made.break_id])


def outcome(text):
    """The prediction, or the refusal; anything else is a failure of the test."""
    try:
        return read(text)
    except BreaksError as error:
        return error


@settings(max_examples=max(20, FUZZ // 10), deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_a_prediction_or_a_refusal(tmp_path_factory, raw):
    path = tmp_path_factory.getbasetemp() / "bytes.yaml"
    path.write_bytes(raw)
    with pytest.raises(BreaksError) as caught:
        prediction_file.read(path, LAB)

    assert caught.value.code == 2


# --- the schema and the template ----------------------------------------------------------------


def accepted(text, rules):
    data = yaml.safe_load(text)
    return jsonschema.Draft202012Validator(rules).is_valid(data)


def special():
    return prediction_template.special_schema(LAB, "skip-unbroadcast")


SCHEMA_SEES = [
    name
    for name, (old, new, _line, _words) in MISTAKES.items()
    if name
    not in (
        "an alias", "an anchor", "a tag", "a duplicate key", "a tab", "an unclosed bracket",
        "a step where there is none", "a phase without a crash", "an outcome without a word",
    )
]  # fmt: skip


def test_the_published_schemas_are_schemas_and_accept_a_good_file():
    for rules in (schema("prediction"), special()):
        jsonschema.Draft202012Validator.check_schema(rules)

        assert accepted(GOOD, rules)


@pytest.mark.parametrize("name", SCHEMA_SEES)
def test_the_editor_sees_the_mistakes_that_the_grader_refuses(name):
    old, new, _line, _words = MISTAKES[name]

    assert not accepted(changed(old, new), special())


def test_the_words_of_the_schema_are_the_words_of_the_grader():
    first = schema("prediction")["$defs"]["first"]["properties"]
    training = schema("prediction")["$defs"]["training"]["properties"]

    assert first["phase"]["enum"] == [p.value for p in Phase]
    assert first["mode"]["enum"] == [m.value for m in Mode]
    assert first["pattern"]["enum"] == [*(p.value for p in Pattern), None]
    assert training["outcome"]["enum"] == [
        *(o.value for o in Outcome if o is not Outcome.UNCERTAIN),
        None,
    ]
    detectors = schema("prediction")["$defs"]["scenario"]["properties"]["detectors"]
    assert list(detectors["properties"]) == [d.value for d in PER_SCENARIO]


def test_every_key_of_the_schema_has_a_description_for_the_editor():
    def missing(node, path):
        if isinstance(node, dict):
            for name, value in node.get("properties", {}).items():
                if "if" in path or "then" in path or "else" in path:
                    continue
                if "description" not in value and "$ref" not in value:
                    yield f"{path}.{name}"
            for key, value in node.items():
                if key not in ("if", "then", "else"):
                    yield from missing(value, f"{path}.{key}")

    assert list(missing(schema("prediction"), "")) == []


def test_the_template_names_a_schema_that_is_there_and_fits(tmp_path):
    ws = Workspace(tmp_path / "a folder with ñ", Config())
    ws.root.mkdir()
    path = prediction_template.put_schema(ws, LAB, "skip-unbroadcast")
    text = prediction_template.template(LAB, "skip-unbroadcast", "A title", path)
    url = re.match(r"# yaml-language-server: \$schema=(\S+)\n", text)[1]
    found = Path(
        unquote(urlparse(url).path.lstrip("/") if sys.platform == "win32" else urlparse(url).path)
    )

    assert found == path
    assert accepted(GOOD, json.loads(found.read_text("utf-8")))


def test_the_template_asks_for_what_is_needed_and_nothing_else_is_wrong_with_it(tmp_path):
    text = prediction_template.template(LAB, "skip-unbroadcast", "A title", tmp_path / "s.json")
    error = refusal(text)

    assert "phase" in error.expected
    assert "5 more problems" in error.todo  # phase and mode of three scenarios
    filled = text.replace("      phase:", "      phase: nowhere").replace(
        "      mode:", "      mode: unaffected"
    )
    assert read(filled).training is None


@pytest.mark.parametrize("answer", [Answer.FIRES, Answer.SILENT])
def test_a_file_made_by_filling_in_the_template_is_read(tmp_path, answer):
    text = prediction_template.template(LAB, "skip-unbroadcast", "A title", tmp_path / "s.json")
    for key, value in (("phase:", "phase: backward"), ("mode:", "mode: crash")):
        text = text.replace(f"      {key}", f"      {value}")
    for detector in PER_SCENARIO:
        text = text.replace(
            f"      {detector.value}:\n", f"      {detector.value}: {answer.value}\n"
        )
    said = read(text).scenarios["created-axis"]

    assert said.detectors == dict.fromkeys(PER_SCENARIO, answer)
    assert said.first == First(Phase.BACKWARD, Mode.CRASH)


def test_detectors_that_are_left_out_stay_open():

    assert set(read(GOOD).scenarios["created-axis"].detectors) == {
        Detector.SHAPE_INVARIANT,
        Detector.GRADCHECK_SUM,
        Detector.GRADCHECK,
    }
