"""Running what a page shows: one workspace, one shell and one Python for each page."""

import contextlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from tests.docs.compare import Same, same_line, same_value
from tests.docs.page import Example, Page
from tests.tree import ROOT, files

LIMIT = 300  # seconds for one example
PYTHON = Path(__file__).with_name("python_session.py")
HOME = "/home/you"  # where a page shows its commands to run
END = "\x1e"  # the record separator: no command prints it


class SessionError(Exception):
    """The shell or Python of a page ended, or took too long."""


def same_for(example: Example) -> Same:
    """How its lines are compared."""
    return same_line if example.kind == "console" else same_value


class Session:
    """A folder to work in, and the processes that keep a page's state from block to block."""

    def __init__(self, home: Path, folder: Path, environment: dict[str, str]) -> None:
        self.home = home
        self.folder = folder
        self.environment = environment
        self.processes: dict[str, subprocess.Popen[str]] = {}

    def run(self, example: Example) -> list[str]:
        """What is printed, as lines; a failed command adds `(exit N)`."""
        text = self._console(example) if example.kind == "console" else self._pycon(example)
        return self.as_shown(text)

    def _console(self, example: Example) -> str:
        command = "'" + example.source.replace("'", "'\\''") + "'"
        text, code = self._ask("sh", f"eval {command} </dev/null; printf '{END}%s{END}' $?\n")
        if text and not text.endswith("\n"):
            text += "\n"
        return text if code == "0" else f"{text}(exit {code})\n"

    def _pycon(self, example: Example) -> str:
        return self._ask("python", json.dumps(example.source) + "\n")[0]

    def _ask(self, name: str, request: str) -> tuple[str, str]:
        """The answer of a process, and the code after it."""
        process = self.processes.get(name) or self._start(name)
        assert process.stdin
        assert process.stdout
        late = threading.Timer(LIMIT, kill, [process])
        late.start()
        try:
            process.stdin.write(request)
            process.stdin.flush()
            parts: list[str] = [""]
            while len(parts) < 3:
                piece = process.stdout.read(1)
                if not piece:
                    raise SessionError(f"the {name} of this page ended, or took over {LIMIT} s")
                if piece == END:
                    parts.append("")
                else:
                    parts[-1] += piece
        finally:
            late.cancel()
        return parts[0], parts[1]

    def _start(self, name: str) -> "subprocess.Popen[str]":
        command = {"sh": ["/bin/sh"], "python": [sys.executable, "-u", str(PYTHON)]}[name]
        process = subprocess.Popen(
            command,
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
        self.processes[name] = process
        return process

    def as_shown(self, text: str) -> list[str]:
        """Lines, with the folders of this run replaced by those of the person in the pages."""
        for real, shown in (
            (self.home / ".tmp", "/tmp"),
            (self.home, HOME),
            (Path(sys.prefix), f"{HOME}/breaklabs/.venv"),
            (ROOT, f"{HOME}/breaklabs"),
        ):
            text = re.sub(rf"{re.escape(str(real))}(?![\w.-])", shown, text)
        return text.split("\n")[:-1] if text.endswith("\n") else text.split("\n") if text else []

    def close(self) -> None:
        for process in self.processes.values():
            kill(process)
            process.wait()
            for stream in (process.stdin, process.stdout):
                with contextlib.suppress(OSError):
                    stream.close()


def kill(process: "subprocess.Popen[str]") -> None:
    """The process and what it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


@contextlib.contextmanager
def session(page: Page) -> Iterator[Session]:
    """A fresh place for one page; removed afterwards."""
    home = new_home()
    try:
        scratch = home / ".tmp"
        scratch.mkdir()
        environment = environment_of(page, home, scratch)
        folder = home / {"clone": "breaklabs"}.get(page.place, "workspace")
        folder.mkdir()
        opened = Session(home, folder, environment)
        try:
            FURNISH[page.place](opened)
            yield opened
        finally:
            opened.close()
    finally:
        shutil.rmtree(home, ignore_errors=True)


def new_home() -> Path:
    """A folder whose path is as long as HOME, so that lines wrap as they do in the pages."""
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    while True:
        home = Path("/tmp").resolve() / "".join(random.choices(letters, k=4))
        with contextlib.suppress(FileExistsError):
            home.mkdir(mode=0o700)
            return home


def environment_of(page: Page, home: Path, scratch: Path) -> dict[str, str]:
    """All that the programs of a page see of their surroundings."""
    return {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), "/usr/local/bin:/usr/bin:/bin"]),
        "HOME": str(home),
        "TMPDIR": str(scratch),
        "COLUMNS": "80",
        "LINES": "24",
        "NO_COLOR": "1",
        "TERM": "dumb",
        "LC_ALL": "C.UTF-8",
        "LANGUAGE": page.language,  # es_ES itself need not be installed
        "PYTHONUTF8": "1",
        "PYTHONUNBUFFERED": "1",  # errors and results in the order of a terminal
        "OMP_NUM_THREADS": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
    }


def workspace(opened: Session) -> None:
    """What `breaks init` gives a learner."""
    finished = subprocess.run(
        [Path(sys.executable).with_name("breaks"), "init", "."],
        cwd=opened.folder,
        env=opened.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if finished.returncode:
        raise SessionError(f"breaks init: exit {finished.returncode}\n{finished.stderr}")


def clone(opened: Session) -> None:
    """A copy of the files of the repository, in a repository of its own."""
    git = ["git", "-c", "user.name=you", "-c", "user.email=you@example.org"]
    for name in files():
        target = opened.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target)
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "as cloned"]):
        subprocess.run([*git, *command], cwd=opened.folder, env=opened.environment, check=True)


def empty(opened: Session) -> None:
    """Nothing: for pages that make a workspace themselves, and for those that need none."""


FURNISH = {"workspace": workspace, "clone": clone, "empty": empty}
