"""A /proc of the test's own, below a temporary folder."""

from __future__ import annotations

import os

import pytest

from fake_proc import FakeProc


@pytest.fixture
def proc(tmp_path):
    fake = FakeProc(tmp_path)
    fake.process(os.getpid(), parent=1)
    fake.machine((0, 0, 0, 0, 0, 0, 0, 0))
    return fake


@pytest.fixture
def written(tmp_path):
    """Write files below a root; the root."""

    def write(files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    return write
