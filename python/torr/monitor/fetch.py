"""Fetch a monitoring endpoint with one GET, bounded in time and size, without redirects.

All failures are EndpointErrors. Load is not sent this way.
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
"""The time limit of a request, including the connection."""

MOST_BYTES = 8 * 1024 * 1024
_HEADERS = (
    ("accept", "text/plain, application/json"),
    ("accept-encoding", "identity"),
    ("connection", "close"),
)


class EndpointError(Exception):
    """An endpoint could not be read; the text has the reason."""


@dataclass(frozen=True, slots=True)
class Page:
    """A response, and the times of request and answer on the monotonic clock."""

    content: bytes
    sent_s: float
    received_s: float

    @property
    def at_s(self) -> float:
        """Return the estimated time of its numbers: the middle of the exchange."""
        return (self.sent_s + self.received_s) / 2


def fetch(url: Url, target: str | None = None) -> Page:
    """Fetch a URL, or another target of the same server; any status but 200 is an error."""
    from torr.http_client import Connection

    credentials = () if url.userinfo is None else (("authorization", authorization(url.userinfo)),)
    sent_s = time.monotonic()
    try:
        with Connection(url, ANSWER_S, CONNECT_S) as connection:
            target = url.target if target is None else target
            headers = (*_HEADERS, *credentials)
            answer = connection.exchange(target, headers, most_bytes=MOST_BYTES)
    except OSError as error:
        raise EndpointError(error.strerror or str(error)) from error
    if answer.status != 200:
        raise EndpointError(f"it answers {answer.status} {answer.reason}")
    return Page(answer.body, sent_s, time.monotonic())
