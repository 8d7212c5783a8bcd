"""What runs in a child: it loads a library from text, runs a scenario, and records.  No judgement.

Each section of a recording is sent as soon as it is complete, and each phase is announced before it
begins: whatever the library does to this process, the parent knows what was reached.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from types import CodeType, ModuleType
from typing import Any

import numpy as np

from grader import arrays, inputs

Send = Callable[[str, Any], None]

MOST_NODES = 20_000  # of a graph that is walked
MOST_DESCRIBED = 300  # of a graph whose arrays are recorded
LABEL = "library"  # one for all: what a break left alone is compiled once for all of them

# The recorder's own references: a library that replaces NumPy's functions does not replace these.
_array, _stack, _shares_memory = np.array, np.stack, np.shares_memory


@lru_cache(maxsize=256)
def compiled(source: str, name: str) -> CodeType:
    """The code of a lab's scenarios; compiling executes nothing, so the parent may warm it."""
    return compile(source, f"<{name}/scenarios.py>", "exec")


def run(job: dict[str, Any], send: Send) -> None:
    """Runs one job; `kind` names the function below."""
    KINDS[job["kind"]](job, send)


# ------------------------------------------------------------------ the library


class Phases:
    """Announces what is about to happen, and remembers it for errors."""

    def __init__(self, send: Send):
        self.send, self.now = send, ""

    def begin(self, section: str, phase: str) -> None:
        self.now = phase
        self.send("phase", f"{section}:{phase}")


def load(job: dict[str, Any], send: Send) -> ModuleType | None:
    """The library of the job, and the proof of which text was executed; None if it would not load.

    An exception while loading is recorded as section `load`.
    """
    from breaks.library import load_library

    sources = {name: text.encode() for name, text in job["sources"].items()}
    before = dict(vars(np))
    send("phase", "load:load")
    try:
        lib = load_library(sources, label=LABEL)
    except BaseException as error:
        send("load", {"error": describe(error, "load")})
        return None
    changed = sorted(k for k, v in vars(np).items() if k in before and before[k] is not v)
    send("load", {"error": None})
    send("provenance", {**provenance(lib, job["sources"]), "numpy": changed[:20]})
    return lib


def provenance(lib: ModuleType, sources: dict[str, str]) -> dict[str, Any]:
    """The hash of each text, and every function of the library that is not made from these texts.

    A function's code must be the very code that compiling the text gives.
    """
    made, sha256 = expected(tuple(sources.items()))
    foreign, shown = [], 0
    for name, value in [*vars(lib.Tensor).items(), *vars(lib).items()]:
        code = getattr(value, "__code__", None)
        if isinstance(code, CodeType):
            shown += 1
            if code not in made.get(code.co_filename, ()):
                foreign.append(f"{name} from {code.co_filename}"[:200])
    return {"sha256": dict(sha256), "functions": shown, "foreign": sorted(foreign)[:10]}


@lru_cache(maxsize=4)
def expected(texts: tuple[tuple[str, str], ...]) -> tuple[dict[str, set[CodeType]], dict[str, str]]:
    """By file, the code that these texts make; by module, the hash of its text."""
    sources = dict(texts)
    made = {code.co_filename: set(nested(code)) for code in codes(sources)}
    sha256 = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts}
    return made, sha256


def codes(sources: dict[str, str]) -> Iterator[CodeType]:
    """The code of each module of a library; compiling executes nothing, so the parent warms it."""
    from breaks.library import TextFinder, compiled

    finder = TextFinder({name: text.encode() for name, text in sources.items()}, LABEL)
    for name in sources:
        yield compiled(finder.get_source(name), finder.file_name(name))


def nested(code: CodeType) -> Iterator[CodeType]:
    """A code object and all that are inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from nested(constant)


def describe(error: BaseException, phase: str) -> dict[str, Any]:
    """An exception as data: type, message, and the innermost line of the library."""
    module, line, function = "", 0, ""
    trace, frames = error.__traceback__, 0
    while trace is not None and frames < 5000:
        file = trace.tb_frame.f_code.co_filename
        if file.startswith(f"<{LABEL}>/"):
            module = module_of(file)
            line, function = trace.tb_lineno, trace.tb_frame.f_code.co_qualname
        trace, frames = trace.tb_next, frames + 1
    try:
        message = str(error)[:400]
    except BaseException:
        message = ""
    return {
        "phase": phase,
        "type": type(error).__name__[:80],
        "message": message,
        "module": module,
        "line": line,
        "function": function,
    }


# ------------------------------------------------------------------ a scenario


class Program:
    """A scenario on a library: makes fresh inputs and evaluates the expression."""

    def __init__(self, lib: Any, scenario: dict[str, Any], seed: int):
        self.lib, self.scenario, self.seed = lib, scenario, seed
        names: dict[str, Any] = {"__name__": "scenarios"}
        exec(compiled(scenario["source"], scenario["lab"]), names)
        self.function = names[scenario["function"]]
        self.kinds = [(e["name"], e["dtype"] == "int64", is_leaf(e)) for e in scenario["inputs"]]
        self.moved: dict[str, tuple[Any, Any]] = {}  # y for the scenario's own inputs, moved

    def numbers(self, *, wide: bool = False, entries: Any = None) -> dict[str, Any]:
        """The inputs as arrays, by name; `entries` replaces the scenario's own."""
        return numbers(self.scenario, self.seed, entries or self.scenario["inputs"], wide=wide)

    def arguments(self, numbers: dict[str, Any], rows: Any = None) -> dict[str, Any]:
        """The inputs as the function gets them: tensors, and plain arrays for integers."""
        made = {}
        for name, integer, leaf in self.kinds:
            array = numbers[name].copy()  # a library may write into what it is given
            if rows is not None and not leaf and array.ndim:
                array = array[rows]
            made[name] = array if integer else self.lib.Tensor(array, requires_grad=leaf)
        return made

    def leaves(self, arguments: dict[str, Any]) -> dict[str, Any]:
        return {e["name"]: arguments[e["name"]] for e in self.scenario["inputs"] if is_leaf(e)}

    def evaluate(self, arguments: dict[str, Any]) -> Any:
        return self.function(self.lib, **arguments)

    def cotangent(self, y: Any) -> Any:
        """The fixed irregular weights of y."""
        shape = tuple(int(n) for n in y.shape)
        return inputs.irregular(shape, self.seed, self.scenario["name"], "cotangent").astype(
            str(y.dtype)
        )

    def loss(self, y: Any) -> Any:
        kind = self.scenario["loss"]
        if kind == "itself":
            return y
        if kind == "weighted":
            y = y * self.lib.Tensor(self.cotangent(y))
        return y.sum()


def numbers(
    scenario: dict[str, Any], seed: int, entries: list[dict[str, Any]], *, wide: bool = False
) -> dict[str, Any]:
    """Inputs of a scenario as arrays, by name; what is drawn is kept, for forked children too."""
    names = (seed, scenario["lab"], scenario["name"])
    return {entry["name"]: inputs.make(entry, *names, wide=wide) for entry in entries}


def is_leaf(entry: dict[str, Any]) -> bool:
    return not entry["constant"] and entry["dtype"] != "int64"


def record_scenario(job: dict[str, Any], send: Send) -> None:
    """Every section of a scenario that the job asks for."""
    lib = load(job, send)
    if lib is not None:
        record_sections(lib, job, send)


def record_together(job: dict[str, Any], send: Send) -> None:
    """Several jobs in one process, each on a library of its own, loaded from the same texts.

    It ends early, after a job that has changed the process: whoever asked starts another.
    """
    from grader.world import World

    world = World()
    for place, one in enumerate(job["jobs"]):
        if place and (change := changed(world)):
            send("changed", change)
            return
        send("begin", place)
        run({**one, "sources": job["sources"]}, send)


def changed(world: Any) -> str:
    """What is no longer as it was, in a process where even to look may fail."""
    try:
        return str(world.change())
    except BaseException as error:
        return type(error).__name__


def record_sections(lib: Any, job: dict[str, Any], send: Send) -> None:
    phases = Phases(send)
    sections: dict[str, Callable[..., None]] = {
        "program": record_program,
        "step": record_step,
        "ones": record_ones,
        "irregular": record_irregular,
        "differences": record_differences,
        "property": record_property,
        "lines": record_lines,
    }
    program = None
    for name in job["sections"]:
        partial: dict[str, Any] = {}
        try:
            program = program or Program(lib, job["scenario"], job["seed"])
            sections[name](program, partial, lambda phase, n=name: phases.begin(n, phase), job)
            partial["error"] = None
        except BaseException as error:
            partial["error"] = describe(error, phases.now)
        send(name, partial)


Begin = Callable[[str], None]


def record_program(program: Program, out: dict[str, Any], begin: Begin, job: Any = None) -> None:
    """The loss and its graph: every node's value and gradient, and the leaves before and after."""
    loss, y, leaves = forward(program, out, begin)
    nodes = list(graph(loss))
    names = {id(leaf): name for name, leaf in leaves.items()} | {id(y): "y", id(loss): "loss"}
    try:
        backward(program, out, begin, loss, leaves)
    finally:
        out["nodes"] = list(described(nodes, names)) if len(nodes) <= MOST_DESCRIBED else []


def record_result(program: Program, out: dict[str, Any], begin: Begin, job: Any = None) -> None:
    """The loss and the gradients of the leaves, without what is between them."""
    loss, _y, leaves = forward(program, out, begin)
    backward(program, out, begin, loss, leaves)


def forward(program: Program, out: dict[str, Any], begin: Begin) -> tuple[Any, Any, dict[str, Any]]:
    """The loss, y, and the leaves by name."""
    numbers = program.numbers()
    out["inputs"] = {name: arrays.encode(array) for name, array in numbers.items()}
    begin("forward")
    arguments = program.arguments(numbers)
    leaves = program.leaves(arguments)
    y = program.evaluate(arguments)
    loss = program.loss(y)
    out["y"], out["loss"] = arrays.encode(y.data), arrays.encode(loss.data)
    out["after"] = {name: arrays.encode(leaf.data) for name, leaf in leaves.items()}
    return loss, y, leaves


def backward(
    program: Program, out: dict[str, Any], begin: Begin, loss: Any, leaves: dict[str, Any]
) -> None:
    try:
        begin("backward")
        for _ in range(program.scenario["backward"]):
            loss.backward()
        out["backward"] = True
    finally:
        out["grads"] = {name: arrays.encode(leaf.grad) for name, leaf in leaves.items()}


def graph(root: Any) -> Iterator[Any]:
    """The nodes that `root` was made from, parents first; an order of our own."""
    seen: set[int] = set()
    stack = [(root, False)]
    while stack and len(seen) < MOST_NODES:
        node, done = stack.pop()
        if done:
            yield node
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            parents = getattr(node, "_prev", ())
            stack.extend((p, False) for p in reversed(parents) if id(p) not in seen)


def described(nodes: list[Any], names: dict[int, str]) -> Iterator[dict[str, Any]]:
    index = {id(node): i for i, node in enumerate(nodes)}
    for i, node in enumerate(nodes):
        backward = getattr(node, "_backward", None)
        code = getattr(backward, "__code__", None)
        cells = getattr(backward, "__closure__", None) or ()
        held = dict(zip(code.co_freevars, cells, strict=False)) if code else {}
        parents = [p for p in getattr(node, "_prev", ()) if id(p) in index]
        file = code.co_filename if code else ""
        ours = file.startswith(f"<{LABEL}>/")
        op = str(getattr(node, "_op", ""))
        yield {
            "name": names.get(id(node), f"{op or 'constant'}#{i}"),
            "op": op,
            "parents": [index[id(p)] for p in parents],
            "parent_names": [
                next((name for name, cell in held.items() if cell_is(cell, p)), "") for p in parents
            ],
            "module": module_of(file) if ours else "",
            "lines": [code.co_firstlineno, last_line(code)] if code and ours else [0, 0],
            "requires_grad": bool(node.requires_grad),
            "data": arrays.encode(node.data),
            "grad": arrays.encode(node.grad),
        }


def cell_is(cell: Any, value: Any) -> bool:
    try:
        return cell.cell_contents is value
    except ValueError:
        return False


def last_line(code: CodeType) -> int:
    return max((line for _, _, line in code.co_lines() if line), default=code.co_firstlineno)


def record_step(program: Program, out: dict[str, Any], begin: Begin, job: Any = None) -> None:
    """The leaves trained with `fit`: the losses, and where the parameters end."""
    fit = program.scenario["fit"]
    begin("step")
    numbers = program.numbers()
    parameters = program.leaves(program.arguments(numbers))
    others = [e["name"] for e in program.scenario["inputs"] if not is_leaf(e)]
    rows = max((len(numbers[name]) for name in others if numbers[name].ndim), default=1)
    batch = [list(part) for part in np.array_split(np.arange(rows), fit["micro_batches"])]
    whole = fit["micro_batches"] == 1

    def loss(part: Any) -> Any:
        arguments = program.arguments(numbers, None if whole else part) | parameters
        return program.loss(program.evaluate(arguments))

    optimizer = program.lib.SGD(
        list(parameters.values()),
        lr=fit["lr"],
        momentum=fit["momentum"],
        weight_decay=fit["weight_decay"],
    )
    try:
        losses = program.lib.fit(loss, [batch] * fit["steps"], optimizer)
        out["losses"] = arrays.encode(_array(losses, dtype=float))
    finally:
        out["data"] = {name: arrays.encode(p.data) for name, p in parameters.items()}
        out["grads"] = {name: arrays.encode(p.grad) for name, p in parameters.items()}


def record_ones(program: Program, out: dict[str, Any], begin: Begin, job: Any = None) -> None:
    """The gradients of y.sum(): ones as cotangent, as the notes do it."""
    begin("forward")
    arguments = program.arguments(program.numbers())
    y = program.evaluate(arguments)
    out["y"] = arrays.encode(y.data)
    begin("backward")
    y.sum().backward()
    out["grads"] = {n: arrays.encode(leaf.grad) for n, leaf in program.leaves(arguments).items()}


def record_irregular(program: Program, out: dict[str, Any], begin: Begin, job: Any = None) -> None:
    """The gradients of y under an irregular cotangent."""
    begin("forward")
    arguments = program.arguments(program.numbers())
    y = program.evaluate(arguments)
    out["y"] = arrays.encode(y.data)
    cotangent = program.cotangent(y)
    out["cotangent"] = arrays.encode(cotangent)
    begin("backward")
    y.backward(cotangent)
    out["grads"] = {n: arrays.encode(leaf.grad) for n, leaf in program.leaves(arguments).items()}


def record_differences(
    program: Program, out: dict[str, Any], begin: Begin, job: Any = None
) -> None:
    """y with each entry of each leaf moved up and down: in float64, from inputs that are fresh."""
    begin("forward")
    step = program.scenario["epsilon"]
    out["step"] = step
    numbers = program.numbers(wide=True)
    out["y"] = arrays.encode(program.evaluate(program.arguments(numbers)).data)
    out["moved"] = {}
    for entry in program.scenario["inputs"]:
        if is_leaf(entry):
            name = entry["name"]
            program.moved[name] = moved(program, numbers, name, step)
            out["moved"][name] = [arrays.encode(side) for side in program.moved[name]]


def moved(program: Program, numbers: dict[str, Any], name: str, step: float) -> tuple[Any, Any]:
    """y for every entry of one input moved up, and down: two arrays (entries, *y.shape).

    `numbers` are float64 and of one's own: an entry is moved in them, and put back.
    """
    sides: tuple[list[Any], list[Any]] = ([], [])
    entries = numbers[name].reshape(-1)
    for i, entry in enumerate(entries.tolist()):
        for side, direction in zip(sides, (step, -step), strict=True):
            entries[i] = entry + direction
            side.append(_array(program.evaluate(program.arguments(numbers)).data))
        entries[i] = entry
    if not sides[0]:
        return np.zeros((0, 1)), np.zeros((0, 1))
    return _stack(sides[0]), _stack(sides[1])


def record_property(program: Program, out: dict[str, Any], begin: Begin, job: Any = None) -> None:
    """What the law says of each shape of the scenario's kind."""
    from grader import property_test

    begin("property")
    out.update(property_test.laws(program, job["assignments"], job["vary"]))


def record_lines(program: Program, out: dict[str, Any], begin: Begin, job: Any = None) -> None:
    """Which lines of the library the program executes; an error of the program does not matter."""
    begin("lines")
    with traced(out):
        record_result(program, {}, lambda phase: None, job)
        if program.scenario["fit"]:
            record_step(program, {}, lambda phase: None, job)


@contextmanager
def traced(out: dict[str, Any]) -> Iterator[None]:
    """Puts the lines of the library that are executed inside into `out`, and what stopped them."""
    found: dict[str, set[int]] = {}

    def trace(frame: Any, event: str, arg: Any) -> Any:
        file = frame.f_code.co_filename
        if not file.startswith(f"<{LABEL}>/"):
            return None
        lines = found.setdefault(module_of(file), set())
        lines.add(frame.f_lineno)

        def line(frame: Any, event: str, arg: Any) -> Any:
            lines.add(frame.f_lineno)
            return line

        return line

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    except BaseException as error:
        out["stopped"] = type(error).__name__[:80]
    finally:
        sys.settrace(before)
    out["executed"] = {module: sorted(lines) for module, lines in found.items()}


def module_of(file: str) -> str:
    """The dotted module of a file name that load_library gave."""
    path = file.removeprefix(f"<{LABEL}>/").removesuffix(".py").removesuffix("/__init__")
    return path.replace("/", ".")


# ------------------------------------------------------------------ other jobs


def record_liveness(job: dict[str, Any], send: Send) -> None:
    """Only what many scenarios compute, without any check, in one process: a first look."""
    lib = load(job, send)
    looks = {"program": record_result, "step": record_step, "ones": record_ones}
    for scenario in job["scenarios"] if lib is not None else ():
        out: dict[str, Any] = {}
        program = None
        for name, record in looks.items():
            if name == "step" and not scenario["fit"]:
                continue
            section: dict[str, Any] = {}
            try:
                program = program or Program(lib, scenario, job["seed"])
                record(program, section, lambda phase: None, job)
                section["error"] = None
            except BaseException as error:
                section["error"] = describe(error, "")["type"]
            out[name] = {k: section.get(k) for k in ("error", "y", "loss", "grads", "data")}
        send("scenario:" + scenario["name"], out)


def record_reach(job: dict[str, Any], send: Send) -> None:
    """Which lines each of many scenarios executes, the sum of its check too; and the training."""
    lib = load(job, send)
    if lib is None:
        return
    for scenario in job["scenarios"]:
        program = Program(lib, scenario, job["seed"])
        section: dict[str, Any] = {}
        record_lines(program, section, lambda phase: None, job)
        summed: dict[str, Any] = {}
        with traced(summed):
            record_ones(program, {}, lambda phase: None, job)
        section = section["executed"]
        for module, lines in summed["executed"].items():
            section[module] = sorted({*section.get(module, ()), *lines})
        send("lines:" + scenario["name"], section)
    if job.get("training"):
        from grader import training

        out: dict[str, Any] = {}
        with traced(out):
            training.record(lib, job, lambda name, value: None, lambda error, phase: {})
        send("training", out["executed"])


def record_training(job: dict[str, Any], send: Send) -> None:
    """The grammar MLP in both forms; with `entered`, also which functions each form enters."""
    from grader import training
    from grader.entered import Entered
    from grader.recording import Form

    with Entered(LABEL) if job.get("entered") else contextlib.nullcontext() as loading:
        lib = load(job, send)
    for form in job.get("forms", list(Form)) if lib is not None else ():
        with Entered(LABEL) if job.get("entered") else contextlib.nullcontext() as going:
            training.record(lib, {**job, "forms": [form]}, send, describe)
        if loading is not None and going is not None:
            send(f"entered:{form}", loading.places() + going.places())


KINDS: dict[str, Callable[[dict[str, Any], Send], None]] = {
    "scenario": record_scenario,
    "training": record_training,
    "together": record_together,
    "liveness": record_liveness,
    "reach": record_reach,
}


def main() -> None:
    """The spawned way: a job on stdin, frames on what was stdout, printing on stderr."""
    from grader import pool

    head = json.loads(sys.stdin.buffer.read())
    frames = os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    pool.fresh_streams()
    if os.name == "posix":
        pool.die_with(head["parent"], pool.prctl())
    limits = pool.Limits(**head["limits"])
    pool.run_here(run, head["job"], pool.Sender(frames, head["nonce"]), limits)


if __name__ == "__main__":
    main()
