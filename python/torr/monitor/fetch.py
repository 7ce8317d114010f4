"""One bounded GET of somebody's numbers: short, small, and never redirected.

Raises EndpointError with what happened, whatever it was. Load is not sent this way.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.model.request import authorization

if TYPE_CHECKING:
    from torr.model.url import Url

CONNECT_S = 1.0
ANSWER_S = 2.0
"""How long an answer may take from when it is asked for, connecting included."""

MOST_BYTES = 8 * 1024 * 1024
_HEADERS = (
    ("accept", "text/plain, application/json"),
    ("accept-encoding", "identity"),
    ("connection", "close"),
)


class EndpointError(Exception):
    """An endpoint did not tell its numbers; the text says why."""


@dataclass(frozen=True, slots=True)
class Page:
    """An answer, and when it was asked for and had come, on the monotonic clock."""

    content: bytes
    asked_s: float
    came_s: float

    @property
    def at_s(self) -> float:
        """When its numbers were taken, as near as can be known."""
        return (self.asked_s + self.came_s) / 2


def fetch(url: Url, target: str | None = None) -> Page:
    """Ask for a URL, or for another target at its place; only a 200 is an answer."""
    from torr.http_client import Connection

    shown = () if url.userinfo is None else (("authorization", authorization(url.userinfo)),)
    asked_s = time.monotonic()
    try:
        with Connection(url, ANSWER_S, CONNECT_S) as connection:
            asked = url.target if target is None else target
            answer = connection.exchange(asked, (*_HEADERS, *shown), most_bytes=MOST_BYTES)
    except OSError as error:
        raise EndpointError(error.strerror or str(error)) from error
    if answer.status != 200:
        raise EndpointError(f"it answers {answer.status} {answer.reason}")
    return Page(answer.body, asked_s, time.monotonic())
