"""Where a session's paths lead, and each path as requests sends it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import requests
from requests.models import RequestEncodingMixin

from torr.locust.adapter import place_of, trust_of

if TYPE_CHECKING:
    from torr.locust.lanes import ConnectionRoute, Trust

# Paths that requests leaves as they are: nothing to quote, no dots that lead elsewhere.
AS_IT_IS = re.compile(
    r"(?:/(?![./])[\w\-.~!$&'()*+,;=:@]*)+(?:\?[\w\-.~!$&'()*+,;=:@/?]+)?", re.ASCII
)
MOST_TARGETS = 4096


class Origin(NamedTuple):
    """What a session's base URL says."""

    base_url: str
    place: ConnectionRoute
    root: str
    """Scheme, host and port, as requests writes them."""
    prefix: str
    """The path before every path."""


_targets: dict[tuple[str, str], str | None] = {}


def origin_of(base_url: Any, trust: Trust | None = None) -> Origin | None:
    """What a base URL says; None where only requests can tell."""
    if not isinstance(base_url, str) or not base_url.startswith(("http://", "https://")):
        return None
    prepared = requests.PreparedRequest()
    try:
        prepared.prepare_url(base_url + "/", None)
        url = str(prepared.url)
        place = place_of(url, trust or trust_of(verify=True, cert=None))
    except (requests.RequestException, ValueError, KeyError):
        return None
    path = prepared.path_url
    prefix = path.removesuffix("/")
    if not url.endswith(path) or "?" in path or "@" in url or not AS_IT_IS.fullmatch(prefix or "/"):
        return None
    return Origin(base_url, place, url.removesuffix(path), prefix)


def target_of(origin: Origin, path: str, params: Any) -> str | None:
    """Path and query as requests sends them; None where only requests can tell."""
    if "#" in path:
        return None  # a part of the answer's URL, and not of what is sent
    if params:
        encoded = RequestEncodingMixin._encode_params(params)  # noqa: SLF001
        if not isinstance(encoded, str):
            return None
        path += ("&" if "?" in path else "?") + encoded
    if AS_IT_IS.fullmatch(path):
        return origin.prefix + path
    key = (origin.base_url, path)
    if key not in _targets:
        if len(_targets) >= MOST_TARGETS:
            _targets.clear()
        _targets[key] = _quoted(origin, path)
    return _targets[key]


def _quoted(origin: Origin, path: str) -> str | None:
    prepared = requests.PreparedRequest()
    try:
        prepared.prepare_url(origin.base_url + path, None)
        place = place_of(str(prepared.url), origin.place.trust)
    except (requests.RequestException, ValueError, KeyError):
        return None  # which requests says in its own words
    return prepared.path_url if place == origin.place else None
