"""The Cookie field of plain requests, computed once for each path and again when cookies change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import requests
from requests.cookies import RequestsCookieJar, get_cookie_header

from torr.locust.bounded_dict import BoundedDict

if TYPE_CHECKING:
    from torr.locust.origin import Origin


class SessionCookieJar(RequestsCookieJar):
    """The cookies of a session, with a count of their changes."""

    changes = 0

    def set_cookie(self, cookie: Any, *args: Any, **kwargs: Any) -> Any:
        """Add a cookie."""
        self.changes += 1
        return super().set_cookie(cookie, *args, **kwargs)

    def clear(self, *args: Any, **kwargs: Any) -> None:
        """Drop cookies."""
        self.changes += 1
        super().clear(*args, **kwargs)


class CookieFields:
    """The Cookie fields of one session."""

    def __init__(self) -> None:
        self._fields: BoundedDict[tuple[str, str], str] = BoundedDict(256)
        self._jar: SessionCookieJar | None = None
        self._changes = -1
        self._expires = False

    def field(self, jar: SessionCookieJar, origin: Origin, target: str) -> str:
        """Return the field's value for a target; empty if no cookie applies."""
        if jar is not self._jar or jar.changes != self._changes:
            self._fields.clear()
            self._jar, self._changes = jar, jar.changes
            self._expires = any(cookie.expires is not None for cookie in jar)
        path = target.partition("?")[0]
        key = (origin.root, path)
        field = None if self._expires else self._fields.get(key)
        if field is None:
            request = requests.Request("GET", origin.root + path).prepare()
            field = self._fields[key] = get_cookie_header(jar, request) or ""
            # The jar may have dropped expired cookies.
            self._changes = jar.changes
        return field
