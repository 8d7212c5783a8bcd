"""`make docs`: writes below each command of the pages what it prints today."""

import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.docs import notebook
from tests.docs.compare import updated
from tests.docs.page import Page, PageError, pages
from tests.docs.session import same_for, session
from tests.tree import ROOT


def regenerated(page: Page) -> Page:
    """The page with the outputs of today, elisions kept where they still fit."""
    examples = page.examples()
    with session(page) as place:
        printed = [place.run(example) for example in examples]
    shown = [
        updated(one.shown, lines, same_for(one))
        for one, lines in zip(examples, printed, strict=True)
    ]
    new = page.with_shown(shown)
    for one, lines in zip(new.examples(), shown, strict=False):
        if list(one.shown) != lines:
            raise PageError(
                f"{page.name}:{one.start}: `{one.source}` prints a line that starts a command or "
                "ends the block. Pipe it, or elide that line by hand."
            )
    return new


def main(names: list[str]) -> int:
    """Rewrites the named pages, or all; prints which changed."""
    paths = [Path(name).resolve() for name in names] or [*pages(ROOT), *notebook.NOTEBOOKS]
    failed = 0
    with ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(update, path) for path in paths]
        for path, job in zip(paths, jobs, strict=True):
            try:
                if job.result():
                    print(f"{path.relative_to(ROOT)} changed: read the difference")
            except Exception as error:
                failed += 1
                print(f"{path.relative_to(ROOT)}: {error}", file=sys.stderr)
    return 1 if failed else 0


def update(path: Path) -> bool:
    """Writes the page again; whether it changed."""
    if path.suffix == ".ipynb":
        with tempfile.TemporaryDirectory() as folder:
            return notebook.update(path, Path(folder))
    page = Page.read(path, ROOT)
    if not page.examples():
        return False
    new = regenerated(page)
    if new.text == page.text:
        return False
    path.write_text(new.text, encoding="utf-8")
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
