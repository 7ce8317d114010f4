"""Send plain requests of a FastHttpUser without geventhttpclient.

geventhttpclient sends the first request of each set of fields; the head that it builds is the
template of later requests.

"""

from __future__ import annotations

import json as jsonlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torr.locust.bounded_dict import BoundedDict
from torr.locust.fast_client import Client, Clients, template_of
from torr.locust.origin import UNCHANGED_PATH
from torr.locust.plain import METHODS
from torr.locust.reactor import IS_HEAD
from torr.locust.templates import MAX_TEMPLATES, Template
from torr.locust.wire import fields_of

if TYPE_CHECKING:
    from torr.locust.fast import FastHttpSession
    from torr.locust.reactor import Call, Reactor

Key = tuple[Any, ...]
CARRIES_COOKIES = re.compile(r"\r\ncookie:", re.IGNORECASE)


@dataclass(slots=True)
class SentFastRequest:
    """A plain request and the call that carries it."""

    plain: PlainFastRequests
    reactor: Reactor
    method: str
    url: str
    head: bytes
    body: bytes
    call: Call


class PlainFastRequests:
    """The plain requests of one session."""

    def __init__(self, session: FastHttpSession, clients: Clients) -> None:
        self._session = session
        self._clients = clients
        self._base_url: object = None
        # The fields that every request has.
        self._fields: dict[str, Any] = {}
        self._prefix: str | None = None
        self._client: Client | None = None
        self._templates: BoundedDict[Key, Template | None] = BoundedDict(MAX_TEMPLATES)

    def send(self, method: str, url: str, body: bytes, key: Key) -> SentFastRequest | None:
        """Send a request, wait for its response, and return both; None if it is not plain."""
        base_url = self._session.base_url
        fields = self._session.client.default_headers
        if not dict.__eq__(fields, self._fields):
            self._fields = dict(dict.items(fields))
            self._templates.clear()
        if base_url is not self._base_url:
            self._base_url = base_url
            self._templates.clear()
            self._client, self._prefix = self._client_of(base_url)
        client = self._client
        if client is None or method not in METHODS or self._session.cookiejar._cookies:  # noqa: SLF001
            return None
        if not url.startswith("/") or not UNCHANGED_PATH.fullmatch(url):
            return None
        template = self._templates.get(key)
        if template is None:
            return None
        target = f"{self._prefix}{url}"
        head = template.head(method, target, len(body) if body else None)
        try:
            pool = self._clients.pools.pool(client.route)
        except OSError:
            return None  # geventhttpclient raises its own error
        reactor = self._clients.pools.reactor
        flags = IS_HEAD if method == "HEAD" else 0
        client.slots.acquire()
        try:
            call = reactor.exchange(pool, head, body, flags, client.timeouts)
        finally:
            client.slots.release()
        return SentFastRequest(self, reactor, method, f"{base_url}{url}", head, body, call)

    def response_of(self, sent: SentFastRequest) -> Any:
        """Return the response that geventhttpclient creates from a call."""
        fields = fields_of(sent.head)
        headers = {name: value for name, value in fields if name.lower() != "content-length"}
        clients = self._clients
        clients.finished_call = (sent.call, sent.head.decode("latin-1"))
        try:
            return self._session._send_request_safe_mode(  # noqa: SLF001
                sent.method, sent.url, payload=sent.body or None, headers=headers
            )
        finally:
            clients.finished_call = None

    def add_template(self, method: str, url: str, body: bytes, key: Key, built_head: str) -> None:
        """Store the head of a request as the template of later requests with the same key."""
        if self._client is None or self._prefix is None or not UNCHANGED_PATH.fullmatch(url):
            return
        if method not in METHODS or CARRIES_COOKIES.search(built_head):
            return
        target = f"{self._prefix}{url}"
        self._templates[key] = template_of(built_head, method, target, has_body=bool(body))

    def _client_of(self, base_url: Any) -> tuple[Client | None, str | None]:
        """Return the client of a base URL, and the path that precedes every path."""
        if not isinstance(base_url, str) or not base_url.startswith(("http://", "https://")):
            return None, None
        client = self._clients.get_client(base_url)
        prefix = base_url.split("://", 1)[1].partition("/")[1:]
        path = "".join(prefix)
        is_usable = (
            not client.use_proxy
            and (not path or UNCHANGED_PATH.fullmatch(path))
            and "?" not in path
        )
        return (client, path) if is_usable else (None, None)


def content_of(data: Any, json: Any) -> tuple[str, bytes] | None:
    """Return the kind of the body and the body; None if only geventhttpclient can handle it."""
    if not data:
        return ("json", jsonlib.dumps(json).encode()) if json is not None else ("", b"")
    if isinstance(data, bytes):
        return "bytes", data
    return ("text", data.encode()) if isinstance(data, str) else None


def key_of(method: str, kind: str, auth: Any, headers: Any) -> Key | None:
    """Return the key of the template of a request; None if it has none."""
    if headers is not None and not isinstance(headers, dict):
        return None
    key = (method, kind, auth, *(headers.items() if headers else ()))
    try:
        hash(key)
    except TypeError:
        return None
    return key
