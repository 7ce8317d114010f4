"""Templates of request heads: one for each set of fields, for every target and length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import requests
from requests.structures import CaseInsensitiveDict

from torr.locust.bounded_dict import BoundedDict
from torr.locust.wire import head_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torr.locust.origin import Origin

MAX_TEMPLATES = 64
SAMPLES: dict[str, dict[str, Any]] = {
    "": {},
    "json": {"json": 1},
    "raw": {"data": b"0"},
    "text": {"data": "0"},
    "form": {"data": {"a": "b"}},
}
# Fields that requests, urllib3 or http.client change.
ONLY_REQUESTS = frozenset(["content-length", "cookie", "expect", "host", "transfer-encoding"])
PLACEHOLDER = "\x00"
LENGTH = b"Content-Length: "


class SessionFields(CaseInsensitiveDict[Any]):
    """The fields of a session, with a count of their changes."""

    changes = 0

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, value)
        self.changes += 1

    def __delitem__(self, key: str) -> None:
        super().__delitem__(key)
        self.changes += 1


class Template(NamedTuple):
    """A head without its target and its length."""

    before: bytes
    after: bytes

    def head(self, method: str, target: str, length: int | None, cookie: str = "") -> bytes:
        """Return the head of one request."""
        line = f"{method} {target}".encode("ascii")
        before = self._with_cookie(cookie) if cookie else self.before
        if length is None:
            return line + before
        return b"%b%b%d%b" % (line, before, length, self.after)

    def _with_cookie(self, cookie: str) -> bytes:
        """Return the part before the length with a Cookie field."""
        end = LENGTH if self.after else b"\r\n"
        return b"%bCookie: %b\r\n%b" % (self.before[: -len(end)], cookie.encode("latin-1"), end)


Key = tuple[Any, ...]
_shared: BoundedDict[Key, Template] = BoundedDict(4096)


class Templates:
    """The templates of one session, while its fields stay the same."""

    def __init__(self, session: requests.Session) -> None:
        self._session = session
        self._templates: BoundedDict[Key, Template] = BoundedDict(MAX_TEMPLATES)
        self._fields: Any = None
        self._changes = -1

    def find(
        self, method: str, kind: str, headers: Mapping[str, Any] | None, origin: Origin
    ) -> Template | None:
        """Return the template of such a request; None if only requests can handle it."""
        fields: Any = self._session.headers
        if fields is not self._fields or fields.changes != self._changes:
            self._fields, self._changes = fields, fields.changes
            self._templates.clear()
        key = (method, kind, origin.base_url, tuple(headers.items()) if headers else ())
        try:
            template = self._templates.get(key)
        except TypeError:
            return None  # the value is invalid: requests raises its own error
        if template is None:
            template = self._shared_template(key, headers, origin)
            if template is not None:
                self._templates[key] = template
        return template

    def _shared_template(
        self, key: Key, headers: Mapping[str, Any] | None, origin: Origin
    ) -> Template | None:
        """Return the template that all sessions with the same fields share."""
        shared_key = (*key, tuple(self._session.headers.items()))
        template = _shared.get(shared_key)
        if template is None:
            template = self._render(key[0], key[1], headers, origin)
            if template is not None:
                _shared[shared_key] = template
        return template

    def _render(
        self, method: str, kind: str, headers: Mapping[str, Any] | None, origin: Origin
    ) -> Template | None:
        url = origin.base_url + "/"
        if any(value is None for value in (headers or {}).values()):
            return None  # the field is removed
        request = requests.Request(method, url, headers=dict(headers or {}), **SAMPLES[kind])
        try:
            prepared = without_cookies(self._session, request)
        except (requests.RequestException, ValueError):
            return None
        if not all(isinstance(text, str) for field in prepared.headers.items() for text in field):
            return None
        names = {name.lower() for name in (*self._session.headers, *(headers or {}))}
        fields: dict[str, Any] = dict(prepared.headers)
        if names & ONLY_REQUESTS or "user-agent" not in names:
            return None
        if kind:
            fields["Content-Length"] = PLACEHOLDER
        pieces = head_of(method, PLACEHOLDER, origin.route, fields, chunked=False).split(
            PLACEHOLDER.encode()
        )
        if len(pieces) != 2 + bool(kind) or (kind and not pieces[1].endswith(LENGTH)):
            return None
        return Template(pieces[1], pieces[2] if kind else b"")


def without_cookies(session: requests.Session, request: requests.Request) -> Any:
    """Return the request as the session prepares it, without cookies, which depend on the path."""
    cookies, session.cookies = session.cookies, requests.cookies.RequestsCookieJar()
    try:
        return requests.Session.prepare_request(session, request)
    finally:
        session.cookies = cookies
