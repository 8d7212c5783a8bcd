"""How a break leaves an edited file: ours, `git merge-file` and `patch -R`, on random edits.

    python benchmarks/bench_untangle.py [COUNT]

Each round breaks the shipped tensor.py, edits it at random places, and takes the break out again.
Right is the same edits on the file that never was broken.  Edits of the broken lines themselves
count as right where they are refused.
"""

import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from breaks.catalog import load_catalog
from breaks.library import shipped_sources
from breaks.rewrite import mutate
from breaks.untangle import Place, changes, place, take_out

MODULE = "minitorch.tensor"


def edited(lines, spots, seed, near):
    """The lines with a few random edits near some of them; the same for the same seed."""
    dice, lines = random.Random(seed), list(lines)
    for _edit in range(dice.randint(1, 4)):
        where = (dice.choice(spots) + dice.randint(-near, near)) % len(lines)
        kind = dice.choice(["copy", "insert", "change", "drop"])
        source = (where + dice.randint(-6, 6)) % len(lines)
        other = b"    # mine\n" if source in spots else lines[source]
        new = {
            "copy": [other],
            "insert": [b"    # mine\n"],
            "change": [b"    # mine\n"],
            "drop": [],
        }
        stop = where + (kind in ("change", "drop"))
        if set(range(where, stop)) & set(spots):
            continue  # the broken line itself
        lines[where:stop] = new[kind]
        spots = [spot + (len(new[kind]) - (stop - where)) * (spot >= stop) for spot in spots]
    return b"".join(lines)


def ours(before, after, current):
    return take_out(before, after, current) if place(before, after, current) is Place.IN else None


def by_tool(line):
    def run(before, after, current):
        with tempfile.TemporaryDirectory() as folder:
            names = {"before": before, "after": after, "current": current}
            for name, text in names.items():
                Path(folder, name).write_bytes(text)
            done = subprocess.run(line, shell=True, cwd=folder, capture_output=True)
            return Path(folder, "current").read_bytes() if done.returncode == 0 else None

    return run


WAYS = {
    "ours": ours,
    "git merge-file": by_tool("git merge-file -q current after before"),
    "patch -R": by_tool("diff -u before after | patch -R -s current"),
}


def main(count):
    clean, table = shipped_sources(), {name: Counter() for name in WAYS}
    pairs = []
    for brk in load_catalog():
        broken = mutate(clean, brk)[MODULE]
        old, new = clean[MODULE].splitlines(True), broken.splitlines(True)
        hunks = changes(old, new)
        if hunks and all(hunk.stop - hunk.start == len(hunk.instead) for hunk in hunks):
            spots = [line for hunk in hunks for line in range(hunk.start, hunk.stop)]
            pairs.append((clean[MODULE], broken, spots))
    for seed in range(count):
        before, after, spots = pairs[seed % len(pairs)]
        near = (3, 40)[seed % 2]
        expected = edited(before.splitlines(True), spots, seed, near)
        current = edited(after.splitlines(True), spots, seed, near)
        for name, way in WAYS.items():
            found = way(before, after, current)
            said = "refused" if found is None else "right" if found == expected else "WRONG"
            table[name][said] += 1
    for name, seen in table.items():
        print(f"{name:16}", *(f"{word} {seen[word]:5}" for word in ("right", "refused", "WRONG")))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
