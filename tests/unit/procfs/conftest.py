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
