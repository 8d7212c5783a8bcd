"""Stopped between any two steps, a command leaves the tree as before or as it meant it.

Each case forks, stops the child before step 1, 2, 3 … of what `breaks.durable` does, and then looks
with the next command.  The loop ends when a child gets through.
"""

import errno
import os
import shutil
import signal
from collections import Counter

import pytest

from breaks import command, durable, journal, transaction
from breaks.errors import BreaksError, Exit
from breaks.journal import Outcome, State
from breaks.workspace import Workspace

THROUGH = 77  # exit code of a child that nothing stopped


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch):
    """A killed process, unlike a power cut, loses nothing that it wrote."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)


def child(work, at, do):
    """Runs `work` in a child that does `do` before its step number `at`; how the child ended."""
    process = os.fork()
    if process == 0:
        code = 1
        try:
            count = 0

            def step(name, path):
                nonlocal count
                count += 1
                if count == at:
                    do()

            durable.step = step
            work()
            code = THROUGH if count < at else 0
        except KeyboardInterrupt:
            code = 130
        except (BreaksError, OSError) as error:
            code = getattr(error, "code", Exit.ENVIRONMENT)
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def kill():
    os.kill(os.getpid(), signal.SIGKILL)


class Case:
    """A workspace in the state before a command, copied afresh for each kill."""

    def __init__(self, ws, tree, prepare, act):
        prepare(ws)
        self.ws, self.tree, self.act = ws, tree, act
        self.before, self.applied_before = tree(ws), journal.status(ws).applied
        done = self.copy("done")
        act(done)
        self.after, self.applied_after = tree(done), journal.status(done).applied

    def copy(self, name):
        target = self.ws.root.parent / str(name)
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(self.ws.root, target)
        return Workspace.at(target)

    def check(self, ws):
        """The tree is one of the two, and status says which."""
        tree, applied = self.tree(ws), journal.status(ws).applied
        assert (tree, applied) in (
            (self.before, self.applied_before),
            (self.after, self.applied_after),
        )
        assert {item.state for item in journal.status(ws).breaks} <= {State.APPLIED}
        return tree == self.after


CASES = {
    "apply": (lambda ws, b: None, lambda ws, b: journal.apply(ws, b["minus"])),
    "apply to two files": (lambda ws, b: None, lambda ws, b: journal.apply(ws, b["two-files"])),
    "apply on top": (
        lambda ws, b: journal.apply(ws, b["minus"]),
        lambda ws, b: journal.apply(ws, b["thrice"], b["two-files"]),
    ),
    "revert": (
        lambda ws, b: journal.apply(ws, b["two-files"]),
        lambda ws, b: journal.revert(ws),
    ),
    "revert one below": (
        lambda ws, b: journal.apply(ws, b["two-files"], b["minus"]),
        lambda ws, b: journal.revert(ws, "two-files"),
    ),
}


@pytest.fixture(params=CASES.values(), ids=CASES.keys())
def case(request, ws, tree, breaks):
    prepare, act = request.param
    return Case(ws, tree, lambda w: prepare(w, breaks), lambda w: act(w, breaks))


def test_killed_between_any_two_steps_the_next_command_leaves_one_of_the_two_trees(case):
    seen, at = Counter(), 0
    while True:
        at += 1
        ws = case.copy(at)
        ended = child(lambda ws=ws: case.act(ws), at, kill)
        recovery = journal.recover(ws)
        done = case.check(ws)
        if recovery is not None:
            assert done == (recovery.outcome is Outcome.FINISHED), "it says which"
            assert journal.recover(ws) is None
        seen[done] += 1
        if ended == THROUGH:
            break
        assert ended == -signal.SIGKILL

    assert done
    assert at > 20, "the steps are counted"
    assert set(seen) == {True, False}


def test_killed_again_while_putting_it_right_nothing_is_lost_either(case):
    at = 0
    while True:
        at += 1
        stopped = case.copy("stopped")
        if child(lambda ws=stopped: case.act(ws), at, kill) == THROUGH:
            break
        if journal.load(stopped.state).unfinished is None:
            continue
        again = 0
        while True:
            again += 1
            ws = Workspace.at(shutil.copytree(stopped.root, case.ws.root.parent / f"{at}.{again}"))
            ended = child(lambda ws=ws: journal.recover(ws), again, kill)
            journal.recover(ws)
            case.check(ws)
            shutil.rmtree(ws.root)
            if ended == THROUGH:
                break


def test_after_a_kill_every_command_puts_it_right_first(case, breaks, tree):
    """`revert` as the next command: all breaks leave, whatever was under way."""
    clean = case.copy("clean")
    journal.revert(clean)
    at = 0
    while True:
        at += 1
        ws = case.copy(at)
        ended = child(lambda ws=ws: case.act(ws), at, kill)
        journal.revert(ws)
        assert tree(clean) == tree(ws)
        assert [] == list((ws.state / "tmp").glob("*")), "what was begun is swept away"
        if ended == THROUGH:
            break


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_at_any_step_the_command_itself_restores(case, number):
    def work(ws):
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with command._terminations():
            case.act(ws)

    at, codes = 0, Counter()
    while True:
        at += 1
        ws = case.copy(at)
        ended = child(lambda ws=ws: work(ws), at, lambda: os.kill(os.getpid(), number))
        codes[ended] += 1
        assert case.check(ws) == (ended != 130), "130 says that everything was restored"
        assert journal.load(ws.state).unfinished is None
        if ended == THROUGH:
            break

    assert codes[130] > 10
    assert set(codes) <= {130, 0, THROUGH}


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES])
def test_an_error_of_the_disk_at_any_step_undoes_the_command(case, number):
    def fail():
        raise OSError(number, os.strerror(number))

    at, codes = 0, Counter()
    while True:
        at += 1
        ws = case.copy(at)
        ended = child(lambda ws=ws: case.act(ws), at, fail)
        codes[ended] += 1
        assert case.check(ws) == (ended in (0, THROUGH)), "an error says that nothing was changed"
        assert journal.load(ws.state).unfinished is None
        if ended == THROUGH:
            break

    assert codes[Exit.ENVIRONMENT] > 10


def test_a_disk_that_stays_full_is_put_right_when_there_is_room(case):
    full = ("create", "write", "mkdir")
    at = 0
    while True:
        at += 1
        ws = case.copy(at)

        def fill():
            def step(name, path):
                if name in full:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

            durable.step = step

        ended = child(lambda ws=ws: case.act(ws), at, fill)
        journal.recover(ws)
        assert case.check(ws) == (ended in (0, THROUGH))
        if ended == THROUGH:
            break


def test_the_kernels_own_limit_on_file_size_is_survived(case):
    import resource

    for size in (0, 100, 400, 900, 2000):
        ws = case.copy(size)

        def limit(size=size):
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        ended = child(lambda ws=ws: case.act(ws), 1, limit)
        journal.recover(ws)
        assert case.check(ws) == (ended == 0)


def test_edits_made_after_a_kill_are_kept_by_the_next_command(case):
    """Somebody edits the file before the next command is run: the new line survives it."""
    at = 0
    while True:
        at += 1
        ws = case.copy(at)
        ended = child(lambda ws=ws: case.act(ws), at, kill)
        file = ws.root / "minitorch" / "tensor.py"
        file.write_bytes(b"# mine\n" + file.read_bytes())
        journal.recover(ws)
        assert file.read_bytes().startswith(b"# mine\n")
        file.write_bytes(file.read_bytes().removeprefix(b"# mine\n"))
        case.check(ws)
        if ended == THROUGH:
            break


def test_an_edit_of_the_very_lines_after_a_kill_is_kept_and_reported(ws, breaks):
    file = ws.root / "minitorch" / "tensor.py"
    journal.apply(ws, breaks["two-files"])  # finished: the record of one that is not
    record = journal.load(ws.state)
    unfinished = transaction.Unfinished(
        "apply", ("two-files",), "now", record.applied[0].changes, record.applied
    )
    stopped = transaction.Record((), unfinished)
    (ws.state / "journal.json").write_bytes(transaction.dump(stopped))
    mine = file.read_bytes().replace(b"x / 3", b"x / 4")
    file.write_bytes(mine)

    assert Outcome.KEPT is journal.recover(ws).outcome
    assert mine == file.read_bytes()
    assert [State.EDITED] == [item.state for item in journal.status(ws).breaks]


def test_the_suite_notices_a_command_that_is_not_safe(ws, breaks, tree, monkeypatch):
    """The check is fed something wrong: a transaction without its intention is caught."""

    def careless(ws, record, intention):
        for change in intention.files:
            target = ws.path_of(change.module)
            durable.step("write", target)
            target.write_bytes(change.after)
        transaction.save(
            ws, ws.state / "journal.json", transaction.dump(record.settled(intention.then))
        )

    monkeypatch.setattr(journal, "carry_out", careless)
    case = Case(ws, tree, lambda w: None, lambda w: journal.apply(w, breaks["two-files"]))
    with pytest.raises(AssertionError):
        test_killed_between_any_two_steps_the_next_command_leaves_one_of_the_two_trees(case)
