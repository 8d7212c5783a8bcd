"""Makes a library out of text: minitorch, correct or broken, as a module that nobody else sees."""

from __future__ import annotations

import builtins
import hashlib
import importlib.util
import linecache
import threading
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

ROOT = "minitorch"


def shipped_sources() -> dict[str, bytes]:
    """The text of the minitorch that came with breaks, by module name; nothing is imported."""
    return sources_in(Path(__file__).parents[1] / ROOT)


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

    Its files are called `<label>/minitorch/….py`, in tracebacks too.  `sys.modules` is not touched:
    the modules find each other through an `__import__` of their own, also later, inside of
    functions.  Who imports minitorch goes on getting the one on disk, in every thread.
    """
    return _Private(TextFinder(sources, label)).module(ROOT)


class _Private:
    """The modules of one library, and the `import` statement that they see."""

    def __init__(self, finder: TextFinder) -> None:
        self.finder = finder
        self.modules: dict[str, ModuleType] = {}
        self.lock = threading.RLock()  # a module may be imported late, by several threads
        self.builtins = {**vars(builtins), "__import__": self.import_}

    def import_(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] = (),
        level: int = 0,
    ) -> ModuleType:
        if level:
            package = (globals or {}).get("__package__") or ROOT
            name = importlib.util.resolve_name("." * level + name, package)
        elif name.partition(".")[0] != ROOT:
            return builtins.__import__(name, globals, locals, fromlist, level)
        module = self.module(name)
        if not fromlist:
            return self.module(ROOT)
        for part in fromlist:
            if not hasattr(module, part) and f"{name}.{part}" in self.finder.sources:
                self.module(f"{name}.{part}")
        return module

    def module(self, name: str) -> ModuleType:
        """The module of that name, executed at its first use; its packages before it."""
        with self.lock:
            if name in self.modules:
                return self.modules[name]
            package, _dot, last = name.rpartition(".")
            parent = self.module(package) if package else None
            if name in self.modules:  # the package imports it
                return self.modules[name]
            spec = self.finder.find_spec(name)
            if spec is None:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)
            module = self.modules[name] = importlib.util.module_from_spec(spec)
            module.__dict__["__builtins__"] = self.builtins
            try:
                self.finder.exec_module(module)
            except BaseException:
                del self.modules[name]
                raise
            if parent is not None:
                setattr(parent, last, module)
            return module


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
