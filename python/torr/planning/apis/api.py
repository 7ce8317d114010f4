"""What torr knows of an API of language models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from torr.model.check import Capture
    from torr.model.request import Header
    from torr.model.stream import EventDialect
    from torr.options.stream import StreamOptions


def bearer(key: str) -> Header:
    """Return the header that most APIs read their key from."""
    return "authorization", f"Bearer {key}"


@dataclass(frozen=True, slots=True)
class ModelApi:
    """An API: its name in `--chat`, its usual path, and the dialect of its streams.

    `write` returns the body of the request of a turn, a template in JSON, and the values to capture
    from its response. `headers` are those that the API needs besides its key.
    """

    name: str
    path: str
    dialect: EventDialect
    write: Callable[[int, StreamOptions], tuple[str, tuple[Capture, ...]]]
    headers: tuple[Header, ...] = ()
    key_header: Callable[[str], Header] = bearer
