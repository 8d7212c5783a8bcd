"""A page of Markdown for a terminal: wrapped, tables aligned, what is folded stays folded.

It knows what the pages of the labs use: headings, paragraphs, lists, tables, fenced blocks, links,
`<details>` with a `<summary>`, and comments.  Fenced blocks are printed as they are.
"""

import re
from collections.abc import Callable, Iterator

from breaks import console

FENCE = re.compile(r"^(```+)([\w-]*)$")
SESSIONS = ("console", "pycon")
COMMENT = re.compile(r"<!--.*?-->\n*", re.DOTALL)
DETAILS = re.compile(r"^<details>\n*<summary>(.*?)</summary>\n(.*?)^</details>$", re.S | re.M)
TWIN = re.compile(r"^\*[^*\n]*\]\(README(?:\.\w\w)?\.md\)[^*\n]*\*\n+", re.MULTILINE)
ITEM = re.compile(r"^(?:[-*]|\d+\.) +")
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")
STRONG = re.compile(r"\*\*([^*\n]+)\*\*")
EMPHASIS = re.compile(r"(?<![\w*])\*([^*\s][^*\n]*[^*\s]|\w)\*(?![\w*])")
CODE = re.compile(r"`[^`\n]+`")


def text(page: str, unfolded: Callable[[str], bool], folded: str) -> str:
    """The page as it is printed; a folded part is its summary and the sentence `folded`."""

    def part(found: re.Match[str]) -> str:
        summary, body = plain(found[1]), found[2]
        return f"### {summary}\n{body}" if unfolded(summary) else f"### {summary}\n\n{folded}"

    page = TWIN.sub("", COMMENT.sub("", page))
    return "\n\n".join(map(_printed, blocks(DETAILS.sub(part, page))))


def plain(html: str) -> str:
    """A summary without its tags; code in backticks."""
    return re.sub(r"<[^>]*>", "", re.sub(r"</?code>", "`", html)).strip()


def blocks(page: str) -> Iterator[list[str]]:
    """Runs of lines between blank lines; a fenced block is one, with its fences."""
    block: list[str] = []
    fence = ""
    for line in page.split("\n"):
        opened = FENCE.match(line)
        if fence:
            block.append(line)
            if line == fence:
                yield block
                block, fence = [], ""
        elif opened or not line.strip() or line.startswith("#"):
            if block:
                yield block
            block = []
            if opened:
                block, fence = [line], opened[1]
            elif line.strip():
                yield [line]
        else:
            block.append(line)
    if block:
        yield block


def _printed(block: list[str]) -> str:
    first = block[0]
    if fence := FENCE.match(first):
        return "\n".join(_code(line, fence[2]) for line in block[1:-1])
    if first.startswith("#"):
        return _heading(first)
    if first.startswith("|"):
        return _table(block)
    if ITEM.match(first):
        return "\n".join(_item(item) for item in _items(block))
    return console.wrap(_inline(" ".join(map(str.strip, block))), console.width())


def _heading(line: str) -> str:
    title = _inline(line.lstrip("#").strip())
    if line.startswith("###"):
        return console.style(console.wrap(title, console.width()), "strong")
    rule = console.glyphs.rule * min(console.cells(title), console.width())
    return console.style(title, "title") + "\n" + console.style(rule, "dim")


def _code(line: str, kind: str) -> str:
    """A line of a session as it stands; a line to type or to read is set in."""
    if kind not in SESSIONS:
        return "    " + line if line else line
    return console.style(line, "command") if line.startswith(("$ ", ">>> ", "... ")) else line


def _table(block: list[str]) -> str:
    rows = [[_inline(c.strip()) for c in re.split(r"(?<!\\)\|", row)[1:-1]] for row in block]
    return console.table(rows[2:], rows[0])


def _items(block: list[str]) -> Iterator[str]:
    """The items of a list, each as one line."""
    item: list[str] = []
    for line in block:
        if ITEM.match(line) and item:
            yield " ".join(item)
            item = []
        item.append(line.strip())
    yield " ".join(item)


def _item(item: str) -> str:
    sign = ITEM.match(item)
    assert sign
    mark = sign[0] if sign[0][0].isdigit() else f"{console.glyphs.bullet} "
    body = _inline(item[sign.end() :])
    return console.wrap(body, console.width(), indent=mark, hanging=" " * console.cells(mark))


def _inline(line: str) -> str:
    """Links with their address if it is one outside, emphasis as style; code is left alone."""
    code = CODE.findall(line)
    prose = STRONG.sub(lambda found: _styled(found[1]), CODE.sub("\0", line))
    prose = LINK.sub(_link, EMPHASIS.sub(r"\1", prose))
    return re.sub("\0", lambda _: code.pop(0), prose).replace(r"\|", "|")


def _styled(words: str) -> str:
    """Strong, word by word, since a line may be broken between two words."""
    return " ".join(console.style(word, "strong") for word in words.split())


def _link(found: re.Match[str]) -> str:
    words, address = found.groups()
    return f"{words} ({address})" if "://" in address and words != address else words
