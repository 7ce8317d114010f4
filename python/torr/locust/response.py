"""The response to a plain request: a requests.Response that creates attributes on first use."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar

import requests
from locust.clients import ResponseContextManager
from requests.cookies import RequestsCookieJar
from requests.structures import CaseInsensitiveDict
from requests.utils import get_encoding_from_headers
from urllib3._collections import HTTPHeaderDict

from torr.locust.body import BodyFile
from torr.locust.body import ReactorResponse as RawResponse
from torr.locust.wire import fields_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType

    from torr.locust.plain import SentRequest
    from torr.locust.reactor import Call

MILLISECONDS = 1e-6
MICROSECONDS = 1e-3


# Whether a `with` block around a response without `catch_response` is an error (newer versions).
REQUIRES_CATCH_RESPONSE = hasattr(ResponseContextManager, "wrap_response")
EventValues = tuple[Any, ...]
LazyAttributes = dict[str, "Callable[[LocustResponse, SentRequest], Any]"]
NO_EVENT_VALUES: EventValues = ()
META = ("request_type", "name", "response_time", "context", "url", "response_length")


class LocustResponse(ResponseContextManager):
    """The response that Locust returns, created from the call of a plain request that has ended."""

    lazy_attributes: ClassVar[LazyAttributes] = {}
    error = None
    _content_consumed = True
    _next = None
    _manual_result = None
    _entered = False
    _catch_response = False

    def __init__(self, sent: SentRequest, event_values: EventValues = NO_EVENT_VALUES) -> None:
        self._sent = sent
        self._call = sent.call
        # Method, name, response time and context, if no event was fired.
        self._event_values = event_values

    def __getattr__(self, name: str) -> Any:
        """Make an attribute that requests would have set, when it is first used."""
        make_value = self.lazy_attributes.get(name)
        if make_value is None or "_sent" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        value = self.__dict__[name] = make_value(self, self._sent)
        return value

    def __enter__(self) -> Any:
        """Enter a `with` block; newer versions of Locust require `catch_response`."""
        if self._catch_response or REQUIRES_CATCH_RESPONSE:
            return super().__enter__()
        return self

    def __exit__(
        self,
        exc: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        """Report the response: a success, unless the locustfile has called `failure`."""
        if not self._catch_response:
            return False  # it has been reported
        if exc is None and self._manual_result is None:
            self._report_success()
            return True
        return bool(super().__exit__(exc, value, traceback))

    def report(
        self,
        event: Any,
        meta: Mapping[str, Any],
        *,
        catch_response: bool,
    ) -> LocustResponse:
        """Report the response, unless `catch_response` is set, and return it."""
        self._request_event = event
        self.request_meta = meta
        self._catch_response = catch_response
        if not catch_response:
            self._report_success()
        return self

    def _report_success(self) -> None:
        """Fire the event; as with Locust, its listeners see the name as the URL of the response."""
        event, meta, attributes = self._request_event, self.request_meta, self.__dict__
        counter = event.__dict__.get("direct_counter")
        if counter is not None and counter.is_active() and is_unmodified(meta, self._call):
            method, name, took = meta["request_type"], meta["name"], meta["response_time"]
            counter.count(method, name, self._call, took)
            return
        attributes["url"], url = meta["name"], self.url
        event.fire(**meta)
        attributes["url"] = url


def is_unmodified(meta: Mapping[str, Any], call: Call) -> bool:
    """Return whether the locustfile left the reported values unchanged."""
    return (
        meta["exception"] is None
        and type(meta["response_time"]) is float
        and meta["response_length"] == call.body_length
    )


def _response_method(method: str) -> Callable[..., None]:
    """Return `success` or `failure` for an older Locust."""

    def judge(response: LocustResponse, *args: Any) -> None:
        owner = ResponseContextManager if response._catch_response else requests.Response  # noqa: SLF001
        getattr(owner, method)(response, *args)

    return judge


if not REQUIRES_CATCH_RESPONSE:
    LocustResponse.success = _response_method("success")
    LocustResponse.failure = _response_method("failure")


def _headers(_response: LocustResponse, sent: SentRequest) -> CaseInsensitiveDict[str]:
    fields = sent.call.head()[3]
    return CaseInsensitiveDict(HTTPHeaderDict(fields))


def _elapsed(_response: LocustResponse, sent: SentRequest) -> timedelta:
    started, _, first_byte, _, _ = sent.call.stamps()
    return timedelta(microseconds=max(0, first_byte - started) * MICROSECONDS)


def _raw(response: LocustResponse, sent: SentRequest) -> RawResponse:
    response.content  # noqa: B018 - it has been read
    raw = RawResponse(BodyFile(sent.call, sent.adapter.pools.reactor), sent.method, None)
    raw.read()
    return raw


def _request(_response: LocustResponse, sent: SentRequest) -> requests.PreparedRequest:
    """Return the prepared request, parsed from the bytes that were sent."""
    prepared = requests.PreparedRequest()
    prepared.method = sent.method
    prepared.url = sent.origin.root + sent.target
    prepared.headers = CaseInsensitiveDict(fields_of(sent.head))
    prepared.body = sent.content
    prepared._cookies = RequestsCookieJar()  # noqa: SLF001
    prepared.hooks = {"response": []}
    return prepared


def _meta(response: LocustResponse, sent: SentRequest) -> dict[str, Any]:
    event_values = (*response._event_values, response.url, sent.call.body_length)  # noqa: SLF001
    meta = dict(zip(META, event_values, strict=False))
    return {**meta, "response": response, "exception": None, "start_time": time.time()}


LocustResponse.lazy_attributes = {
    "status_code": lambda _response, sent: sent.call.status,
    "_content": lambda _response, sent: sent.call.body(),
    "headers": _headers,
    "encoding": lambda response, _sent: get_encoding_from_headers(response.headers),
    "reason": lambda _response, sent: sent.call.head()[2],
    "url": lambda _response, sent: sent.origin.root + sent.target,
    "history": lambda _response, _sent: [],
    "cookies": lambda _response, _sent: RequestsCookieJar(),
    "elapsed": _elapsed,
    "raw": _raw,
    "request": _request,
    "connection": lambda _response, sent: sent.adapter,
    "request_meta": _meta,
}
