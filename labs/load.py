"""Reads labs: data from lab.yaml, the text of the functions from scenarios.py (never executed)."""

from __future__ import annotations

import hashlib
import json
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from breaks import i18n
from labs.errors import LabsError
from labs.model import Fill, Fit, Input, Lab, Loss, Scenario

if TYPE_CHECKING:
    from breaks.load import Document  # YAML is read only where the index does not know the lab

_ = i18n.gettext

BUILTIN = Path(__file__).parent
PROBES = BUILTIN / "probes"
INDEX = BUILTIN / "index.json"  # the same labs, read and validated once; `make index` writes it
EPSILON = 6e-6  # the cube root of the float64 epsilon


def load_labs(folders: Sequence[Path] = (BUILTIN,)) -> dict[str, Lab]:
    """The labs in the subfolders that hold a lab.yaml, by id, in the order of ids.

    Raises BreaksError or LabsError with file and line for a lab that is not well formed.
    """
    found: dict[str, Lab] = {}
    for folder in folders:
        if not folder.is_dir():
            found_there = _("no folder at %(path)s") % {"path": folder}
            raise LabsError(_("a folder of labs"), found_there, _("Check the path."))
        for path in sorted(folder.glob("*/lab.yaml")):
            if path.parent == PROBES:
                continue
            lab = load_lab(path.parent)
            if lab.id in found:
                raise LabsError(
                    _("one lab of each id"),
                    _("%(id)s in %(folder)s too")
                    % {"id": lab.id, "folder": found[lab.id].folder.name},
                    _("Rename one of them."),
                    where=str(path),
                )
            found[lab.id] = lab
    return dict(sorted(found.items()))


def load_probes() -> Lab:
    """The small programs that every break of the catalogue can be tried on; not a lab."""
    return load_lab(PROBES)


def find_lab(labs: Mapping[str, Lab], name: str) -> Lab:
    """The lab of that id; `lab02.b` is the variant of lab02.

    Raises LabsError, with the nearest id, where there is none.
    """
    lab_id, dot, rest = name.partition(".")
    if lab_id in labs and not dot:
        return labs[lab_id]
    if lab_id in labs and rest == "b":
        return labs[lab_id].variant()
    from breaks.load import did_you_mean

    known = [*labs, *(f"{one}.b" for one in labs)]
    hint = did_you_mean(name, known) or _("The labs: %(labs)s.") % {"labs": ", ".join(labs)}
    raise LabsError(_("the id of a lab"), repr(name), hint)


def load_lab(folder: Path) -> Lab:
    """The lab in a folder."""
    source = read_source(folder)
    data = indexed(folder, source)
    if data is None:
        from breaks.load import read_yaml, validate

        document = read_yaml(folder / "lab.yaml", name=f"{folder.name}/lab.yaml")
        validate(document, "lab")
        check(document, source, folder)
        data = document.data
    return lab_of(data, source, folder)


def read_source(folder: Path) -> str:
    path = folder / "scenarios.py"
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise LabsError(
            _("the functions of the scenarios, in UTF-8"),
            reason,
            _("Write scenarios.py beside lab.yaml."),
            where=str(path),
        ) from None


# ------------------------------------------------------------------ from data


def lab_of(data: Mapping[str, Any], source: str, folder: Path) -> Lab:
    """A Lab out of data that the schema accepts."""
    common = shared_text(source, [function_name(name) for name in data["scenarios"]])
    return Lab(
        id=data["id"],
        title=data["title"],
        minutes=data["minutes"],
        needs=tuple(data.get("needs", ())),
        breaks={key: tuple(names) for key, names in data["breaks"].items()},
        scenarios={
            name: scenario_of(data["id"], name, entry, source, common)
            for name, entry in data["scenarios"].items()
        },
        folder=folder,
    )


def scenario_of(
    lab: str, name: str, entry: Mapping[str, Any], source: str, common: str
) -> Scenario:
    text = function_text(source, function_name(name))
    meaning = {key: value for key, value in entry.items() if key not in ("title", "variant")}
    identity = json.dumps([lab, name, meaning, text, common], sort_keys=True)
    variant = entry.get("variant")
    return Scenario(
        lab=lab,
        name=name,
        title=entry["title"],
        inputs=inputs_of(entry["inputs"]),
        loss=Loss(entry.get("loss", "sum")),
        backward=entry.get("backward", 1),
        fit=Fit(**entry["fit"]) if "fit" in entry else None,
        epsilon=float(entry.get("epsilon", EPSILON)),
        false_alarms=tuple(entry.get("false_alarms", ())),
        vary=entry.get("vary", True),
        expression=expression_of(text),
        source=source,
        digest=hashlib.sha256(identity.encode()).hexdigest(),
        variants=(inputs_of(variant["inputs"]),) if variant else (),
    )


def inputs_of(data: Mapping[str, Any]) -> tuple[Input, ...]:
    return tuple(input_of(name, value) for name, value in data.items())


def input_of(name: str, value: Any) -> Input:
    if isinstance(value, list):
        return Input(name, tuple(value))
    return Input(
        name=name,
        shape=tuple(value["shape"]),
        dtype=value.get("dtype", "float64"),
        fill=Fill(value.get("fill", "normal")),
        low=value.get("low", 0),
        high=value.get("high", 5),
        constant=value.get("constant", False),
        values=frozen(value.get("values")),
    )


def frozen(values: Any) -> Any:
    """Nested lists as nested tuples."""
    return tuple(map(frozen, values)) if isinstance(values, list) else values


# ------------------------------------------------------------------ the text of the functions


def function_name(scenario: str) -> str:
    return scenario.replace("-", "_")


def function_text(source: str, name: str) -> str:
    """The text of one function of scenarios.py; "" where there is none."""
    match = re.search(rf"^def {re.escape(name)}\(.*?(?=^\S|\Z)", source, re.S | re.M)
    return match[0].rstrip() + "\n" if match else ""


def shared_text(source: str, names: Sequence[str]) -> str:
    """What the functions may rest on: everything but them and the docstring of the module."""
    rest = re.sub(r'\A\s*("""|\'\'\').*?\1', "", source, flags=re.S)
    for name in names:
        rest = rest.replace(function_text(source, name).rstrip(), "")
    return "\n".join(line for line in rest.splitlines() if line.strip())


def expression_of(text: str) -> str:
    """What the screen shows of a function: the expression that it returns, or its whole body."""
    _head, _colon, body = text.partition("):\n")
    body = re.sub(r'\A\s*""".*?"""\n', "", body, flags=re.S)
    lines = textwrap.dedent(body).strip().splitlines()
    if len(lines) == 1 and lines[0].startswith("return "):
        return lines[0].removeprefix("return ")
    return "\n".join(lines)


# ------------------------------------------------------------------ checks beyond the schema


def check(document: Document, source: str, folder: Path) -> None:
    """Raises LabsError for the first thing in a lab that does not fit together."""
    functions = arguments_of(source, folder)
    data = document.data
    for key, names in data["breaks"].items():
        for i, name in enumerate(names):
            if name not in data["scenarios"]:
                from breaks.load import did_you_mean

                hint = did_you_mean(name, list(data["scenarios"])) or _("Write the scenario.")
                raise LabsError(
                    _("the name of a scenario of this lab"),
                    name,
                    hint,
                    where=document.where(("breaks", key, i)),
                )
    for name, entry in data["scenarios"].items():
        wanted = ["lib", *entry["inputs"]]
        found = functions.get(function_name(name))
        place = ("scenarios", name)
        if found != wanted:
            raise LabsError(
                _("a function %(name)s(%(arguments)s) in scenarios.py")
                % {"name": function_name(name), "arguments": ", ".join(wanted)},
                _("no such function")
                if found is None
                else f"{function_name(name)}({', '.join(found)})",
                _("Write it, or correct the inputs."),
                where=document.where(place),
            )
        check_inputs(document, (*place, "inputs"), entry["inputs"])
        if "variant" in entry:
            check_inputs(document, (*place, "variant", "inputs"), entry["variant"]["inputs"])
            if list(entry["variant"]["inputs"]) != list(entry["inputs"]):
                raise LabsError(
                    _("the inputs of the scenario, in its order: %(names)s")
                    % {"names": ", ".join(entry["inputs"])},
                    ", ".join(entry["variant"]["inputs"]),
                    _("Give each of them a shape."),
                    where=document.where((*place, "variant", "inputs")),
                )


def check_inputs(document: Document, place: tuple[str, ...], inputs: Mapping[str, Any]) -> None:
    if not any(one.needs_grad for one in inputs_of(inputs)):
        raise LabsError(
            _("at least one input that needs a gradient"),
            _("only constants and integers"),
            _("There would be nothing to check: leave out constant: true."),
            where=document.where(place),
        )
    for one in inputs_of(inputs):
        if one.values is not None and (found := shape_of(one.values)) != one.shape:
            raise LabsError(
                _("values of the shape %(shape)s") % {"shape": one.shape},
                _("uneven lists") if found is None else str(found),
                _("Correct the shape or the values."),
                where=document.where((*place, one.name)),
            )


def shape_of(values: Any) -> tuple[int, ...] | None:
    """The shape of nested tuples of numbers; None where they are uneven."""
    if not isinstance(values, tuple):
        return () if isinstance(values, int | float) and not isinstance(values, bool) else None
    inner = {shape_of(value) for value in values}
    if len(inner) > 1 or None in inner:
        return None
    return (len(values), *(inner.pop() or () if inner else ()))


def arguments_of(source: str, folder: Path) -> dict[str, list[str]]:
    """The functions of scenarios.py with the names of their arguments; nothing is executed."""
    import ast

    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", 1) or 1
        raise LabsError(
            _("Python"),
            getattr(error, "msg", str(error)),
            _("Correct the line."),
            where=f"{folder.name}/scenarios.py:{line}",
        ) from None
    return {
        node.name: [argument.arg for argument in node.args.args]
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
    }


# ------------------------------------------------------------------ the index


def indexed(folder: Path, source: str) -> Any:
    """The data of a lab that is byte for byte the one which the index was made from."""
    if folder.parent != BUILTIN:
        return None
    try:
        entry = json.loads(INDEX.read_bytes()).get(folder.name)
        if entry and entry["sha256"] == digest_of(folder, source):
            return entry["data"]
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return None
    return None


def digest_of(folder: Path, source: str) -> str:
    return hashlib.sha256((folder / "lab.yaml").read_bytes() + source.encode()).hexdigest()


def builtin_folders() -> Iterator[Path]:
    for path in sorted(BUILTIN.glob("*/lab.yaml")):
        yield path.parent


def build_index() -> str:
    """The text of the index: every lab of the package, validated, with its digest."""
    from breaks.load import read_yaml, validate

    index = {}
    for folder in builtin_folders():
        source = read_source(folder)
        document = read_yaml(folder / "lab.yaml")
        validate(document, "lab")
        check(document, source, folder)
        index[folder.name] = {"sha256": digest_of(folder, source), "data": document.data}
    return json.dumps(index, ensure_ascii=False, indent=0, sort_keys=False) + "\n"


if __name__ == "__main__":
    INDEX.write_text(build_index(), encoding="utf-8")
