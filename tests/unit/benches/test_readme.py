"""README's table and picture are those of the run that it names."""

import json
import re

import pytest
from PIL import Image

from documents import ROOT
from versus import picture, report
from versus.readme import BEGIN, END, WORDS, block, replaced


def named(text):
    """The run that a page's block names."""
    inside = text[text.index(BEGIN) : text.index(END)]
    return ROOT / re.search(r"benches/versus/runs/[\w-]+\.md", inside)[0].replace(".md", ".json")


@pytest.mark.parametrize("words", WORDS, ids=lambda words: words.page)
def test_the_table_is_that_of_the_run_which_it_names(words):
    text = (ROOT / words.page).read_text(encoding="utf-8")
    run = named(text)
    fresh = block(json.loads(run.read_text()), run, words)
    assert replaced(text, fresh) == text, "run benches/versus/readme.py with the run"


def test_both_pages_name_the_same_run():
    assert len({named((ROOT / words.page).read_text(encoding="utf-8")) for words in WORDS}) == 1


def test_the_picture_is_drawn_from_the_run_that_readme_names():
    kept = json.loads(named((ROOT / "README.md").read_text(encoding="utf-8")).read_text())
    with Image.open(picture.PATH) as image:
        shown = image.text["Source"]
    assert shown == picture.fingerprint(kept), "run benches/versus/picture.py with the run"


def test_the_page_of_the_run_says_what_the_run_says():
    run = named((ROOT / "README.md").read_text(encoding="utf-8"))
    assert run.with_suffix(".md").read_text() == report.page(json.loads(run.read_text()))


def test_a_page_without_a_block_is_refused():
    with pytest.raises(ValueError, match="no block"):
        replaced("# torr", "new")
