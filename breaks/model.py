"""What a break is: a fault as data."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

Text = Mapping[str, str]  # language → text


class Family(StrEnum):
    """The part of autograd that a break is about."""

    BROADCASTING = "broadcasting"  # operands repeated, gradients summed back
    REDUCTIONS = "reductions"  # sum, mean, max: axes, keepdims, counts, ties
    ACCUMULATION = "accumulation"  # how contributions to one gradient add up
    TRAVERSAL = "traversal"  # the order and depth of the walk back
    INDEXING = "indexing"  # getitem and its scatter
    SHAPES = "shapes"  # reshape, transpose, cat, stack
    MATMUL = "matmul"  # matrix products, vectors and batches
    SOFTMAX = "softmax"  # softmax and cross-entropy
    NUMERICS = "numerics"  # local derivatives and extreme values
    DTYPES = "dtypes"  # float32 in, float32 everywhere
    ALIASING = "aliasing"  # shared buffers and in-place changes
    OPERATORS = "operators"  # the operators and the public API
    TRAINING = "training"  # optimiser, loss and loop


class Rewrite(NamedTuple):
    """One change of source: inside `scope`, what `pattern` matches becomes `replace`."""

    module: str  # dotted name, below minitorch
    scopes: tuple[str, ...]  # dotted paths; the first that exists is taken
    patterns: tuple[str, ...]  # alternatives; $NAME stands for any code
    replace: str
    matches: int = 1
    where: Mapping[str, str] = {}  # metavariable → regular expression


class Report(NamedTuple):
    """Where the fault happened for real."""

    library: str
    url: str
    note: Text  # what happened there, in our own words


class Break(NamedTuple):
    """A fault, what people believe that leads to it, and where it happened."""

    id: str
    title: Text
    family: Family
    rewrites: tuple[Rewrite, ...]
    misconception: Text
    hints: tuple[Text, ...]
    explain: Text
    provenance: tuple[Report, ...]
    taxonomy: str | None = None
    equivalent: bool = False
    reason: Text | None = None
