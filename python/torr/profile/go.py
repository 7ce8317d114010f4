"""Go's own profiler, by the URL at which a server offers it."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

from torr.errors import UsageError
from torr.http_client import Connection
from torr.model.outside import safe_text
from torr.model.url import Url
from torr.profile import pprof
from torr.profile.tools import SLACK_S, seen

if TYPE_CHECKING:
    from torr.http_client import Response
    from torr.profile.stacks import Stacks
    from torr.results.profile import ProfileKind

_HINT = 'import _ "net/http/pprof" and serve it, or name the process by its id'
# Of what a server says in its own words.
_MOST_BYTES = 1_000
_HEADERS = (("accept-encoding", "identity"), ("connection", "close"))
# How long an answer that costs nothing is waited for.
_LOOK_S = 5.0


@dataclass(frozen=True, slots=True)
class Pprof:
    """Go's net/http/pprof; `url` is its directory, or that of the profile itself."""

    url: str
    tool: str = "pprof"
    kind: ProfileKind = "cpu"

    @property
    def address(self) -> str:
        """Where a CPU profile is asked for."""
        base = self.url.rstrip("/")
        return base if base.endswith("/profile") else f"{base}/profile"

    def check(self) -> None:
        """Ask for its index, which costs nothing."""
        index = self.address.removesuffix("profile")
        self._read(index, _LOOK_S)

    def take(self, seconds: int) -> Stacks:
        """Have the server look at itself."""
        address = f"{self.address}?seconds={seconds}"
        return seen(pprof.read(self._read(address, seconds + SLACK_S)))

    def stop(self) -> None:
        """Leave it to the server, which ends a profile when who asked for it is gone."""

    def is_gone(self) -> bool:
        """Whether nobody listens there any more; one that is only slow is there."""
        host, port = Url.parse(self.address, templates=False).endpoint[1:3]
        try:
            socket.create_connection((host.strip("[]"), port), _LOOK_S).close()
        except ConnectionRefusedError:
            return True
        except OSError:
            return False
        return False

    def _read(self, address: str, within_s: float) -> bytes:
        # No proxy of the environment is asked: it is for the web, and knows another localhost.
        place = Url.parse(address, templates=False)
        try:
            with Connection(place, within_s) as connection:
                answer = connection.exchange(place.target, _HEADERS, most_bytes=pprof.MOST_BYTES)
        except OSError as error:
            raise UsageError(f"--profile {safe_text(address)}: {error}", _HINT) from error
        if 200 <= answer.status < 300:
            return answer.body
        said = _words_of(answer)
        hint = _HINT if answer.status == HTTPStatus.NOT_FOUND or not said else None
        why = f"HTTP Error {answer.status}: {answer.reason}{said}"
        raise UsageError(f"--profile {safe_text(address)}: {why}", hint)


def _words_of(answer: Response) -> str:
    """What the server says of it, as Go does in plain words; nothing where it sends a page."""
    if (answer.header("content-type") or "").partition(";")[0].strip().lower() != "text/plain":
        return ""
    lines = answer.body[:_MOST_BYTES].decode("utf-8", "replace").strip().splitlines()
    return f": {lines[0]}" if lines else ""
