"""A workspace: the folder with `breaks.toml`, a minitorch to break, and `.breaks/` for state.

Nothing outside of it is ever written: no symlink is followed out of it, and a workspace is never
inside an installed package.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from breaks import i18n
from breaks.errors import BreaksError, Exit

_ = i18n.gettext
MARKER, STATE, LIBRARY = "breaks.toml", ".breaks", "minitorch"
JOURNAL = "journal.json"  # in the state folder, while a break is applied
MODULE = re.compile(rf"{LIBRARY}(\.[A-Za-z_][A-Za-z0-9_]*)*")
LARGEST = 64 << 10  # bytes of `breaks.toml`
INSTALLED = {"site-packages", "dist-packages"}


class Config(NamedTuple):
    """What `breaks.toml` says: folders of one's own breaks and labs."""

    catalog: tuple[Path, ...] = ()
    labs: tuple[Path, ...] = ()


class Workspace(NamedTuple):
    """A root folder and what its `breaks.toml` says."""

    root: Path
    config: Config

    @classmethod
    def find(cls, start: Path | str | None = None) -> Workspace:
        """The workspace around a folder (the current one), looked for upwards, as git does."""
        if ws := cls.around(start):
            return ws
        raise BreaksError(
            _("a workspace: a folder with %(marker)s, here or above") % {"marker": MARKER},
            _("none around %(folder)s") % {"folder": Path(start or Path.cwd()).resolve()},
            _("Make one with `breaks init DIR` and go there; in a clone, go to its folder."),
            code=Exit.PRECONDITION,
        )

    @classmethod
    def around(cls, start: Path | str | None = None) -> Workspace | None:
        """The same, None where there is none.  One whose `breaks.toml` is wrong is refused."""
        here = Path(start or Path.cwd()).resolve()
        for folder in (here, *here.parents):
            if (folder / MARKER).is_file():
                return cls.at(folder)
        return None

    @classmethod
    def at(cls, root: Path) -> Workspace:
        """The workspace with this root."""
        root = root.resolve()
        refuse_installed(root)
        return cls(root, _config(root))

    @property
    def state(self) -> Path:
        """The folder of the journal and of everything else that is remembered."""
        folder = self.root / STATE
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            raise BreaksError(
                _("%(folder)s, a folder of this workspace") % {"folder": STATE},
                _("a link or a file with that name"),
                _("Move %(path)s away.") % {"path": folder},
                code=Exit.PRECONDITION,
            )
        return folder

    @property
    def untouched(self) -> bool:
        """Whether no break is applied and no command was stopped: there is no record."""
        return not (self.state / JOURNAL).exists()

    def path_of(self, module: str) -> Path:
        """The file of a module.  Refuses names that are none, and links that lead elsewhere."""
        if not MODULE.fullmatch(module):
            raise BreaksError(
                _("a module of minitorch, like minitorch.tensor"),
                repr(module),
                _("Write the dotted name; a path or another package is refused."),
            )
        parts = module.split(".")
        path = self.root.joinpath(*parts, "__init__.py")
        if len(parts) > 1 and not path.parent.is_dir():
            path = self.root.joinpath(*parts[:-1], parts[-1] + ".py")
        self.refuse_links(path)
        return path

    def file_name(self, module: str) -> str:
        """How a person calls the file of a module, whatever has become of it."""
        path = self.root.joinpath(*module.split("."))
        return self.name(path / "__init__.py" if path.is_dir() else path.with_suffix(".py"))

    def refuse_links(self, path: Path) -> None:
        """A link, or a file in a linked folder, is not of this workspace, wherever it leads."""
        for place in (path, *path.parents):
            if place == self.root:
                return
            if place.is_symlink():
                raise BreaksError(
                    _("a file of this workspace"),
                    _("a symbolic link: %(path)s leads to %(target)s")
                    % {"path": self.name(place), "target": os.path.realpath(place)},
                    _("Put a real file there; breaks never writes through a link."),
                    code=Exit.PRECONDITION,
                )

    def name(self, path: Path) -> str:
        """The path as a person says it: from the root, with forward slashes."""
        return path.relative_to(self.root).as_posix() if path != self.root else str(path)

    def modules(self) -> list[str]:
        """The modules of this workspace's minitorch."""
        base = self.root / LIBRARY
        found = []
        for path in sorted(base.rglob("*.py")):
            parts = path.relative_to(self.root).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            if MODULE.fullmatch(name):
                found.append(name)
        return found

    def read(self, module: str) -> bytes:
        """The bytes of a module as they are now."""
        path = self.path_of(module)
        try:
            kind = path.lstat().st_mode
            if stat.S_ISREG(kind):
                return path.read_bytes()
            found = _("something else than a file")
        except FileNotFoundError:
            found = _("no such file")
        raise BreaksError(
            _("%(file)s, a file of this workspace") % {"file": self.name(path)},
            found,
            _("Put it back (from version control, or from a new `breaks init DIR`)."),
            code=Exit.PRECONDITION,
        )

    def sources(self) -> dict[str, bytes]:
        """The text of the whole library as it is now."""
        modules = self.modules()
        if LIBRARY not in modules:
            self.read(LIBRARY)
        return {module: self.read(module) for module in modules}

    def refuse_unwritable(self, path: Path) -> None:
        """A file or folder that says it is not to be written is left alone, even by root."""
        for place in (path, path.parent) if path != self.root else (path,):
            if not (place.stat().st_mode & stat.S_IWUSR and os.access(place, os.W_OK)):
                raise BreaksError(
                    _("%(path)s, writable") % {"path": self.name(place)},
                    _("that it is read-only (mode %(mode)o)")
                    % {"mode": stat.S_IMODE(place.stat().st_mode)},
                    _("Allow writing (chmod u+w %(path)s), then run the command again.")
                    % {"path": place},
                    code=Exit.ENVIRONMENT,
                )


def refuse_installed(folder: Path) -> None:
    """A workspace inside an installed package would break what everybody imports."""
    if INSTALLED & set(folder.parts):
        raise BreaksError(
            _("a folder of your own"),
            _("%(folder)s, where Python installs packages") % {"folder": folder},
            _("Choose another folder: breaks never touches installed packages."),
            code=Exit.PRECONDITION,
        )


def _config(root: Path) -> Config:
    """What `breaks.toml` says, each key checked."""
    path = root / MARKER
    data = _toml(path)
    known = ("catalog", "labs")
    for key in data:
        if key not in known:
            from breaks.command import did_you_mean

            todo = did_you_mean(key, known) or _("Remove it.")
            raise _wrong(path, _("the keys %(keys)s") % {"keys": ", ".join(known)}, repr(key), todo)
    return Config(*(_folders(path, key, data.get(key, [])) for key in known))


def _toml(path: Path) -> Mapping[str, object]:
    if (size := path.stat().st_size) > LARGEST:
        expected, found = _("at most %(n)d KiB") % {"n": LARGEST >> 10}, f"{size >> 10} KiB"
        raise _wrong(path, expected, found, _("Name fewer folders."))
    try:
        text = path.read_text(encoding="utf-8")
        if not any(
            line.strip() and not line.lstrip().startswith("#") for line in text.splitlines()
        ):
            return {}  # comments only, as shipped
        import tomllib

        return tomllib.loads(text)
    except ValueError as error:  # not TOML, or not UTF-8
        raise _wrong(path, _("TOML"), str(error), _("Correct that line.")) from None
    except RecursionError:
        found = _("more levels than Python can follow")
        raise _wrong(path, _("TOML"), found, _("Correct that line.")) from None


def _folders(path: Path, key: str, value: object) -> tuple[Path, ...]:
    expected = _("%(key)s: a list of folders inside the workspace") % {"key": key}
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _wrong(
            path, expected, repr(value), _('Write %(key)s = ["my-folder"].') % {"key": key}
        )
    folders = []
    for item in value:
        folder = path.parent if "\0" in item else (path.parent / item).resolve()
        if "\0" in item or not folder.is_relative_to(path.parent):
            raise _wrong(path, expected, repr(item), _("Move the folder into the workspace."))
        folders.append(folder)
    return tuple(folders)


def _wrong(path: Path, expected: str, found: str, todo: str) -> BreaksError:
    return BreaksError(expected, found, todo, code=Exit.USAGE, where=str(path))
