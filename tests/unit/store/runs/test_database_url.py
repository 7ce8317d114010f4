"""Which store an environment names."""

from pathlib import Path

import pytest

from torr.errors import StoreError
from torr.store.runs.database_url import DatabaseUrl

SHOWN = "postgresql+psycopg://db/kept"

NAMED = {
    "data directory": ({"XDG_DATA_HOME": "/data"}, "/data/torr/runs.db"),
    "relative one": ({"XDG_DATA_HOME": "data"}, str(Path.home() / ".local/share/torr/runs.db")),
    "none said": ({}, str(Path.home() / ".local/share/torr/runs.db")),
    "a file": ({"TORR_STORE": "sqlite:////tmp/x.db"}, "/tmp/x.db"),
    "a file here": ({"TORR_STORE": "sqlite:///x.db"}, "x.db"),
    "PostgreSQL": (
        {"TORR_STORE": "postgresql+psycopg://ann:pw@db:5432/kept?sslmode=require"},
        "postgresql+psycopg://db:5432/kept",
    ),
    "a password with a slash": ({"TORR_STORE": "postgresql://ann:pw/pw@db/kept"}, SHOWN),
    "one with a question mark": ({"TORR_STORE": "postgresql://ann:pw?pw@db/kept?a=b"}, SHOWN),
    "one with a hash": ({"TORR_STORE": "postgresql://ann:pw#pw@db/kept"}, SHOWN),
    "one with two at signs": ({"TORR_STORE": "postgresql://ann:p@pw@db/kept"}, SHOWN),
    "one in the query": ({"TORR_STORE": "postgresql://db/kept?password=x@pw"}, SHOWN),
    "a file with a space": ({"TORR_STORE": "sqlite:////tmp/a%20b.db"}, "/tmp/a b.db"),
    "a folder with a sign": ({"XDG_DATA_HOME": "/a%20b?c"}, "/a%20b?c/torr/runs.db"),
    "as libpq has it": ({"TORR_STORE": "postgres://db/kept"}, "postgresql+psycopg://db/kept"),
}

REFUSED = ["mysql://db/kept", "runs.db", "sqlite://", "sqlite:///", "sqlite:///:memory:", "://"]


@pytest.mark.parametrize("name", NAMED)
def test_a_place_is_named_without_its_password(name):
    environment, shown = NAMED[name]
    place = DatabaseUrl.of(environment)
    assert str(place) == shown
    assert "pw" not in repr(place)


@pytest.mark.parametrize("url", REFUSED)
def test_what_is_no_database_of_torr_s_is_refused_with_an_example(url):
    with pytest.raises(StoreError) as refused:
        DatabaseUrl.of({"TORR_STORE": url})
    assert "TORR_STORE=sqlite:////path/runs.db" in refused.value.hint


def test_runs_may_be_kept_nowhere():
    assert DatabaseUrl.of({"TORR_STORE": "none"}) is None
