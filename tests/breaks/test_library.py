"""A library out of text: private, traceable, and the one that was asked for."""

import inspect
import sys
import threading
import traceback

import pytest

from breaks.library import library_digest, load_library, shipped_sources

SOURCES = shipped_sources()


def test_the_shipped_text_is_found_without_importing_it():
    code = (
        "import sys\nfrom breaks.library import shipped_sources\n"
        "assert 'minitorch.tensor' in shipped_sources()\n"
        "assert not [m for m in sys.modules if m.startswith(('minitorch', 'numpy'))]"
    )
    import subprocess

    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_the_callers_modules_are_as_before():
    import minitorch

    before = {name: module for name, module in sys.modules.items() if "minitorch" in name}
    library = load_library(SOURCES, label="clean")

    assert library is not minitorch
    assert before == {name: module for name, module in sys.modules.items() if "minitorch" in name}


def test_a_library_that_fails_to_load_leaves_no_trace():
    before = dict(sys.modules)
    with pytest.raises(ZeroDivisionError):
        load_library(SOURCES | {"minitorch.optim": b"1 / 0\n"}, label="bad")

    assert before == {name: sys.modules[name] for name in before}
    assert not [finder for finder in sys.meta_path if type(finder).__name__ == "TextFinder"]


def test_tracebacks_and_inspect_show_the_text_that_ran():
    library = load_library(SOURCES, label="clean")
    try:
        library.Tensor(1.0).backward()
    except RuntimeError as error:
        lines = traceback.format_exception(error)

    assert any("<clean>/minitorch/" in line for line in lines)
    assert "def exp(self)" in inspect.getsource(library.Tensor.exp)


def test_two_libraries_do_not_mix():
    one = load_library(SOURCES, label="one")
    other = load_library(
        SOURCES | {"minitorch.losses": SOURCES["minitorch.losses"] + b"\nX = 1\n"}, label="other"
    )

    assert one.Tensor is not other.Tensor
    assert one.Tensor.exp.__code__.co_filename.startswith("<one>")


def test_threads_get_the_library_that_they_asked_for():
    found = {}

    def load(label):
        found[label] = load_library(SOURCES, label=label).Tensor.exp.__code__.co_filename

    threads = [threading.Thread(target=load, args=(f"t{i}",)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == {f"t{i}": f"<t{i}>/minitorch/tensor.py" for i in range(8)}


def test_the_digest_depends_on_every_name_and_byte():
    other = [
        SOURCES | {"minitorch.optim": SOURCES["minitorch.optim"] + b" "},
        {name: text for name, text in SOURCES.items() if name != "minitorch.optim"},
        SOURCES | {"minitorch.extra": b""},
    ]

    assert len({library_digest(SOURCES), *map(library_digest, other)}) == 4


def test_an_import_inside_of_a_function_finds_the_private_module():
    sources = {
        "minitorch": b"from minitorch.a import late\n",
        "minitorch.a": b"def late():\n"
        b"    from minitorch import optim\n"
        b"    import minitorch.losses as own\n"
        b"    return optim, own\n",
        "minitorch.optim": b"",
        "minitorch.losses": b"",
    }
    optim, losses = load_library(sources, label="late").late()

    assert optim.__file__ == "<late>/minitorch/optim.py"
    assert losses.__file__ == "<late>/minitorch/losses.py"


def test_relative_and_star_imports_work():
    sources = {
        "minitorch": b"from .a import *\nfrom . import b\nfrom .b import two\n",
        "minitorch.a": b"one = 1\n",
        "minitorch.b": b"import minitorch.a\n"
        b"from minitorch.a import one\n"
        b"two = minitorch.a.one + one\n",
    }
    library = load_library(sources, label="small")

    assert (library.one, library.two, library.b.two) == (1, 2, 2)


def test_a_module_that_is_missing_is_an_import_error():
    with pytest.raises(ModuleNotFoundError, match=r"minitorch\.nothing"):
        load_library({"minitorch": b"import minitorch.nothing\n"}, label="small")


def test_another_thread_imports_the_one_on_disk_meanwhile():
    import minitorch

    seen = []
    sources = SOURCES | {
        "minitorch.optim": b"import __main__\n__main__.look()\n" + SOURCES["minitorch.optim"]
    }
    main = sys.modules["__main__"]
    main.look = lambda: seen.append(sys.modules["minitorch"])
    try:
        load_library(sources, label="slow")
    finally:
        del main.look

    assert seen == [minitorch]
