"""A lab and its scenarios, as frozen data.

A scenario is a tiny program: named inputs, an expression over them (a function in the lab's
`scenarios.py`, kept here as text and executed only in a child process), and a loss.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

Text = Mapping[str, str]  # language → sentence


class Loss(StrEnum):
    """How the result of the expression becomes a number."""

    SUM = "sum"  # the sum of y
    WEIGHTED = "weighted"  # the sum of y times fixed irregular weights
    ITSELF = "itself"  # y is the loss already


class Fill(StrEnum):
    """Where the numbers of an input come from, if they are not written down."""

    NORMAL = "normal"  # irregular, both signs, away from 0
    POSITIVE = "positive"  # irregular, 0.5 … 2
    INTEGERS = "integers"  # low … high - 1
    ZEROS = "zeros"
    ONES = "ones"


class Input(NamedTuple):
    """One named input of a scenario."""

    name: str
    shape: tuple[int, ...]
    dtype: str = "float64"
    fill: Fill = Fill.NORMAL
    low: int = 0
    high: int = 5
    constant: bool = False  # without gradient; integers always are
    values: Any = None  # nested tuples as the shape says; a number for no axes

    @property
    def is_integer(self) -> bool:
        return self.dtype == "int64"

    @property
    def needs_grad(self) -> bool:
        return not self.constant and not self.is_integer


class Fit(NamedTuple):
    """How the inputs are trained, where a scenario asks for steps."""

    lr: float = 0.1
    steps: int = 1
    momentum: float = 0.0
    weight_decay: float = 0.0
    micro_batches: int = 1


class Scenario(NamedTuple):
    """One small program that is run on the correct and on the broken library."""

    lab: str
    name: str
    title: Text
    inputs: tuple[Input, ...]
    loss: Loss
    backward: int  # how many times backward() is called on the loss
    fit: Fit | None
    epsilon: float  # the step of the difference quotients
    false_alarms: tuple[str, ...]  # detectors that fire on the CORRECT library here, on purpose
    vary: bool  # whether property tests may vary the shapes
    expression: str  # the body of the function, for the screen: "a + b"
    source: str  # the text of the whole scenarios.py
    digest: str  # sha256 of the function's text and of the YAML entry
    variants: tuple[tuple[Input, ...], ...] = ()  # the inputs of the second attempt

    @property
    def leaves(self) -> tuple[Input, ...]:
        return tuple(one for one in self.inputs if one.needs_grad)

    @property
    def function(self) -> str:
        """The name of the function in scenarios.py."""
        return self.name.replace("-", "_")


class Lab(NamedTuple):
    """One step of the curriculum."""

    id: str
    title: Text
    minutes: int
    needs: tuple[str, ...]
    breaks: Mapping[str, tuple[str, ...]]  # break id → scenario names, in the order asked
    scenarios: Mapping[str, Scenario]
    folder: Path
    is_variant: bool = False

    @property
    def main_break(self) -> str:
        return next(iter(self.breaks))

    def of(self, break_id: str) -> tuple[Scenario, ...]:
        """The scenarios in which a break of this lab is asked, in order."""
        return tuple(self.scenarios[name] for name in self.breaks[break_id])

    def variant(self) -> Lab:
        """The second attempt: the same ideas with other shapes (`lab02.b`)."""
        return self._replace(
            id=f"{self.id}.b",
            scenarios={name: vary(one, f"{self.id}.b") for name, one in self.scenarios.items()},
            is_variant=True,
        )


def vary(scenario: Scenario, lab: str) -> Scenario:
    """The scenario with the inputs of its variant, if it has one."""
    inputs = scenario.variants[0] if scenario.variants else scenario.inputs
    return scenario._replace(
        lab=lab,
        inputs=inputs,
        variants=(),
        digest=hashlib.sha256(f"{scenario.digest} {lab} {inputs!r}".encode()).hexdigest(),
    )
