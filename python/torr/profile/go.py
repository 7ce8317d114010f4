"""Profile a Go server by its own profiler, at the URL of net/http/pprof."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

from torr.errors import UsageError
from torr.http_client import Connection
from torr.messages.message import Message, message
from torr.model.printable import safe_text
from torr.model.url import Url
from torr.profile import pprof
from torr.profile.tools import SLACK_S, require_samples

if TYPE_CHECKING:
    from torr.http_client import Response
    from torr.profile.stacks import Stacks
    from torr.results.profile import ProfileKind

_HINT = message(
    "hint.no_pprof",
    'import _ "net/http/pprof" and serve it, or name the process by its id',
)
# Of an error message of a server.
_MOST_BYTES = 1_000
_HEADERS = (("accept-encoding", "identity"), ("connection", "close"))
# The time limit of requests other than the profile.
_TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True)
class Pprof:
    """Go's net/http/pprof; `url` is its directory, or that of the profile itself."""

    url: str
    tool: str = "pprof"
    kind: ProfileKind = "cpu"

    @property
    def address(self) -> str:
        """Return the URL of the CPU profile."""
        base = self.url.rstrip("/")
        return base if base.endswith("/profile") else f"{base}/profile"

    def check(self) -> None:
        """Request the index, which does not start a profile."""
        index = self.address.removesuffix("profile")
        self._read(index, _TIMEOUT_S)

    def take(self, seconds: int) -> Stacks:
        """Request a profile of `seconds`."""
        address = f"{self.address}?seconds={seconds}"
        return require_samples(pprof.read(self._read(address, seconds + SLACK_S)))

    def stop(self) -> None:
        """Do nothing: the server ends a profile when its client is gone."""

    def is_gone(self) -> bool:
        """Return whether the server has ended; a slow server has not."""
        host, port = Url.parse(self.address, templates=False).endpoint[1:3]
        try:
            socket.create_connection((host.strip("[]"), port), _TIMEOUT_S).close()
        except ConnectionRefusedError:
            return True
        except OSError:
            return False
        return False

    def _read(self, address: str, within_s: float) -> bytes:
        # Without proxies of the environment: their localhost is another machine.
        url = Url.parse(address, templates=False)
        try:
            with Connection(url, within_s) as connection:
                answer = connection.exchange(url.target, _HEADERS, most_bytes=pprof.MOST_BYTES)
        except OSError as error:
            raise UsageError(_failure(address, str(error)), _HINT) from error
        if 200 <= answer.status < 300:
            return answer.body
        detail = _first_line(answer)
        hint = _HINT if answer.status == HTTPStatus.NOT_FOUND or not detail else None
        reason = f"HTTP Error {answer.status}: {answer.reason}{detail}"
        raise UsageError(_failure(address, reason), hint)


def _failure(source: str, reason: str) -> Message:
    return message(
        "profile.of_source", "--profile {source}: {reason}", source=safe_text(source), reason=reason
    )


def _first_line(answer: Response) -> str:
    """Return the first line of a plain-text answer, as `: LINE`; empty for other answers."""
    if (answer.header("content-type") or "").partition(";")[0].strip().lower() != "text/plain":
        return ""
    lines = answer.body[:_MOST_BYTES].decode("utf-8", "replace").strip().splitlines()
    return f": {lines[0]}" if lines else ""
