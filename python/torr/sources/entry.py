"""One request of a file, as far as the file says it: flags say the rest."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.errors import FileError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from torr.model.check import BodyCheck, Capture, JsonCheck, Spans
    from torr.model.request import Header
    from torr.model.stream import Stream


@dataclass(frozen=True, slots=True)
class Entry:
    """A request of a file; None and empty values are those that the file does not say.

    `is_json` when the body was written as JSON, so that what fills its texts is to be quoted.
    """

    path: Path
    line: int
    url: str
    method: str = "GET"
    headers: tuple[Header, ...] = ()
    body: bytes | None = None
    name: str = ""
    weight: int | None = None
    timeout_ns: int | None = None
    accept_statuses: Spans | None = None
    expect_body: tuple[BodyCheck, ...] = ()
    expect_json: tuple[JsonCheck, ...] = ()
    captures: tuple[Capture, ...] = ()
    stream: Stream | None = None
    is_json: bool = False


@contextmanager
def at(path: Path, line: int) -> Iterator[None]:
    """Name file and line in what is refused inside."""
    try:
        yield
    except FileError:
        raise
    except UsageError as error:
        raise FileError(path, line, error.message, error.hint) from error
