"""Spanish says everything that English says; each check of that is fed a fault once."""

import ast
import io
import re
from collections.abc import Callable, Iterator

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po

from tests.messages import PO, compiled, descriptions, extracted, forms, read, untranslated, updated

CODE = extracted()
SPANISH = read(PO.read_bytes())

# Words that Spanish writes like English, or that stay as they are.
SAME = {
    "break", "breaks", "detector", "lab", "Python", "TOML", "torch",
    "backward", "min", "s", "valid",
}  # fmt: skip
PLACEHOLDER = re.compile(r"%\(\w+\)[-+ #0]*\d*(?:\.\d+)?[a-zA-Z]|%%")
CODE_IN_TEXT = re.compile(r"`[^`]*`")
OPTION = re.compile(r"(?<![\w-])--?[a-z][a-z-]*")
MARKS = (("¿", r"\?"), ("¡", "!"))
END = re.compile(r"[.:?!…]?\Z")


def both(message: Message) -> Iterator[tuple[str, str]]:
    """Each English form beside the Spanish one."""
    return zip(forms(message.id), forms(message.string), strict=True)


def placeholders_differ(english: str, spanish: str) -> bool:
    return sorted(PLACEHOLDER.findall(english)) != sorted(PLACEHOLDER.findall(spanish))


def code_differs(english: str, spanish: str) -> bool:
    """Commands in backticks and options are typed: nobody translates them."""
    return any(
        sorted(pattern.findall(english)) != sorted(pattern.findall(spanish))
        for pattern in (CODE_IN_TEXT, OPTION)
    )


def is_english(english: str, spanish: str) -> bool:
    """Whether a translation is the English text, in other words than those that stay."""
    words = set(re.findall(r"[^\W\d_]+", PLACEHOLDER.sub("", english)))
    return english == spanish and not words <= SAME


def ending(text: str) -> str:
    """The mark that ends a text, a bracket or quote aside; none is a mark as well."""
    found = END.search(text.rstrip(")]` "))
    return found[0] if found else ""


def ends_otherwise(english: str, spanish: str) -> bool:
    return ending(english) != ending(spanish)


def edges_differ(english: str, spanish: str) -> bool:
    """Blanks at the ends join a text to its neighbours; paragraphs are laid out one by one."""

    def edges(text: str) -> tuple[object, ...]:
        inside = text.strip()
        return text.partition(inside)[0], text.rpartition(inside)[2], text.count("\n\n")

    return edges(english) != edges(spanish)


def half_marked(_english: str, spanish: str) -> bool:
    """A question or exclamation that is not opened, or not closed; a sign on its own is neither."""
    bare = CODE_IN_TEXT.sub("word", spanish)
    return any(bare.count(a) != len(re.findall(rf"(?<=[\w)”»]){b}", bare)) for a, b in MARKS)


PROBLEMS: dict[str, Callable[[str, str], bool]] = {
    "placeholders": placeholders_differ,
    "code": code_differs,
    "english": is_english,
    "ending": ends_otherwise,
    "edges": edges_differ,
    "marks": half_marked,
}


def found_by(check: Callable[[str, str], bool], catalog: Catalog) -> list[str]:
    """The translations to which a check objects."""
    return [
        spanish
        for message in catalog
        if message.id
        for english, spanish in both(message)
        if spanish and check(english, spanish)
    ]


def uncovered(code: Catalog, catalog: Catalog) -> set[object]:
    """The messages that only one of the two has; a plural that became one counts too."""
    return {message.id for message in code} ^ {message.id for message in catalog}


def leftovers(catalog: Catalog) -> list[str]:
    """What gettext would ignore: guesses that nobody confirmed, and what no code says any more."""
    fuzzy = [str(message.id) for message in catalog if message.id and message.fuzzy]
    return [*fuzzy, *map(str, catalog.obsolete)]


def unmarked(source: str) -> list[str]:
    """The f-strings and sums that are handed to `_()`: no catalogue can know them."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    named = {"_", "N_", "gettext", "ngettext"}
    return [
        ast.unparse(node)
        for node in calls
        if (getattr(node.func, "id", None) or getattr(node.func, "attr", "")) in named
        and any(isinstance(arg, ast.JoinedStr | ast.BinOp) for arg in node.args[:2])
    ]


def test_every_message_of_the_code_is_in_the_catalogue_and_no_other():
    assert set() == uncovered(CODE, SPANISH)


def test_every_message_is_translated():
    assert [] == untranslated(SPANISH)


def test_nothing_is_fuzzy_or_obsolete():
    assert [] == leftovers(SPANISH)


@pytest.mark.parametrize("name", PROBLEMS)
def test_translations_agree_with_the_code(name):
    assert [] == found_by(PROBLEMS[name], SPANISH)


def test_babel_finds_no_format_that_would_fail():
    assert [] == [str(error) for message in SPANISH for error in message.check(SPANISH)]


def test_updating_changes_nothing():
    assert PO.read_bytes().decode() == updated(PO.read_bytes(), CODE).decode()


def test_no_message_is_put_together_before_it_is_translated():
    root = PO.parents[4]
    modules = [p for name in ("breaks", "labs", "grader") for p in (root / name).rglob("*.py")]

    assert [] == [call for path in modules for call in unmarked(path.read_text("utf-8"))]


# ---------------------------------------------------------------- each check, fed a fault


def a_catalogue(text: str) -> Catalog:
    header = 'msgid ""\nmsgstr ""\n"Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n\n'
    return read_po(io.BytesIO((header + text).encode()), locale="es")


PLURAL = 'msgid "%(n)d lab"\nmsgid_plural "%(n)d labs"\nmsgstr[0] "{}"\nmsgstr[1] "{}"\n'


@pytest.mark.parametrize(
    ("name", "english", "spanish"),
    [
        ("placeholders", "%(n)d files", "%(m)d archivos"),
        ("placeholders", "%(n)d files", "los archivos"),
        ("placeholders", "%(n).1f files", "%(n)s archivos"),
        ("placeholders", "%(n)d %% sure", "%(n)d % de seguridad"),
        ("code", "Run `breaks revert`.", "Ejecuta `breaks revertir`."),
        ("code", "add --give-up", "añade --rendirse"),
        ("english", "a folder", "a folder"),
        ("english", "Nothing is wrong.", "Nothing is wrong."),
        ("ending", "Choose another name.", "Elige otro nombre"),
        ("ending", "a folder", "una carpeta."),
        ("ending", "How?", "Cómo."),
        ("ending", "(Folded.)", "(Plegado)"),
        ("edges", " or ", "o"),
        ("edges", "One.\n\nTwo.", "Uno. Dos."),
        ("marks", "How?", "Cómo?"),
        ("marks", "Wrong!", "¡Mal."),
    ],
)
def test_a_bad_translation_is_found(name, english, spanish):
    assert PROBLEMS[name](english, spanish)


@pytest.mark.parametrize(
    ("english", "spanish"),
    [
        ("%(n)d breaks", "%(n)d breaks"),
        ("How? %(levels)s", "¿Cómo? %(levels)s"),
        ("%(a)s before %(b)d", "%(b)d después de %(a)s"),
        ("an answer; ? lists what there is", "una respuesta; ? muestra las que hay"),
        ("with * + ? {", "con * + ? {"),
    ],
)
def test_a_good_translation_is_accepted(english, spanish):
    assert [] == [name for name, check in PROBLEMS.items() if check(english, spanish)]


def test_a_plural_is_checked_in_each_form():
    catalog = a_catalogue(PLURAL.format("%(n)d laboratorio", "%(m)d laboratorios"))

    assert ["%(m)d laboratorios"] == found_by(placeholders_differ, catalog)


def test_a_missing_and_a_superfluous_message_are_found():
    code, catalog = Catalog(), Catalog()
    code.add("new")
    catalog.add("old", "viejo")

    assert {"new", "old"} == uncovered(code, catalog)


@pytest.mark.parametrize("text", ['msgid "a"\nmsgstr ""\n', PLURAL.format("%(n)d laboratorio", "")])
def test_an_empty_translation_is_found(text):
    assert 1 == len(untranslated(a_catalogue(text)))


@pytest.mark.parametrize(
    "text", ['#, fuzzy\nmsgid "a"\nmsgstr "á"\n', '#~ msgid "a"\n#~ msgstr "á"\n']
)
def test_a_fuzzy_and_an_obsolete_translation_are_found(text):
    assert ["a"] == leftovers(a_catalogue(text))


def test_updating_drops_what_no_code_says_and_guesses_nothing():
    po = b'msgid "a folder"\nmsgstr "una carpeta"\n\nmsgid "gone"\nmsgstr "ido"\n'
    code = Catalog()
    code.add("a folder")
    code.add("a folders")
    after = read(updated(po, code))

    assert {"a folder": "una carpeta", "a folders": ""} == {m.id: m.string for m in after if m.id}
    assert not after.obsolete


def test_compiling_again_gives_the_same_bytes():
    assert compiled(PO.read_bytes()) == PO.with_suffix(".mo").read_bytes()


def test_descriptions_are_found_at_any_depth():
    schema = {"description": "a", "anyOf": [{"items": {"description": "b"}}, {"description": 3}]}

    assert ["a", "b"] == list(descriptions(schema))


@pytest.mark.parametrize(
    "source",
    ['_(f"{n} labs")', 'i18n.gettext("a" + word)', '_("%d" % 1)', 'ngettext("a", f"b", 2)'],
)
def test_a_message_put_together_too_early_is_found(source):
    assert 1 == len(unmarked(source))
