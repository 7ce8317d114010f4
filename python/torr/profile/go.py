"""Go's own profiler, by the URL at which a server offers it."""

from __future__ import annotations

import urllib.request
from dataclasses import dataclass
from http.client import HTTPException
from typing import TYPE_CHECKING
from urllib.error import HTTPError

from torr.errors import UsageError
from torr.profile import pprof
from torr.profile.tools import SLACK_S, seen

if TYPE_CHECKING:
    from torr.profile.stacks import Stacks

_HINT = 'import _ "net/http/pprof" and serve it, or name the process by its id'


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
        self._read(index, 5.0)

    def take(self, seconds: int) -> Stacks:
        """Have the server look at itself."""
        address = f"{self.address}?seconds={seconds}"
        return seen(pprof.read(self._read(address, seconds + SLACK_S)))

    def _read(self, address: str, patience_s: float) -> bytes:
        try:
            with urllib.request.urlopen(address, timeout=patience_s) as answer:  # noqa: S310
                found: bytes = answer.read()
        except (OSError, HTTPException, ValueError) as error:
            if isinstance(error, HTTPError):
                error.close()
            raise UsageError(f"--profile {address}: {error}", _HINT) from error
        return found
