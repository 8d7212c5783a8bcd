"""A prediction file to fill in: the questions as comments, and a schema for the editor."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from breaks import i18n
from breaks.drafts import save
from breaks.layout import wrap
from breaks.load import SCHEMAS
from breaks.workspace import Workspace
from grader.ask import OUTCOMES, PATTERNS, phases, tensors
from grader.prediction import CONFIDENCES
from grader.recording import PER_SCENARIO, Mode, Phase
from grader.screens import task
from grader.words import meaning
from labs.model import Lab, Scenario

_ = i18n.gettext
SHIPPED = SCHEMAS / "prediction.schema.json"


def template(lab: Lab, break_id: str, title: str, schema: Path) -> str:
    """The text of the file.  `schema` is where the editor finds what may be written."""
    return "\n".join([*_head(lab, break_id, title, schema), *_body(lab, break_id)]) + "\n"


def _head(lab: Lab, break_id: str, title: str, schema: Path) -> Iterator[str]:
    yield f"# yaml-language-server: $schema={schema.as_uri()}"
    yield "#"
    yield from _comment(f"{lab.id}  {i18n.pick(lab.title)}: {title}")
    yield from _comment(_("Fill in what you expect, then: %(command)s") % {"command": _commit(lab)})
    yield from _comment(
        _("phase and mode are needed; whatever else you leave empty earns nothing, costs nothing.")
    )
    yield "#"
    yield from _glossary("phase", Phase)
    yield from _glossary("mode", Mode)
    yield from _glossary("pattern", PATTERNS)
    yield from _glossary("outcome", OUTCOMES)
    yield from _glossary("detectors", PER_SCENARIO)


def _commit(lab: Lab) -> str:
    return f"grader predict {lab.id} --from FILE"


def _comment(text: str, indent: str = "") -> Iterator[str]:
    yield from wrap(text, 98, indent=f"{indent}# ", hanging=f"{indent}# ").split("\n")


def _glossary(name: str, words: Any) -> Iterator[str]:
    yield f"# {name}"
    for word in words:
        yield from wrap(
            f"{word.value}: {meaning(word)}", 98, indent="#   ", hanging="#     "
        ).split("\n")


def _body(lab: Lab, break_id: str) -> Iterator[str]:
    yield ""
    yield f"lab: {lab.id}"
    yield f"break: {break_id}"
    yield "scenarios:"
    for scenario in lab.of(break_id):
        yield ""
        yield from _comment(i18n.pick(scenario.title), "  ")
        yield from _comment(task(scenario), "  ")
        yield from _scenario(scenario)
    yield ""
    yield "training:"
    yield _line("outcome", OUTCOMES, 2)
    yield "  phase:" + _aside(_("only for a crash: forward | backward | step"))


def _scenario(scenario: Scenario) -> Iterator[str]:
    names = dict.fromkeys(name for phase in phases(scenario) for name in tensors(scenario, phase))
    yield f"  {scenario.name}:"
    yield "    first:"
    yield _line("phase", phases(scenario), 6)
    yield _line("mode", Mode, 6)
    yield "      tensor:" + _aside(_("optional: %(words)s") % {"words": " | ".join(names)})
    yield "      shape:" + _aside(_("optional, for wrong-shape: which one it has, like [4, 3]"))
    yield "      dtype:" + _aside(_("optional, for wrong-dtype: which one it has, like float64"))
    yield "      pattern:" + _aside(_("optional, for wrong-values"))
    yield "      factor:" + _aside(_("optional, for scaled: 5 or 0.2; for offset the constant"))
    yield "    detectors:" + _aside("fires | silent")
    for detector in PER_SCENARIO:
        yield f"      {detector.value}:"
    yield "    confidence:" + _aside(" ".join(map(str, CONFIDENCES)) + " %")
    yield "    because:" + _aside(_("one line, in quotes if it has a colon"))


def _line(key: str, words: Any, indent: int) -> str:
    return " " * indent + f"{key}:" + _aside(" | ".join(word.value for word in words))


def _aside(text: str) -> str:
    return f"  # {text}"


def special_schema(lab: Lab, break_id: str) -> dict[str, Any]:
    """The published schema with the names of one break: what an editor completes."""
    schema = json.loads(SHIPPED.read_text("utf-8"))
    scenarios = lab.of(break_id)
    schema["$id"] = f"urn:breaklabs:prediction:{lab.id}:{break_id}"
    schema["properties"]["lab"] = {"const": lab.id}
    schema["properties"]["break"] = {"enum": [break_id, None]}
    schema["properties"]["scenarios"] |= {
        "additionalProperties": False,
        "required": [one.name for one in scenarios],
        "properties": {one.name: _special(one) for one in scenarios},
    }
    return schema


def _special(scenario: Scenario) -> dict[str, Any]:
    names = _tensor_names(scenario)
    tensor = {"properties": {"tensor": {"enum": [*names, None]}}}
    return {
        "allOf": [
            {"$ref": "#/$defs/scenario"},
            {"properties": {"first": tensor}},
        ],
        "description": f"{scenario.title['en']}. {task(scenario)}",
    }


def _tensor_names(scenario: Scenario) -> Sequence[str]:
    bare = dict.fromkeys(name for phase in Phase for name in tensors(scenario, phase))
    return [*bare, *(f"{one.name}.grad" for one in scenario.leaves)]


def put_schema(ws: Workspace, lab: Lab, break_id: str) -> Path:
    """Writes the schema of one break into `.breaks/`; the shipped one where that is not allowed."""
    path = ws.state / "schema" / f"{lab.id}.{break_id}.json"
    text = json.dumps(special_schema(lab, break_id), indent=1, ensure_ascii=False)
    try:
        if not path.is_file() or path.read_text("utf-8") != text:
            save(ws, path, text.encode())
    except OSError:
        return SHIPPED
    return path
