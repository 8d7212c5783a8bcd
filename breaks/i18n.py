"""The language of what a person reads: --lang, then the locale; English where nothing fits."""

import os
from collections.abc import Mapping
from pathlib import Path

DOMAIN = "breaklabs"
LANGUAGES = ("en", "es")
LOCALE = Path(__file__).with_name("locale")

_chosen: str | None = None  # by use(); None follows the environment
_catalogues: dict = {}


def use(language: str | None) -> None:
    """Speaks `language` from now on; None goes back to the locale."""
    global _chosen
    _chosen = language


def language() -> str:
    """The language in use: "en" or "es"."""
    return _chosen or of_environment(os.environ)


def of_environment(environment: Mapping[str, str]) -> str:
    """The first known language that LANGUAGE, LC_ALL, LC_MESSAGES or LANG asks for."""
    for variable in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        for wish in environment.get(variable, "").split(":"):
            if wish[:2].lower() in LANGUAGES and wish[2:3] in ("", "_", ".", "@", "-"):
                return wish[:2].lower()
        if environment.get(variable) and variable != "LANGUAGE":
            return "en"
    return "en"


def gettext(message: str) -> str:
    """`message` in the language in use."""
    return catalogue().gettext(message)


def ngettext(one: str, many: str, n: int) -> str:
    """The form of the message that fits `n`."""
    return catalogue().ngettext(one, many, n)


def pick(texts: Mapping[str, str]) -> str:
    """The text in the language in use, English where it is missing."""
    return texts.get(language()) or texts["en"]


def catalogue():
    name = language()
    if name not in _catalogues:
        import gettext as library  # 5 ms that an English screen does not need

        _catalogues[name] = library.translation(DOMAIN, LOCALE, [name], fallback=True)
    return _catalogues[name]
