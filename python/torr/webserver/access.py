"""Who may ask for what: pure decisions on a request's method and headers.

On loopback everybody of this machine may look. A page of another site must not: a name that was
bent to 127.0.0.1 (DNS rebinding) stands in Host, which has to be one of loopback's. A change needs
the token as well, and a request of torr's own page, which has the token only where it was opened by
the URL that torr printed. A wrong token is refused wherever it is.

On any other address every request needs the token: in the URL that torr printed, which becomes a
cookie, or as `Authorization: Bearer …`, as Prometheus sends it. Host may be anything then: a site
that bends its name has no cookie under it.
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
    """Why a request is not answered."""

    status: int
    text: str


@dataclass(frozen=True, slots=True)
class AccessRequest:
    """What a request says of itself; names of headers are in lower case."""

    method: str
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Access:
    """The rule of one server: its token, its cookie's name, and whether it is on loopback alone."""

    cookie: str
    is_open: bool
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    def refusal(self, asked: AccessRequest) -> Refusal | None:
        """Why a request is not answered; None where it is."""
        if self.is_open and not is_loopback(_name_of(asked.headers.get("host", ""))):
            return Refusal(421, "this page is at 127.0.0.1 or localhost, under no other name")
        if TOKEN in asked.query and not self._is_token(asked.query[TOKEN]):
            return Refusal(401, "this token is of another page: open the URL that torr printed")
        if not self.is_open and not self.knows(asked):
            return Refusal(401, "open the URL that torr printed: it has a token")
        if asked.method in SAFE_METHODS:
            return None
        return self._refusal_of_change(asked)

    def _refusal_of_change(self, asked: AccessRequest) -> Refusal | None:
        """A change is asked for by torr's own page, or by a program, but by no other site."""
        if not _is_of_same_origin(asked.headers):
            return Refusal(403, "only torr's own page may ask for this")
        # A cookie goes along by itself, whoever asks: it proves nothing here.
        if not self._is_token(_bearer(asked)):
            return Refusal(403, "this needs the token: reload the page")
        return None

    def knows(self, asked: AccessRequest) -> bool:
        """Whether a request has the token."""
        return any(map(self._is_token, (_bearer(asked), asked.cookies.get(self.cookie, ""))))

    def _is_token(self, text: str) -> bool:
        return secrets.compare_digest(text.encode("utf-8", "replace"), self.token.encode())


def is_loopback(name: str) -> bool:
    """Whether a host's name or address is this machine's own, whatever DNS says."""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def _bearer(asked: AccessRequest) -> str:
    """The token that a request names itself: in a header, or in its URL."""
    scheme, _, text = asked.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return text.strip()
    return asked.headers.get("x-torr-token") or asked.query.get(TOKEN, "")


def _is_of_same_origin(headers: Mapping[str, str]) -> bool:
    """By what a browser says and a page cannot change; programs that are no browser say nothing."""
    site = headers.get("sec-fetch-site")
    if site is not None and site != "same-origin":
        return False
    origin = headers.get("origin")
    if origin is None:
        return True
    return urlsplit(origin).netloc.lower() == headers.get("host", "").lower()


def _name_of(host: str) -> str:
    """The name of a Host header, without its port; empty where it is none."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
