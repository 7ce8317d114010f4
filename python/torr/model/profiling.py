"""The value of `--profile`: which process or URL is profiled, and for what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from torr.errors import UsageError, require
from torr.messages.say import say

if TYPE_CHECKING:
    from typing_extensions import Self

Kind = Literal["cpu", "memory"]

_HINT = (
    "name a process by its number, memory:PID of a Python, or http://host:port/debug/pprof of Go"
)
_OF_SERVERS_HINT = say("write cpu, memory, or http://127.0.0.1:{{port}}/debug/pprof of Go servers")

_OF_LINES_HINT = say("torr profiles the lines of functions in pytest: pytest --torr-profile lines")


@dataclass(frozen=True, slots=True)
class ProfileRequest:
    """A kind of profile, and the process or URL to profile; neither for servers that torr starts.

    In a `url`, `{port}` stands for the port of such a server.
    """

    kind: Kind = "cpu"
    pid: int | None = None
    url: str | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `PID`, `memory:PID` or the URL of a Go server's pprof; raise UsageError."""
        stripped = text.strip()
        if _is_url(stripped):
            return cls(url=stripped)
        kind, _, number = stripped.rpartition(":")
        if not (number.isascii() and number.isdigit()) or kind not in ("", "memory"):
            raise _refused(text, _HINT)
        return cls("memory" if kind else "cpu", int(number))

    @classmethod
    def of_servers(cls, text: str) -> Self:
        """Read `cpu`, `memory`, or a URL with `{port}`; raise UsageError."""
        stripped = text.strip()
        if _is_url(stripped):
            require(
                "{port}" in stripped,
                say("{stripped}: servers differ by {{port}}", stripped=stripped),
                _OF_SERVERS_HINT,
            )
            return cls(url=stripped)
        if stripped not in ("cpu", "memory"):
            raise _refused(text, _OF_SERVERS_HINT)
        return cls("memory" if stripped == "memory" else "cpu")

    def at_port(self, port: int | None) -> ProfileRequest:
        """Return the request for the server at a port."""
        filled = None if self.url is None else self.url.replace("{port}", str(port))
        return ProfileRequest(self.kind, self.pid, filled)


def _refused(text: str, hint: str) -> UsageError:
    """Return the error for a text that cannot be profiled."""
    is_of_lines = text.strip().partition(":")[0] == "lines"
    message = say("{text!r} cannot be profiled", text=text)
    return UsageError(message, _OF_LINES_HINT if is_of_lines else hint)


def _is_url(text: str) -> bool:
    return text.startswith(("http://", "https://"))
