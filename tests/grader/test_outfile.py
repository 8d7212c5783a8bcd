"""A file that somebody asked for never takes the place of something else."""

import pytest

from breaks.errors import BreaksError, Exit
from grader import outfile

MARK = b"<ours>"

MAY = {"nothing": None, "an empty file": b"", "an older one of ours": b"<!doctype>\n<ours> old"}
THEIRS = {"a note": b"precious", "the mark far below": b" " * outfile.HEAD + MARK}


@pytest.mark.parametrize("before", MAY.values(), ids=MAY)
def test_a_file_is_written(tmp_path, before):
    path = tmp_path / "page.html"
    if before is not None:
        path.write_bytes(before)

    outfile.write(path, b"<ours> new", MARK)

    assert b"<ours> new" == path.read_bytes()
    assert [path] == list(tmp_path.iterdir())


@pytest.mark.parametrize("before", THEIRS.values(), ids=THEIRS)
def test_somebody_elses_file_is_left_alone(tmp_path, before):
    path = tmp_path / "page.html"
    path.write_bytes(before)
    with pytest.raises(BreaksError, match="something else") as caught:
        outfile.write(path, b"<ours> new", MARK)

    assert Exit.PRECONDITION == caught.value.code
    assert before == path.read_bytes()


def test_a_link_is_not_followed_nor_replaced(tmp_path):
    target, path = tmp_path / "target", tmp_path / "page.html"
    target.write_bytes(b"")
    path.symlink_to(target)
    with pytest.raises(BreaksError):
        outfile.write(path, b"<ours>", MARK)

    assert path.is_symlink()


@pytest.mark.parametrize("name", ["", "no/such/page.html"], ids=["a folder", "no folder"])
def test_what_is_no_place_for_a_file_is_refused(tmp_path, name):
    with pytest.raises(BreaksError) as caught:
        outfile.write(tmp_path / name, b"<ours>", MARK)

    assert Exit.USAGE == caught.value.code
    assert [] == list(tmp_path.iterdir())
