"""A cache that is corrupt, foreign, half written or of another version is as good as none."""

import importlib.metadata
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader import cache as kept
from grader.cache import Cache, key_of
from grader.observe import REFERENCES, from_cache, observe
from grader.observe import key_of as question_key
from tests.grader.kit import SKIP, clean_text, made_break, question

KEY = key_of("a question")


def test_what_is_put_is_found(tmp_path):
    cache = Cache(tmp_path)
    cache.put(KEY, {"answer": [1, None, "é"]})

    assert {"answer": [1, None, "é"]} == cache.get(KEY)
    assert [f"{KEY}.json"] == [path.name for path in tmp_path.iterdir()]


def test_a_cache_without_a_folder_keeps_nothing():
    cache = Cache(None)
    cache.put(KEY, 1)

    assert cache.get(KEY) is None


DAMAGE = {
    "empty": lambda data: b"",
    "half written": lambda data: data[: len(data) // 2],
    "one bit": lambda data: data[:-2] + bytes([data[-2] ^ 1]) + data[-1:],
    "another head": lambda data: data.replace(b"breaklabs-cache 1", b"breaklabs-cache 0"),
    "another key": lambda data: data.replace(KEY.encode(), key_of("another").encode()),
    "not ours": lambda data: b"{}",
    "not text": lambda data: b"\xff\xfe\x00" * 10,
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_answer_is_ignored_and_written_anew(tmp_path, damage):
    cache = Cache(tmp_path)
    cache.put(KEY, {"answer": 1})
    path = cache.path(KEY)
    path.write_bytes(DAMAGE[damage](path.read_bytes()))

    assert cache.get(KEY) is None
    cache.put(KEY, {"answer": 2})

    assert {"answer": 2} == cache.get(KEY)


@given(st.binary(max_size=200))
def test_any_bytes_are_no_answer(tmp_path_factory, noise):
    cache = Cache(tmp_path_factory.mktemp("cache"))
    cache.path(KEY).write_bytes(noise)

    assert cache.get(KEY) is None


@pytest.mark.parametrize("data", [None, [], {}, {"lab": 1}, "text", 7, {"observations": [{}]}])
def test_a_kept_answer_of_another_form_is_no_answer(data):
    assert from_cache(data) is None


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path):
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file" / "cache")
    cache.put(KEY, 1)

    assert cache.get(KEY) is None


def test_nothing_is_kept_through_a_link(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "cache").symlink_to(tmp_path / "elsewhere")
    Cache(tmp_path / "cache").put(KEY, 1)

    assert not list((tmp_path / "elsewhere").iterdir())


def test_the_oldest_answers_are_forgotten(tmp_path):
    cache = Cache(tmp_path)
    for i in range(6):
        cache.put(key_of(i), i)
        os.utime(cache.path(key_of(i)), (i, i))
    cache.trim(2)

    assert [None] * 4 + [4, 5] == [cache.get(key_of(i)) for i in range(6)]


@pytest.mark.parametrize("package", ["numpy", "scipy", "hypothesis", "torch"])
def test_versions_are_found_without_importing(package):
    found = importlib.metadata.version(package).partition("+")[0]

    assert found == kept.version_of(package)
    assert "" == kept.version_of("no_such_package")


def test_the_key_depends_on_everything_that_the_answer_depends_on(monkeypatch, tmp_path):
    sources = {name: text.encode() for name, text in clean_text().items()}
    asked = question(SKIP, "created-axis")

    def key(asked=asked, sources=sources, seed=7, references=REFERENCES):
        return question_key(asked, sources, seed, references)

    scenario = asked.scenarios[0]
    other = made_break("skip-unbroadcast", "minitorch.tensor", "x", "y")
    keys = [
        key(),
        key(seed=8),
        key(references=tmp_path),
        key(sources={**sources, "minitorch.optim": b""}),
        key(asked._replace(brk=other)),
        key(asked._replace(brk=SKIP._replace(equivalent=True))),
        key(question(SKIP, "equal-shapes")),
        key(asked._replace(scenarios=(scenario._replace(digest="x"),))),
    ]
    monkeypatch.setattr(kept, "kit_digest", lambda: "another grader")
    keys.append(key())
    monkeypatch.undo()
    monkeypatch.setattr(kept, "versions", lambda: {"numpy": "1.25"})
    keys.append(key())

    assert len(keys) == len(set(keys))
    monkeypatch.undo()
    assert keys[0] == key()


def test_an_unchanged_question_is_answered_from_the_cache_without_numpy(tmp_path):
    asked = question(SKIP, "created-axis")
    first = observe([asked], state=tmp_path)[0]
    again = observe([asked], state=tmp_path)[0]

    assert not first.cached
    assert again.cached
    assert first._replace(seconds=0.0, cached=True) == again

    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from breaks.catalog import load_catalog\n"
        "from grader.observe import ask, observe\n"
        "from labs.load import load_labs\n"
        "asked = ask(load_labs()['lab02'], load_catalog().get('skip-unbroadcast'))\n"
        "[answer] = observe([asked], state=Path(sys.argv[1]))\n"
        "print(answer.cached, [m for m in ('numpy', 'torch', 'hypothesis') if m in sys.modules])\n"
    )
    run = [sys.executable, "-c", code, str(tmp_path)]
    subprocess.run(run, check=True, capture_output=True)
    out = subprocess.run(run, check=True, capture_output=True, text=True).stdout

    assert "True []\n" == out


def test_no_cache_asks_again(tmp_path):
    asked = question(SKIP, "created-axis")
    observe([asked], state=tmp_path)

    assert not observe([asked], state=tmp_path, use_cache=False)[0].cached


def test_a_damaged_answer_of_a_real_question_is_asked_again(tmp_path):
    asked = question(SKIP, "created-axis")
    first = observe([asked], state=tmp_path)[0]
    kept = list((tmp_path / "cache").glob("*.json"))
    assert 2 == len(kept)  # the answer, and what Hypothesis drew
    for path in kept:
        path.write_bytes(path.read_bytes()[:-5])
    again = observe([asked], state=tmp_path)[0]

    assert not again.cached
    assert first._replace(seconds=0.0) == again._replace(seconds=0.0)


# What an observation imports besides: it reads what the key names, or speaks to people.
NAMED = {
    *("breaks", "grader", "labs", "breaks.catalog", "breaks.document", "breaks.errors"),
    *("breaks.i18n", "breaks.load", "breaks.model", "breaks.plain", "breaks.schemas"),
    *("breaks.spelling", "grader.errors", "labs.errors", "labs.load", "labs.model"),
}


def test_every_module_that_decides_an_answer_is_in_the_key():
    code = (
        "import sys\n"
        "from breaks.catalog import load_catalog\n"
        "from grader.observe import ask, observe\n"
        "from labs.load import load_labs\n"
        "observe([ask(load_labs()['lab02'], load_catalog().get('skip-unbroadcast'))])\n"
        "print(*sys.modules)\n"
    )
    run = [sys.executable, "-c", code]
    out = subprocess.run(run, check=True, capture_output=True, text=True).stdout
    ours = {name for name in out.split() if name.partition(".")[0] in kept.DECISIVE}
    listed = {f"{p}.{name}" for p, names in kept.DECISIVE.items() for name in names.split()}

    assert set() == ours - listed - NAMED
    assert set() == listed - ours
