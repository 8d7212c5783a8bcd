"""Answers kept under a hash of everything that they depend on.

A question that was asked before, of the same library, break, scenarios, grader and versions, is
answered from a file.  A file that is corrupt, foreign, half written or from another version is as
good as none: it is ignored and written anew.  Nothing here imports NumPy or torch.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterable
from functools import lru_cache
from importlib import util
from pathlib import Path
from typing import Any

FORMAT = 1
MOST_BYTES = 64 << 20
SUBJECTS = ("numpy", "scipy", "hypothesis")

# The files that decide an answer; a test compares them with what an observation imports.
DECISIVE = {
    "grader": "arrays cache child compare detectors difference entered graph inputs observe pool"
    " property_test reading recording torch_reference training world",
    "breaks": "library match pattern proof refusal rewrite scope signals source",
    "labs": "grammar numbers",
}


def key_of(*parts: Any) -> str:
    """The hash of JSON-able parts."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


@lru_cache(maxsize=1)
def kit_digest() -> str:
    """The hash of the text of what observes and judges: another grader gives other answers.

    Screens, commands and pages are not part of it: a word that changes there asks nothing again.
    """
    digest = hashlib.sha256()
    for package, names in DECISIVE.items():
        found = util.find_spec(package)
        for folder in found.submodule_search_locations or () if found else ():
            for path in [Path(folder, f"{name}.py") for name in names.split()]:
                digest.update(f"{package}/{path.name}\0".encode())
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


@lru_cache(maxsize=16)
def version_of(package: str) -> str:
    """The installed version, found without importing the package; "" where it is not installed."""
    found = util.find_spec(package)
    if found is None or found.origin is None:
        return ""
    home = Path(found.origin).parent
    for info in home.parent.glob(f"{package}-*.dist-info"):
        return info.name.removesuffix(".dist-info").partition("-")[2].partition("+")[0]
    for name in ("version.py", "_version.py"):
        with contextlib.suppress(OSError):
            text = (home / name).read_text(encoding="utf-8", errors="replace")
            if match := re.search(
                r"""^_?_?version_?_?\s*(?::\s*\w+\s*)?=\s*['"]([^'"]+)""", text, re.M
            ):
                return match[1].partition("+")[0]
            if match := re.search(r"^__version_info__\s*=\s*\(([\d, ]+)\)", text, re.M):
                return match[1].replace(" ", "").strip(",").replace(",", ".")
    from importlib import metadata

    with contextlib.suppress(metadata.PackageNotFoundError):
        return metadata.version(package).partition("+")[0]
    return "unknown"


def versions() -> dict[str, str]:
    """The versions that an answer depends on."""
    python = ".".join(map(str, sys.version_info[:3]))
    return {"python": python, **{name: version_of(name) for name in SUBJECTS}}


class Cache:
    """A folder of answers; `Cache(None)` keeps nothing and finds nothing."""

    def __init__(self, folder: Path | None):
        self.folder = folder

    def get(self, key: str) -> Any:
        """The answer kept under a key, or None."""
        if self.folder is None:
            return None
        try:
            path = self.path(key)
            if path.stat().st_size > MOST_BYTES:
                return None
            head, _, body = path.read_bytes().partition(b"\n")
            if head.decode("ascii") != self.head(key, body):
                return None
            return json.loads(body)
        except (OSError, ValueError, RecursionError):
            return None

    def put(self, key: str, answer: Any) -> None:
        """Keeps an answer: whole or not at all.  A link, or a place without access, keeps none."""
        if self.folder is None or self.folder.is_symlink():
            return
        body = json.dumps(answer, allow_nan=False, separators=(",", ":")).encode()
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=self.folder, prefix=".new-")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(self.head(key, body).encode() + b"\n" + body)
                os.replace(temporary, self.path(key))
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
                raise

    def path(self, key: str) -> Path:
        if self.folder is None:
            raise ValueError("this cache has no folder")
        return self.folder / f"{key}.json"

    def head(self, key: str, body: bytes) -> str:
        return f"breaklabs-cache {FORMAT} {key} {hashlib.sha256(body).hexdigest()}"

    def trim(self, most: int = 500) -> None:
        """Forgets the oldest answers beyond `most`."""
        if self.folder is None:
            return
        with contextlib.suppress(OSError):
            for path in oldest_first(self.folder.glob("*.json"))[:-most]:
                path.unlink()


def oldest_first(paths: Iterable[Path]) -> list[Path]:
    return sorted(paths, key=lambda path: path.stat().st_mtime)
