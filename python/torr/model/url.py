"""The URL of a request: http, https, ws, wss, or a Unix socket of this machine; checked once.

    http://HOST:PORT/path?query     unix:/run/app.sock     unix:/run/app.sock:/path?query

A URL that the engine cannot send to is refused with a hint. The engine resolves names, so that the
resolved address is the one that is used. `{{…}}` in path and query stays for the engine to fill.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote

from torr.errors import UsageError
from torr.messages.say import say
from torr.model.template import is_template, pieces

_UNSAFE = re.compile(r"[\x00-\x20\x7f]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_HOST = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_.])?")
_V6_HINT = say("write http://[::1]:8080/")
_UNQUOTED = "!#$%&'()*+,/:;=?@[]~"
_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
_OF_MESSAGES = frozenset({"ws", "wss"})
_SOCKET = "unix:"


@dataclass(frozen=True, slots=True)
class Url:
    """The parts of a URL; user and password are `userinfo`.

    `socket` is the path of a Unix socket; the host is then `localhost`.
    """

    host: str
    port: int | None
    target: str
    userinfo: str | None = None
    scheme: str = "http"
    socket: str | None = None

    @classmethod
    def parse(cls, text: str, *, templates: bool = True, messages: bool = False) -> Url:
        """Read a URL; raise UsageError that says what is wrong and what to write.

        Only with `messages` it may be one of WebSocket.
        """
        if text.startswith(_SOCKET):
            return _of_socket(text, templates=templates)
        scheme = _scheme(text)
        if scheme in _OF_MESSAGES and not messages:
            raise UsageError(
                say(
                    "{text!r}: {scheme}:// is for the messages of a load", text=text, scheme=scheme
                ),
                say("give a URL with http:// or https://"),
            )
        behind_scheme = text.partition("://")[2]
        authority = re.split("[/?#]", behind_scheme, maxsplit=1)[0]
        if "{{" in authority or "}}" in authority:
            raise UsageError(
                say("{text!r}: the host cannot be a template", text=text),
                say("name each host in a URL"),
            )
        target = _target(text, behind_scheme[len(authority) :], templates=templates)
        userinfo, _, address = authority.rpartition("@")
        host, port = _split_address(text, address)
        return cls(host, port, target, userinfo or None, scheme)

    @property
    def path(self) -> str:
        """Return the target without its query, which names a request."""
        return self.target.partition("?")[0]

    @property
    def is_websocket(self) -> bool:
        """Return whether messages of WebSocket are sent to it."""
        return self.scheme in _OF_MESSAGES

    @property
    def port_number(self) -> int:
        """Return the port, or the usual one of the scheme."""
        return self.port or _PORTS[self.scheme]

    @property
    def endpoint(self) -> tuple[str, str, int, str | None]:
        """Return what identifies a connection: requests to one endpoint may share it."""
        return self.scheme, self.host.lower(), self.port_number, self.socket

    @property
    def address(self) -> str:
        """Return host and port, or the socket, as users write them."""
        if self.socket is not None:
            return f"{_SOCKET}{self.socket}"
        return self.host if self.port is None else f"{self.host}:{self.port}"

    def at(self, target: str) -> str:
        """Return the text of a URL of the same address with another path."""
        if self.socket is not None:
            return f"{self.address}:{target}"
        user = "" if self.userinfo is None else f"{self.userinfo}@"
        return f"{self.scheme}://{user}{self.address}{target}"

    @property
    def is_loopback(self) -> bool:
        """Return whether the host is, by its text, this machine."""
        name = self.host.lower().rstrip(".")  # localhost for a socket
        return (
            name in {"localhost", "[::1]"} or name.endswith(".localhost") or name.startswith("127.")
        )

    def __str__(self) -> str:
        """Return the URL as the engine reads it."""
        port = "" if self.port is None else f":{self.port}"
        return f"{self.scheme}://{self.host}{port}{self.target}"


def is_websocket(url: str) -> bool:
    """Return whether messages of WebSocket are sent to the URL of this text."""
    return url.lower().startswith(("ws://", "wss://"))


def _of_socket(text: str, *, templates: bool) -> Url:
    """Return the URL of `unix:/run/app.sock:/path`; `unix:///run/app.sock` is accepted, too."""
    socket, colon, target = text.removeprefix(_SOCKET).partition(":/")
    if socket.startswith("//"):
        socket = f"/{socket.lstrip('/')}"
    if not socket or _CONTROL.search(socket) or "{{" in socket:
        raise UsageError(
            say("{text!r} names no socket", text=text), say("write unix:/run/app.sock:/path")
        )
    target = _target(text, f"/{target}" if colon else "", templates=templates)
    return Url("localhost", None, target, socket=socket)


def _target(text: str, written: str, *, templates: bool) -> str:
    """Return path and query, quoted except templates, without the fragment."""
    parts = pieces(written) if templates and is_template(written) else [(written, False)]
    target = ""
    for part, is_expression in parts:
        if (_CONTROL if is_expression else _UNSAFE).search(part):
            raise UsageError(
                say("{text!r} contains a space or a control character", text=text), say("write %20")
            )
        if is_expression:
            target += part
            continue
        plain, fragment, _ = part.partition("#")
        target += quote(plain, safe=_UNQUOTED)
        if fragment:
            break
    return target if target[:1] == "/" else f"/{target}"


def _scheme(text: str) -> str:
    scheme, separator, _ = text.partition("://")
    if not separator:
        if _UNSAFE.search(text):
            raise UsageError(
                say("{text!r} is not a URL", text=text), say("write http://HOST:PORT/path")
            )
        raise UsageError(
            say("{text!r} has no scheme", text=text),
            say("write http://{text}", text=text.lstrip("/")),
        )
    if scheme.lower() not in _PORTS:
        raise UsageError(
            say("{text!r}: unknown scheme {scheme!r}", text=text, scheme=scheme),
            say("torr supports http://, https://, ws:// and wss://"),
        )
    return scheme.lower()


def _split_address(text: str, address: str) -> tuple[str, int | None]:
    """Return the host and the port of `host:port` or `[v6]:port`."""
    if address.startswith("["):
        inside, bracket, behind = address[1:].partition("]")
        if not bracket or (behind and not behind.startswith(":")):
            raise UsageError(say("{text!r}: the IPv6 address is not closed", text=text), _V6_HINT)
        return _v6(text, inside), _port(text, behind[1:]) if behind else None
    host, colon, port = address.partition(":")
    if ":" in port:
        raise UsageError(say("{text!r}: an IPv6 address goes in brackets", text=text), _V6_HINT)
    return _host(text, host), _port(text, port) if colon else None


def _v6(text: str, inside: str) -> str:
    from ipaddress import AddressValueError, IPv6Address

    try:
        IPv6Address(inside)
    except AddressValueError as error:
        raise UsageError(
            say("{text!r}: {inside!r} is not an IPv6 address", text=text, inside=inside)
        ) from error
    return f"[{inside}]"


def _host(text: str, host: str) -> str:
    if _UNSAFE.search(host):
        raise UsageError(
            say("{text!r} contains a space or a control character", text=text), say("write %20")
        )
    if not host:
        raise UsageError(say("{text!r} has no host", text=text), say("write http://HOST:PORT/path"))
    try:
        name = host if host.isascii() else host.encode("idna").decode("ascii")
    except UnicodeError as error:
        raise UsageError(
            say("{text!r}: {host!r} is not a host name", text=text, host=host)
        ) from error
    if not _HOST.fullmatch(name):
        raise UsageError(say("{text!r}: {host!r} is not a host name", text=text, host=host))
    return name


def _port(text: str, port: str) -> int:
    if port.isascii() and port.isdigit() and 1 <= int(port) <= 65535:
        return int(port)
    raise UsageError(
        say("{text!r}: port {port} is not between 1 and 65535", text=text, port=port or "missing")
    )
