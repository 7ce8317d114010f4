"""The pages that people read, and the commands in them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
)

_BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def name(page):
    return str(page.relative_to(ROOT))


def commands(program):
    """Every command of a program in a ```sh block of a page, once; the first page that has it."""
    found = {}
    for page in PAGES:
        for block in _BLOCK.findall(page.read_text(encoding="utf-8")):
            for line in block.replace("\\\n", " ").splitlines():
                if line.split()[:1] == [program]:
                    found.setdefault(" ".join(line.split()), page)
    return found
