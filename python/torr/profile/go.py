"""Go's own profiler, by the URL at which a server offers it."""

from __future__ import annotations

import socket
import time
import urllib.request
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTP_PORT, HTTPS_PORT, HTTPException
from typing import TYPE_CHECKING
from urllib.error import HTTPError
from urllib.parse import urlsplit

from torr.errors import UsageError
from torr.model.outside import safe_text
from torr.profile import pprof
from torr.profile.tools import SLACK_S, seen

if TYPE_CHECKING:
    from http.client import HTTPResponse

    from torr.profile.stacks import Stacks

_HINT = 'import _ "net/http/pprof" and serve it, or name the process by its id'
# Of what a server says in its own words.
_MOST_BYTES = 1_000
_PIECE_BYTES = 64 << 10
# How long an answer that costs nothing is waited for.
_LOOK_S = 5.0


@dataclass(frozen=True, slots=True)
class Pprof:
    """Go's net/http/pprof; `url` is its directory, or that of the profile itself."""

    url: str
    tool: str = "pprof"
    kind: str = "cpu"

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
        where = urlsplit(self.address)
        port = where.port or (HTTPS_PORT if where.scheme == "https" else HTTP_PORT)
        try:
            socket.create_connection((where.hostname or "", port), _LOOK_S).close()
        except ConnectionRefusedError:
            return True
        except OSError:
            return False
        return False

    def _read(self, address: str, patience_s: float) -> bytes:
        # A proxy of the environment is for the web: it knows another localhost.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _Stay())
        try:
            with opener.open(address, timeout=patience_s) as answer:
                found = _bounded(answer, patience_s)
        except HTTPError as error:
            said = _words_of(error)
            hint = _HINT if error.code == HTTPStatus.NOT_FOUND or not said else None
            raise UsageError(f"--profile {safe_text(address)}: {error}{said}", hint) from error
        except (OSError, HTTPException, ValueError) as error:
            raise UsageError(f"--profile {safe_text(address)}: {error}", _HINT) from error
        return found


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: what another place tells is no profile of this server."""

    def redirect_request(self, *_request: object) -> None:
        """Leave a redirect the error that it is here."""


def _bounded(answer: HTTPResponse, patience_s: float) -> bytes:
    """The body of an answer; raises ValueError where it is too long, TimeoutError too slow."""
    deadline_s = time.monotonic() + patience_s
    found = bytearray()
    while piece := answer.read1(_PIECE_BYTES):
        found += piece
        if len(found) > pprof.MOST_BYTES:
            raise ValueError(f"the answer has more than {pprof.MOST_BYTES >> 20} MiB")
        if time.monotonic() > deadline_s:
            raise TimeoutError(f"the answer did not end within {patience_s:g} s")
    return bytes(found)


def _words_of(error: HTTPError) -> str:
    """What the server says of it, as Go does in plain words; nothing where it sends a page."""
    with error, suppress(OSError, HTTPException):
        if error.headers.get_content_type() == "text/plain":
            lines = error.read(_MOST_BYTES).decode("utf-8", "replace").strip().splitlines()
            return f": {lines[0]}" if lines else ""
    return ""
