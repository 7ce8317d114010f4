"""requests' way to the reactor: an adapter for everything that is not plain.

requests prepares, follows redirects, keeps cookies and words errors as ever; only what it would ask
of urllib3's connections is asked of the reactor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import requests
from locust.clients import LocustHttpAdapter
from requests.utils import DEFAULT_CA_BUNDLE_PATH, extract_zipped_paths, select_proxy
from urllib3.connection import _get_default_user_agent
from urllib3.exceptions import MaxRetryError, NameResolutionError, ProtocolError

from torr.locust.body import BodyFile, ReactorResponse
from torr.locust.exchanges import marked
from torr.locust.failures import ABORTED, raise_failure
from torr.locust.lanes import PORTS, ConnectionRoute, Lanes, Trust
from torr.locust.reactor import IS_HEAD, STREAMS
from torr.locust.wire import head_of, text_of, whole_body

if TYPE_CHECKING:
    from collections.abc import Mapping

    from urllib3.util import Timeout

    from torr.locust.reactor import Call


WITH_BODY = frozenset(["POST", "PUT", "PATCH"])
FRAMING = frozenset(["content-length", "transfer-encoding"])


class Adapter(LocustHttpAdapter):
    """Sends prepared requests over the lanes of one session."""

    def __init__(self, lanes: Lanes) -> None:
        super().__init__(pool_manager=Nothing())
        self.lanes = lanes
        # A call whose answer came already: what sends next takes it instead of sending.
        self.made: Call | None = None

    def get_connection_with_tls_context(
        self,
        request: requests.PreparedRequest,
        verify: Any,
        proxies: Mapping[str, str] | None = None,
        cert: Any = None,
    ) -> Way:
        """What urllib3 would have a pool of connections for."""
        proxy = select_proxy(request.url, proxies)
        if proxy:
            raise requests.exceptions.InvalidSchema(
                f"torr sends through no proxy: {proxy!r} is asked for {request.url}; "
                "leave proxies away, or run this locustfile with Locust itself",
                request=request,
            )
        try:
            place = place_of(request.url or "", trust_of(verify, cert))
        except ValueError as error:
            text = f"Failed to parse: {request.url}"
            raise requests.exceptions.InvalidURL(text, request=request) from error
        return Way(self, place)

    def close(self) -> None:
        """Close what is idle."""
        self.lanes.close()


class Nothing:
    """Stands where Locust's adapter expects connections of urllib3's."""

    def clear(self) -> None:
        """There is nothing."""


class Named:
    """What an error about a connection names."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __str__(self) -> str:
        return self._name

    def __repr__(self) -> str:
        return f"<{self._name} at {id(self):#x}>"


class Way:
    """What urllib3 calls a pool, as far as requests asks anything of it."""

    def __init__(self, adapter: Adapter, place: ConnectionRoute) -> None:
        self._adapter = adapter
        self._place = place
        self.scheme, self.host, self.port = place.scheme, place.host, place.port
        kind = "HTTPS" if place.scheme == "https" else "HTTP"
        where = f"(host={place.host!r}, port={place.port!r})"
        self._name = f"{kind}ConnectionPool{where}"
        self.connection = Named(f"{kind}Connection{where}")

    def __str__(self) -> str:
        return self._name

    def urlopen(
        self,
        method: str,
        url: str,
        body: Any,
        headers: Mapping[str, str],
        timeout: Timeout,
        chunked: bool,
        **_: Any,
    ) -> ReactorResponse:
        """Send, and give the answer as soon as its head is there."""
        waits = seconds_of(timeout.connect_timeout), seconds_of(timeout.read_timeout)
        adapter, lanes = self._adapter, self._adapter.lanes
        call, adapter.made = adapter.made, None
        if call is None:
            try:
                lane = lanes.lane(self._place)
            except OSError as error:
                unknown = NameResolutionError(self.host, self.connection, error)
                raise MaxRetryError(self, url, unknown) from error
            try:
                content = whole_body(body, chunked=chunked)
            except OSError as error:
                raise ProtocolError(ABORTED, error) from error
            fields = with_defaults(method, headers, has_body=body is not None)
            head = head_of(method, url, self._place, fields, chunked=chunked)
            flags = IS_HEAD * (method == "HEAD") | STREAMS
            call = lanes.reactor.exchange(lane, head, content, flags, waits)
        if not call.status:
            try:
                raise_failure(call, self, url, waits)
            except Exception as error:
                marked(error, call)
                raise
        return ReactorResponse(BodyFile(call, lanes.reactor), method, self)


def with_defaults(method: str, headers: Mapping[str, Any], *, has_body: bool) -> dict[str, Any]:
    """The fields, and those that urllib3 and http.client add by themselves."""
    names = {text_of(name).lower() for name in headers}
    added = {}
    if not has_body and method in WITH_BODY and not names & FRAMING:
        added["Content-Length"] = "0"
    if "user-agent" not in names:
        added["User-Agent"] = _get_default_user_agent()
    return {**added, **headers}


def seconds_of(timeout: Any) -> float | None:
    """One of urllib3's timeouts; None is for ever."""
    return timeout if isinstance(timeout, (int, float)) else None


def place_of(url: str, trust: Trust) -> ConnectionRoute:
    """Where a prepared URL leads."""
    parts = urlsplit(url)
    port = parts.port or PORTS[parts.scheme]
    return ConnectionRoute(parts.scheme, parts.hostname or "", port, trust)


def trust_of(verify: Any, cert: Any) -> Trust:
    """What `verify` and `cert` mean: requests trusts the list that it brings along."""
    pair = (cert, cert) if isinstance(cert, str) else tuple(cert) if cert else None
    if verify is True:
        return Trust(ca=extract_zipped_paths(DEFAULT_CA_BUNDLE_PATH), identity=pair)
    if not verify:
        return Trust(insecure=True, identity=pair)
    return Trust(ca=str(verify), identity=pair)
