"""Open, check and migrate a database of torr, and translate its errors.

    empty                the tables are created, or NoStoreError is raised
    an older revision    the migrations are run, in one transaction
    the newest           it is used without changes
    anything else        StoreError, without a change: of a newer torr, of another program, broken

Concurrent openings of an empty database are serialized. SQLite uses its write-ahead log, so that
readers do not wait for writers. Waiting for locks and for a silent server has a time limit.
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
from torr.messages.say import say
from torr.store.atomic import PRIVATE
from torr.store.runs.database_url import HINT, VARIABLE
from torr.store.runs.schema import FIRST, HEAD, STEPS, metadata, versions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.store.runs.database_url import DatabaseUrl

LEFT = say("torr did not change it")
_BUSY_S = 30
# The time limit of a statement of PostgreSQL; results are some megabytes.
_STATEMENT_S = 60
# libpq's parameters for how long a server may be silent.
_TIMEOUTS = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "tcp_user_timeout": 30_000,
}
# An arbitrary number, the same in every torr: the advisory lock of migrations in PostgreSQL.
_LOCK = 0x746F7272
_WRITES = "torr_writes"


class NoStoreError(StoreError):
    """The store to be read does not exist."""

    def __init__(self, url: DatabaseUrl) -> None:
        super().__init__(
            say("there is no store at {url}", url=url),
            say(
                "check {variable}; the first run that is stored there creates the store",
                variable=VARIABLE,
            ),
        )


@dataclass(frozen=True, slots=True)
class Database:
    """An open database of the newest revision; `reading` and `writing` start transactions."""

    url: DatabaseUrl
    engine: Engine

    @classmethod
    def open(cls, url: DatabaseUrl, *, create: bool = True) -> Database:
        """Open, check and migrate a database; raise StoreError if it is not usable.

        If there is none and `create` is false, NoStoreError is raised.
        """
        if not create and url.file is not None and not url.file.exists():
            raise NoStoreError(url)
        database = cls(url, _engine(url))
        with database.reading() as connection:
            revision = _revision(connection, url)
        if revision is None and not create:
            database.engine.dispose()
            raise NoStoreError(url)
        if revision != HEAD:
            with database.writing() as connection:
                _migrate(connection, url)
        if url.is_sqlite:
            database._enable_wal()
        return database

    @classmethod
    def empty(cls, url: DatabaseUrl) -> Database:
        """Return an empty database in memory, for a URL where none exists."""
        engine = _with_transactions(create_engine("sqlite://", poolclass=StaticPool))
        database = cls(url, engine)
        with database.writing() as connection:
            _migrate(connection, url)
        return database

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Start a transaction that only reads."""
        with self._translate_errors(), self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Start a transaction that writes."""
        with (
            self._translate_errors(),
            self.engine.connect().execution_options(**{_WRITES: True}) as connection,
            connection.begin(),
        ):
            yield connection

    def _enable_wal(self) -> None:
        # It fails if another torr makes the same change at the same time.
        with (
            suppress(sqlite3.OperationalError),
            closing(self.engine.raw_connection()) as connection,
        ):
            connection.cursor().execute("PRAGMA journal_mode=WAL")

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            raise StoreError(_error_text(self.url, error), HINT) from error
        except SQLAlchemyError as error:
            text = str(error).partition("\n")[0]
            raise StoreError(
                say("the store {url} cannot be used: {text}", url=self.url, text=text), HINT
            ) from error


def import_driver(url: DatabaseUrl) -> None:
    """Import the driver of a database without opening it."""
    make_url(url.url).get_dialect().import_dbapi()


def _engine(url: DatabaseUrl) -> Engine:
    if not url.is_sqlite and find_spec("psycopg") is None:
        raise StoreError(
            say("the store {url} needs psycopg, which is not installed", url=url),
            "pip install 'torr[postgresql]'",
        )
    try:
        if url.file is not None:
            url.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not url.file.exists():
                url.file.touch(mode=PRIVATE)  # SQLite gives its other files the same mode
            # The path is set explicitly, since some SQLAlchemys do not decode `%20` in it.
            file_url = make_url(url.url).set(database=str(url.file))
            engine = create_engine(file_url, poolclass=NullPool, connect_args={"timeout": _BUSY_S})
        else:
            query = make_url(url.url).query
            timeouts = {key: value for key, value in _TIMEOUTS.items() if key not in query}
            engine = create_engine(url.url, poolclass=NullPool, connect_args=timeouts)
    except (ArgumentError, ValueError) as error:
        raise StoreError(say("the store's address cannot be read: {url}", url=url), HINT) from error
    except OSError as error:
        raise StoreError(
            say("the store {url} cannot be made: {error}", url=url, error=error.strerror or error),
            HINT,
        ) from error
    if url.is_sqlite:
        return _with_transactions(engine)
    event.listen(engine, "begin", _set_timeouts)
    return engine


def _with_transactions(engine: Engine) -> Engine:
    """Start SQLite's transactions explicitly."""
    event.listen(engine, "connect", _configure)
    event.listen(engine, "begin", _begin)
    return engine


def _configure(connection: Any, _record: object) -> None:  # noqa: ANN401 - of the driver
    """Disable implicit transactions: Python's module would start some of them too late."""
    connection.isolation_level = None
    connection.execute("PRAGMA foreign_keys=ON")


def _begin(connection: Connection) -> None:
    """Start a transaction; a writer locks at once, since a later upgrade of its lock may fail."""
    is_writing = connection.get_execution_options().get(_WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if is_writing else "BEGIN")


def _set_timeouts(connection: Connection) -> None:
    """Set the time limits of a transaction of PostgreSQL.

    Poolers such as PgBouncer refuse them as options of a connection.
    """
    limits = {"lock_timeout": _BUSY_S, "statement_timeout": _STATEMENT_S}
    calls = ", ".join(f"set_config('{name}', '{s}s', true)" for name, s in limits.items())
    connection.exec_driver_sql(f"SELECT {calls}")


def _revision(connection: Connection, url: DatabaseUrl) -> str | None:
    """Return the revision of a database; None if it is empty."""
    tables = inspect(connection).get_table_names()
    if versions.name not in tables:
        if tables:
            others = ", ".join(sorted(tables)[:3])
            raise StoreError(
                say(
                    "{url} is not a store of torr: it has {others}; {left}",
                    url=url,
                    others=others,
                    left=LEFT,
                ),
                say("name an empty database, or one that torr made"),
            )
        return None
    rows = connection.execute(select(versions)).scalars().all()
    if len(rows) != 1:
        raise StoreError(
            say("the store {url} is broken: it has no version; {left}", url=url, left=LEFT),
            HINT,
        )
    revision = str(rows[0])
    if revision not in {FIRST, *STEPS}:
        raise StoreError(
            say(
                "a newer torr made the store {url} (its schema is {revision}, this torr reads"
                " {head}); {left}",
                url=url,
                revision=revision,
                head=HEAD,
                left=LEFT,
            ),
            say("update torr, or name another store with TORR_STORE"),
        )
    return revision


def _migrate(connection: Connection, url: DatabaseUrl) -> None:
    """Create the tables or run the missing migrations, unless another torr has done so."""
    if not url.is_sqlite:
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
        # A migration has no time limit.
        connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
    revision = _revision(connection, url)
    if revision is None:
        metadata.create_all(connection, checkfirst=False)
        connection.execute(insert(versions).values(version_num=HEAD))
        return
    for step, statements in STEPS.items():
        for statement in statements if step > revision else ():
            connection.exec_driver_sql(statement)
    connection.execute(update(versions).values(version_num=HEAD))


def _error_text(url: DatabaseUrl, error: DBAPIError) -> str:
    """Return the message for an error of the database."""
    text = str(error.orig).strip().partition("\n")[0]
    if "statement timeout" in text:
        return say(
            "the store {url} took longer than {statement_s} s for one statement",
            url=url,
            statement_s=_STATEMENT_S,
        )
    if "locked" in text or "lock timeout" in text:
        return say(
            "another program has locked the store {url} for more than {busy_s} s",
            url=url,
            busy_s=_BUSY_S,
        )
    if "not a database" in text or "malformed" in text:
        return say(
            "{url} is not a store of torr, or it is broken ({text}); {left}",
            url=url,
            text=text,
            left=LEFT,
        )
    return say("the store {url} cannot be used: {text}", url=url, text=text)
