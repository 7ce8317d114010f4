"""Send plain requests, which are most of a load, without the library requests.

A request is plain if it consists of a method, a URL, fields and a body of bytes. torr sends the
same bytes as the library: targets and heads come from requests that the library has prepared. The
library sends every other request.

"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import requests
from requests.compat import json as complexjson
from requests.models import RequestEncodingMixin

from torr.locust.bounded_dict import BoundedDict
from torr.locust.cookies import CookieFields, SessionCookieJar
from torr.locust.origin import Origin, origin_of, target_of
from torr.locust.reactor import IS_HEAD, STREAMS
from torr.locust.templates import Template, Templates

if TYPE_CHECKING:
    from torr.locust.adapter import Adapter
    from torr.locust.reactor import Call
    from torr.locust.session import HttpSession

NUMBERS = (int, float)
METHODS = frozenset(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])
# Options of a plain request; with any other, requests sends it.
PLAIN_OPTIONS = frozenset(["headers", "params", "timeout", "allow_redirects", "stream"])
Timeouts = tuple[float | None, float | None]
# If a locustfile replaces this function, requests sends all requests, so that its code is called.
ORIGINAL_SEND = requests.Session.send


class EncodedRequest(NamedTuple):
    """A plain request as it is sent."""

    origin: Origin
    target: str
    head: bytes
    template: Template
    kind: str
    body: bytes
    timeouts: Timeouts


@dataclass(slots=True)
class SentRequest:
    """A plain request and the call that carries it."""

    adapter: Adapter
    origin: Origin
    method: str
    target: str
    head: bytes
    kind: str
    body: bytes
    streams: bool
    call: Call

    @property
    def content(self) -> bytes | str | None:
        """Return the body with the type that requests uses."""
        if not self.kind:
            return None
        return self.body.decode() if self.kind in ("form", "text") else self.body


class PlainRequests:
    """The plain requests of one session."""

    def __init__(self, session: HttpSession) -> None:
        self._session = session
        self._templates = Templates(session)
        self._cookies = CookieFields()
        self._origin: Origin | None = None
        self._base_url: object = None
        # Requests that have only a method and a URL; emptied when the session changes.
        self._cached: BoundedDict[tuple[str, str], EncodedRequest] = BoundedDict(64)
        self._state: tuple[Any, ...] = ()
        self.is_possible = False

    def send(
        self, method: Any, url: Any, data: Any, json: Any, options: dict[str, Any]
    ) -> SentRequest | None:
        """Send a request and wait for its response; of a stream, for its head.

        Return None, and send nothing, if it is not plain.
        """
        adapter = self._session.adapter
        if adapter is None or not self.is_possible or not is_plain(self._session):
            return None
        is_simple = data is None and json is None and has_no_options(options)
        encoded = self._from_cache(method, url) if is_simple else None
        if encoded is None:
            encoded = self._encode(method, url, data, json, options)
        if encoded is None:
            return None
        if is_simple:
            self._cached[method, url] = encoded
        origin, target, head, template, kind, body, timeouts = encoded
        pools = adapter.pools
        try:
            pool = pools.pool(origin.route)
        except OSError:
            return None  # requests raises its own error
        jar = self._session.cookies
        if jar._cookies:  # noqa: SLF001
            cookie = self._cookies.field(jar, origin, target)
            head = template.head(method, target, len(body) if kind else None, cookie)
        streams = bool(options.get("stream"))
        flags = IS_HEAD * (method == "HEAD") | STREAMS * streams
        call = pools.reactor.exchange(pool, head, body, flags, timeouts)
        return SentRequest(adapter, origin, method, target, head, kind, body, streams, call)

    def _encode(
        self, method: Any, url: Any, data: Any, json: Any, options: dict[str, Any]
    ) -> EncodedRequest | None:
        """Return a request as it is sent; None if only requests can handle it."""
        origin = self._origin_now()
        is_supported = (
            method in METHODS and isinstance(url, str) and options.keys() <= PLAIN_OPTIONS
        )
        if origin is None or not is_supported:
            return None
        path = url.removeprefix(origin.base_url)
        if not path.startswith("/"):
            return None
        target = target_of(origin, path, options.get("params"))
        timeouts = timeouts_of(options.get("timeout"))
        content = content_of(data, json)
        if target is None or timeouts is None or content is None:
            return None
        kind, body = content
        template = self._templates.find(method, kind, options.get("headers"), origin)
        if template is None:
            return None
        head = template.head(method, target, len(body) if kind else None)
        return EncodedRequest(origin, target, head, template, kind, body, timeouts)

    def _from_cache(self, method: Any, url: Any) -> EncodedRequest | None:
        """Return the encoded request from the cache, if the session has not changed since."""
        session = self._session
        fields = session.headers
        state = (session.base_url, fields, fields.changes)
        if state != self._state:
            self._state = state
            self._cached.clear()
        return self._cached.get((method, url)) if type(url) is str else None

    def _origin_now(self) -> Origin | None:
        base_url = self._session.base_url
        if base_url is not self._base_url:
            self._base_url, self._origin = base_url, origin_of(base_url)
        return self._origin


def has_no_options(options: dict[str, Any]) -> bool:
    """Return whether there are no options beyond those that Locust's methods always add."""
    return not options or (len(options) == 1 and "allow_redirects" in options)


def is_plain(session: HttpSession) -> bool:
    """Return whether the settings of the session allow plain requests."""
    return (
        session.is_unmodified
        and not session.auth
        and not session.params
        and not session.proxies
        and not session.cert
        and not session.stream
        and not session.trust_env
        and session.verify is True
        and not session.hooks.get("response")
        and type(session.cookies) is SessionCookieJar
        and requests.Session.send is ORIGINAL_SEND
    )


def content_of(data: Any, json: Any) -> tuple[str, bytes] | None:
    """Return the kind of the body and the body; None if only requests can handle it."""
    if not data:
        if json is None:
            return "", b""
        try:
            return "json", complexjson.dumps(json, allow_nan=False).encode()
        except ValueError:
            return None
    if isinstance(data, bytes):
        return "raw", data
    if isinstance(data, str):
        return "text", data.encode()
    if isinstance(data, dict):
        encoded = RequestEncodingMixin._encode_params(data)  # noqa: SLF001
        return ("form", encoded.encode()) if isinstance(encoded, str) else None
    return None


def timeouts_of(timeout: Any) -> tuple[float | None, float | None] | None:
    """Return the limits for connecting and for each read; None if only requests can handle them."""
    if timeout is None:
        return None, None
    if type(timeout) in NUMBERS and timeout > 0:
        return timeout, timeout
    is_pair = isinstance(timeout, tuple) and len(timeout) == 2
    if is_pair and all(
        limit is None or (type(limit) in NUMBERS and limit > 0) for limit in timeout
    ):
        connect, read = timeout
        return connect, read
    return None
