"""Translated pages have the code of their English pages, and the same terms."""

from __future__ import annotations

import re

import pytest

from documents import ROOT, TRANSLATIONS, name

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`([^`\n]+)`")
HEADING = re.compile(r"^#+ ", re.MULTILINE)
TERM = re.compile(r"^\*\*(.+?)[.。]\*\*", re.MULTILINE)
# It shows what torr prints in the language of the page.
START = ROOT / "docs/zh/index.md"


def text_of(page):
    return page.read_text(encoding="utf-8")


def blocks(page, *, of_output):
    """Return the code blocks of a page with their languages, with or without output of commands."""
    return [found for found in BLOCK.findall(text_of(page)) if of_output or found[0] != "text"]


def spans(page):
    """Return the code within the sentences of a page."""
    return {span for span in SPAN.findall(BLOCK.sub("", text_of(page))) if span.isascii()}


@pytest.mark.parametrize("page", TRANSLATIONS, ids=name)
def test_a_translation_has_the_code_blocks_of_the_english_page(page):
    of_output = page != START
    english = blocks(TRANSLATIONS[page], of_output=of_output)
    assert english or page.name == "glossary.md"
    assert blocks(page, of_output=of_output) == english


@pytest.mark.parametrize("page", TRANSLATIONS, ids=name)
def test_a_translation_has_the_headings_and_the_code_of_the_english_sentences(page):
    english = TRANSLATIONS[page]
    assert len(HEADING.findall(text_of(page))) == len(HEADING.findall(text_of(english)))
    assert spans(english) <= spans(page)


def test_the_translated_glossary_has_every_term_beside_its_english():
    page = ROOT / "docs/zh/glossary.md"
    translated, english = (TERM.findall(text_of(each)) for each in (page, TRANSLATIONS[page]))
    assert len(translated) == len(english)
    for own, terms in zip(translated, english, strict=True):
        assert all(term.lower() in own.lower() for term in terms.split(", ")), own
