"""An adapter for the library requests, which sends requests that are not plain over the reactor.

The library still prepares requests, follows redirects, stores cookies and creates error texts; only
the connections of urllib3 are replaced.

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
from torr.locust.exchanges import attach_call
from torr.locust.failures import ABORTED, raise_failure
from torr.locust.pools import PORTS, ConnectionPools, ConnectionRoute, TlsSettings
from torr.locust.reactor import IS_HEAD, STREAMS
from torr.locust.wire import head_of, text_of, whole_body

if TYPE_CHECKING:
    from collections.abc import Mapping

    from urllib3.util import Timeout

    from torr.locust.reactor import Call


METHODS_WITH_BODY = frozenset(["POST", "PUT", "PATCH"])
FRAMING_FIELDS = frozenset(["content-length", "transfer-encoding"])


class Adapter(LocustHttpAdapter):
    """Sends prepared requests over the connection pools of one session."""

    def __init__(self, pools: ConnectionPools) -> None:
        super().__init__(pool_manager=SimpleNamespace(clear=lambda: None))
        self.pools = pools
        # A call that has its response already: the next request uses it instead of sending.
        self.finished_call: Call | None = None

    def get_connection_with_tls_context(
        self,
        request: requests.PreparedRequest,
        verify: Any,
        proxies: Mapping[str, str] | None = None,
        cert: Any = None,
    ) -> ReactorPool:
        """Return the replacement of urllib3's connection pool for a request."""
        proxy = select_proxy(request.url, proxies)
        if proxy:
            raise requests.exceptions.InvalidSchema(
                f"torr does not support proxies, and {proxy!r} is set for {request.url}; "
                "remove the proxy settings, or run this locustfile with Locust itself",
                request=request,
            )
        try:
            route = route_of(request.url or "", tls_settings_of(verify, cert))
        except ValueError as error:
            text = f"Failed to parse: {request.url}"
            raise requests.exceptions.InvalidURL(text, request=request) from error
        return ReactorPool(self, route)

    def close(self) -> None:
        """Close idle connections."""
        self.pools.close()


class ConnectionName:
    """The name of a connection in the texts of errors."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __str__(self) -> str:
        return self._name

    def __repr__(self) -> str:
        return f"<{self._name} at {id(self):#x}>"


class ReactorPool:
    """Replaces urllib3's connection pool, with the methods that requests uses."""

    def __init__(self, adapter: Adapter, route: ConnectionRoute) -> None:
        self._adapter = adapter
        self._route = route
        self.scheme, self.host, self.port = route.scheme, route.host, route.port
        kind = "HTTPS" if route.scheme == "https" else "HTTP"
        arguments = f"(host={route.host!r}, port={route.port!r})"
        self._name = f"{kind}ConnectionPool{arguments}"
        self.connection = ConnectionName(f"{kind}Connection{arguments}")

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
        """Send a request, and return the response when its head has arrived."""
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
            fields = add_default_fields(method, headers, has_body=body is not None)
            head = head_of(method, url, self._route, fields, chunked=chunked)
            flags = IS_HEAD * (method == "HEAD") | STREAMS
            call = pools.reactor.exchange(pool, head, content, flags, timeouts)
        if not call.status:
            try:
                raise_failure(call, self, url, timeouts)
            except Exception as error:
                attach_call(error, call)
                raise
        return ReactorResponse(BodyFile(call, pools.reactor), method, self)


def add_default_fields(
    method: str, headers: Mapping[str, Any], *, has_body: bool
) -> dict[str, Any]:
    """Return the fields, with those that urllib3 and http.client add by default."""
    names = {text_of(name).lower() for name in headers}
    added = {}
    if not has_body and method in METHODS_WITH_BODY and not names & FRAMING_FIELDS:
        added["Content-Length"] = "0"
    if "user-agent" not in names:
        added["User-Agent"] = _get_default_user_agent()
    return {**added, **headers}


def seconds_of(timeout: Any) -> float | None:
    """Return one of urllib3's timeouts; None means unlimited."""
    return timeout if isinstance(timeout, (int, float)) else None


def route_of(url: str, tls_settings: TlsSettings) -> ConnectionRoute:
    """Return the route of a prepared URL."""
    parts = urlsplit(url)
    port = parts.port or PORTS[parts.scheme]
    return ConnectionRoute(parts.scheme, parts.hostname or "", port, tls_settings)


def tls_settings_of(verify: Any, cert: Any) -> TlsSettings:
    """Return the TLS settings for `verify` and `cert`; requests has default CA certificates."""
    pair = (cert, cert) if isinstance(cert, str) else tuple(cert) if cert else None
    if verify is True:
        return TlsSettings(ca=extract_zipped_paths(DEFAULT_CA_BUNDLE_PATH), identity=pair)
    if not verify:
        return TlsSettings(insecure=True, identity=pair)
    return TlsSettings(ca=str(verify), identity=pair)
