"""The store: runs go in whole, are found by what is known of them, and come out whole.

Each call is one transaction. Notes and tags may change after a run; nothing else of it does.
"""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
from sqlalchemy import delete, exists, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from torr.errors import ResultError, StoreError
from torr.model.outside import printable
from torr.model.outside_file import MOST_RESULT_BYTES, unpacked
from torr.model.secrets import whole
from torr.results.result import decoded
from torr.store.runs.database import Database, NoStoreError
from torr.store.runs.database_url import HINT, VARIABLE, DatabaseUrl
from torr.store.runs.schema import results, runs, tags
from torr.store.runs.stored_run import StoredRun, columns_of, milliseconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime
    from pathlib import Path

    from sqlalchemy import Connection, Select, Table
    from typing_extensions import Self

    from torr.model.json import JsonObject
    from torr.results.result import RunResult


@dataclass(frozen=True, slots=True)
class Filter:
    """Which runs are meant: those for which all that is given holds.

    `tags` must all be there, `commit` is the beginning of one, `since` the earliest start.
    """

    name: str | None = None
    tags: tuple[str, ...] = ()
    commit: str | None = None
    since: datetime | None = None
    kinds: tuple[str, ...] = ()

    def of(self, query: Select[Any]) -> Select[Any]:
        """Return a query of runs narrowed down to those."""
        if self.name is not None:
            query = query.where(runs.c.name == self.name)
        if self.commit is not None:
            # As git writes hashes: whether LIKE minds the case depends on the database.
            start = self.commit.lower()
            query = query.where(runs.c.git_commit.startswith(start, autoescape=True))
        if self.since is not None:
            query = query.where(runs.c.started_ms >= milliseconds(self.since))
        if self.kinds:
            query = query.where(runs.c.kind.in_(self.kinds))
        for tag in self.tags:
            query = query.where(exists().where(tags.c.run_id == runs.c.id, tags.c.tag == tag))
        return query


ALL = Filter()


class Store:
    """All kept runs of one place; a context that closes it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def open(cls, place: DatabaseUrl, *, makes: bool = True) -> Self:
        """Open a place, bringing up to date what is there; raises StoreError.

        Where nothing is a store is made, or NoStoreError raised.
        """
        return cls(Database.open(place, makes=makes))

    @classmethod
    def empty(cls, place: DatabaseUrl) -> Self:
        """Return a store without runs, which is not on the disk."""
        return cls(Database.empty(place))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._database.engine.dispose()

    @property
    def place(self) -> DatabaseUrl:
        """Where it is; as text without its password."""
        return self._database.place

    def count(self) -> int:
        """Return how many runs there are."""
        with self._database.reading() as connection:
            return connection.execute(select(func.count()).select_from(runs)).scalar_one()

    def register(
        self, text: bytes, directory: Path | None = None, *, may_replace: bool = True
    ) -> int:
        """Keep a result.json, given as its text; its id.

        A run that is kept already, and went on, is replaced; its note and tags stay as they are
        now, given or taken away since. Raises ResultError where it is no result of this torr, or
        where another one is kept under its id that it may not replace.
        """
        result = decoded(text, "this")
        columns = columns_of(result, None if directory is None else whole(str(directory)))
        content = {"json_zlib": zlib.compress(text)}
        with self._database.writing() as connection:
            known = select(runs.c.id).where(runs.c.uid == columns["uid"]).with_for_update()
            run_id = connection.execute(known).scalar_one_or_none()
            if run_id is None:
                run_id = _new(connection, columns)
                if run_id is not None:
                    connection.execute(insert(results).values(run_id=run_id, **content))
                    _add_tags(connection, run_id, result.tags)
                    return run_id
                # Another torr has registered it since.
                run_id = connection.execute(known).scalar_one()
            if not may_replace:
                _refuse_another(connection, run_id, result)
            del columns["note"]
            connection.execute(update(runs).where(runs.c.id == run_id).values(**columns))
            connection.execute(update(results).where(results.c.run_id == run_id).values(**content))
        return int(run_id)

    def find(self, wanted: Filter = ALL, most: int | None = None) -> list[StoredRun]:
        """Return the runs that are meant, the newest first, at most so many."""
        query = wanted.of(select(runs)).order_by(runs.c.started_ms.desc(), runs.c.id.desc())
        with self._database.reading() as connection:
            return _kept(connection, query if most is None else query.limit(most))

    def names(self) -> list[str]:
        """Return what runs are called, each name once."""
        with self._database.reading() as connection:
            return sorted(connection.execute(select(runs.c.name).distinct()).scalars())

    def tags(self) -> list[str]:
        """Return the tags that any run has."""
        with self._database.reading() as connection:
            found = connection.execute(select(tags.c.tag).distinct()).scalars()
            return sorted(map(printable, found))

    def run(self, run_id: int) -> StoredRun:
        """Return what is known of a run; raises StoreError when there is none of this id."""
        with self._database.reading() as connection:
            return self._one(connection, run_id)

    def result(self, run_id: int) -> RunResult:
        """Return a run's result, with its note and tags as they are now.

        Raises ResultError where this torr cannot read it.
        """
        with self._database.reading() as connection:
            kept = self._one(connection, run_id)
            query = select(results.c.json_zlib).where(results.c.run_id == run_id)
            packed = connection.execute(query).scalar_one_or_none()
        if packed is None:
            raise StoreError(f"run {run_id} has no result: {self._database.place} is broken", HINT)
        try:
            text = unpacked(packed, MOST_RESULT_BYTES)
        except zlib.error as error:
            raise ResultError(
                f"run {run_id} is broken in {self._database.place}",
                "torr runs import its directory, if that is still there",
            ) from error
        result = decoded(text, f"run {run_id}")
        return msgspec.structs.replace(result, note=kept.note, tags=list(kept.tags))

    def remove(self, run_ids: Sequence[int]) -> list[StoredRun]:
        """Remove runs, all or none; what they were. Their files stay."""
        with self._database.writing() as connection:
            gone = [self._one(connection, run_id) for run_id in dict.fromkeys(run_ids)]
            for table, column in ((tags, tags.c.run_id), (results, results.c.run_id)):
                connection.execute(delete(table).where(column.in_(run_ids)))
            connection.execute(delete(runs).where(runs.c.id.in_(run_ids)))
        return gone

    def annotate(
        self,
        run_id: int,
        *,
        add: Iterable[str] = (),
        remove: Iterable[str] = (),
        note: str | None = None,
    ) -> StoredRun:
        """Give a run tags, take some away, write its note; what it is then.

        A note of None leaves it, an empty one takes it away.
        """
        with self._database.writing() as connection:
            self._one(connection, run_id)
            gone = tags.c.tag.in_(list(remove))
            connection.execute(delete(tags).where(tags.c.run_id == run_id, gone))
            _add_tags(connection, run_id, add)
            if note is not None:
                query = update(runs).where(runs.c.id == run_id).values(note=note or None)
                connection.execute(query)
            return self._one(connection, run_id)

    def _one(self, connection: Connection, run_id: int) -> StoredRun:
        found = _kept(connection, select(runs).where(runs.c.id == run_id))
        if not found:
            raise StoreError(
                f"there is no kept run {run_id} in {self._database.place}",
                "`torr runs list` has the ids",
            )
        return found[0]


def open_store(*, makes: bool = False) -> Store:
    """Open the store that the environment names; raises StoreError where it says none.

    Unless it `makes` one, nothing is written where none is: then NoStoreError is raised if the
    environment names the place, since that may be mistyped, and else no run has been kept yet.
    """
    place = DatabaseUrl.of(os.environ)
    if place is None:
        raise StoreError(f"{VARIABLE} says that no runs are kept", HINT)
    try:
        return Store.open(place, makes=makes)
    except NoStoreError:
        if os.environ.get(VARIABLE, "").strip():
            raise
        return Store.empty(place)


def _kept(connection: Connection, query: Select[Any]) -> list[StoredRun]:
    rows = connection.execute(query).mappings().all()
    named = select(tags).where(tags.c.run_id.in_([row["id"] for row in rows])).order_by(tags.c.tag)
    found: dict[int, list[str]] = {}
    for run_id, tag in connection.execute(named):
        found.setdefault(run_id, []).append(tag)
    # Read within Python: databases differ in how they order text.
    return [StoredRun.of(dict(row), tuple(sorted(found.get(row["id"], ())))) for row in rows]


def _refuse_another(connection: Connection, run_id: int, result: RunResult) -> None:
    """Raise ResultError where another result is kept as a run; one that is broken is none.

    Notes and tags are no part of it: they are changed in the store.
    """
    query = select(results.c.json_zlib).where(results.c.run_id == run_id)
    packed = connection.execute(query).scalar_one_or_none()
    try:
        kept = decoded(unpacked(packed or b"", MOST_RESULT_BYTES), f"run {run_id}")
    except (zlib.error, ResultError):
        return
    if msgspec.structs.replace(kept, note=result.note, tags=result.tags) != result:
        raise ResultError(
            f"this is kept as run {run_id}, with another content",
            "--replace puts it in the place of what is kept",
        )


def _new(connection: Connection, columns: JsonObject) -> int | None:
    """Make a run; its id, None where there is one of its uid."""
    made = _insert(connection, runs).values(**columns).on_conflict_do_nothing()
    found: int | None = connection.execute(made.returning(runs.c.id)).scalar_one_or_none()
    return found


def _add_tags(connection: Connection, run_id: int, names: Iterable[str]) -> None:
    new = [{"run_id": run_id, "tag": name} for name in dict.fromkeys(names)]
    if new:
        connection.execute(_insert(connection, tags).on_conflict_do_nothing(), new)


def _insert(connection: Connection, table: Table) -> postgresql.Insert | sqlite.Insert:
    """What SQL says alike in both databases, and SQLAlchemy for each by itself."""
    is_sqlite = connection.dialect.name == "sqlite"
    return sqlite.insert(table) if is_sqlite else postgresql.insert(table)
