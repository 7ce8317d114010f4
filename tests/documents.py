"""Finds the Markdown pages of the repository, and the commands in them."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

from jsonschema.validators import validator_for

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
)
# Its commands are one session, which a test of its own runs: tests/full/examples/test_tutorial.py.
TUTORIAL = ROOT / "docs/tutorial.md"
# Pages in another language, with their English pages. Commands of translations are not run a second
# time, since tests/unit/docs/test_translations.py finds those that the English page does not have.
TRANSLATIONS = {
    ROOT / "README.zh-CN.md": ROOT / "README.md",
    **{page: ROOT / "docs" / page.name for page in PAGES if page.parent == ROOT / "docs/zh"},
}

_BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def name(page):
    return str(page.relative_to(ROOT))


def commands(program, pages=None):
    """Return each command of a program in the ```sh blocks, with the first page that has it.

    Without `pages`, these are all pages but the tutorial and translations.
    """
    first_pages = {}
    for page in pages or (page for page in PAGES if page not in {TUTORIAL, *TRANSLATIONS}):
        for block in _BLOCK.findall(page.read_text(encoding="utf-8")):
            for line in block.replace("\\\n", " ").splitlines():
                if line.split()[:1] == [program]:
                    first_pages.setdefault(" ".join(line.split()), page)
    return first_pages


@cache
def schema(name):
    """Return what checks files by a published schema, which itself is checked once."""
    text = (ROOT / f"docs/reference/{name}.schema.json").read_text(encoding="utf-8")
    known = json.loads(text)
    kind = validator_for(known)
    kind.check_schema(known)
    return kind(known)
