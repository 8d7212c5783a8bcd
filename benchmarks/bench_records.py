"""What it costs to define a record: a frozen dataclass with slots beside a named tuple.

    python benchmarks/bench_records.py

Prints the ratio for a record of six fields.
"""

from _ratio import ratios

FIELDS = "    a: int\n    b: str\n    c: float\n    d: str = ''\n    e: int = 0\n    f: int = 0\n"
HEADS = {
    "named tuple": "from typing import NamedTuple\nclass Record(NamedTuple):\n",
    "dataclass": (
        "from dataclasses import dataclass\n@dataclass(frozen=True, slots=True)\nclass Record:\n"
    ),
}


def main() -> None:
    codes = {
        name: compile(f"from __future__ import annotations\n{head}{FIELDS}", name, "exec")
        for name, head in HEADS.items()
    }
    defining = {name: (lambda code=code: exec(code, {})) for name, code in codes.items()}
    for name, ratio in ratios(defining, "named tuple").items():
        print(f"{name:12} {ratio:.1f}")


if __name__ == "__main__":
    main()
