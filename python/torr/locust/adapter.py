"""An adapter of requests that sends over the reactor whatever is not a plain request.

requests still prepares requests, follows redirects, keeps cookies and words errors; only the
connections of urllib3 are replaced.

"""

from __future__ import annotations

from types import SimpleNamespace
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
from torr.locust.pools import PORTS, ConnectionPools, ConnectionRoute, Trust
from torr.locust.reactor import IS_HEAD, STREAMS
from torr.locust.wire import head_of, text_of, whole_body

if TYPE_CHECKING:
    from collections.abc import Mapping

    from urllib3.util import Timeout

    from torr.locust.reactor import Call


WITH_BODY = frozenset(["POST", "PUT", "PATCH"])
FRAMING = frozenset(["content-length", "transfer-encoding"])


class Adapter(LocustHttpAdapter):
    """Sends prepared requests over the connection pools of one session."""

    def __init__(self, pools: ConnectionPools) -> None:
        super().__init__(pool_manager=SimpleNamespace(clear=lambda: None))
        self.pools = pools
        # A call that has its response already: the next request takes it instead of sending.
        self.finished_call: Call | None = None

    def get_connection_with_tls_context(
        self,
        request: requests.PreparedRequest,
        verify: Any,
        proxies: Mapping[str, str] | None = None,
        cert: Any = None,
    ) -> ReactorPool:
        """Return the stand-in for urllib3's connection pool of a request."""
        proxy = select_proxy(request.url, proxies)
        if proxy:
            raise requests.exceptions.InvalidSchema(
                f"torr sends through no proxy: {proxy!r} is asked for {request.url}; "
                "remove the proxy settings, or run this locustfile with Locust itself",
                request=request,
            )
        try:
            route = route_of(request.url or "", trust_of(verify, cert))
        except ValueError as error:
            text = f"Failed to parse: {request.url}"
            raise requests.exceptions.InvalidURL(text, request=request) from error
        return ReactorPool(self, route)

    def close(self) -> None:
        """Close idle connections."""
        self.pools.close()


class Named:
    """The text by which an error names a connection."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __str__(self) -> str:
        return self._name

    def __repr__(self) -> str:
        return f"<{self._name} at {id(self):#x}>"


class ReactorPool:
    """Stands in for urllib3's connection pool, as far as requests uses it."""

    def __init__(self, adapter: Adapter, route: ConnectionRoute) -> None:
        self._adapter = adapter
        self._route = route
        self.scheme, self.host, self.port = route.scheme, route.host, route.port
        kind = "HTTPS" if route.scheme == "https" else "HTTP"
        arguments = f"(host={route.host!r}, port={route.port!r})"
        self._name = f"{kind}ConnectionPool{arguments}"
        self.connection = Named(f"{kind}Connection{arguments}")

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
        """Send a request, and return the response as soon as its head has come."""
        timeouts = seconds_of(timeout.connect_timeout), seconds_of(timeout.read_timeout)
        adapter, pools = self._adapter, self._adapter.pools
        call, adapter.finished_call = adapter.finished_call, None
        if call is None:
            try:
                pool = pools.pool(self._route)
            except OSError as error:
                cause = NameResolutionError(self.host, self.connection, error)
                raise MaxRetryError(self, url, cause) from error
            try:
                content = whole_body(body, chunked=chunked)
            except OSError as error:
                raise ProtocolError(ABORTED, error) from error
            fields = with_defaults(method, headers, has_body=body is not None)
            head = head_of(method, url, self._route, fields, chunked=chunked)
            flags = IS_HEAD * (method == "HEAD") | STREAMS
            call = pools.reactor.exchange(pool, head, content, flags, timeouts)
        if not call.status:
            try:
                raise_failure(call, self, url, timeouts)
            except Exception as error:
                marked(error, call)
                raise
        return ReactorResponse(BodyFile(call, pools.reactor), method, self)


def with_defaults(method: str, headers: Mapping[str, Any], *, has_body: bool) -> dict[str, Any]:
    """Return the fields, and those that urllib3 and http.client add by default."""
    names = {text_of(name).lower() for name in headers}
    added = {}
    if not has_body and method in WITH_BODY and not names & FRAMING:
        added["Content-Length"] = "0"
    if "user-agent" not in names:
        added["User-Agent"] = _get_default_user_agent()
    return {**added, **headers}


def seconds_of(timeout: Any) -> float | None:
    """Return one of urllib3's timeouts; None means unlimited."""
    return timeout if isinstance(timeout, (int, float)) else None


def route_of(url: str, trust: Trust) -> ConnectionRoute:
    """Return the route of a prepared URL."""
    parts = urlsplit(url)
    port = parts.port or PORTS[parts.scheme]
    return ConnectionRoute(parts.scheme, parts.hostname or "", port, trust)


def trust_of(verify: Any, cert: Any) -> Trust:
    """Return what `verify` and `cert` mean; requests trusts its bundled list by default."""
    pair = (cert, cert) if isinstance(cert, str) else tuple(cert) if cert else None
    if verify is True:
        return Trust(ca=extract_zipped_paths(DEFAULT_CA_BUNDLE_PATH), identity=pair)
    if not verify:
        return Trust(insecure=True, identity=pair)
    return Trust(ca=str(verify), identity=pair)
