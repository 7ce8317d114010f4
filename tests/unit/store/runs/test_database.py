"""A database is made, brought up to date, or refused and left alone."""

import sqlite3
from contextlib import contextmanager

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from stored_runs import text
from torr.errors import StoreError
from torr.store.runs.database import Database
from torr.store.runs.database_url import DatabaseUrl
from torr.store.runs.schema import HEAD, STEPS, metadata
from torr.store.runs.store import Store

# What alembic made of revision 0001, in versions of torr that used it.
SQLITE = {"id": "INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT", "bytes": "BLOB"}
POSTGRESQL = {"id": "SERIAL NOT NULL PRIMARY KEY", "bytes": "BYTEA"}
REVISION_1 = """
CREATE TABLE torr_schema (
  version_num VARCHAR(32) NOT NULL, CONSTRAINT torr_schema_pkc PRIMARY KEY (version_num));
CREATE TABLE runs (
  id {id}, uid VARCHAR(32) NOT NULL, name TEXT NOT NULL, kind VARCHAR(16) NOT NULL,
  status VARCHAR(16) NOT NULL, started_ms BIGINT NOT NULL, ended_ms BIGINT,
  git_commit VARCHAR(64), host TEXT, directory TEXT, note TEXT, concurrency INTEGER,
  rounds INTEGER, ok_per_s FLOAT, p95_ms FLOAT, success_rate FLOAT, health VARCHAR(32),
  UNIQUE (uid));
CREATE INDEX ix_runs_name ON runs (name);
CREATE INDEX ix_runs_started_ms ON runs (started_ms);
CREATE TABLE results (
  run_id INTEGER NOT NULL, json_zlib {bytes} NOT NULL, PRIMARY KEY (run_id),
  FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE);
CREATE TABLE tags (
  run_id INTEGER NOT NULL, tag VARCHAR(100) NOT NULL, PRIMARY KEY (run_id, tag),
  FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE);
CREATE INDEX ix_tags_tag ON tags (tag);
INSERT INTO torr_schema (version_num) VALUES ('0001')
"""


@contextmanager
def past_all_checks(place):
    """A connection of the test's own."""
    engine = sa.create_engine(place.url, poolclass=sa.NullPool)
    with engine.begin() as connection:
        yield connection
    engine.dispose()


def write(place, *statements):
    with past_all_checks(place) as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


def content(place):
    """Every table with its rows."""
    tables = sa.MetaData()
    with past_all_checks(place) as connection:
        tables.reflect(connection)
        return {t.name: list(connection.execute(sa.select(t))) for t in tables.sorted_tables}


def made_by_alembic(place):
    """Make a store of revision 0001 as it was made once."""
    text = REVISION_1.format(**(SQLITE if place.is_sqlite else POSTGRESQL))
    write(place, *text.split(";"))


def shape(place):
    """Tables, columns, keys and indexes of a database, without names that it gave itself."""
    with past_all_checks(place) as connection:
        found = sa.inspect(connection)
        return {
            table: (
                [(c["name"], str(c["type"]), c["nullable"]) for c in found.get_columns(table)],
                found.get_pk_constraint(table),
                found.get_foreign_keys(table),
                [each["column_names"] for each in found.get_unique_constraints(table)],
                sorted(str(index) for index in found.get_indexes(table)),
            )
            for table in found.get_table_names()
        }


def test_an_empty_database_that_is_to_be_read_stays_empty(place):
    write(place)
    with pytest.raises(StoreError, match="there is no store at"):
        Database.open(place, create=False)
    assert content(place) == {}


def test_a_new_file_is_private_and_that_of_an_older_store_keeps_its_mode(tmp_path):
    new, old = tmp_path / "new.db", tmp_path / "old.db"
    old.touch()
    old.chmod(0o644)
    for file in (new, old):
        Database.open(DatabaseUrl(f"sqlite:///{file}"))
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert modes["old.db"] == 0o644
    assert {mode for name, mode in modes.items() if name.startswith("new.db")} == {0o600}


def test_an_empty_database_gets_the_tables_of_the_schema(place):
    Database.open(place)
    assert set(content(place)) == set(metadata.tables)
    assert content(place)["torr_schema"] == [(HEAD,)]


def test_a_store_of_the_first_revision_becomes_what_an_empty_database_becomes(
    place, tmp_path, request
):
    made_by_alembic(place)
    with Store.open(place) as store:
        assert store.find() == []
        run_id = store.register(text())
    with Store.open(place) as store:
        assert store.result(run_id).name == "api"
    if place.is_sqlite:
        new = DatabaseUrl(f"sqlite:///{tmp_path}/new.db")
    else:
        new = DatabaseUrl(request.getfixturevalue("databases").make())
    Database.open(new)
    assert shape(place) == shape(new)
    assert content(place)["torr_schema"] == [(HEAD,)]


def test_a_step_that_fails_leaves_the_store_as_it_was(place, monkeypatch):
    made_by_alembic(place)
    before = shape(place)
    monkeypatch.setitem(STEPS, "0004", ("CREATE TABLE more (id INTEGER)", "no statement"))
    with pytest.raises(StoreError, match="cannot be used: "):
        Store.open(place)
    assert shape(place) == before
    assert content(place)["torr_schema"] == [("0001",)]


def test_runs_of_an_older_store_say_where_they_are_bounds(place):
    known = ("uid", "name", "kind", "status", "started_ms", "ok_per_s", "health")
    runs = sa.table("runs", *map(sa.column, known))
    rows = [("a", 10.0, "contended"), ("b", 10.0, "healthy"), ("c", None, "contended")]
    made_by_alembic(place)
    with past_all_checks(place) as connection:
        for uid, speed, health in rows:
            row = (uid, uid, "run", "complete", 0, speed, health)
            connection.execute(runs.insert().values(dict(zip(known, row, strict=True))))
    with Store.open(place) as store:
        assert {run.uid: run.at_least for run in store.find()} == {"a": 1, "b": 0, "c": None}


def test_a_newer_store_is_refused_and_left_alone(place):
    with Store.open(place) as store:
        store.register(text())
    write(place, "UPDATE torr_schema SET version_num = '0999'")
    before = content(place)
    with pytest.raises(StoreError) as refused:
        Store.open(place)
    assert "a newer torr made the store" in refused.value.message
    assert "torr did not change it" in refused.value.message
    assert "update torr" in refused.value.hint
    assert content(place) == before


def test_another_program_s_database_is_refused_and_left_alone(place):
    write(place, "CREATE TABLE cookies (name TEXT)", "INSERT INTO cookies VALUES ('c')")
    with pytest.raises(StoreError, match="is not a store of torr: it has cookies; torr did not"):
        Store.open(place)
    assert content(place) == {"cookies": [("c",)]}


def test_a_store_that_does_not_say_its_version_is_refused(place):
    Database.open(place)
    write(place, "DELETE FROM torr_schema")
    with pytest.raises(StoreError, match="it has no version"):
        Store.open(place)


def test_a_store_that_lost_a_table_is_said_to_be_unusable(place):
    Database.open(place)
    write(place, "DROP TABLE tags")
    with Store.open(place) as store, pytest.raises(StoreError, match=r"cannot be used: .*tags"):
        store.register(text(tags=["t"]))
    assert content(place)["runs"] == []


@pytest.mark.parametrize(
    "content", [b"not a database at all" * 100, b"SQLite format 3\0" + b"\7" * 5000]
)
def test_a_broken_file_is_refused_and_left_alone(tmp_path, content):
    path = tmp_path / "runs.db"
    path.write_bytes(content)
    with pytest.raises(StoreError, match="not a store of torr, or it is broken"):
        Store.open(DatabaseUrl(f"sqlite:///{path}"))
    assert path.read_bytes() == content


def test_another_program_s_file_is_not_touched_by_a_byte(tmp_path):
    path = tmp_path / "places.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE places (url TEXT)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="it has places"):
        Store.open(DatabaseUrl(f"sqlite:///{path}"))
    assert path.read_bytes() == before


def test_readers_of_sqlite_do_not_wait_for_a_writer(tmp_path):
    place = DatabaseUrl(f"sqlite:///{tmp_path}/runs.db")
    with Store.open(place) as store:
        run_id = store.register(text())
        with Database.open(place).writing() as connection:
            connection.execute(sa.text("UPDATE runs SET note = 'half'"))
            assert store.run(run_id).note is None


def test_a_store_that_another_program_holds_is_not_waited_for_without_end(place, monkeypatch):
    holder = Database.open(place)
    monkeypatch.setattr("torr.store.runs.database._BUSY_S", 1)
    with holder.writing() as connection:
        if not place.is_sqlite:
            connection.exec_driver_sql("LOCK TABLE runs")
        with (
            Store.open(place) as store,
            pytest.raises(
                StoreError, match=r"another program has locked the store .* for more than 1 s"
            ),
        ):
            store.register(text())


def test_a_statement_that_takes_too_long_is_given_up(databases, monkeypatch):
    place = DatabaseUrl(databases.make())
    monkeypatch.setattr("torr.store.runs.database._STATEMENT_S", 1)
    with (
        Database.open(place).reading() as connection,
        pytest.raises(DBAPIError, match="statement timeout"),
    ):
        connection.exec_driver_sql("SELECT pg_sleep(60)")


@pytest.mark.parametrize("folder", ["a%20b", "a b", "a?b"])
def test_a_folder_of_any_name_holds_the_store_itself(tmp_path, folder):
    place = DatabaseUrl.of({"XDG_DATA_HOME": str(tmp_path / folder)})
    with Store.open(place) as store:
        store.register(text())
    assert [path.name for path in tmp_path.iterdir()] == [folder]
    assert (tmp_path / folder / "torr" / "runs.db").is_file()


def test_a_folder_that_cannot_be_made_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"runs\.db cannot be made: "):
        Store.open(DatabaseUrl(f"sqlite:///{tmp_path}/file/runs.db"))


def test_a_server_that_is_not_there_is_said_without_its_password():
    place = DatabaseUrl("postgresql+psycopg://ann:s3cret@127.0.0.1:9/kept?password=s3cret2")
    with pytest.raises(StoreError) as refused:
        Store.open(place)
    assert "postgresql+psycopg://127.0.0.1:9/kept cannot be used: " in str(refused.value)
    assert "s3cret" not in str(refused.value)


def test_without_psycopg_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setattr("torr.store.runs.database.find_spec", lambda _name: None)
    with pytest.raises(StoreError) as refused:
        Store.open(DatabaseUrl("postgresql+psycopg://127.0.0.1/kept"))
    assert refused.value.hint == "pip install 'torr[postgresql]'"
