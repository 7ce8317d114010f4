"""Decide which requests are answered, by method, headers, query and cookies.

On loopback all users of this machine may read, but pages of other sites may not: with DNS rebinding
the Host header has the name of the other site, so it must be a name of loopback. A change also
needs the token and must come from torr's own page, which has the token only if it was opened by the
URL that torr printed. A wrong token is always refused.

On any other address every request needs the token: in the URL that torr printed, from which it
becomes a cookie, or as `Authorization: Bearer …`, as Prometheus sends it. Host is not checked then,
since a site with DNS rebinding does not have the cookie.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping

TOKEN = "token"  # noqa: S105 - the name of it
SAFE_METHODS = ("GET", "HEAD")


@dataclass(frozen=True, slots=True)
class Refusal:
    """The status and text with which a request is refused."""

    status: int
    text: str


@dataclass(frozen=True, slots=True)
class AccessRequest:
    """The parts of a request that decide on access; names of headers are in lower case."""

    method: str
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Access:
    """The access rule of a server: its token, its cookie, and whether it listens on loopback."""

    cookie: str
    is_loopback_only: bool
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    def refusal(self, request: AccessRequest) -> Refusal | None:
        """Return the refusal of a request; None if it is allowed."""
        if self.is_loopback_only and not is_loopback(_host_name(request.headers.get("host", ""))):
            return Refusal(
                421, "open this page at 127.0.0.1 or localhost: torr refuses other host names"
            )
        if TOKEN in request.query and not self._is_token(request.query[TOKEN]):
            return Refusal(
                401, "this token belongs to another page: open the URL that torr printed"
            )
        if not self.is_loopback_only and not self.has_token(request):
            return Refusal(401, "open the URL that torr printed: it has a token")
        if request.method in SAFE_METHODS:
            return None
        return self._change_refusal(request)

    def _change_refusal(self, request: AccessRequest) -> Refusal | None:
        """Return the refusal of a change, which only torr's page and programs may request."""
        if not _is_same_origin(request.headers):
            return Refusal(403, "only torr's own page may request this")
        # Browsers send cookies with requests of other sites, too, so a cookie does not suffice.
        if not self._is_token(_bearer(request)):
            return Refusal(403, "this needs the token: open the URL that torr printed")
        return None

    def has_token(self, request: AccessRequest) -> bool:
        """Return whether a request has the token."""
        return any(map(self._is_token, (_bearer(request), request.cookies.get(self.cookie, ""))))

    def _is_token(self, text: str) -> bool:
        return secrets.compare_digest(text.encode("utf-8", "replace"), self.token.encode())


def is_loopback(name: str) -> bool:
    """Return whether a host name or address is loopback, without DNS."""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def _bearer(request: AccessRequest) -> str:
    """Return the token in a header or in the URL of a request; empty without one."""
    scheme, _, text = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return text.strip()
    return request.headers.get("x-torr-token") or request.query.get(TOKEN, "")


def _is_same_origin(headers: Mapping[str, str]) -> bool:
    """Return whether a request is not from another site, by headers that pages cannot change.

    Programs other than browsers do not send these headers.
    """
    site = headers.get("sec-fetch-site")
    if site is not None and site != "same-origin":
        return False
    origin = headers.get("origin")
    if origin is None:
        return True
    return urlsplit(origin).netloc.lower() == headers.get("host", "").lower()


def _host_name(host: str) -> str:
    """Return the name in a Host header, without port; empty if it is invalid."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
