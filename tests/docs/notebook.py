"""The example notebooks as pages: their cells are run, their outputs compared or written."""

import copy
import os
from pathlib import Path
from unittest import mock

import nbformat
from nbclient import NotebookClient

from tests.tree import ROOT

NOTEBOOKS = tuple(ROOT / "docs" / name for name in ("notebook.ipynb", "notebook.es.ipynb"))
LIMIT = 120  # seconds for one cell


def executed(book: nbformat.NotebookNode, folder: Path) -> nbformat.NotebookNode:
    """A copy of the notebook with the outputs of today, run in `folder`."""
    new = copy.deepcopy(book)
    surroundings = {"HOME": str(folder), "IPYTHONDIR": str(folder), "PYTHONWARNINGS": "ignore"}
    with mock.patch.dict(os.environ, surroundings):
        NotebookClient(
            new,
            kernel_name="python3",
            timeout=LIMIT,
            record_timing=False,
            allow_errors=True,
            resources={"metadata": {"path": str(folder)}},
        ).execute()
    new.metadata = book.metadata  # not the version of Python that ran it
    return new


def outputs(book: nbformat.NotebookNode) -> list[tuple[str, str]]:
    """The source and the text below it, of each cell of code."""
    return [
        (cell.source, "".join(map(_text, cell.outputs)))
        for cell in book.cells
        if cell.cell_type == "code"
    ]


def _text(output: nbformat.NotebookNode) -> str:
    if output.output_type == "error":
        return f"{output.ename}: {output.evalue}"
    return output.get("text") or output.data["text/plain"]


def update(path: Path, folder: Path) -> bool:
    """Writes the outputs of today into the notebook; whether they changed."""
    book = nbformat.read(path, as_version=4)
    new = executed(book, folder)
    if outputs(new) == outputs(book):
        return False
    nbformat.write(new, path)
    return True
