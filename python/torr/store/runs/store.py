"""The store: register, find, read, annotate and remove runs.

Each call is one transaction. Only notes and tags of a run can change.
"""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from sqlalchemy import delete, exists, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from torr.errors import ResultError, StoreError
from torr.messages.say import say
from torr.model.outside_file import MOST_RESULT_BYTES, unpacked
from torr.model.printable import printable
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

Change = Literal["new", "unchanged", "replaced"]
"""What storing a result changed in the store."""


@dataclass(frozen=True, slots=True)
class Filter:
    """The conditions that runs must satisfy.

    All `tags` must be present, `commit` is the start of a hash, `since` the earliest start.
    """

    name: str | None = None
    tags: tuple[str, ...] = ()
    commit: str | None = None
    since: datetime | None = None
    kinds: tuple[str, ...] = ()

    def apply(self, query: Select[Any]) -> Select[Any]:
        """Return a query with these conditions."""
        if self.name is not None:
            query = query.where(runs.c.name == self.name)
        if self.commit is not None:
            # In lower case as git writes hashes: case in LIKE depends on the database.
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
    """The stored runs of a database, as a context that closes it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def open(cls, url: DatabaseUrl, *, create: bool = True) -> Self:
        """Open a database and migrate it if necessary; raise StoreError on failure.

        If there is none, it is created, or NoStoreError is raised.
        """
        return cls(Database.open(url, create=create))

    @classmethod
    def empty(cls, url: DatabaseUrl) -> Self:
        """Return a store without runs, in memory."""
        return cls(Database.empty(url))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._database.engine.dispose()

    @property
    def url(self) -> DatabaseUrl:
        """Return the URL of the database."""
        return self._database.url

    def count(self) -> int:
        """Return the number of runs."""
        with self._database.reading() as connection:
            return connection.execute(select(func.count()).select_from(runs)).scalar_one()

    def register(
        self,
        text: bytes,
        directory: Path | None = None,
        *,
        may_replace: bool = True,
        result: RunResult | None = None,
    ) -> int:
        """Store the content of a result.json and return its id, as `add` does."""
        return self.add(text, directory, may_replace=may_replace, result=result)[0]

    def add(
        self,
        text: bytes,
        directory: Path | None = None,
        *,
        may_replace: bool = True,
        result: RunResult | None = None,
    ) -> tuple[int, Change]:
        """Store the content of a result.json; return its id, and what changed in the store.

        `result` is the decoded content, where it is known.

        A run that is stored already, and was resumed, is replaced, without its note and tags, which
        may have changed since. Raises ResultError if the content is not a result that this torr
        reads, or if it may not replace a different result of the same id.
        """
        result = decoded(text, "this") if result is None else result
        columns = columns_of(result, None if directory is None else whole(str(directory)))
        content = {"json_zlib": zlib.compress(text)}
        with self._database.writing() as connection:
            known = select(runs.c.id).where(runs.c.uid == columns["uid"]).with_for_update()
            run_id = connection.execute(known).scalar_one_or_none()
            if run_id is None:
                run_id = _insert_run(connection, columns)
                if run_id is not None:
                    connection.execute(insert(results).values(run_id=run_id, **content))
                    _add_tags(connection, run_id, result.tags)
                    return run_id, "new"
                # Another torr has registered it in the meantime.
                run_id = connection.execute(known).scalar_one()
            is_another = _is_another(connection, run_id, result)
            if is_another and not may_replace:
                raise ResultError(
                    say(
                        "it is already stored as run {run_id}, with different content",
                        run_id=run_id,
                    ),
                    say("add --replace to replace the stored copy"),
                )
            del columns["note"]
            connection.execute(update(runs).where(runs.c.id == run_id).values(**columns))
            connection.execute(update(results).where(results.c.run_id == run_id).values(**content))
        return int(run_id), "unchanged" if is_another is False else "replaced"

    def find(self, filter_: Filter = ALL, most: int | None = None) -> list[StoredRun]:
        """Return the runs that satisfy a filter, newest first, at most `most`."""
        query = filter_.apply(select(runs)).order_by(runs.c.started_ms.desc(), runs.c.id.desc())
        with self._database.reading() as connection:
            return _stored_runs(connection, query if most is None else query.limit(most))

    def names(self) -> list[str]:
        """Return the names of runs, sorted."""
        with self._database.reading() as connection:
            return sorted(connection.execute(select(runs.c.name).distinct()).scalars())

    def tags(self) -> list[str]:
        """Return the tags of runs, sorted."""
        with self._database.reading() as connection:
            names = connection.execute(select(tags.c.tag).distinct()).scalars()
            return sorted(map(printable, names))

    def run(self, run_id: int) -> StoredRun:
        """Return a run without its result; raise StoreError if there is none with this id."""
        with self._database.reading() as connection:
            return self._stored_run(connection, run_id)

    def result(self, run_id: int) -> RunResult:
        """Return a run's result, with its current note and tags.

        Raises ResultError if this torr cannot read it.
        """
        with self._database.reading() as connection:
            run = self._stored_run(connection, run_id)
            query = select(results.c.json_zlib).where(results.c.run_id == run_id)
            packed = connection.execute(query).scalar_one_or_none()
        if packed is None:
            raise StoreError(
                say(
                    "run {run_id} has no result: {url} is broken",
                    run_id=run_id,
                    url=self._database.url,
                ),
                HINT,
            )
        try:
            text = unpacked(packed, MOST_RESULT_BYTES)
        except zlib.error as error:
            raise ResultError(
                say("run {run_id} is broken in {url}", run_id=run_id, url=self._database.url),
                "import its directory with torr runs import, if the directory still exists",
            ) from error
        result = decoded(text, f"run {run_id}")
        return msgspec.structs.replace(result, note=run.note, tags=list(run.tags))

    def remove(self, run_ids: Sequence[int]) -> list[StoredRun]:
        """Remove runs, all or none, and return them; their files are not removed."""
        with self._database.writing() as connection:
            removed = [self._stored_run(connection, run_id) for run_id in dict.fromkeys(run_ids)]
            for table, column in ((tags, tags.c.run_id), (results, results.c.run_id)):
                connection.execute(delete(table).where(column.in_(run_ids)))
            connection.execute(delete(runs).where(runs.c.id.in_(run_ids)))
        return removed

    def annotate(
        self,
        run_id: int,
        *,
        add: Iterable[str] = (),
        remove: Iterable[str] = (),
        note: str | None = None,
    ) -> StoredRun:
        """Add and remove tags, set the note, and return the changed run.

        A note of None does not change it, an empty one removes it.
        """
        with self._database.writing() as connection:
            self._stored_run(connection, run_id)
            is_removed = tags.c.tag.in_(list(remove))
            connection.execute(delete(tags).where(tags.c.run_id == run_id, is_removed))
            _add_tags(connection, run_id, add)
            if note is not None:
                query = update(runs).where(runs.c.id == run_id).values(note=note or None)
                connection.execute(query)
            return self._stored_run(connection, run_id)

    def _stored_run(self, connection: Connection, run_id: int) -> StoredRun:
        stored = _stored_runs(connection, select(runs).where(runs.c.id == run_id))
        if not stored:
            raise StoreError(
                say("there is no run {run_id} in {url}", run_id=run_id, url=self._database.url),
                say("`torr runs list` has the ids"),
            )
        return stored[0]


def open_store(*, create: bool = False) -> Store:
    """Open the store that the environment names; raise StoreError if it names `none`.

    If the database does not exist and `create` is false, it is not created. Then NoStoreError is
    raised if the environment names it, since the name may be mistyped; the default is empty.
    """
    url = DatabaseUrl.of(os.environ)
    if url is None:
        raise StoreError(say("{variable}=none: runs are not stored", variable=VARIABLE), HINT)
    try:
        return Store.open(url, create=create)
    except NoStoreError:
        if os.environ.get(VARIABLE, "").strip():
            raise
        return Store.empty(url)


def _stored_runs(connection: Connection, query: Select[Any]) -> list[StoredRun]:
    rows = connection.execute(query).mappings().all()
    names: dict[int, list[str]] = {}
    for run_id, tag in connection.execute(
        select(tags).where(tags.c.run_id.in_([row["id"] for row in rows]))
    ):
        names.setdefault(run_id, []).append(tag)
    # Sorted in Python, since databases differ in their order of text.
    return [StoredRun.of(dict(row), tuple(sorted(names.get(row["id"], ())))) for row in rows]


def _is_another(connection: Connection, run_id: int, result: RunResult) -> bool | None:
    """Return whether a run has a different result, apart from note and tags; None if broken."""
    query = select(results.c.json_zlib).where(results.c.run_id == run_id)
    packed = connection.execute(query).scalar_one_or_none()
    try:
        stored = decoded(unpacked(packed or b"", MOST_RESULT_BYTES), f"run {run_id}")
    except (zlib.error, ResultError):
        return None
    return msgspec.structs.replace(stored, note=result.note, tags=result.tags) != result


def _insert_run(connection: Connection, columns: JsonObject) -> int | None:
    """Insert a run and return its id; None if its uid exists."""
    query = _insert(connection, runs).values(**columns).on_conflict_do_nothing()
    run_id: int | None = connection.execute(query.returning(runs.c.id)).scalar_one_or_none()
    return run_id


def _add_tags(connection: Connection, run_id: int, names: Iterable[str]) -> None:
    new = [{"run_id": run_id, "tag": name} for name in dict.fromkeys(names)]
    if new:
        connection.execute(_insert(connection, tags).on_conflict_do_nothing(), new)


def _insert(connection: Connection, table: Table) -> postgresql.Insert | sqlite.Insert:
    """Return an insert statement of the database's own dialect, which can ignore conflicts."""
    is_sqlite = connection.dialect.name == "sqlite"
    return sqlite.insert(table) if is_sqlite else postgresql.insert(table)
