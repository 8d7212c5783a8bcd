"""The pages in a real browser: nothing runs, nothing is fetched, nothing sticks out.

Needs Chromium: `make browser` runs these tests and installs it where that is possible.  They are
not part of `make test`, which must not need a browser.
"""

import os
import re
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from breaks.create import create
from grader.cli import cli

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
SHOTS = os.environ.get("BREAKLABS_SHOTS")  # a folder to keep the screenshots in, to look at them
BRK = "skip-unbroadcast"
XSS = (
    "<img src=x onerror=\"document.title='broken in'\"><script>document.title='broken in'</script>"
)
# Says in the title of the page what sticks out of its width, once it is laid out.
PROBE = """<script>addEventListener('load', () => {
  const wide = [...document.querySelectorAll('body *')].filter(one =>
    !one.closest('.wide, pre, .skip') && one.getBoundingClientRect().right > innerWidth + 1);
  document.title = 'wide: ' + document.documentElement.scrollWidth + ' of ' + innerWidth
    + ' [' + wide.slice(0, 3).map(one => one.tagName).join(' ') + ']';
})</script>"""


@pytest.fixture(scope="session")
def chromium():
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    assert found, "no Chromium found: `make browser` installs it, or install the package chromium"
    return found


@pytest.fixture(scope="session")
def browse(chromium, tmp_path_factory):
    """browse(page, *flags) → what Chromium printed."""

    def browse(page, *flags):
        profile = tmp_path_factory.mktemp("profile")
        line = [chromium, *FLAGS, f"--user-data-dir={profile}", *flags, page.as_uri()]
        done = subprocess.run(line, capture_output=True, text=True, timeout=120)

        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    return browse


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    """The page of a check, with an attack in what the learner wrote; of training; of the matrix."""
    import yaml

    ws, _ = create(tmp_path_factory.mktemp("browser") / "ws")
    before = Path.cwd()
    os.chdir(ws.root)
    try:
        from grader.predicting import template
        from grader.session import Session

        here = Session(ws)
        data = yaml.safe_load(template(here, here.lab("lab02"), BRK).text)
        for said in data["scenarios"].values():
            said["first"] = {"phase": "backward", "mode": "crash"}
            said["confidence"], said["because"] = 95, XSS
        Path("p.yaml").write_text(yaml.safe_dump(data))
        for line in (
            ["predict", "lab02", "--from", "p.yaml"],
            ["check", "lab02", "--json"],
            ["report", "lab02"],
            ["train", BRK, "mean-backward-missing-1-over-n", "--html", "train.html"],
            ["matrix", "--break", BRK, "--html", "matrix.html"],
        ):
            assert cli.run(line) == 0
    finally:
        os.chdir(before)
    return {name: ws.root / f"{name}.html" for name in ("lab02", "train", "matrix")}


PAGES = ("lab02", "train", "matrix")


@pytest.mark.parametrize("name", PAGES)
def test_nothing_that_somebody_wrote_runs(browse, pages, name):
    shown = browse(pages[name], "--dump-dom")

    assert "broken in</title>" not in shown
    assert "<script" not in shown


def asked_for(browse, page, log):
    """The hosts that a page asks for; what Chromium asks for by itself is left out."""
    browse(page, "--dump-dom", f"--log-net-log={log}")
    hosts = set(re.findall(r'"url":"https?://([^/"]+)', log.read_text(errors="replace")))
    return {host for host in hosts if not re.search(r"(^|\.)google(apis)?\.com$", host)}


@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_fetched(browse, pages, name, tmp_path):

    assert asked_for(browse, pages[name], tmp_path / "net.json") == set()


def test_a_page_that_fetches_something_would_be_found_out(browse, tmp_path):
    page = tmp_path / "fetches.html"
    page.write_text("<img src='http://breaklabs.invalid/x.png'>")

    assert asked_for(browse, page, tmp_path / "net.json") == {"breaklabs.invalid"}


@pytest.mark.parametrize("width", [360, 768, 1280])
@pytest.mark.parametrize("name", PAGES)
def test_nothing_sticks_out_of_the_page_at_any_width(browse, pages, name, width, tmp_path):
    text = pages[name].read_text()
    text = re.sub(r"<meta http-equiv[^>]*>", "", text).replace("</head>", PROBE + "</head>")
    probe = tmp_path / "probe.html"
    # A frame, because a window of Chromium cannot be narrower than 500.
    probe.write_text(text)
    frame = tmp_path / "frame.html"
    frame.write_text(
        f"<title>none</title><iframe id=f src=probe.html width={width} height=900></iframe>"
        "<script>f.onload = () => setTimeout("
        "() => { document.title = f.contentDocument.title }, 50)</script>"
    )
    shown = browse(
        frame, "--dump-dom", "--allow-file-access-from-files", "--virtual-time-budget=2000"
    )
    found = re.search(r"<title>wide: (\d+) of (\d+) \[(.*?)\]</title>", shown)

    assert found, shown[:300]
    assert int(found[1]) <= int(found[2]), found[0]
    assert found[3] == ""


LOOKS = {
    "light": ("--window-size=1000,1400",),
    "dark": ("--window-size=1000,1400", "--force-dark-mode"),
    "narrow": ("--window-size=500,1400",),
}


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("name", PAGES)
def test_a_screenshot_shows_something(browse, pages, name, look, tmp_path):
    folder = Path(SHOTS) if SHOTS else tmp_path
    folder.mkdir(parents=True, exist_ok=True)
    shot = folder / f"{name}-{look}.png"
    browse(pages[name], *LOOKS[look], f"--screenshot={shot}")
    head = shot.read_bytes()[:24]
    width, height = struct.unpack(">II", head[16:24])

    assert head.startswith(b"\x89PNG")
    assert (width, height) == tuple(map(int, LOOKS[look][0].partition("=")[2].split(",")))
    assert shot.stat().st_size > 20_000  # an empty page is far smaller


@pytest.mark.parametrize("name", PAGES)
def test_the_page_prints(browse, pages, name, tmp_path):
    folder = Path(SHOTS) if SHOTS else tmp_path
    folder.mkdir(parents=True, exist_ok=True)
    printed = folder / f"{name}.pdf"
    browse(pages[name], "--no-pdf-header-footer", f"--print-to-pdf={printed}")

    assert printed.read_bytes().startswith(b"%PDF")
    assert printed.stat().st_size > 10_000


def test_the_sentence_of_the_learner_stands_there_as_text(browse, pages):
    shown = browse(pages["lab02"], "--dump-dom")

    assert "&lt;img src=x onerror=" in shown
