#!/bin/sh
# The main job in one minute: predict, break, check, restore. Runs in a scratch workspace, so that
# your own predictions and your copy of minitorch stay as they are.
set -eu

scratch=$(mktemp -d "${TMPDIR:-/tmp}/breaklabs-demo.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

say() { printf '\n== %s\n\n' "$1"; }
run() { printf '$ %s\n' "$*"; "$@"; }

digest() { python -c '
import hashlib, pathlib
tree = sorted(pathlib.Path("minitorch").rglob("*.py"))
print(hashlib.sha256(b"".join(p.read_bytes() + bytes([p.stat().st_mode & 0o7]) for p in tree)).hexdigest()[:16], "is the digest of", len(tree), "files")
'; }

say "A workspace: a copy of minitorch to break, and nothing else is touched"
run breaks init "$scratch/workspace"
cd "$scratch/workspace"
before=$(digest)
echo "$before"

say "What can be broken (the first lines)"
echo '$ breaks list | head -n 14'
breaks list >"$scratch/list"
head -n 14 "$scratch/list"

say "One break: one small, visible diff"
run breaks show skip-unbroadcast

say "Apply it by hand"
run breaks apply skip-unbroadcast
run breaks status

say "The lecture note's own experiment, on the broken library"
run env PYTHONPATH=. python labs/lab02_broadcasting/by_hand.py

say "The note's hypothesis as a prediction, committed before the check"
run grader predict lab02 --from labs/lab02_broadcasting/example-prediction.yaml

say "What really happens: where the note is right, and where it is not"
run grader check lab02

say "The grammar MLP, clean and broken"
run grader train skip-unbroadcast

say "Take the break out again"
run breaks revert
run breaks status
after=$(digest)
echo "$after"
[ "$before" = "$after" ] || { echo "the tree is NOT as it was before" >&2; exit 5; }
say "The tree is as it was before, to the byte. Your turn: grader predict lab01"
