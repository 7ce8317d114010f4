import re

import pytest

from documents import PAGES, name

_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def anchors(page):
    """The names of a page's headings, as the usual renderers make them."""
    headings = _HEADING.findall(page.read_text(encoding="utf-8"))
    words = (re.sub(r"[^\w\- ]", "", heading).strip().lower() for heading in headings)
    return {text.replace(" ", "-") for text in words}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_relative_links_lead_somewhere(page):
    text = _CODE.sub("", page.read_text(encoding="utf-8"))
    for link in _LINK.findall(text):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        goal = (page.parent / path) if path else page
        assert goal.exists(), link
        if anchor and goal.suffix == ".md":
            assert anchor in anchors(goal), link
