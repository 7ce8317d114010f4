"""The documentation site has every page once in its navigation, and no link that leads nowhere."""

from __future__ import annotations

import os
from pathlib import PurePosixPath

import pytest
import yaml

import docs_site
from documents import ROOT

NAVIGATION = list(
    docs_site.pages_of(
        yaml.safe_load((ROOT / "docs/mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    )
)


@pytest.fixture(scope="module")
def sources():
    return docs_site.sources()


def test_the_navigation_lists_every_page_once():
    pages = (path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md"))
    english = sorted(str(page) for page in pages if page.parts[0] not in docs_site.TRANSLATED)
    assert sorted(NAVIGATION) == english


def test_every_translation_has_a_start_page():
    assert all((ROOT / "docs" / code / "index.md").exists() for code in docs_site.TRANSLATED)


def test_every_relative_link_of_the_site_leads_to_one_of_its_files(sources):
    broken = []
    for place, content in sources.items():
        if place.suffix != ".md":
            continue
        page = docs_site.ROOT / place
        for goal in docs_site.goals(page, content.decode()):
            target = PurePosixPath(goal.relative_to(docs_site.ROOT))
            if target not in sources and not is_built(target, sources):
                broken.append(f"{place}: {target}")
    assert broken == []


def is_built(target, sources):
    """Whether this is the address of an English page or picture."""
    english = target.with_suffix(".md") if target.suffix == ".html" else target
    # The README of a folder is its index page, and has no page by its own name.
    pages = [english.with_name("README.md")] if english.name == "index.md" else []
    if english.name != "README.md":
        pages.append(english)
    return any(PurePosixPath("en") / page in sources for page in pages)


def test_a_file_outside_the_documentation_becomes_a_page_that_shows_it(sources):
    page = sources[PurePosixPath("en/files/examples/compare.toml.md")].decode()
    text = (ROOT / "examples/compare.toml").read_text(encoding="utf-8")
    assert page == f"# examples/compare.toml\n\n````toml\n{text}````\n"


def test_links_in_code_are_left_alone(tmp_path):
    text = "`[a](../b)`\n\n```md\n[a](../b)\n```\n"
    assert docs_site.rewritten(ROOT / "docs/index.md", text) == text
    assert list(docs_site.goals(tmp_path, text)) == []


def test_addresses_and_anchors_are_left_as_they_are():
    text = "[a](https://example.org/b.md) [c](#d) [ci](ci.md#what-is-stored)"
    assert docs_site.rewritten(ROOT / "docs/index.md", text) == text


def test_pages_of_another_language_link_to_built_pages():
    text = docs_site.rewritten(ROOT / "docs/zh/index.md", "[a](../ci.md#b)")
    assert text == "[a](../ci.html#b)"


@pytest.mark.parametrize("language", docs_site.TRANSLATED)
def test_the_navigation_of_a_translation_lists_each_of_its_pages_once(language):
    listed = docs_site.settings(language)["nav"]
    assert sorted(listed) == sorted(page.name for page in (ROOT / "docs" / language).rglob("*.md"))
    assert listed[0] == "index.md"


@pytest.mark.parametrize("language", ["en", *docs_site.TRANSLATED])
def test_every_language_links_to_the_start_pages_of_all(language):
    start = PurePosixPath("" if language == "en" else language)
    links = docs_site.settings(language)["extra"]["alternate"]
    places = [os.path.normpath(start / link["link"]) for link in links]
    assert places == ["index.html", *(f"{code}/index.html" for code in docs_site.TRANSLATED)]
