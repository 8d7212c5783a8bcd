"""Jobs on a broken library share a process until one of them leaves it changed."""

import pytest

from grader import pool, training
from grader.observe import apart, broken_text, observe, training_of
from tests.grader.kit import clean_text, job, lab02, made_break, question, with_add

WAYS = ["fork", "spawn"] if pool.can_fork() else ["spawn"]

# What an addition does to the process that runs it, and what the look at the process calls it.
CHANGES = {
    "a function of NumPy is replaced": ("np.hypot = np.log", "numpy"),
    "a name is hidden in NumPy": ("np.memory_of_mine = []", "numpy"),
    "a builtin is replaced": ("import builtins\nbuiltins.ascii = repr", "builtins"),
    "warnings of NumPy are silenced": ("np.seterr(all='ignore')", "numpy.errstate"),
    "arrays print in another way": ("np.set_printoptions(precision=2)", "numpy.printoptions"),
    "the global generator moves on": ("import random\nrandom.random()", "random"),
    "a warning becomes an error": (
        "import warnings\nwarnings.simplefilter('error')",
        "warnings.filters",
    ),
    "imports look elsewhere": ("import sys\nsys.path.append('elsewhere')", "sys.path"),
    "the recursion limit is moved": ("import sys\nsys.setrecursionlimit(5000)", "recursion limit"),
    "the collector runs": ("import gc\ngc.enable()", "garbage collection"),
    "a signal is caught": (
        "import signal\nsignal.signal(signal.SIGUSR1, lambda *given: None)",
        "signal handlers",
    ),
    "the environment grows": ("import os\nos.environ['MINE'] = '1'", "environment"),
    "the folder is another": ("import os\nos.chdir('/')", "folder"),
    "the folder is gone": (
        "import os, contextlib\nwith contextlib.suppress(OSError):\n    os.rmdir(os.getcwd())",
        "FileNotFoundError",
    ),
    "everything is the same": ("import operator\noperator.is_ = lambda a, b: True", "operator"),
    "all is well": ("import builtins\nbuiltins.all = lambda values: True", "builtins"),
    "nothing is in a module": (
        "import builtins\nreal = vars\nbuiltins.vars = lambda *one: dict(real(*one))",
        "builtins",
    ),
    "a file is left": ("open('left', 'w').close()", "files"),
    "a file stays open": ("np.kept = open('/dev/null')", "numpy"),
    "a descriptor stays open": ("import os\nos.open('/dev/null', os.O_RDONLY)", "descriptors"),
    "a thread goes on": (
        "import threading, time\n"
        "threading.Thread(target=time.sleep, args=(9,), daemon=True).start()",
        "threads",
    ),
    "a child goes on": (
        "import os, time\nif os.fork() == 0:\n    time.sleep(9)\n    os._exit(0)",
        "children",
    ),
    "much memory stays in use": ("Tensor.kept = np.ones(9 << 20)", "memory"),
    "much time is used": ("sum(range(20_000_000))", "processor time"),
}


def shared(text, *names, **options):
    """What one process reports on scenarios of lab02 with the library of this text."""
    jobs = [job(lab02().scenarios[name], text, ("ones",)) for name in names]
    whole = {"kind": "together", "sources": jobs[0]["sources"], "jobs": jobs}
    return pool.run([whole], **options)[0]


@pytest.mark.parametrize("what", CHANGES)
def test_no_scenario_follows_one_that_changed_the_process(what):
    body, name = CHANGES[what]
    report = shared(with_add(body), "created-axis", "length-1-axis")

    assert name == report.sections()["changed"]
    assert [0] == [value for kind, value in report.frames if kind == "begin"]
    assert 1 == len(apart(report, 2))


@pytest.mark.parametrize("way", WAYS)
def test_scenarios_that_change_nothing_share_a_process(way):
    report = shared(None, "created-axis", "length-1-axis", way=way)

    assert "changed" not in report.sections()
    first, second = apart(report, 2)
    assert first.sections()["ones"] != second.sections()["ones"]
    assert first.sections()["provenance"] == second.sections()["provenance"]


def test_a_library_is_loaded_anew_for_each_scenario():
    body = "Tensor.runs = getattr(Tensor, 'runs', 0) + 1\nif Tensor.runs > 9:\n    raise ValueError"
    report = shared(with_add(body), *["created-axis"] * 12)

    assert 12 == len(apart(report, 12))
    assert all(one.sections()["ones"]["error"] is None for one in apart(report, 12))


def test_how_a_process_ends_is_said_of_the_scenario_that_ended_it():
    text = with_add("import os\nif self.shape != other.shape:\n    os._exit(3)")
    report = shared(text, "equal-shapes", "created-axis", "length-1-axis")

    assert [pool.End.DONE, pool.End.EXIT] == [one.end for one in apart(report, 3)]


def test_nobody_is_blamed_for_printing_that_several_may_have_done():
    assert [] == apart(shared(with_add("print('here')"), "created-axis", "length-1-axis"), 2)


TROUBLES = {
    "it prints": "print('here') or a.data - b.data",
    "it leaves": "(a.shape == b.shape or __import__('os')._exit(3)) and a.data + b.data",
    "it replaces a function of NumPy": "vars(np).update(exp=np.log) or a.data + b.data",
    "it remembers": (
        "vars(np).update(adds=vars(np).get('adds', 0) + 1) or (a.data + b.data) * (np.adds < 4)"
    ),
    "it is silent": "a.data - b.data",
}


@pytest.mark.parametrize("what", TROUBLES)
def test_scenarios_asked_together_are_answered_as_one_by_one(what):
    brk = made_break(what, "minitorch.tensor", "a.data + b.data", TROUBLES[what])
    names = ("created-axis", "equal-shapes", "length-1-axis")

    (together,) = observe([question(brk, *names)])
    alone = [observe([question(brk, name)])[0] for name in names]

    assert [one.to_json() for one in together.observations] == [
        one.to_json() for answer in alone for one in answer.observations
    ]


@pytest.mark.parametrize("what", TROUBLES)
def test_the_training_goes_as_in_a_process_of_its_own(what):
    brk = made_break(what, "minitorch.tensor", "a.data + b.data", TROUBLES[what])
    sources = {name: text.encode() for name, text in clean_text().items()}
    texts = (clean_text(), broken_text(sources, brk))
    alone = pool.run([{**training_of(), "sources": text} for text in texts])

    (together,) = observe([question(brk, "created-axis", "equal-shapes")])

    assert training.observe(*alone, brk.id) == together.training
