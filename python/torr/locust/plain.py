"""The short way of plain requests, which are most of a load.

A request is plain when nothing about it needs more than its method, its URL, its fields and a body
of bytes. What requests would send is what is sent: targets and heads are taken from what it
prepares. Everything else goes through requests.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import requests
from requests.compat import json as complexjson
from requests.models import RequestEncodingMixin

from torr.locust.cookies import Cookies, Jar
from torr.locust.origin import Origin, origin_of, target_of
from torr.locust.reactor import IS_HEAD, STREAMS
from torr.locust.templates import Template, Templates

if TYPE_CHECKING:
    from torr.locust.adapter import Adapter
    from torr.locust.reactor import Call
    from torr.locust.session import HttpSession

NUMBERS = (int, float)
METHODS = frozenset(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])
# What a plain request may be asked with; anything else leads through requests.
KNOWN = frozenset(["headers", "params", "timeout", "allow_redirects", "stream"])
MOST_BARE = 64
Patience = tuple[float | None, float | None]
# Where it leads, its target, its head, what that was made of, the kind of its body, its body, how
# long to wait.
Asked = tuple[Origin, str, bytes, Template, str, bytes, Patience]
# Whoever puts another function in its place wants to see every request.
SEND = requests.Session.send


@dataclass(slots=True)
class Sent:
    """A plain request, and the call that it became."""

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
        """The body as requests keeps it."""
        if not self.kind:
            return None
        return self.body.decode() if self.kind in ("form", "text") else self.body


class Plain:
    """Plain requests of one session."""

    def __init__(self, session: HttpSession) -> None:
        self._session = session
        self._templates = Templates(session)
        self._cookies = Cookies()
        self._origin: Origin | None = None
        self._base_url: object = None
        # Requests without anything of their own, for as long as their session stays as it is.
        self._bare: dict[tuple[str, str], Asked] = {}
        self._state: tuple[Any, ...] = ()
        self.is_possible = False

    def send(
        self, method: Any, url: Any, data: Any, json: Any, more: dict[str, Any]
    ) -> Sent | None:
        """Send a request and wait for its answer, of a stream for its head.

        None, and nothing sent, if it is not plain.
        """
        adapter = self._session.adapter
        if adapter is None or not self.is_possible or not is_plain(self._session):
            return None
        is_bare = data is None and json is None and is_usual(more)
        asked = self._again(method, url) if is_bare else None
        if asked is None:
            asked = self._asked(method, url, data, json, more)
        if asked is None:
            return None
        if is_bare:
            self._keep(method, url, asked)
        origin, target, head, template, kind, body, patience = asked
        lanes = adapter.lanes
        try:
            lane = lanes.lane(origin.place)
        except OSError:
            return None  # which requests says in its own words
        jar = self._session.cookies
        if jar._cookies:  # noqa: SLF001
            cookie = self._cookies.field(jar, origin, target)
            head = template.head(method, target, len(body) if kind else None, cookie)
        streams = bool(more.get("stream"))
        flags = IS_HEAD * (method == "HEAD") | STREAMS * streams
        call = lanes.reactor.exchange(lane, head, body, flags, patience)
        return Sent(adapter, origin, method, target, head, kind, body, streams, call)

    def _asked(
        self, method: Any, url: Any, data: Any, json: Any, more: dict[str, Any]
    ) -> Asked | None:
        """What a request becomes; None where only requests can tell."""
        origin = self._origin_now()
        is_known = method in METHODS and isinstance(url, str) and more.keys() <= KNOWN
        if origin is None or not is_known:
            return None
        path = url.removeprefix(origin.base_url)
        if not path.startswith("/"):
            return None
        target = target_of(origin, path, more.get("params"))
        patience = patience_of(more.get("timeout"))
        content = content_of(data, json)
        if target is None or patience is None or content is None:
            return None
        kind, body = content
        template = self._templates.find(method, kind, more.get("headers"), origin)
        if template is None:
            return None
        head = template.head(method, target, len(body) if kind else None)
        return origin, target, head, template, kind, body, patience

    def _again(self, method: Any, url: Any) -> Asked | None:
        """What a request without anything of its own became the last time."""
        session = self._session
        fields = session.headers
        state = (session.base_url, fields, fields.changes)
        if state != self._state:
            self._state = state
            self._bare.clear()
        return self._bare.get((method, url)) if type(url) is str else None

    def _keep(self, method: str, url: str, asked: Asked) -> None:
        if len(self._bare) >= MOST_BARE:
            self._bare.clear()
        self._bare[method, url] = asked

    def _origin_now(self) -> Origin | None:
        base_url = self._session.base_url
        if base_url is not self._base_url:
            self._base_url, self._origin = base_url, origin_of(base_url)
        return self._origin


def is_usual(more: dict[str, Any]) -> bool:
    """Whether nothing is asked beyond what Locust's verbs add by themselves."""
    return not more or (len(more) == 1 and "allow_redirects" in more)


def is_plain(session: HttpSession) -> bool:
    """Whether nothing that the session was given needs requests."""
    return (
        session.is_usual
        and not session.auth
        and not session.params
        and not session.proxies
        and not session.cert
        and not session.stream
        and not session.trust_env
        and session.verify is True
        and not session.hooks.get("response")
        and type(session.cookies) is Jar
        and requests.Session.send is SEND
    )


def content_of(data: Any, json: Any) -> tuple[str, bytes] | None:
    """The kind of the body, and the body; None where only requests can tell."""
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


def patience_of(timeout: Any) -> tuple[float | None, float | None] | None:
    """How long to wait for a connection and for each byte; None where only requests can tell."""
    if timeout is None:
        return None, None
    if type(timeout) in NUMBERS and timeout > 0:
        return timeout, timeout
    is_pair = isinstance(timeout, tuple) and len(timeout) == 2
    if is_pair and all(x is None or (type(x) in NUMBERS and x > 0) for x in timeout):
        connect, read = timeout
        return connect, read
    return None
