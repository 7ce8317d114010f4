"""`torr` called inside the test's process, with a fake engine behind it."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import pytest

from doubles import level_of


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

    monkeypatch.setattr("torr.report.png._save", save)


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


MATRIX = """\
baseline = "one"
rounds = 1
url = "http://127.0.0.1:{port}/"
[[candidates]]
name = "one"
command = ["no-such-server", "{port}"]
[[candidates]]
name = "two"
command = ["no-such-server", "{port}"]
"""


@pytest.fixture
def compare(torr, tmp_path, monkeypatch):
    """Call `torr compare` with trials that show what `truth` says of a candidate."""

    def call(truth, top, *flags):
        def trial(asked, _plan_of, lab, _course):
            if asked.round:
                shown = level_of(50, truth(asked.candidate.name))
                lab.directory.keep_level({**shown, **asked.as_json()})
            return True

        monkeypatch.setattr("torr.experiments.matrix.run_trial", trial)
        (tmp_path / "matrix.toml").write_text(top + MATRIX)
        return torr("compare", *flags, "matrix.toml")

    return call
