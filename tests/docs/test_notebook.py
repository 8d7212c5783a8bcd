"""The example notebook shows what its cells print."""

import nbformat
import pytest

from tests.docs.notebook import NOTEBOOK, executed, outputs, update


def book_of(*cells):
    """A notebook of cells of code, each with the text that it is said to print."""
    book = nbformat.v4.new_notebook()
    for source, text in cells:
        shown = [nbformat.v4.new_output("stream", name="stdout", text=text)] if text else []
        book.cells.append(nbformat.v4.new_code_cell(source, outputs=shown))
    return book


def test_the_notebook_shows_what_its_cells_print(tmp_path):
    book = nbformat.read(NOTEBOOK, as_version=4)

    assert outputs(book) == outputs(executed(book, tmp_path))


def test_the_notebook_is_valid_and_no_cell_failed():
    book = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(book)
    kinds = {output.output_type for cell in book.cells for output in cell.get("outputs", ())}

    assert len(outputs(book)) >= 5
    assert "error" not in kinds


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
