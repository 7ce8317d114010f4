"""What people ask to be profiled, as they write it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from torr.errors import UsageError, require

if TYPE_CHECKING:
    from typing_extensions import Self

Kind = Literal["cpu", "memory"]

_HINT = (
    "name a process by its number, memory:PID of a Python, or http://host:port/debug/pprof of Go"
)
_OF_SERVERS_HINT = "write cpu, memory, or http://127.0.0.1:{port}/debug/pprof of Go servers"

_OF_LINES_HINT = "lines are seen of functions, in pytest: pytest --torr-profile lines"


@dataclass(frozen=True, slots=True)
class ProfileRequest:
    """What is to be seen, of which process or at which URL; neither is of a server of torr's own.

    A `url` may have `{port}`, which is that server's.
    """

    kind: Kind = "cpu"
    pid: int | None = None
    url: str | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `PID`, `memory:PID` or the URL of a Go server's pprof; raises UsageError."""
        words = text.strip()
        if _is_url(words):
            return cls(url=words)
        kind, _, number = words.rpartition(":")
        if not (number.isascii() and number.isdigit()) or kind not in ("", "memory"):
            raise _refused(text, _HINT)
        return cls("memory" if kind else "cpu", int(number))

    @classmethod
    def of_servers(cls, text: str) -> Self:
        """Read `cpu`, `memory`, or a URL with `{port}`; raises UsageError."""
        words = text.strip()
        if _is_url(words):
            require("{port}" in words, f"{words}: servers differ by {{port}}", _OF_SERVERS_HINT)
            return cls(url=words)
        if words not in ("cpu", "memory"):
            raise _refused(text, _OF_SERVERS_HINT)
        return cls("memory" if words == "memory" else "cpu")

    def at_port(self, port: int | None) -> ProfileRequest:
        """Return the same of the server at a port."""
        filled = None if self.url is None else self.url.replace("{port}", str(port))
        return ProfileRequest(self.kind, self.pid, filled)


def _refused(text: str, hint: str) -> UsageError:
    """What is said of what cannot be profiled; of lines, where they can be."""
    is_of_lines = text.strip().partition(":")[0] == "lines"
    message = f"{text!r} is nothing that can be profiled"
    return UsageError(message, _OF_LINES_HINT if is_of_lines else hint)


def _is_url(text: str) -> bool:
    return text.startswith(("http://", "https://"))
