"""A request: what is sent, the timeout of its response, and the checks of the response."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from torr.errors import UsageError, require
from torr.messages.say import say
from torr.model.json import PlanPart
from torr.model.printable import safe_text
from torr.model.secret_names import REDACTED, is_secret
from torr.model.secrets import redacted_bytes, redacted_text, text_of_bytes
from torr.model.template import Expression, expressions, is_template
from torr.model.url import Url, is_websocket
from torr.units import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.model.check import BodyCheck, Capture, JsonCheck
    from torr.model.feed import Remember
    from torr.model.grpc import GrpcCall
    from torr.model.stream import Limit, Stream

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_BREAKS = re.compile(r"[\r\n\x00]")

_OF_HANDSHAKES = frozenset(
    {
        *("upgrade", "connection", "sec-websocket-key", "sec-websocket-version"),
        "sec-websocket-extensions",
    }
)

Header = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Request(PlanPart):
    """A request, the timeout of its response, and the checks of the response.

    `template` says whether `{{…}}` is filled; with None it is where there is any. The path of a
    `unix:` URL becomes `unix_socket`, and its host localhost.
    """

    url: str
    method: str = "GET"
    headers: tuple[Header, ...] = ()
    body: bytes | None = None
    timeout_ns: int = 30 * SECOND_NS
    accept_statuses: tuple[tuple[int, int], ...] = ((200, 399),)
    name: str = ""
    unix_socket: str | None = None
    template: bool | None = None
    expect_body: tuple[BodyCheck, ...] = ()
    expect_json: tuple[JsonCheck, ...] = ()
    captures: tuple[Capture, ...] = ()
    remember: Remember | None = None
    compressed: bool = False
    stream: Stream | None = None
    limits: tuple[Limit, ...] = ()
    grpc: GrpcCall | None = None

    OPTIONAL = (
        *("unix_socket", "template", "expect_body", "expect_json", "captures", "remember"),
        *("compressed", "stream", "limits", "grpc"),
    )
    MEMBERS = (
        *("name", "method", "url", "headers", "body", "timeout_ns", "accept_statuses"),
        *OPTIONAL,
    )

    def __post_init__(self) -> None:
        """Check the parts; a user and password in the URL become a header."""
        check_method(self.method)
        for header in self.headers:
            check_header(header)
        if self.timeout_ns <= 0:
            raise UsageError(say("the timeout must be longer than 0"))
        if not (self.stream is None or not self.compressed):
            raise UsageError(
                say(
                    "--compressed and --stream are both given: torr does not unpack a compressed"
                    " stream"
                ),
                say("leave --compressed out"),
            )
        url = Url.parse(self.url, templates=self.template is not False, messages=True)
        if url.is_websocket:
            self._check_message(url)
        object.__setattr__(self, "url", str(url))
        object.__setattr__(self, "unix_socket", url.socket or self.unix_socket)
        # The name goes into results, logs and tables.
        object.__setattr__(self, "name", safe_text(self.name or self.name_of(url)))
        if url.userinfo is not None and not self.has_header("authorization"):
            object.__setattr__(self, "headers", (*self.headers, _of_userinfo(url.userinfo)))
        if self.template is None:
            object.__setattr__(self, "template", any(map(is_template, self._texts())))

    @property
    def captured_names(self) -> frozenset[str]:
        """The names of the values that later requests of the user or session may use."""
        names = {capture.name for capture in self.captures}
        return frozenset(names if self.remember is None else names | {self.remember.name})

    def name_of(self, url: Url, address: str = "") -> str:
        """Return the name of a request without a name of its own; `address` tells servers apart."""
        path = f"{address}{url.path}"
        if self.grpc is not None:
            return path.removeprefix("/")
        return f"{'WS' if url.is_websocket else self.method} {path}"

    def _check_message(self, url: Url) -> None:
        """Raise UsageError for what a message of WebSocket does not have."""
        require(
            self.method == "GET" and self.stream is None and not self.compressed,
            say("{url}: a WebSocket message has no method, stream or compression", url=url),
            say("they are for http:// and https:// URLs"),
        )
        require(
            self.body is not None,
            say("{url}: there is no message to send", url=url),
            say("give one with -b, as in -b hello; -b '' is an empty one"),
        )
        reserved = [name for name, _ in self.headers if name.lower() in _OF_HANDSHAKES]
        require(
            not reserved,
            say("{url}: torr sets the header {name} itself", url=url, name="".join(reserved[:1])),
            say("leave it out"),
        )
        of_connection = [url.target, *(value for _, value in self.headers)]
        require(
            self.template is False or not any(map(is_template, of_connection)),
            say("{url}: path and headers belong to the connection", url=url),
            say("write {{{{…}}}} into the message only"),
        )
        require(
            not any(capture.source == "header" for capture in self.captures),
            say("{url}: a WebSocket message has no headers to capture", url=url),
            say("capture json:$.… or regex:/(…)/ of the message"),
        )

    @property
    def is_message(self) -> bool:
        """Return whether it is a message of WebSocket."""
        return is_websocket(self.url)

    @property
    def endpoint(self) -> tuple[object, ...]:
        """Return what identifies a connection: requests with the same may share it."""
        url = self.parsed_url
        handshake = (url.target, self.headers) if self.is_message else ()
        return (*url.endpoint, *handshake)

    @property
    def parsed_url(self) -> Url:
        """Return the parts of its URL, with the socket."""
        url = Url.parse(self.url, templates=bool(self.template), messages=True)
        return replace(url, socket=self.unix_socket)

    def expressions(self) -> list[Expression]:
        """Return every `{{…}}` that the engine fills; raise UsageError for an invalid one."""
        if not self.template:
            return []
        return [expression for text in self._texts() for expression in expressions(text)]

    def with_default_headers(self, version: str) -> Request:
        """Return the request with `user-agent` and `accept`, unless the user set them.

        A call of gRPC has no `accept`.
        """
        defaults = [("user-agent", f"torr/{version}")]
        if self.grpc is None:
            defaults.append(("accept", "*/*"))
        missing = tuple(header for header in defaults if not self.has_header(header[0]))
        return replace(self, headers=(*missing, *self.headers))

    def has_header(self, name: str) -> bool:
        """Return whether the user set a header of this name, in any case."""
        return any(key.lower() == name.lower() for key, _ in self.headers)

    def _texts(self) -> Iterator[str]:
        """Yield the texts that may be templates; latin-1 keeps each byte of a body a character."""
        yield self.url
        yield from (value for _, value in self.headers)
        if self.grpc is None:
            yield (self.body or b"").decode("latin-1")
        else:
            yield from self.grpc.templates()

    def texts_with_secrets(self) -> list[str]:
        """Return texts that may contain secrets, behind the secrets' names."""
        texts = [self.url, *(f"{name}: {value}" for name, value in self.headers)]
        if self.grpc is not None:
            return [*texts, self.grpc.json]
        return texts if self.body is None else [*texts, text_of_bytes(self.body)]

    def redacted(self) -> Request:
        """Return the request without secrets, to be written to disk."""
        headers = tuple((k, REDACTED if is_secret(k) else v) for k, v in self.headers)
        body = self.body
        if self.grpc is not None:
            hides = body is not None and self.grpc.has_secrets
            body = REDACTED.encode() if hides else body
        elif body is not None:
            body = redacted_bytes(body)
        return replace(
            self,
            url=redacted_text(self.url),
            headers=headers,
            body=body,
            expect_body=tuple(check.redacted() for check in self.expect_body),
            expect_json=tuple(check.redacted() for check in self.expect_json),
            grpc=None if self.grpc is None else self.grpc.redacted(),
        )


def check_method(method: str) -> None:
    """Raise UsageError for a method that is not one, or that torr does not send."""
    if not _TOKEN.fullmatch(method):
        raise UsageError(say("method {method!r} is not a word such as GET", method=method))
    if method.upper() == "CONNECT":
        raise UsageError(say("method CONNECT asks for a tunnel, which torr does not open"))


def check_header(header: Header) -> None:
    """Raise UsageError for a header that is not one header."""
    name, value = header
    if not _TOKEN.fullmatch(name):
        raise UsageError(say("header name {name!r} is not a word such as x-user", name=name))
    if _BREAKS.search(value):
        raise UsageError(say("header {name!r} contains a newline: a header is one line", name=name))


def basic(user: str, password: str) -> Header:
    """Return the header of HTTP's basic authentication (RFC 7617)."""
    return _authorization(f"{user}:{password}".encode())


def authorization(userinfo: str) -> str:
    """Return the value of the header of basic authentication for the user of a URL."""
    from urllib.parse import unquote_to_bytes

    return _authorization(unquote_to_bytes(userinfo))[1]


def _of_userinfo(userinfo: str) -> Header:
    return "authorization", authorization(userinfo)


def _authorization(pair: bytes) -> Header:
    return "authorization", "Basic " + base64.b64encode(pair).decode("ascii")
