"""How long one thing takes, in units of another: medians of ratios, interleaved in one process.

A busy or slow machine makes both sides slow together, so a ratio travels where seconds do not.
Within a round every candidate runs for about the same time, in an order that rotates from round to
round; the ratio is formed inside the round.
"""

import gc
import os
import statistics
import time
from collections.abc import Callable, Mapping

ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")


def one_thread() -> None:
    """One BLAS thread: call before NumPy or torch is imported."""
    for name in ONE_THREAD:
        os.environ[name] = "1"


def seconds(function: Callable[[], object], calls: int) -> float:
    """Seconds per call."""
    start = time.perf_counter()
    for _ in range(calls):
        function()
    return (time.perf_counter() - start) / calls


def calls_for(function: Callable[[], object], budget: float) -> int:
    """How many calls fit into `budget` seconds; at least one.  Also warms the function up."""
    function()
    once = min(seconds(function, 1) for _ in range(3))
    return max(1, int(budget / once))


def ratios(
    candidates: Mapping[str, Callable[[], object]],
    base: str,
    *,
    rounds: int = 31,
    budget: float = 0.03,
) -> dict[str, float]:
    """For each candidate the median over the rounds of its time divided by that of `base`."""
    names = list(candidates)
    calls = {name: calls_for(candidates[name], budget) for name in names}
    measured: dict[str, list[float]] = {name: [] for name in names}
    gc.collect()
    for turn in range(rounds):
        order = names[turn % len(names) :] + names[: turn % len(names)]
        times = {name: seconds(candidates[name], calls[name]) for name in order}
        for name in names:
            measured[name].append(times[name] / times[base])
    return {name: statistics.median(values) for name, values in measured.items()}
