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


@pytest.fixture(params=[True, False], ids=["listed", "unlisted"])
def any_proc(request, tmp_path):
    """Kernels that list children, and those that do not."""
    fake = FakeProc(tmp_path, lists_children=request.param)
    fake.process(os.getpid(), parent=1)
    return fake
