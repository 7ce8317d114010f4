"""`torr` called inside the test's process: for folders whose tests give it arguments."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import pytest


@dataclass
class Ended:
    """How a command ended and what it wrote."""

    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def quick_pictures(monkeypatch):
    """Files in the place of pictures, which take most of a second each; tests/unit/report draws."""

    def save(path, _draw):
        path.write_bytes(b"a picture")
        return path

    monkeypatch.setattr("torr.report.files.png._save", save)


@pytest.fixture
def torr(monkeypatch, tmp_path, capsys):
    """Call `torr` in an empty directory."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        from torr.cli.main import main

        monkeypatch.setattr(sys, "argv", ["torr", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return Ended(int(ended.value.code or 0), out, err)

    return call
