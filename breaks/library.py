"""Makes a library out of text: minitorch, correct or broken, as a module that nobody else sees."""

import hashlib
import importlib
import importlib.util
import linecache
import sys
import threading
from collections.abc import Mapping
from functools import lru_cache
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType

ROOT = "minitorch"
_LOCK = threading.Lock()  # sys.modules is swapped while a library is loaded


def shipped_sources() -> dict[str, bytes]:
    """The text of the installed minitorch by module name; found without importing it."""
    spec = importlib.util.find_spec(ROOT)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"{ROOT} is not installed beside breaks")
    return sources_in(Path(spec.origin).parent)


def sources_in(folder: Path) -> dict[str, bytes]:
    """The text of every module of the package in `folder`, by dotted name."""
    return {
        ".".join((ROOT, *path.relative_to(folder).with_suffix("").parts)).removesuffix(
            ".__init__"
        ): path.read_bytes()
        for path in sorted(folder.rglob("*.py"))
    }


def library_digest(sources: Mapping[str, bytes]) -> str:
    """The SHA-256 over names and texts: equal for equal libraries only."""
    digest = hashlib.sha256()
    for name in sorted(sources):
        text = sources[name]
        digest.update(f"{name}\0{len(text)}\0".encode() + text)
    return digest.hexdigest()


@lru_cache(maxsize=512)
def compiled(text: str, file: str) -> CodeType:
    """The code of one module, compiled once; nothing is executed."""
    return compile(text, file, "exec", dont_inherit=True)


def load_library(sources: Mapping[str, bytes], *, label: str) -> ModuleType:
    """Executes the texts as a package of its own and returns it.

    Its files are called `<label>/minitorch/….py`, in tracebacks too.  `sys.modules` is as before
    afterwards: who imports minitorch goes on getting the one on disk.
    """
    finder = TextFinder(sources, label)
    with _LOCK:
        others = _take_out()
        sys.meta_path.insert(0, finder)
        try:
            return importlib.import_module(ROOT)
        finally:
            sys.meta_path.remove(finder)
            _take_out()
            sys.modules.update(others)


def _take_out() -> dict[str, ModuleType]:
    names = [name for name in sys.modules if name == ROOT or name.startswith(ROOT + ".")]
    return {name: sys.modules.pop(name) for name in names}


class TextFinder(MetaPathFinder, Loader):
    """Finds the modules of one library in memory; also what the pytest plugin installs."""

    def __init__(self, sources: Mapping[str, bytes], label: str) -> None:
        self.sources = sources
        self.label = label

    def file_name(self, name: str) -> str:
        path = name.replace(".", "/") + ("/__init__" if self.is_package(name) else "")
        return f"<{self.label}>/{path}.py"

    def is_package(self, name: str) -> bool:
        return any(other.startswith(name + ".") for other in self.sources)

    def get_source(self, name: str) -> str:
        return importlib.util.decode_source(self.sources[name])

    def find_spec(self, fullname, path=None, target=None) -> ModuleSpec | None:
        if fullname not in self.sources:
            return None
        spec = ModuleSpec(
            fullname, self, origin=self.file_name(fullname), is_package=self.is_package(fullname)
        )
        spec.has_location = True
        return spec

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        text, file = self.get_source(name), self.file_name(name)
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        exec(compiled(text, file), module.__dict__)
