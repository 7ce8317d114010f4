"""The Python in the pages runs, from the first block of a page to its last."""

import os
import re

import pytest

from documents import PAGES, name
from installed import TORR, until_judged

_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)

WITH_PYTHON = [page for page in PAGES if "```python" in page.read_text(encoding="utf-8")]
# A tuning has 22 trials or more.
SLOW = {"tune.md"}


def quicker(code, url):
    """The same code, aimed at a target of ours and over within a second."""
    code = code.replace("http://localhost:8080", url)
    code = re.sub(r'duration="\d+s"', "requests=1000, warmup=0", code)
    code = code.replace('budget="2h"', "budget=22, duration=0.1, warmup=0")
    code = code.replace("p99 < 50ms", "p99 < 50s")  # how fast it is, is the machine's
    return re.sub(r"levels=\[", 'duration="500ms", warmup=0, levels=[', code)


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=name(page), marks=[pytest.mark.full] if page.name in SLOW else [])
        for page in WITH_PYTHON
    ],
)
def test_the_blocks_of_a_page_run_in_order(page, url, place, monkeypatch):
    monkeypatch.chdir(place)
    monkeypatch.setenv("PATH", f"{TORR.parent}:{os.environ['PATH']}")  # servers are found by name
    names = {}
    for block in _BLOCK.findall(page.read_text(encoding="utf-8")):
        code = compile(quicker(block, url), name(page), "exec")
        until_judged(lambda code=code: exec(code, names), place)  # noqa: S102 - our own page
    assert names


def test_there_is_python_in_the_pages():
    assert WITH_PYTHON
