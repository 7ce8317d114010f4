"""`--profile` of `torr compare`: what it needs is looked for before any server is started."""

from __future__ import annotations

import sys

import pytest

from torr.profile import pyspy

MATRIX = """\
baseline = "one"
url = "http://127.0.0.1:{port}/"
[[candidates]]
name = "one"
command = ["%s", "{port}"]
[[candidates]]
name = "two"
command = ["no-such-server", "{port}"]
"""


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (sys.executable, "--profile needs py-spy, which is not installed"),
        ("no-such-server", "--profile cpu needs py-spy or perf, and neither is installed"),
    ],
)
def test_tools_that_are_missing_are_said_before_any_server_is_started(
    torr, monkeypatch, tmp_path, program, message
):
    monkeypatch.setattr(pyspy, "program_path", lambda name: name)
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "matrix.toml").write_text(MATRIX % program)
    ended = torr("compare", "--profile", "cpu", "matrix.toml")
    assert ended.code == 2
    assert message in ended.err
