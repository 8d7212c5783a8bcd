"""The catalogue: every break of some folders, by id."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from breaks import i18n
from breaks.errors import BreaksError
from breaks.model import Break
from breaks.plain import break_of  # what reads YAML is imported where a file is not in the index

_ = i18n.gettext

BUILTIN = Path(__file__).with_name("catalog")
INDEX = BUILTIN / "index.json"  # the same breaks, read and validated once; `make index` writes it


class Catalog:
    """Breaks by id, in the order of ids; `unready` says what is wrong with files of one's own."""

    def __init__(
        self, breaks: Iterable[Break], unready: Mapping[str, BreaksError] | None = None
    ) -> None:
        self._breaks = {brk.id: brk for brk in sorted(breaks, key=lambda brk: brk.id)}
        self.unready = dict(unready or {})

    def __iter__(self) -> Iterator[Break]:
        return iter(self._breaks.values())

    def __len__(self) -> int:
        return len(self._breaks)

    def __contains__(self, break_id: object) -> bool:
        return break_id in self._breaks

    def ids(self) -> list[str]:
        return list(self._breaks)

    def get(self, break_id: str) -> Break:
        """The break of that id.  Raises BreaksError, with the nearest id, where there is none."""
        if break_id in self._breaks:
            return self._breaks[break_id]
        if break_id in self.unready:
            raise self.unready[break_id]
        from breaks.load import did_you_mean

        raise BreaksError(
            _("the id of a break"),
            repr(break_id),
            did_you_mean(break_id, self.ids()) or _("`breaks list` lists them."),
        )


def must_exist(folder: Path) -> None:
    """Raises BreaksError for a folder of breaks that is not there."""
    if not folder.is_dir():
        raise BreaksError(
            _("a folder of breaks"),
            _("no folder at %(path)s") % {"path": folder},
            _("Check the path; `breaks new` makes one."),
        )


def load_catalog(folders: Sequence[Path] = (BUILTIN,)) -> Catalog:
    """The breaks in the `*.yaml` files of the folders.

    A file of one's own that is no break yet stands in nobody's way: it is `unready`, and only who
    asks for it hears why.  Raises BreaksError for a second break of one id, and for a bad file
    among those that ship.
    """
    found: dict[str, tuple[Break, Path]] = {}
    unready: dict[str, BreaksError] = {}
    for folder in folders:
        must_exist(folder)
        index = _index() if folder == BUILTIN else {}
        for path in sorted(folder.glob("*.yaml")):
            try:
                brk = _indexed(path, index) or _read(path, folder)
            except BreaksError as error:
                if folder == BUILTIN:
                    raise
                unready[path.stem] = error
                continue
            if brk.id in found:
                raise BreaksError(
                    _("one break of each id"),
                    _("%(id)s in %(a)s too") % {"id": brk.id, "a": found[brk.id][1]},
                    _("Rename one of them."),
                    where=str(path),
                )
            found[brk.id] = brk, path
    return Catalog((brk for brk, _path in found.values()), unready)


def _read(path: Path, folder: Path) -> Break:
    from breaks.load import load_break

    return load_break(path, inside=folder)


def _index() -> dict[str, Any]:
    try:
        index = json.loads(INDEX.read_bytes())
    except (OSError, ValueError):
        return {}
    return index if isinstance(index, dict) else {}


def _indexed(path: Path, index: dict[str, Any]) -> Break | None:
    """The break of a file that is byte for byte the one which the index was made from."""
    entry = index.get(path.name)
    if not isinstance(entry, dict):
        return None
    same = entry.get("sha256") == hashlib.sha256(path.read_bytes()).hexdigest()
    return break_of(entry["data"]) if same else None


def build_index() -> str:
    """The text of the index: every file of the catalogue, validated, with its digest."""
    from breaks.load import read_yaml, validate

    index = {}
    for path in sorted(BUILTIN.glob("*.yaml")):
        document = read_yaml(path)
        validate(document, "break")
        index[path.name] = {
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            "data": document.data,
        }
    return json.dumps(index, ensure_ascii=False, indent=0, sort_keys=True) + "\n"


if __name__ == "__main__":
    INDEX.write_text(build_index(), encoding="utf-8")
