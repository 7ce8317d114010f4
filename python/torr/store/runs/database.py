"""A database that is torr's: opened, checked, brought up to date, and its errors told in words.

    nothing in it        the tables are made, or NoStoreError where that is not wanted
    an older revision    the steps between are taken, in one transaction
    the newest           it is used as it is
    anything else        StoreError, nothing is written: a newer torr's, another program's, broken

Two that open an empty database at once wait for each other. SQLite is used with its write-ahead
log, so that readers do not wait for writers; a writer waits for another up to half a minute, and so
does whoever meets a lock of PostgreSQL. A server that falls silent is given up.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    Connection,
    Engine,
    NullPool,
    StaticPool,
    create_engine,
    event,
    insert,
    inspect,
    make_url,
    select,
    update,
)
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from torr.errors import StoreError
from torr.store.runs.database_url import HINT, VARIABLE
from torr.store.runs.schema import FIRST, HEAD, STEPS, metadata, versions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.store.runs.database_url import DatabaseUrl

LEFT = "it was left as it is"
_BUSY_S = 30
# The longest that a statement of PostgreSQL may take; results are some megabytes.
_LONGEST_S = 60
# As libpq calls it: how long a server may be silent. A store holds nobody's terminal.
_PATIENCE = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "tcp_user_timeout": 30_000,
}
# Any number, the same in every torr: whoever migrates a PostgreSQL holds it.
_LOCK = 0x746F7272
_WRITES = "torr_writes"


class NoStoreError(StoreError):
    """There is no store where one was to be read."""

    def __init__(self, place: DatabaseUrl) -> None:
        super().__init__(
            f"there is no store at {place}",
            f"see whether {VARIABLE} is right; the first run that is kept there makes the store",
        )


@dataclass(frozen=True, slots=True)
class Database:
    """An open database of the newest revision; `reading` and `writing` are transactions."""

    place: DatabaseUrl
    engine: Engine

    @classmethod
    def open(cls, place: DatabaseUrl, *, makes: bool = True) -> Database:
        """Open, check and migrate; raises StoreError that says what it found instead.

        Unless it `makes` a store it raises NoStoreError where there is none.
        """
        if not makes and place.file is not None and not place.file.exists():
            raise NoStoreError(place)
        database = cls(place, _engine(place))
        with database.reading() as connection:
            found = _revision(connection, place)
        if found is None and not makes:
            database.engine.dispose()
            raise NoStoreError(place)
        if found != HEAD:
            with database.writing() as connection:
                _migrate(connection, place)
        if place.is_sqlite:
            database._keep_a_log()
        return database

    @classmethod
    def empty(cls, place: DatabaseUrl) -> Database:
        """Return an empty database in memory, for a place where nothing is."""
        engine = _with_transactions(create_engine("sqlite://", poolclass=StaticPool))
        database = cls(place, engine)
        with database.writing() as connection:
            _migrate(connection, place)
        return database

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that only reads."""
        with self._translated(), self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that writes: whole, or not at all."""
        with (
            self._translated(),
            self.engine.connect().execution_options(**{_WRITES: True}) as connection,
            connection.begin(),
        ):
            yield connection

    def _keep_a_log(self) -> None:
        # While another torr makes the same change it fails, and that other makes it.
        with (
            suppress(sqlite3.OperationalError),
            closing(self.engine.raw_connection()) as connection,
        ):
            connection.cursor().execute("PRAGMA journal_mode=WAL")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            raise StoreError(_said(self.place, error), HINT) from error
        except SQLAlchemyError as error:
            said = str(error).partition("\n")[0]
            raise StoreError(f"the store {self.place} cannot be used: {said}", HINT) from error


def import_driver(place: DatabaseUrl) -> None:
    """Import the driver of a place's database; opens nothing."""
    make_url(place.url).get_dialect().import_dbapi()


def _engine(place: DatabaseUrl) -> Engine:
    if not place.is_sqlite and find_spec("psycopg") is None:
        raise StoreError(
            f"the store {place} needs psycopg, which is not installed",
            "pip install 'torr[postgresql]'",
        )
    try:
        if place.file is not None:
            place.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            # Not every SQLAlchemy reads `%20` in a path as a space: told what it is, all do.
            url = make_url(place.url).set(database=str(place.file))
            engine = create_engine(url, poolclass=NullPool, connect_args={"timeout": _BUSY_S})
        else:
            asked = make_url(place.url).query
            patience = {key: value for key, value in _PATIENCE.items() if key not in asked}
            engine = create_engine(place.url, poolclass=NullPool, connect_args=patience)
    except (ArgumentError, ValueError) as error:
        raise StoreError(f"the store's address cannot be read: {place}", HINT) from error
    except OSError as error:
        raise StoreError(
            f"the store {place} cannot be made: {error.strerror or error}", HINT
        ) from error
    if place.is_sqlite:
        return _with_transactions(engine)
    event.listen(engine, "begin", _limit)
    return engine


def _with_transactions(engine: Engine) -> Engine:
    """Have SQLite's transactions begin when torr says so."""
    event.listen(engine, "connect", _take_over)
    event.listen(engine, "begin", _begin)
    return engine


def _take_over(connection: Any, _record: object) -> None:  # noqa: ANN401 - of the driver
    """Begin transactions ourselves: Python's module would begin some of them too late."""
    connection.isolation_level = None
    connection.execute("PRAGMA foreign_keys=ON")


def _begin(connection: Connection) -> None:
    """A writer takes the lock at once: one that reads first could not always get it later."""
    is_writing = connection.get_execution_options().get(_WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if is_writing else "BEGIN")


def _limit(connection: Connection) -> None:
    """Have a transaction of PostgreSQL wait no longer than it may.

    Not among the options of a connection, which poolers such as PgBouncer refuse.
    """
    limits = {"lock_timeout": _BUSY_S, "statement_timeout": _LONGEST_S}
    each = ", ".join(f"set_config('{name}', '{s}s', true)" for name, s in limits.items())
    connection.exec_driver_sql(f"SELECT {each}")


def _revision(connection: Connection, place: DatabaseUrl) -> str | None:
    """The revision of a database; None of an empty one."""
    tables = inspect(connection).get_table_names()
    if versions.name not in tables:
        if tables:
            others = ", ".join(sorted(tables)[:3])
            raise StoreError(
                f"{place} is no store of torr: it holds {others}; {LEFT}",
                "name an empty database, or one that torr made",
            )
        return None
    found = connection.execute(select(versions)).scalars().all()
    if len(found) != 1:
        raise StoreError(f"the store {place} is broken: it does not say its version; {LEFT}", HINT)
    revision = str(found[0])
    if revision not in {FIRST, *STEPS}:
        raise StoreError(
            f"the store {place} was made by a newer torr (its schema is {revision}, this torr"
            f" knows {HEAD}); {LEFT}",
            "update torr, or name another store with TORR_STORE",
        )
    return revision


def _migrate(connection: Connection, place: DatabaseUrl) -> None:
    """Make the tables or take the steps that are missing, unless another torr has done so."""
    if not place.is_sqlite:
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
        # A migration takes as long as it takes.
        connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
    found = _revision(connection, place)
    if found is None:
        metadata.create_all(connection, checkfirst=False)
        connection.execute(insert(versions).values(version_num=HEAD))
        return
    for statement in (each for step in STEPS if step > found for each in STEPS[step]):
        connection.exec_driver_sql(statement)
    connection.execute(update(versions).values(version_num=HEAD))


def _said(place: DatabaseUrl, error: DBAPIError) -> str:
    """What a database's own error means."""
    text = str(error.orig).strip().partition("\n")[0]
    if "statement timeout" in text:
        return f"the store {place} took longer than {_LONGEST_S} s over one statement"
    if "locked" in text or "lock timeout" in text:
        return f"the store {place} is held by another program for more than {_BUSY_S} s"
    if "not a database" in text or "malformed" in text:
        return f"{place} is no store of torr, or it is broken ({text}); {LEFT}"
    return f"the store {place} cannot be used: {text}"
