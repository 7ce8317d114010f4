"""Find the address of the store: TORR_STORE, or a SQLite file in the user's data directory.

The text of an address has no password. Nothing is opened.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from torr.errors import StoreError
from torr.messages.say import say

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import Self

VARIABLE = "TORR_STORE"
NOWHERE = "none"
HINT = say(
    "write {variable}=sqlite:////path/runs.db, postgresql+psycopg://host/database,"
    " or {nowhere} to store no runs",
    variable=VARIABLE,
    nowhere=NOWHERE,
)

_SQLITE, _POSTGRESQL = "sqlite", "postgresql+psycopg"

# As SQLAlchemy reads a URL: a password holds anything but `@`, so `/`, `?` and `#` too.
_BEHIND_USER = re.compile(r"(?:[^:/]*(?::[^@]*)?@)?([^?]*)")


@dataclass(frozen=True, slots=True)
class DatabaseUrl:
    """The URL of a database; `repr` and `str` omit its password and options."""

    url: str

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Self | None:
        """Return the database that the environment names; None if runs are not to be stored.

        Raises StoreError for an invalid or unsupported URL.
        """
        text = environment.get(VARIABLE, "").strip()
        if text == NOWHERE:
            return None
        if not text:
            return cls.of_file(_data_directory(environment) / "torr" / "runs.db")
        kind, separator, rest = text.partition("://")
        # PostgreSQL's own tools accept both schemes.
        kind = _POSTGRESQL if kind in ("postgres", "postgresql") else kind
        if kind not in (_SQLITE, _POSTGRESQL) or not separator:
            raise StoreError(
                say("{variable} names no database that torr can use", variable=VARIABLE), HINT
            )
        if kind == _SQLITE and not _is_file(rest):
            raise StoreError(
                say("{variable} names no file: a store in memory keeps nothing", variable=VARIABLE),
                HINT,
            )
        return cls(f"{kind}://{rest}")

    @classmethod
    def of_file(cls, path: Path) -> Self:
        """Return the URL of an SQLite file."""
        return cls(f"{_SQLITE}:///{quote(str(path))}")

    @property
    def is_sqlite(self) -> bool:
        """Return whether it is an SQLite file."""
        return self.url.startswith(f"{_SQLITE}:")

    @property
    def file(self) -> Path | None:
        """Return the SQLite file; None for PostgreSQL. In the URL `%20` is a space."""
        if not self.is_sqlite:
            return None
        return Path(unquote(self.url.partition(":///")[2].partition("?")[0]))

    def __str__(self) -> str:
        if self.file is not None:
            return str(self.file)
        kind, _, rest = self.url.partition("://")
        match = _BEHIND_USER.match(rest)
        # The text before a second `@` may be a part of the password.
        return f"{kind}://{'' if match is None else match[1].rpartition('@')[2]}"

    def __repr__(self) -> str:
        return f"DatabaseUrl({str(self)!r})"


def _is_file(rest: str) -> bool:
    path = rest.partition("?")[0].removeprefix("/")
    return rest.startswith("/") and path not in ("", ":memory:")


def _data_directory(environment: Mapping[str, str]) -> Path:
    """Return the user's data directory, by the XDG base directory specification."""
    folder = Path(environment.get("XDG_DATA_HOME", ""))
    # By the specification, relative paths are ignored.
    if folder.is_absolute():
        return folder
    try:
        return Path.home() / ".local" / "share"
    except RuntimeError as error:
        raise StoreError(say("there is no home directory to keep runs in"), HINT) from error
