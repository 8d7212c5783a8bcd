"""What the tests of observation share: the text of the library, jobs, and one good recording."""

import copy
from functools import cache

from breaks.library import shipped_sources
from breaks.model import Break, Family, Rewrite
from grader import pool
from grader.arrays import decode, encode
from grader.observe import Question, as_job, as_text
from grader.property_test import propose
from grader.reading import Reading
from labs.load import load_labs, load_probes

QUICK = pool.Limits(cpu=1, wall=6.0, memory=256 << 20)


@cache
def clean_text():
    return as_text(shipped_sources())


@cache
def lab02():
    return load_labs()["lab02"]


@cache
def probes():
    return load_probes()


def made_break(name, module, pattern, replace, *, scope=(), matches=1, equivalent=False):
    """A break without a page."""
    scopes = (scope,) if isinstance(scope, str) else scope
    rules = (Rewrite(module, scopes, (pattern,), replace, matches),)
    return Break(name, {}, Family.OPERATORS, rules, {}, (), {}, (), equivalent=equivalent)


SKIP = made_break(
    "skip-unbroadcast",
    "minitorch.tensor",
    "unbroadcast($G, $S)",
    "$G",
    scope="Tensor.__add__",
    matches=2,
)


def with_add(body):
    """The library with statements run at the start of every addition."""
    text = dict(clean_text())
    head = '        """y = a + b.'
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    source = text["minitorch.tensor"]
    end = source.index("\n", source.index(head)) + 1
    text["minitorch.tensor"] = source[:end] + lines + source[end:]
    return text


SECTIONS = ("program", "lines", "ones", "irregular", "differences", "property")


def job(scenario, text=None, sections=SECTIONS):
    """A job that records a scenario."""
    if scenario.fit:
        sections = (*sections, "step")
    return {
        "kind": "scenario",
        "sources": dict(text or clean_text()),
        "scenario": as_job(scenario),
        "seed": 7,
        "sections": list(sections),
        "assignments": propose(as_job(scenario)["inputs"]),
        "vary": True,
    }


def readings(*jobs, **options):
    """The readings of some jobs."""
    return [Reading(report) for report in pool.run(jobs, **options)]


@cache
def good(name):
    """The reading of a lab02 scenario on the correct library."""
    return readings(job(lab02().scenarios[name]))[0]


def altered(name, change):
    """The good reading of a lab02 scenario after `change(sections)`, which edits plain data."""
    sections = copy.deepcopy(dict(good(name).report.frames))
    change(sections)
    return Reading(pool.Report(list(sections.items()), pool.End.DONE))


def set_array(section, *path, to):
    """A change for `altered`: the array at a place becomes `to(array)`."""

    def change(sections):
        place = sections[section]
        for key in path[:-1]:
            place = place[key]
        old = place[path[-1]]
        array = None if old is None else decode(old).array.copy()
        place[path[-1]] = encode(to(array))

    return change


def question(brk, *names):
    scenarios = tuple(lab02().scenarios[name] for name in names)
    return Question("lab02", brk, scenarios)
