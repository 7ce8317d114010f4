"""Translations: gettext catalogues below locale/, one for each language.

A template of `say` is looked up by its English, a message by its code. `make messages` brings the
.po files up to date with the code, and compiles them.
"""

from __future__ import annotations

from functools import cache
from gettext import GNUTranslations, NullTranslations
from pathlib import Path

LOCALES = Path(__file__).with_name("locale")
ENGLISH = "en"


@cache
def languages() -> tuple[str, ...]:
    """Return the codes of all languages, English first."""
    found = LOCALES.glob("*/LC_MESSAGES/torr.mo")
    return (ENGLISH, *sorted(path.parents[1].name for path in found))


def words(language: str, key: str, number: int | None = None) -> str | None:
    """Return the translation of a template or a code, for a number; None without one."""
    if not key:
        return None  # gettext keeps the header of a catalogue there
    known = _catalogue(language)
    if number is not None:
        counted = known.ngettext(key, "", number)
        if counted not in (key, ""):
            return counted
    found = known.gettext(key)
    return None if found == key else found


@cache
def _catalogue(language: str) -> NullTranslations:
    if language not in languages() or language == ENGLISH:
        return NullTranslations()
    path = LOCALES / language / "LC_MESSAGES" / "torr.mo"
    with path.open("rb") as file:
        return GNUTranslations(file)
