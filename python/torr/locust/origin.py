"""The origin of a session's requests, and the targets that the library requests sends."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import requests
from requests.models import RequestEncodingMixin

from torr.locust.adapter import route_of, tls_settings_of
from torr.locust.bounded_dict import BoundedDict

if TYPE_CHECKING:
    from torr.locust.pools import ConnectionRoute, TlsSettings

# Paths that requests does not change: they need no quoting, and have no dot segments.
UNCHANGED_PATH = re.compile(
    r"(?:/(?![./])[\w\-.~!$&'()*+,;=:@]*)+(?:\?[\w\-.~!$&'()*+,;=:@/?]+)?", re.ASCII
)


class Origin(NamedTuple):
    """The parts of a session's base URL."""

    base_url: str
    route: ConnectionRoute
    root: str
    """Scheme, host and port, as requests writes them."""
    prefix: str
    """The path that precedes every path."""


_targets: BoundedDict[tuple[str, str], str | None] = BoundedDict(4096)


def origin_of(base_url: Any, tls_settings: TlsSettings | None = None) -> Origin | None:
    """Return the parts of a base URL; None if only requests can handle it."""
    if not isinstance(base_url, str) or not base_url.startswith(("http://", "https://")):
        return None
    prepared = requests.PreparedRequest()
    try:
        prepared.prepare_url(base_url + "/", None)
        url = str(prepared.url)
        route = route_of(url, tls_settings or tls_settings_of(verify=True, cert=None))
    except (requests.RequestException, ValueError, KeyError):
        return None
    path = prepared.path_url
    prefix = path.removesuffix("/")
    if (
        not url.endswith(path)
        or "?" in path
        or "@" in url
        or not UNCHANGED_PATH.fullmatch(prefix or "/")
    ):
        return None
    return Origin(base_url, route, url.removesuffix(path), prefix)


def target_of(origin: Origin, path: str, params: Any) -> str | None:
    """Return path and query as requests sends them; None if only requests can handle them."""
    if "#" in path:
        return None  # the fragment belongs to the URL of the response, and is not sent
    if params:
        encoded = RequestEncodingMixin._encode_params(params)  # noqa: SLF001
        if not isinstance(encoded, str):
            return None
        path += ("&" if "?" in path else "?") + encoded
    if UNCHANGED_PATH.fullmatch(path):
        return origin.prefix + path
    key = (origin.base_url, path)
    if key not in _targets:
        _targets[key] = _quoted(origin, path)
    return _targets[key]


def _quoted(origin: Origin, path: str) -> str | None:
    prepared = requests.PreparedRequest()
    try:
        prepared.prepare_url(origin.base_url + path, None)
        route = route_of(str(prepared.url), origin.route.tls_settings)
    except (requests.RequestException, ValueError, KeyError):
        return None  # requests raises its own error
    return prepared.path_url if route == origin.route else None
