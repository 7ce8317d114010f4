"""The Python API in an empty directory, with a real target behind it."""

from __future__ import annotations

import pytest

from torr import targets


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """An empty directory to be in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def url():
    """Where a real target answers after 1 ms."""
    with targets.listening(targets.Delay(targets.Constant(1_000_000))) as target:
        yield target.url
