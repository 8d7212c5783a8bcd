"""Breaks go in and come out in any order; what somebody edited meanwhile is never lost."""

import itertools
import os
import stat
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from breaks import journal
from breaks.errors import BreaksError, Exit
from breaks.journal import State
from tests.breaks.conftest import make_break


def path(ws, name="tensor.py"):
    return ws.root / "minitorch" / name


def edit(ws, old, new, name="tensor.py"):
    """What a learner does in an editor."""
    content = path(ws, name).read_bytes()
    assert old in content
    path(ws, name).write_bytes(content.replace(old, new, 1))


def states(ws):
    return {item.id: item.state for item in journal.status(ws).breaks}


def test_apply_changes_the_lines_and_revert_restores_bytes_and_modes(ws, breaks, tree):
    before = tree(ws)
    journal.apply(ws, breaks["two-files"])

    assert b"y = x / 3" in path(ws).read_bytes()
    assert b"return p + lr" in path(ws, "optim.py").read_bytes()
    assert 0o640 == stat.S_IMODE(path(ws, "optim.py").stat().st_mode)
    assert ("two-files",) == journal.status(ws).applied

    assert ["two-files"] == journal.revert(ws)
    assert before == tree(ws)
    assert () == journal.status(ws).applied


@pytest.mark.parametrize("order", list(itertools.permutations(["minus", "thrice", "two-files"])))
@pytest.mark.parametrize("back", list(itertools.permutations(["minus", "thrice", "two-files"])))
def test_breaks_come_out_in_any_order(ws, breaks, tree, order, back):
    before = tree(ws)
    for name in order:
        journal.apply(ws, breaks[name])
    assert order == journal.status(ws).applied

    for name in back:
        assert [name] == journal.revert(ws, name)
        assert name not in states(ws)
        assert set(states(ws).values()) <= {State.APPLIED}
    assert before == tree(ws)


def test_several_breaks_are_applied_together_or_not_at_all(ws, breaks, tree):
    before = tree(ws)
    with pytest.raises(BreaksError):
        journal.apply(ws, breaks["minus"], breaks["thrice"], breaks["plus-nothing"])
    assert before == tree(ws)

    journal.apply(ws, breaks["minus"], breaks["thrice"])
    assert ("minus", "thrice") == journal.status(ws).applied
    assert ["minus", "thrice"] == journal.revert(ws)
    assert before == tree(ws)


@pytest.mark.parametrize(
    ("first", "second"), [("minus", "plus-nothing"), ("plus-nothing", "minus")]
)
def test_breaks_that_meet_in_one_line_are_refused(ws, breaks, tree, first, second):
    journal.apply(ws, breaks[first])
    before = tree(ws)
    with pytest.raises(BreaksError, match=f"breaks revert {first}") as refusal:
        journal.apply(ws, breaks[second])

    assert Exit.PRECONDITION == refusal.value.code
    assert before == tree(ws)


MEET = {
    # applied before, then the edit, then the break: what is said
    "no edit": (["minus"], None, "plus-nothing", "minus meet in the same lines"),
    "an edit elsewhere": (["minus"], (b"x // 3", b"x // 4"), "plus-nothing", "meet in the same"),
    "an edit of the broken line": (["minus"], (b"x - 1", b"x - 9"), "thrice", "edited since"),
    "lines that look alike": (
        ["minus"],
        (b"    y = x - 1\n", b"    y = x - 1\n    y = x - 1\n"),
        "thrice",
        "edited since",
    ),
    "lines that look alike, once both are in": (
        ["minus-returned"],
        (b"    y = x + 1\n", b"    return y\n    y = x + 1\n"),
        "both",
        "an edit in minitorch/tensor.py, near minus-returned",
    ),
    "two breaks at once": (["minus", "thrice"], None, "both", "both and minus, thrice meet"),
}


@pytest.mark.parametrize(("applied", "edit", "name", "words"), MEET.values(), ids=MEET)
def test_the_reason_of_a_refusal_is_the_true_one(ws, breaks, applied, edit, name, words):
    more = {
        "minus-returned": make_break(
            "minus-returned", ("tensor", "first", "return y", "return -y")
        ),
        "both": make_break(
            "both",
            ("tensor", "first", "x + 1", "x + 7"),
            ("tensor", "second", "x * 2", "x * 7"),
        ),
    }
    for old in applied:
        journal.apply(ws, (breaks | more)[old])
    path = ws.path_of("minitorch.tensor")
    if edit is not None:
        assert edit[0] in path.read_bytes()
        path.write_bytes(path.read_bytes().replace(*edit))
    mine = ws.sources()

    with pytest.raises(BreaksError, match=words) as refusal:
        journal.apply(ws, (breaks | more)[name])
    assert Exit.PRECONDITION == refusal.value.code
    assert mine == ws.sources()


def test_a_break_that_is_applied_is_not_applied_again(ws, breaks):
    journal.apply(ws, breaks["minus"])
    with pytest.raises(BreaksError, match="applied already") as refusal:
        journal.apply(ws, breaks["minus"])

    assert Exit.PRECONDITION == refusal.value.code


def test_reverting_what_is_not_applied_names_what_is(ws, breaks):
    assert [] == journal.revert(ws)
    journal.apply(ws, breaks["minus"])
    with pytest.raises(BreaksError, match="Did you mean minus") as refusal:
        journal.revert(ws, "minsu")

    assert Exit.PRECONDITION == refusal.value.code


# --- edited meanwhile ---------------------------------------------------------------------------


def test_edits_elsewhere_survive_apply_and_revert(ws, breaks):
    edit(ws, b"x * 2", b"x * 2  # mine, before")
    before = path(ws).read_bytes()
    journal.apply(ws, breaks["minus"])
    edit(ws, b"    return y\n", b"    print(y)\n    return y\n")
    path(ws).write_bytes(b"# top\n" + path(ws).read_bytes() + b"# end, no newline")
    assert {"minus": State.APPLIED} == states(ws)
    assert ("minitorch/tensor.py",) == journal.status(ws).edited

    journal.revert(ws)
    expected = before.replace(b"    return y\n", b"    print(y)\n    return y\n", 1)
    assert b"# top\n" + expected + b"# end, no newline" == path(ws).read_bytes()


def test_a_break_can_be_applied_on_top_of_edits_and_leave_below_them(ws, breaks):
    journal.apply(ws, breaks["minus"])
    edit(ws, b'"""\n', b'"""\n\nimport math\n')
    journal.apply(ws, breaks["thrice"])
    edit(ws, b"import math", b"import cmath")

    journal.revert(ws, "minus")
    assert {"thrice": State.APPLIED} == states(ws)
    journal.revert(ws, "thrice")
    assert b"import cmath" in path(ws).read_bytes()
    assert b"y = x + 1" in path(ws).read_bytes()
    assert b"y = x * 2" in path(ws).read_bytes()


@pytest.mark.parametrize(
    "new",
    [
        pytest.param(b"y = x - 1  # aha", id="a comment on the broken line"),
        pytest.param(b"y = 7", id="the broken line rewritten"),
        pytest.param(b"pass\n    y = x - 1\n    y = x - 1", id="the broken line doubled"),
    ],
)
def test_edits_of_the_broken_line_are_shown_and_saved_and_kept(ws, breaks, tree, new):
    original = path(ws).read_bytes()
    journal.apply(ws, breaks["minus"])
    edit(ws, b"y = x - 1", new)
    mine, before = path(ws).read_bytes(), tree(ws)
    assert {"minus": State.EDITED} == states(ws)

    with pytest.raises(BreaksError) as refusal:
        journal.revert(ws)
    message = str(refusal.value)
    assert Exit.PRECONDITION == refusal.value.code
    assert "-    y = x + 1" in message
    assert "+    y = x - 1" in message
    assert "breaks revert minus --keep" in message
    assert before == tree(ws)
    saved = {file.read_bytes() for file in (ws.state / "saved").iterdir()}
    assert {mine, original} == saved

    with pytest.raises(BreaksError):
        journal.revert(ws)
    assert 2 == len(list((ws.state / "saved").iterdir())), "the same copy is kept once"


def test_one_way_out_is_to_undo_the_edit(ws, breaks, tree):
    before = tree(ws)
    journal.apply(ws, breaks["minus"])
    edit(ws, b"x - 1", b"x - 7")
    with pytest.raises(BreaksError):
        journal.revert(ws)
    edit(ws, b"x - 7", b"x - 1")

    journal.revert(ws)
    assert before == tree(ws)


def test_another_is_to_put_the_original_line_back(ws, breaks, tree):
    before = tree(ws)
    journal.apply(ws, breaks["minus"])
    edit(ws, b"x - 1", b"x + 1")
    assert {"minus": State.GONE} == states(ws)
    assert () == journal.status(ws).applied

    assert ["minus"] == journal.revert(ws)
    assert before == tree(ws)
    assert {} == states(ws)


def test_the_last_is_to_keep_the_file_as_it_is(ws, breaks):
    journal.apply(ws, breaks["minus"], breaks["thrice"])
    edit(ws, b"x - 1", b"x - 7")
    mine = path(ws).read_bytes()

    assert ["minus"] == journal.forget(ws, "minus")
    assert mine == path(ws).read_bytes()
    journal.revert(ws)
    assert mine.replace(b"x * 3", b"x * 2") == path(ws).read_bytes()


def test_a_break_that_somebody_took_out_can_be_applied_again(ws, breaks):
    original = path(ws).read_bytes()
    journal.apply(ws, breaks["minus"])
    path(ws).write_bytes(original)  # git checkout
    journal.apply(ws, breaks["minus"])

    assert {"minus": State.APPLIED} == states(ws)
    journal.revert(ws)
    assert original == path(ws).read_bytes()


def test_a_break_in_one_of_its_two_files_comes_out_of_that_one(ws, breaks, tree):
    before = tree(ws)
    journal.apply(ws, breaks["two-files"])
    edit(ws, b"p + lr", b"p - lr", "optim.py")
    assert {"two-files": State.PARTLY} == states(ws)

    journal.revert(ws)
    assert before == tree(ws)


def test_when_one_break_cannot_leave_none_does_but_each_other_can(ws, breaks, tree):
    journal.apply(ws, breaks["minus"], breaks["thrice"])
    edit(ws, b"x - 1", b"x - 7")
    before = tree(ws)
    with pytest.raises(BreaksError):
        journal.revert(ws)
    assert before == tree(ws)

    assert ["thrice"] == journal.revert(ws, "thrice")
    assert b"x * 2" in path(ws).read_bytes()


def test_no_break_is_put_on_top_of_a_tangled_one_in_the_same_file(ws, breaks, tree):
    journal.apply(ws, breaks["minus"])
    edit(ws, b"x - 1", b"x - 7")
    before = tree(ws)
    with pytest.raises(BreaksError, match="breaks revert minus"):
        journal.apply(ws, breaks["thrice"])

    assert before == tree(ws)


def test_a_file_that_is_gone_stays_gone_and_its_text_is_offered(ws, breaks):
    original = path(ws, "optim.py").read_bytes()
    journal.apply(ws, breaks["two-files"])
    path(ws, "optim.py").unlink()
    assert {"two-files": State.EDITED} == states(ws)
    assert ("minitorch/optim.py",) == journal.status(ws).missing

    with pytest.raises(BreaksError, match="gone"):
        journal.revert(ws)
    assert not path(ws, "optim.py").exists()
    assert original in {file.read_bytes() for file in (ws.state / "saved").iterdir()}


def test_a_file_that_became_a_folder_is_left_alone(ws, breaks):
    journal.apply(ws, breaks["two-files"])
    path(ws, "optim.py").unlink()
    path(ws, "optim.py").mkdir()
    with pytest.raises(BreaksError, match="gone"):
        journal.revert(ws)

    assert path(ws, "optim.py").is_dir()


def test_a_link_is_never_written_through(ws, breaks, tmp_path):
    elsewhere = tmp_path / "elsewhere.py"
    elsewhere.write_bytes(path(ws).read_bytes())
    path(ws).unlink()
    path(ws).symlink_to(elsewhere)
    before = elsewhere.read_bytes()
    with pytest.raises(BreaksError, match="symbolic link") as refusal:
        journal.apply(ws, breaks["minus"])

    assert Exit.PRECONDITION == refusal.value.code
    assert before == elsewhere.read_bytes()
    assert path(ws).is_symlink()


def test_a_file_that_became_a_link_is_not_reverted_through_it(ws, breaks, tmp_path):
    journal.apply(ws, breaks["minus"])
    elsewhere = tmp_path / "elsewhere.py"
    path(ws).rename(elsewhere)
    path(ws).symlink_to(elsewhere)
    before = elsewhere.read_bytes()
    with pytest.raises(BreaksError):
        journal.revert(ws)

    assert before == elsewhere.read_bytes()


def test_a_linked_folder_is_refused_too(ws, breaks, tmp_path):
    (ws.root / "minitorch").rename(tmp_path / "real")
    (ws.root / "minitorch").symlink_to(tmp_path / "real")
    with pytest.raises(BreaksError, match="symbolic link"):
        journal.apply(ws, breaks["minus"])


def test_the_lock_is_not_written_through_a_link(ws, breaks, tree, tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("mine")
    ws.state.mkdir()
    (ws.state / "lock").symlink_to(precious)
    before = tree(ws)
    with pytest.raises(BreaksError, match="symbolic link") as refusal:
        journal.apply(ws, breaks["minus"])

    assert Exit.PRECONDITION == refusal.value.code
    assert ("mine", before) == (precious.read_text(), tree(ws))


def test_a_linked_folder_of_drafts_is_refused_and_nothing_in_it_touched(ws, breaks, tree, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "precious").write_text("mine")
    ws.state.mkdir()
    (ws.state / "tmp").symlink_to(elsewhere)
    before = tree(ws)
    with pytest.raises(BreaksError, match="symbolic link"):
        journal.apply(ws, breaks["minus"])

    assert before == tree(ws)
    assert ["precious"] == [path.name for path in elsewhere.iterdir()]


def test_a_hard_link_elsewhere_keeps_its_content(ws, breaks, tmp_path):
    before = path(ws).read_bytes()
    os.link(path(ws), tmp_path / "twin.py")
    journal.apply(ws, breaks["minus"])

    assert before == (tmp_path / "twin.py").read_bytes()


@pytest.mark.parametrize(
    ("place", "mode"), [("minitorch/tensor.py", 0o444), ("minitorch", 0o555), (".", 0o555)]
)
def test_what_says_it_is_read_only_is_left_alone_even_by_root(ws, breaks, tree, place, mode):
    before = tree(ws)
    target = ws.root / place
    usual = stat.S_IMODE(target.stat().st_mode)
    target.chmod(mode)
    try:
        with pytest.raises(BreaksError, match="read-only") as refusal:
            journal.apply(ws, breaks["minus"])
    finally:
        target.chmod(usual)

    assert Exit.ENVIRONMENT == refusal.value.code
    (ws.root / "minitorch/tensor.py").chmod(0o644)
    assert before == tree(ws)
    assert () == journal.status(ws).breaks


def test_a_read_only_file_is_not_reverted_either_and_nothing_is_lost(ws, breaks, tree):
    journal.apply(ws, breaks["minus"])
    path(ws).chmod(0o444)
    before = tree(ws)
    with pytest.raises(BreaksError, match="read-only"):
        journal.revert(ws)
    assert before == tree(ws)

    path(ws).chmod(0o644)
    assert ["minus"] == journal.revert(ws)


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o664])
def test_the_mode_of_a_file_stays(ws, breaks, mode):
    path(ws).chmod(mode)
    journal.apply(ws, breaks["minus"])
    assert mode == stat.S_IMODE(path(ws).stat().st_mode)
    journal.revert(ws)
    assert mode == stat.S_IMODE(path(ws).stat().st_mode)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda text: text.replace(b"\n", b"\r\n"), id="CRLF"),
        pytest.param(lambda text: text.rstrip(b"\n"), id="no newline at the end"),
        pytest.param(lambda text: b"\xef\xbb\xbf" + text, id="a byte order mark"),
        pytest.param(
            lambda text: text.replace(b"A library", "Una librería ∂".encode()), id="UTF-8"
        ),
        pytest.param(lambda text: text.replace(b"y\n\n", b"y\n\x0c\n"), id="a form feed"),
    ],
)
def test_every_kind_of_text_comes_back_to_the_byte(ws, breaks, tree, change):
    path(ws).write_bytes(change(path(ws).read_bytes()))
    before = tree(ws)
    journal.apply(ws, breaks["minus"])
    journal.apply(ws, breaks["thrice"])
    assert before != tree(ws)
    assert path(ws).read_bytes() == before["minitorch/tensor.py"][0].replace(
        b"x + 1", b"x - 1"
    ).replace(b"x * 2", b"x * 3")

    journal.revert(ws, "minus")
    journal.revert(ws)
    assert before == tree(ws)


def test_a_text_that_is_not_utf_8_is_refused_by_its_byte(ws, breaks, tree):
    edit(ws, b"A library", b"A librar\xed a")
    before = tree(ws)
    with pytest.raises(BreaksError, match="0xed") as refusal:
        journal.apply(ws, breaks["minus"])

    assert Exit.PRECONDITION == refusal.value.code
    assert before == tree(ws)


def test_a_file_saved_in_the_last_moment_is_not_overwritten(ws, breaks, monkeypatch):
    from breaks import durable

    mine = path(ws).read_bytes() + b"# saved just now\n"

    def save_first(name, target):
        if name == "utime":  # the last step before the look and the replacement
            path(ws).write_bytes(mine)

    monkeypatch.setattr(durable, "step", save_first)
    with pytest.raises(BreaksError, match="just now"):
        journal.apply(ws, breaks["minus"])
    monkeypatch.undo()

    assert mine == path(ws).read_bytes()
    assert () == journal.status(ws).breaks


def test_pristine_sources_are_the_texts_without_breaks_and_with_edits(ws, breaks, tree):
    original = ws.sources()
    journal.apply(ws, breaks["minus"], breaks["two-files"])
    assert original == journal.pristine_sources(ws)

    path(ws).write_bytes(path(ws).read_bytes() + b"# mine\n")
    before = tree(ws)
    expected = original["minitorch.tensor"] + b"# mine\n"
    assert expected == journal.pristine_sources(ws)["minitorch.tensor"]
    assert before == tree(ws)


def test_pristine_sources_of_a_tangled_file_are_refused_and_nothing_is_written(ws, breaks):
    journal.apply(ws, breaks["minus"])
    edit(ws, b"x - 1", b"x - 7")
    with pytest.raises(BreaksError):
        journal.pristine_sources(ws)

    assert not (ws.state / "saved").exists()


def test_a_break_applied_by_hand_is_noted_with_its_time(ws, breaks):
    assert [] == journal.peeks(ws)
    journal.apply(ws, breaks["minus"], breaks["thrice"])
    journal.revert(ws)
    journal.apply(ws, breaks["minus"])

    assert ["minus", "thrice", "minus"] == [peek.id for peek in journal.peeks(ws)]
    times = [peek.when for peek in journal.peeks(ws)]
    assert times == sorted(times)
    assert times[0].tzinfo is not None


def test_an_apply_that_failed_is_no_peek(ws, breaks):
    journal.apply(ws, breaks["minus"])
    with pytest.raises(BreaksError):
        journal.apply(ws, breaks["plus-nothing"])

    assert ["minus"] == [peek.id for peek in journal.peeks(ws)]


def test_a_peek_line_cut_short_is_passed_over(ws, breaks):
    journal.apply(ws, breaks["minus"])
    file = ws.state / "peeks.jsonl"
    file.write_text(file.read_text() + '{"id": "thr')

    assert ["minus"] == [peek.id for peek in journal.peeks(ws)]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"[" * 100_000,
        b'{"version": 99}',
        b'{"version": 1, "applied": [], "unfinished": null, "texts": {"ab": "x"}}',
    ],
)
def test_a_damaged_journal_is_refused_and_kept(ws, breaks, tree, content):
    journal.apply(ws, breaks["minus"])
    before = tree(ws)
    (ws.state / "journal.json").write_bytes(content)
    for command in (journal.status, journal.revert, journal.recover, journal.pristine_sources):
        with pytest.raises(BreaksError, match=r"journal\.json") as refusal:
            command(ws)
        assert Exit.PRECONDITION == refusal.value.code

    assert content == (ws.state / "journal.json").read_bytes()
    assert before == tree(ws)


def test_the_original_text_can_be_read_in_the_journal_by_a_person(ws, breaks):
    journal.apply(ws, breaks["minus"])

    assert "y = x + 1" in (ws.state / "journal.json").read_text()


def test_there_is_no_journal_while_nothing_is_applied(ws, breaks):
    assert ws.untouched
    journal.apply(ws, breaks["minus"], breaks["thrice"])
    assert not ws.untouched
    journal.revert(ws, "minus")
    assert not ws.untouched
    journal.revert(ws)

    assert ws.untouched
    assert [] == list((ws.state / "tmp").iterdir())


def test_git_sees_nothing_after_revert(ws, breaks):
    git = ["git", "-C", str(ws.root), "-c", "user.name=a", "-c", "user.email=a@b.invalid"]
    (ws.root / ".gitignore").write_text(".breaks/\n")
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "x"], check=True)
    journal.apply(ws, breaks["two-files"])
    seen = subprocess.run([*git, "status", "--porcelain"], capture_output=True, check=True).stdout
    assert b" M minitorch/optim.py\n M minitorch/tensor.py\n" == seen

    journal.revert(ws)
    assert b"" == subprocess.run([*git, "status", "--porcelain"], capture_output=True).stdout


# --- laws ---------------------------------------------------------------------------------------

NAMES = ["minus", "thrice", "two-files"]
FILES = ["tensor.py", "optim.py"]
NEEDLES = (b"x + 1", b"x - 1", b"x * 2", b"x * 3", b"x // 3", b"x / 3", b"p - lr", b"p + lr")
STEP = st.one_of(
    st.tuples(st.just("apply"), st.sampled_from(NAMES)),
    st.tuples(st.just("revert"), st.sampled_from([*NAMES, None])),
    st.tuples(st.just("insert"), st.sampled_from(FILES), st.integers(0, 20)),
    st.tuples(st.just("change"), st.sampled_from(FILES), st.integers(0, 20)),
    st.tuples(st.just("drop"), st.sampled_from(FILES), st.integers(0, 20)),
)


def edit_lines(text, kind, where, number):
    """One edit that keeps away from every line that a break may change."""
    lines = text.splitlines(keepends=True)
    where %= len(lines) + 1
    if kind == "insert":
        lines.insert(where, b"# note %d\n" % number)
    elif where < len(lines) and not any(needle in lines[where] for needle in NEEDLES):
        if b"def" in lines[where] or b"return" in lines[where]:
            return text  # the file stays Python, as a learner's does when it is saved
        lines[where : where + 1] = [] if kind == "drop" else [b"# changed %d\n" % number]
    return b"".join(lines)


@settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=st.lists(STEP, max_size=14))
def test_random_edits_and_breaks_in_random_order_lose_nothing(
    make_ws, breaks, tmp_path_factory, steps
):
    """Beside the workspace a second one is kept, edited alike and never broken: they must agree."""
    ws = make_ws(tmp_path_factory.mktemp("law") / "ws")
    clean = {name: path(ws, name).read_bytes() for name in FILES}
    applied = []
    for number, (kind, *what) in enumerate(steps):
        if kind == "apply":
            if what[0] not in applied:
                journal.apply(ws, breaks[what[0]])
                applied.append(what[0])
        elif kind == "revert":
            if what[0] in (None, *applied):
                journal.revert(ws, what[0])
                applied = [] if what[0] is None else [name for name in applied if name != what[0]]
        else:
            name, where = what
            clean[name] = edit_lines(clean[name], kind, where, number)
            path(ws, name).write_bytes(edit_lines(path(ws, name).read_bytes(), kind, where, number))
        assert tuple(applied) == journal.status(ws).applied
        assert set(states(ws).values()) <= {State.APPLIED}
    sources = journal.pristine_sources(ws)
    assert clean == {name: sources[f"minitorch.{name[:-3]}"] for name in FILES}

    journal.revert(ws)
    assert clean == {name: path(ws, name).read_bytes() for name in FILES}


ANY_EDIT = st.tuples(st.sampled_from(["insert", "change", "drop", "double"]), st.integers(0, 20))


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    stack=st.permutations(NAMES),
    edits=st.lists(ANY_EDIT, max_size=5),
    back=st.lists(st.sampled_from(NAMES), max_size=4),
)
def test_whatever_is_edited_no_line_of_the_learner_is_ever_lost(
    make_ws, breaks, tmp_path_factory, stack, edits, back
):
    """Edits anywhere, the broken lines too: each command leaves every new line, or refuses."""
    ws = make_ws(tmp_path_factory.mktemp("law") / "ws")
    for name in stack:
        journal.apply(ws, breaks[name])
    lines = path(ws).read_bytes().splitlines(keepends=True)
    for number, (kind, where) in enumerate(edits):
        where %= len(lines) + (kind == "insert") or 1
        new = b"# mine %d\n" % number
        if kind == "double":
            new = lines[where] if lines else new
        lines[where : where + (kind in ("change", "drop"))] = [] if kind == "drop" else [new]
    path(ws).write_bytes(b"".join(lines))
    for name in [*back, None]:
        before = path(ws).read_bytes()
        mine = [line for line in before.splitlines() if b"mine" in line]
        try:
            journal.revert(ws, name)
        except BreaksError:
            assert before == path(ws).read_bytes()
        assert mine == [line for line in path(ws).read_bytes().splitlines() if b"mine" in line]
