"""The files of the repository, as a commit made now would hold them."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def files(root: Path = ROOT) -> list[str]:
    """Every file that is not ignored, relative to the root; without git, all that is not hidden."""
    if not (root / ".git").exists():
        found = (p.relative_to(root) for p in sorted(root.rglob("*")) if p.is_file())
        return [p.as_posix() for p in found if not any(hidden(part) for part in p.parts)]
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=root, check=True, capture_output=True, text=True).stdout
    return sorted(name for name in names.split("\0") if name and (root / name).is_file())


def hidden(name: str) -> bool:
    return name == "__pycache__" or (name.startswith(".") and name not in (".ci", ".gitignore"))
