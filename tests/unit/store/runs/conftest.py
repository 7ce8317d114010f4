"""Stores on SQLite and on a real PostgreSQL: the same tests for both."""

from __future__ import annotations

import pytest

from postgresql import server
from torr.store.runs.database_url import DatabaseUrl
from torr.store.runs.store import Store


@pytest.fixture(scope="session")
def databases():
    with server() as made:
        yield made


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.full)])
def place(request, tmp_path):
    """An empty database of either kind."""
    if request.param == "sqlite":
        return DatabaseUrl(f"sqlite:///{tmp_path}/runs.db")
    return DatabaseUrl(request.getfixturevalue("databases").make())


@pytest.fixture
def store(place):
    with Store.open(place) as opened:
        yield opened
