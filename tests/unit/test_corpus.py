"""What fuzzing found survives the way through its text file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from documents import ROOT


def corpus(*words: str | Path) -> None:
    script = str(ROOT / "scripts/corpus.py")
    subprocess.run([sys.executable, script, *map(str, words)], check=True)


def test_every_input_comes_back_and_none_is_kept_twice(tmp_path):
    found = tmp_path / "found"
    found.mkdir()
    inputs = [b"", b"\x00\xff\n", b"GET / HTTP/1.1", b"GET / HTTP/1.1"]
    for number, content in enumerate(inputs):
        (found / str(number)).write_bytes(content)
    corpus("pack", found, tmp_path / "kept/head.txt")
    corpus("unpack", tmp_path / "kept/head.txt", tmp_path / "back")
    back = sorted(path.read_bytes() for path in (tmp_path / "back").iterdir())
    assert back == sorted(set(inputs))


@pytest.mark.full
def test_the_kept_files_are_what_packing_them_again_gives(tmp_path):
    kept = sorted((ROOT / "fuzz/corpus").glob("*.txt"))
    assert [path.stem for path in kept] == sorted(
        path.stem for path in (ROOT / "fuzz/targets").glob("*.rs")
    )
    for path in kept:
        corpus("unpack", path, tmp_path / path.stem)
        corpus("pack", tmp_path / path.stem, tmp_path / path.name)
        assert (tmp_path / path.name).read_text() == path.read_text()
