"""A page in two languages is one page: the same sections, commands, links and numbers."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.page import Page, pages
from tests.docs.test_names import LINK, prose
from tests.tree import ROOT

NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?(?![\w])")
SENTENCE = re.compile(r"""(["'])\S[^"']* [^"']*\1""")  # what a person says is translated
REMARK = re.compile(r"  # .*")  # and so are comments
PAIRS = [
    (path.with_name(path.name.replace(".es.md", ".md")), path)
    for path in pages(ROOT)
    if path.name.endswith(".es.md")
]
LABS = sorted(path.parent for path in ROOT.glob("labs/lab*/lab.yaml"))


def sections(page: Page) -> list[tuple[str, str]]:
    """The level of each heading with the text up to the next, blocks left out."""
    parts = re.split(r"^(#+) ", prose(page), flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


def differences(english: Page, spanish: Page) -> list[str]:
    """What the one page has and the other has not."""
    found = []
    pairs = {
        "headings": lambda page: [level for level, _ in sections(page)],
        "blocks": lambda page: [block.kind for block in page.blocks()],
        "commands": lambda page: [
            SENTENCE.sub('"…"', REMARK.sub("  # …", example.source)) for example in page.examples()
        ],
        "links": lambda page: Counter(
            re.sub(r"#.*", "", link).replace(".es.", ".") for link in LINK.findall(prose(page))
        ),
    }
    for what, facts in pairs.items():
        if facts(english) != facts(spanish):
            found.append(f"{what}: {facts(english)} is not {facts(spanish)}")
    for i, ((_, one), (_, other)) in enumerate(
        zip(sections(english), sections(spanish), strict=False), 1
    ):
        here, there = Counter(NUMBER.findall(one)), Counter(NUMBER.findall(other))
        if here != there:
            found.append(f"numbers of section {i}: {here - there} is not {there - here}")
    return found


@pytest.mark.parametrize(
    ("english", "spanish"), PAIRS, ids=[p.relative_to(ROOT).as_posix() for p, _ in PAIRS]
)
def test_two_languages_are_one_page(english, spanish):
    assert [] == differences(Page.read(english, ROOT), Page.read(spanish, ROOT))


def in_the_wrong_language(text: str, folder: Path) -> list[str]:
    """Links of a Spanish page to an English one that exists in Spanish, itself excepted."""
    lines = [
        line for line in text.splitlines() if not line.startswith(("*In English", "[English]"))
    ]
    return [
        link
        for link in (link.split("#")[0] for link in LINK.findall("\n".join(lines)))
        if link.endswith(".md")
        and not link.endswith(".es.md")
        and (folder / link).with_suffix(".es.md").is_file()
    ]


@pytest.mark.parametrize("spanish", [p for _, p in PAIRS], ids=lambda p: f"{p.relative_to(ROOT)}")
def test_a_spanish_page_leads_to_spanish_pages(spanish):
    assert [] == in_the_wrong_language(spanish.read_text("utf-8"), spanish.parent)


def test_a_link_in_the_wrong_language_is_found():
    text = "*In English: [x](manual.md)*\n[a](manual.md#x) [b](manual.es.md) [c](performance.md)"

    assert ["manual.md"] == in_the_wrong_language(text, ROOT / "docs")


def spanish_texts() -> Iterator[tuple[str, str]]:
    """Everything that is shown in Spanish, by file."""
    for folder, pattern in (
        (ROOT, "README.es.md"),
        (ROOT / "docs", "*.es.md"),
        (ROOT / "labs", "lab*/README.es.md"),
        (ROOT / "labs", "*/lab.yaml"),
        (ROOT / "breaks", "catalog/*.yaml"),
        (ROOT / "breaks", "locale/es/*/*.po"),
    ):
        for path in folder.glob(pattern):
            yield path.name, path.read_text("utf-8")


@pytest.mark.parametrize(
    ("never", "word"),
    [
        ("rotura", "break"),
        ("biblioteca", "librería"),
        ("microbatch", "micro-batch"),
        ("MLP gramatical", "MLP de la gramática"),
    ],
)
def test_one_thing_has_one_name_in_spanish_too(never, word):
    found = [name for name, text in spanish_texts() if never.lower() in text.lower()]

    assert [] == found, f"{never}: say {word}"


@pytest.mark.parametrize("lab", LABS, ids=lambda path: path.name)
def test_every_lab_has_a_page_in_both_languages(lab):
    assert [] == [n for n in ("README.md", "README.es.md") if not (lab / n).is_file()]


ENGLISH = """# One

Take 3 of 15, see [a](a.md).

## Two

```console
$ say 1 --because 'it is so'
$ say 2  # to be sure
```
"""
FAITHFUL = """# Uno

De 15 toma 3, mira [a](a.es.md).

## Dos

```console
$ say 1 --because 'es así'
$ say 2  # para más seguridad
```
"""


def test_a_faithful_translation_is_fine():
    assert [] == differences(Page("a.md", ENGLISH), Page("a.es.md", FAITHFUL))


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("toma 3", "toma 4", "numbers of section 1"),
        ("## Dos", "### Dos", "headings"),
        ("say 1", "say 3", "commands"),
        ("say 2 ", "say 3 ", "commands"),
        ("```console", "```sh", "blocks"),
        ("a.es.md", "b.es.md", "links"),
    ],
)
def test_an_unfaithful_translation_is_found(old, new, what):
    found = differences(Page("a.md", ENGLISH), Page("a.es.md", FAITHFUL.replace(old, new)))

    assert any(line.startswith(what) for line in found)
