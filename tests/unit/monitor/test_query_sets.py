"""The sets of queries that come with torr."""

import pytest

from torr.errors import UsageError
from torr.monitor.query_sets import FOLDER, SETS, queries_in


def test_each_file_is_a_set():
    assert sorted(path.stem for path in FOLDER.glob("*.toml")) == sorted(SETS)


def test_sets_are_put_together_and_names_are_not_shared():
    every = queries_in(SETS)
    assert len(every) == sum(len(queries_in((name,))) for name in SETS)
    assert "container_cpu_percent" in every


def test_a_set_that_is_not_there_is_refused():
    with pytest.raises(UsageError, match="no set of queries 'mysql'"):
        queries_in(("mysql",))
