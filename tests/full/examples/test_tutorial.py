"""Every command of the tutorial runs, in the order of the page, against the tutorial's API."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess

import pytest

from documents import ROOT, TRANSLATIONS, TUTORIAL
from installed import TORR

TOOLS = ROOT / "build/docs-tools/bin"
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Steps of a reader that the test prepares otherwise.
PREPARED = ("cd ", "pip install", "export PATH")
# Notes how each command of torr ended, and waits until the server in the background answers.
OPENING = """
trap 'kill $(jobs -p) 2>/dev/null' EXIT
torr() {
    case "$*" in
        *--once*|*.dat*|*latest:*) command torr "$@" ;;
        compare*) command torr "$@" -z 300ms --warmup 100ms ;;
        *) command torr "$@" -z 500ms --warmup 100ms ;;
    esac
    local code=$?
    echo "$1 $code" >>ends
    return $code
}
answers() { until (: <>/dev/tcp/127.0.0.1/$1) 2>/dev/null; do sleep 0.1; done }
"""


def script(port):
    """Return the blocks of the page as one script whose server listens at a port."""
    blocks = BLOCK.findall(TUTORIAL.read_text(encoding="utf-8"))
    lines = [line for block in blocks for line in block.splitlines()]
    steps = [line for line in lines if not line.startswith(PREPARED)]
    started = [f"{line}\nanswers {port}" if line.endswith(" &") else line for line in steps]
    return OPENING + "\n".join(started).replace("8080", str(port))


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Run the tutorial in a folder of its own; return its output and how commands of torr ended."""
    tmp_path = tmp_path_factory.mktemp("tutorial")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    assert TOOLS.exists(), "the API of the tutorial is not installed: run `make docs`"
    folder = shutil.copytree(ROOT / "examples/tutorial", tmp_path / "shop")
    path = f"{TOOLS}{os.pathsep}{TORR.parent}{os.pathsep}{os.environ['PATH']}"
    ended = subprocess.run(
        ["bash", "-c", script(port)],
        cwd=folder,
        env={**os.environ, "PATH": path, "TORR_STORE": f"sqlite:///{tmp_path}/runs.db"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    ends = [line.split() for line in (folder / "ends").read_text().splitlines()]
    return ended, [(verb, int(code)) for verb, code in ends]


def test_the_tutorial_runs_from_its_first_command_to_its_last(played):
    ended, ends = played
    verbs = ["run", "run", "run", "ladder", "run", "compare", "diff", "ladder", "diff"]
    assert [verb for verb, _ in ends] == verbs
    # A machine that does other work may break an SLO or miss a capacity.
    assert [code for verb, code in ends if verb != "ladder"] == [0, 0, 0, 0, 0, 1, 0], ended.stderr
    assert {code for verb, code in ends if verb == "ladder"} <= {0, 1}, ended.stderr
    assert "the build fails" in ended.stdout
    assert "< HTTP/1.1 201 Created" in ended.stdout


def test_the_profile_shows_the_line_of_the_slow_query(played):
    ended, _ = played
    first = ended.stdout.partition("Where the time went")[2].splitlines()[2]
    function, number = re.match(r"(\w+) \(shop\.py:(\d+)\)", first).groups()
    assert function == "cheapest_items"
    lines = (ROOT / "examples/tutorial/shop.py").read_text(encoding="utf-8").splitlines()
    assert "database.execute(query, [category])" in lines[int(number) - 1]
    pages = [TUTORIAL, *(page for page in TRANSLATIONS if TRANSLATIONS[page] == TUTORIAL)]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert re.search(rf"line {number} of `shop\.py`|`shop\.py` 的第 {number} 行", text), page
