"""The Cookie field of plain requests: worked out once for a path, and again when cookies change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import requests
from requests.cookies import RequestsCookieJar, get_cookie_header

if TYPE_CHECKING:
    from torr.locust.origin import Origin

_MOST_PATHS = 256


class Jar(RequestsCookieJar):
    """The cookies of a session, which know when they have changed."""

    changes = 0

    def set_cookie(self, cookie: Any, *args: Any, **kwargs: Any) -> Any:
        """Take a cookie in."""
        self.changes += 1
        return super().set_cookie(cookie, *args, **kwargs)

    def clear(self, *args: Any, **kwargs: Any) -> None:
        """Drop cookies."""
        self.changes += 1
        super().clear(*args, **kwargs)


class Cookies:
    """The Cookie fields of one session."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], str] = {}
        self._jar: Jar | None = None
        self._changes = -1
        self._expires = False

    def field(self, jar: Jar, origin: Origin, target: str) -> str:
        """The field's value for a target; empty where no cookie goes there."""
        if jar is not self._jar or jar.changes != self._changes:
            self._known.clear()
            self._jar, self._changes = jar, jar.changes
            self._expires = any(cookie.expires is not None for cookie in jar)
        path = target.partition("?")[0]
        place = (origin.root, path)
        found = None if self._expires else self._known.get(place)
        if found is None:
            if len(self._known) >= _MOST_PATHS:
                self._known.clear()
            asked = requests.Request("GET", origin.root + path).prepare()
            found = self._known[place] = get_cookie_header(jar, asked) or ""
            # Looking may have dropped what has expired.
            self._changes = jar.changes
        return found
