"""The example notebook shows what its cells print."""

import re

import nbformat
import pytest

from tests.docs.notebook import NOTEBOOKS, executed, outputs, update


def book_of(*cells):
    """A notebook of cells of code, each with the text that it is said to print."""
    book = nbformat.v4.new_notebook()
    for source, text in cells:
        shown = [nbformat.v4.new_output("stream", name="stdout", text=text)] if text else []
        book.cells.append(nbformat.v4.new_code_cell(source, outputs=shown))
    return book


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_the_notebook_shows_what_its_cells_print(path, tmp_path):
    book = nbformat.read(path, as_version=4)

    assert outputs(book) == outputs(executed(book, tmp_path))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_the_notebook_is_valid_and_no_cell_failed(path):
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    kinds = {output.output_type for cell in book.cells for output in cell.get("outputs", ())}

    assert len(outputs(book)) >= 5
    assert "error" not in kinds


def test_the_notebooks_say_the_same_in_two_languages():
    english, spanish = (nbformat.read(path, as_version=4) for path in NOTEBOOKS)
    numbers = [re.findall(r"\d+(?:\.\d+)?", text) for _, text in outputs(english)]

    assert [cell.cell_type for cell in english.cells] == [cell.cell_type for cell in spanish.cells]
    assert numbers == [re.findall(r"\d+(?:\.\d+)?", text) for _, text in outputs(spanish)]
    assert all(
        ours.source != theirs.source
        for ours, theirs in zip(english.cells, spanish.cells, strict=True)
        if ours.cell_type == "markdown"
    )


@pytest.mark.parametrize(
    "cell",
    [("print(1 + 1)", "3\n"), ("print(1)", ""), ("1 / 0", "0"), ("x = 1", "1\n")],
    ids=["a wrong number", "no output", "an exception", "output of nothing"],
)
def test_a_notebook_that_lies_is_found_and_mended(tmp_path, cell):
    path = tmp_path / "lies.ipynb"
    nbformat.write(book_of(cell), path)

    assert update(path, tmp_path)
    assert not update(path, tmp_path)
