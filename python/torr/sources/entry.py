"""A request of a file; flags complete it."""

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
    """A request of a file; values that the file does not have are None or empty.

    With `is_json` the body was written as JSON, and values of its templates have to be quoted.
    `grpc` is the method that a call of gRPC is of; its body has messages as JSON.
    Without `has_method` the method is the one that HTTP would use, which messages do not have.
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
    grpc: str | None = None
    has_method: bool = True


@contextmanager
def errors_at(path: Path, line: int) -> Iterator[None]:
    """Turn a UsageError raised inside into a FileError with the file and the line."""
    try:
        yield
    except FileError:
        raise
    except UsageError as error:
        raise FileError(path, line, error.message, error.hint) from error
