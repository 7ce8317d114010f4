"""The Python API in an empty directory, with a fake engine behind it."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """An empty directory to be in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
