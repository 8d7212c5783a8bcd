"""Torch float64 behind minitorch's public names: a reference that shares no code with the subject.

What torch says of a scenario does not depend on the break.  It is asked once, in a process of its
own, and kept: recorded references ship with the labs, and are derived again with `--live` and by
the tests.  torch is imported in that process only.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from breaks import i18n
from grader.errors import GraderError, last_line
from labs.numbers import SEED

_ = i18n.gettext
INSTALL = "pip install 'breaklabs[torch]'"

# ------------------------------------------------------------------ in torch's process


def adapter() -> Any:
    """A library with minitorch's public names, made of torch float64.  Imports torch."""
    import numpy as np
    import torch
    from torch.optim.sgd import sgd

    torch.set_num_threads(1)  # before its first use: fork after more threads would hang

    class Tensor:
        __array_ufunc__ = None
        __slots__ = ("t",)

        def __init__(self, data: Any, *, requires_grad: bool = False):
            array = np.array(data.data if isinstance(data, Tensor) else data)
            wide = array.astype(np.float64) if array.dtype.kind == "f" else array
            self.t = torch.tensor(wide, requires_grad=requires_grad)

        data = property(lambda self: self.t.detach().numpy())
        shape = property(lambda self: tuple(self.t.shape))
        ndim = property(lambda self: self.t.ndim)
        dtype = property(lambda self: self.data.dtype)
        requires_grad = property(lambda self: self.t.requires_grad)

        @property
        def grad(self) -> Any:
            if not self.t.is_leaf or self.t.grad is None:
                return None  # torch keeps no gradient of what is inside a graph
            return self.t.grad.numpy()

        def item(self) -> Any:
            return self.t.item()

        def backward(self, gradient: Any = None) -> None:
            # The weights go into a sum: handing them to torch loads its symbolic shapes, and sympy.
            weighted = self.t if gradient is None else (self.t * raw(gradient)).sum()
            weighted.backward(retain_graph=True)

        def zero_grad(self) -> None:
            self.t.grad = None

        def __neg__(self) -> Any:
            return wrap(-self.t)

        def __getitem__(self, index: Any) -> Any:
            # NumPy says which places are meant; torch's own indexing fetches and differentiates.
            index = plain(index)
            places = np.arange(self.t.numel()).reshape(self.shape)[index]
            return wrap(self.t.reshape(-1)[torch.as_tensor(np.array(places))])

        def __iter__(self) -> Any:
            return (self[i] for i in range(len(self.data)))

        def gelu(self, approximate: str = "none") -> Any:
            return wrap(torch.nn.functional.gelu(self.t, approximate=approximate))

        def sum(self, axis: Any = None, keepdims: bool = False) -> Any:
            return wrap(self.t.sum(dim=axes(axis, self.t), keepdim=keepdims))

        def mean(self, axis: Any = None, keepdims: bool = False) -> Any:
            return wrap(self.t.mean(dim=axes(axis, self.t), keepdim=keepdims))

        def max(self, axis: Any = None, keepdims: bool = False) -> Any:
            return wrap(torch.amax(self.t, dim=axes(axis, self.t), keepdim=keepdims))

        def reshape(self, shape: Any) -> Any:
            return wrap(self.t.reshape(shape))

        def transpose(self, axes: Any = None) -> Any:
            order = tuple(range(self.ndim))[::-1] if axes is None else tuple(axes)
            return wrap(self.t.permute(order))

        def broadcast_to(self, shape: Any) -> Any:
            return wrap(torch.broadcast_to(self.t, tuple(shape)))

        def softmax(self, axis: int = -1) -> Any:
            return wrap(torch.softmax(self.t, dim=axis))

    def axes(axis: Any, t: Any) -> tuple[int, ...]:
        given = axis if axis is None or isinstance(axis, tuple) else (axis,)
        return given or tuple(range(t.ndim))

    def plain(index: Any) -> Any:
        if isinstance(index, tuple):
            return tuple(plain(item) for item in index)
        if isinstance(index, Tensor):
            return index.data
        return np.asarray(index) if isinstance(index, list) else index

    def wrap(t: Any) -> Any:
        out = Tensor.__new__(Tensor)
        out.t = t
        return out

    def raw(value: Any) -> Any:
        if isinstance(value, Tensor):
            return value.t
        if isinstance(value, (bool, int, float)):
            return value
        array = np.array(value)
        return torch.tensor(array.astype(np.float64) if array.dtype.kind == "f" else array)

    def method(name: str) -> Any:
        return lambda self: wrap(getattr(self.t, name)())

    def operator_pair(function: Any) -> tuple[Any, Any]:
        return (
            lambda self, other: wrap(function(self.t, raw(other))),
            lambda self, other: wrap(function(raw(other), self.t)),
        )

    for name in ("exp", "log", "relu", "tanh"):
        setattr(Tensor, name, method(name))
    for name, function in (
        ("add", lambda a, b: a + b),
        ("sub", lambda a, b: a - b),
        ("mul", lambda a, b: a * b),
        ("truediv", lambda a, b: a / b),
        ("matmul", lambda a, b: torch.matmul(a, b)),
    ):
        forward, reflected = operator_pair(function)
        setattr(Tensor, f"__{name}__", forward)
        setattr(Tensor, f"__r{name}__", reflected)
    Tensor.matmul = vars(Tensor)["__matmul__"]  # type: ignore[attr-defined]

    class Library:
        """The public names."""

        @staticmethod
        def cat(tensors: Any, axis: int = 0) -> Any:
            return wrap(torch.cat([raw(t) for t in tensors], dim=axis))

        @staticmethod
        def stack(tensors: Any, axis: int = 0) -> Any:
            return wrap(torch.stack([raw(t) for t in tensors], dim=axis))

        @staticmethod
        def cross_entropy(logits: Any, targets: Any, reduction: str = "mean") -> Any:
            labels = torch.as_tensor(np.array(plain(targets)), dtype=torch.long)
            loss = torch.nn.functional.cross_entropy(raw(logits), labels, reduction=reduction)
            return wrap(loss)

        @staticmethod
        def mse_loss(prediction: Any, target: Any) -> Any:
            p, t = raw(prediction), raw(target)
            if p.shape != t.shape:  # torch only warns, and broadcasts; this name refuses
                raise ValueError(f"mse_loss needs two equal shapes; found {p.shape}, {t.shape}")
            return wrap(torch.nn.functional.mse_loss(p, t))

        @staticmethod
        def unbroadcast(grad: Any, shape: Any) -> Any:
            return torch.as_tensor(np.array(grad)).sum_to_size(tuple(shape)).numpy()

        @staticmethod
        def as_tensor(value: Any, like: Any = None) -> Any:
            return value if isinstance(value, Tensor) else Tensor(value)

        @staticmethod
        def fit(loss: Any, batches: Any, optimizer: Any) -> list[float]:
            history = []
            for batch in batches:
                optimizer.zero_grad()
                size, total = sum(len(rows) for rows in batch), 0.0
                for rows in batch:
                    part = wrap(loss(rows).t * (len(rows) / size))
                    part.backward()
                    total += part.item()
                optimizer.step()
                history.append(total)
            return history

    class SGD:
        """torch.optim.sgd, the function that torch.optim.SGD calls.

        Making the class itself loads torch's compiler, which takes as long as torch does.
        """

        def __init__(
            self, parameters: Any, lr: float, momentum: float = 0.0, weight_decay: float = 0.0
        ):
            self.tensors = list(dict.fromkeys(p.t for p in parameters))
            self.buffers: list[Any] = [None] * len(self.tensors)
            self.settings: Any = {"lr": lr, "momentum": momentum, "weight_decay": weight_decay}

        def zero_grad(self) -> None:
            for t in self.tensors:
                t.grad = None

        def step(self) -> None:
            moved = [i for i, t in enumerate(self.tensors) if t.grad is not None]
            buffers = [self.buffers[i] for i in moved]
            with torch.no_grad():
                sgd(
                    [self.tensors[i] for i in moved],
                    [self.tensors[i].grad for i in moved],
                    buffers,
                    foreach=False,
                    dampening=0.0,
                    nesterov=False,
                    maximize=False,
                    **self.settings,
                )
            for i, buffer in zip(moved, buffers, strict=True):
                self.buffers[i] = buffer

    Library.Tensor, Library.SGD = Tensor, SGD  # type: ignore[attr-defined]
    Library.version = torch.__version__.partition("+")[0]  # type: ignore[attr-defined]
    return Library


def derive(scenarios: Iterable[dict[str, Any]], seed: int = SEED) -> dict[str, Any]:
    """What torch says of each scenario (as `child` wants them), by name of lab and scenario."""
    from grader import child

    lib = adapter()
    answers: dict[str, Any] = {}
    for scenario in scenarios:
        sections: dict[str, Any] = {}
        kinds = {"program": child.record_program, "irregular": child.record_irregular}
        if scenario["fit"]:
            kinds["step"] = child.record_step
        for name, record in kinds.items():
            out: dict[str, Any] = {}
            phase = [""]
            try:
                program = child.Program(lib, scenario, seed)
                record(program, out, lambda now, p=phase: p.__setitem__(0, now))  # type: ignore
                out["error"] = None
            except Exception as error:
                out["error"] = child.describe(error, phase[0])
            sections[name] = {key: out.get(key) for key in KEPT if key in out}
        answers[scenario["digest"]] = sections
    return {"torch": lib.version, "seed": seed, "scenarios": answers}


KEPT = ("error", "y", "loss", "grads", "data", "losses")


def main() -> None:
    """Scenarios as JSON on stdin, references as JSON on stdout."""
    question = json.load(sys.stdin)
    try:
        answer = derive(question["scenarios"], question["seed"])
    except ImportError as error:
        answer = {"missing": str(error)}
    json.dump(answer, sys.stdout, allow_nan=False)


# ------------------------------------------------------------------ in the parent


class Asked:
    """Torch at work in its own process; the answer is fetched when it is needed."""

    def __init__(self, scenarios: Sequence[dict[str, Any]], seed: int = SEED):
        from grader.pool import THREADS

        self.process = subprocess.Popen(
            [sys.executable, "-P", "-B", "-m", "grader.torch_reference"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **THREADS},
        )
        self.question = json.dumps({"scenarios": list(scenarios), "seed": seed}).encode()
        if self.process.stdin is not None:
            self.process.stdin.write(self.question)
            self.process.stdin.close()
            self.process.stdin = None

    @property
    def ready(self) -> bool:
        """Whether the answer need not be waited for: it must, being more than a pipe holds."""
        return False

    def answer(self) -> dict[str, Any]:
        """The references by digest.  Raises GraderError (code 4) where torch cannot be imported."""
        try:
            out, err = self.process.communicate(timeout=300)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise GraderError(
                _("an answer from torch"),
                _("none within 300 s"),
                _("Try again without --live."),
                code=4,
            ) from None
        except BaseException:
            self.process.kill()
            raise
        try:
            answer = json.loads(out)
        except ValueError:
            raise GraderError(
                _("an answer from torch"),
                last_line(err),
                _("Check the torch installation."),
                code=4,
            ) from None
        if "missing" in answer:
            todo = _("Install it (%(command)s), or leave out --live.") % {"command": INSTALL}
            raise GraderError(_("torch, to ask it live"), answer["missing"], todo, code=4)
        return dict(answer)

    def stop(self) -> None:
        """Ends torch's process, whatever it is doing."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def derive_apart(scenarios: Sequence[dict[str, Any]], seed: int = SEED) -> dict[str, Any]:
    """`derive` in a process of its own."""
    return Asked(scenarios, seed).answer()


# ------------------------------------------------------------------ recorded references


def to_text(value: Any) -> Any:
    """Sections with arrays as lists of numbers: a reference file can be read and reviewed."""
    from grader.arrays import decode

    if isinstance(value, Mapping) and "dtype" in value and "data" in value:
        array = decode(value)
        numbers = [] if array is None or array.array is None else array.array.reshape(-1).tolist()
        listed = [x if math.isfinite(x) else str(x) for x in numbers]
        return {"shape": value["shape"], "numbers": listed}
    if isinstance(value, Mapping):
        return {key: to_text(one) for key, one in value.items()}
    return value


def from_text(value: Any) -> Any:
    """The sections that `to_text` wrote."""
    import numpy as np

    from grader.arrays import encode

    if isinstance(value, Mapping) and "numbers" in value:
        return encode(np.array(value["numbers"], dtype=float).reshape(value["shape"]))
    if isinstance(value, Mapping):
        return {key: from_text(one) for key, one in value.items()}
    return value


def write_references(folder: Path, lab: str, names: Mapping[str, str], answer: Any) -> Path:
    """Writes one lab's references; `names` is scenario name → digest."""
    path = folder / f"{lab}.json"
    by_digest = answer["scenarios"]
    body = {
        "lab": lab,
        "torch": answer["torch"],
        "seed": answer["seed"],
        "scenarios": {
            name: {"digest": digest, "sections": to_text(by_digest[digest])}
            for name, digest in names.items()
        },
    }
    text = json.dumps(body, indent=1, allow_nan=False)
    path.write_text(squeeze(text) + "\n", encoding="utf-8")
    return path


def squeeze(text: str) -> str:
    """JSON with each list of numbers on one line."""
    import re

    return re.sub(
        r"\[\s+([^\[\]{}]*?)\s+\]", lambda m: "[" + re.sub(r"\s*\n\s*", " ", m[1]) + "]", text
    )


def record(labs: Iterable[Any], folder: Path, seed: int = SEED) -> list[Path]:
    """Asks torch about every scenario of the labs and of their variants, and writes the files."""
    from grader.observe import as_job

    wanted = [one for lab in labs for one in (lab, lab.variant()) if one.id != "probes.b"]
    jobs = [as_job(s) for lab in wanted for s in lab.scenarios.values()]
    answer = derive_apart(jobs, seed)
    folder.mkdir(parents=True, exist_ok=True)
    return [
        write_references(folder, lab.id, {n: s.digest for n, s in lab.scenarios.items()}, answer)
        for lab in wanted
    ]


def record_shipped() -> None:
    """Records the references that ship with the labs (`make references`)."""
    from grader.observe import REFERENCES
    from labs.load import load_labs, load_probes

    for path in record([*load_labs().values(), load_probes()], REFERENCES):
        print(path.name)


def read_references(folder: Path, lab: str) -> tuple[dict[str, Any], str]:
    """Recorded sections by digest, and the torch version; nothing where there is no file."""
    try:
        body = json.loads((folder / f"{lab}.json").read_text(encoding="utf-8"))
        found = {one["digest"]: one["sections"] for one in body["scenarios"].values()}
        return found, str(body["torch"])
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return {}, ""


if __name__ == "__main__":
    record_shipped() if "--record" in sys.argv else main()
