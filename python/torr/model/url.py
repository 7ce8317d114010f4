"""Where a request goes: an http or https URL, checked once.

Refuses everything that the engine cannot fire at, with what to write instead. It resolves no
names: the engine does, so that what is resolved is also what is used.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote

from torr.errors import UsageError

_UNSAFE = re.compile(r"[\x00-\x20\x7f]")
_HOST = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_.])?")
_V6_HINT = "write http://[::1]:8080/"
_KEPT = "!#$%&'()*+,/:;=?@[]~"


@dataclass(frozen=True, slots=True)
class Url:
    """The parts of a URL, without its user and password, which became `userinfo`."""

    host: str
    port: int | None
    target: str
    userinfo: str | None = None
    scheme: str = "http"

    @classmethod
    def parse(cls, text: str) -> Url:
        """Read a URL; raises UsageError with what is wrong and what to write."""
        scheme = _scheme(text)
        if _UNSAFE.search(text):
            raise UsageError(f"{text!r} contains a space or a control character", "write %20")
        rest = text.partition("://")[2].partition("#")[0]
        authority = re.split("[/?]", rest, maxsplit=1)[0]
        userinfo, _, place = authority.rpartition("@")
        host, port = _split_place(text, place)
        target = quote(rest[len(authority) :], safe=_KEPT)
        target = target if target[:1] == "/" else f"/{target}"
        return cls(host, port, target, userinfo or None, scheme)

    @property
    def path(self) -> str:
        """The target without its query: what a request is named after."""
        return self.target.partition("?")[0]

    @property
    def is_loopback(self) -> bool:
        """Whether the host is, by its text, this machine."""
        name = self.host.lower().rstrip(".")
        return (
            name in {"localhost", "[::1]"} or name.endswith(".localhost") or name.startswith("127.")
        )

    def __str__(self) -> str:
        """The URL as the engine gets it."""
        port = "" if self.port is None else f":{self.port}"
        return f"{self.scheme}://{self.host}{port}{self.target}"


def _scheme(text: str) -> str:
    scheme, separator, _ = text.partition("://")
    if not separator:
        raise UsageError(f"{text!r} has no scheme", f"write http://{text.lstrip('/')}")
    if scheme.lower() not in ("http", "https"):
        raise UsageError(f"{text!r}: unknown scheme {scheme!r}", "torr speaks http:// and https://")
    return scheme.lower()


def _split_place(text: str, place: str) -> tuple[str, int | None]:
    """The host and the port of `host:port` or `[v6]:port`."""
    if place.startswith("["):
        inside, bracket, rest = place[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            raise UsageError(f"{text!r}: the IPv6 address is not closed", _V6_HINT)
        return _v6(text, inside), _port(text, rest[1:]) if rest else None
    host, colon, port = place.partition(":")
    if ":" in port:
        raise UsageError(f"{text!r}: an IPv6 address goes in brackets", _V6_HINT)
    return _host(text, host), _port(text, port) if colon else None


def _v6(text: str, inside: str) -> str:
    from ipaddress import AddressValueError, IPv6Address

    try:
        IPv6Address(inside)
    except AddressValueError as error:
        raise UsageError(f"{text!r}: {inside!r} is not an IPv6 address") from error
    return f"[{inside}]"


def _host(text: str, host: str) -> str:
    if not host:
        raise UsageError(f"{text!r} has no host", "write http://HOST:PORT/path")
    try:
        name = host if host.isascii() else host.encode("idna").decode("ascii")
    except UnicodeError as error:
        raise UsageError(f"{text!r}: {host!r} is not a host name") from error
    if not _HOST.fullmatch(name):
        raise UsageError(f"{text!r}: {host!r} is not a host name")
    return name


def _port(text: str, port: str) -> int:
    if port.isascii() and port.isdigit() and 1 <= int(port) <= 65535:
        return int(port)
    raise UsageError(f"{text!r}: port {port or 'missing'} is not between 1 and 65535")
