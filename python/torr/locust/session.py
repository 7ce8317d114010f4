"""`HttpSession`: Locust's class, with connections of the reactor.

Plain requests are sent by `plain.py`, the others by requests itself with an adapter on the reactor
(`adapter.py`). In both cases the reported events are those of Locust.

"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from locust.clients import HttpSession as Original
from locust.clients import ResponseContextManager
from locust.user import User

from torr.locust.adapter import Adapter
from torr.locust.cookies import SessionCookieJar
from torr.locust.plain import PlainRequests
from torr.locust.pools import ConnectionPools
from torr.locust.response import LocustResponse
from torr.locust.streamed import StreamedResponse
from torr.locust.templates import SessionFields

if TYPE_CHECKING:
    from torr.locust.plain import SentRequest

NO_CONTEXT: dict[str, Any] = {}
# If a locustfile overrides one of these, requests sends all requests, so that its code is called.
OVERRIDABLE = (
    "send",
    "prepare_request",
    "get_adapter",
    "_send_request_safe_mode",
    "_build_url",
    "merge_environment_settings",
)


class HttpSession(Original):
    """A drop-in replacement of Locust's HttpSession, and so of requests.Session."""

    is_unmodified = True

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.is_unmodified = all(
            getattr(cls, name) is getattr(HttpSession, name) for name in OVERRIDABLE
        )

    def __init__(
        self,
        base_url: Any,
        request_event: Any,
        user: Any,
        *args: Any,
        pool_manager: Any = None,
        **kwargs: Any,
    ) -> None:
        self.adapter: Adapter | None = None
        self.plain = PlainRequests(self)
        super().__init__(base_url, request_event, user, *args, pool_manager=pool_manager, **kwargs)
        if pool_manager is None:
            # A pool manager that the locustfile passes is used as it is.
            self.adapter = Adapter(ConnectionPools())
            self.mount("https://", self.adapter)
            self.mount("http://", self.adapter)
        self.cookies = SessionCookieJar()
        self.explicit_name: str | None = None
        self._has_context = user is not None and type(user).context is not User.context

    def __setattr__(self, name: str, value: Any) -> None:
        if name in OVERRIDABLE:
            self.__dict__["is_unmodified"] = False
        super().__setattr__(name, value)

    @property
    def headers(self) -> SessionFields:
        """Return the fields of every request."""
        return self._fields

    @headers.setter
    def headers(self, fields: Any) -> None:
        self._fields = SessionFields(fields or {})

    def mount(self, prefix: str, adapter: Any) -> None:
        """Use an adapter for some URLs; requests then sends all requests."""
        super().mount(prefix, adapter)
        self.plain.is_possible = all(mounted is self.adapter for mounted in self.adapters.values())

    def request(
        self,
        method: Any,
        url: Any,
        name: str | None = None,
        catch_response: bool = False,
        context: dict[str, Any] = NO_CONTEXT,
        *,
        data: Any = None,
        json: Any = None,
        **more: Any,
    ) -> Any:
        """Send a request and report it; the arguments are those of Locust's HttpSession."""
        start = time.perf_counter()
        sent = self.plain.send(method, url, data, json, more)
        if sent is None:
            reporting = {"name": name, "catch_response": catch_response, "context": context}
            return super().request(method, url, **reporting, data=data, json=json, **more)
        call = sent.call
        is_ok = call.outcome() > 0
        elapsed = time.perf_counter() - start
        counter = self.request_event.__dict__.get("direct_counter")
        is_complete = is_ok and not sent.streams
        if is_complete and not catch_response and counter is not None and counter.is_active():
            row_name = name or self.request_name or sent.target
            counter.count(method, row_name, call, elapsed * 1000)
            return LocustResponse(sent, (method, row_name, elapsed * 1000, context))
        if self._has_context:
            context = {**self.user.context(), **context}
        meta = {
            "request_type": method,
            "response_time": 0.0,
            "name": name or self.request_name or sent.target,
            "context": dict(context),
            "response": None,
            "exception": None,
            "start_time": time.time() - elapsed,
            "url": sent.origin.root + sent.target,
            "response_length": 0,
        }
        if is_ok:
            response = meta["response"] = (
                LocustResponse(sent) if is_complete else StreamedResponse(sent)
            )
            meta["response_time"] = elapsed * 1000
            meta["response_length"] = (
                call.body_length if is_complete else content_length_of(response)
            )
            return response.report(self.request_event, meta, catch_response=catch_response)
        response = self._response_of(sent, name or self.request_name, data, json, more)
        meta["response_time"] = (time.perf_counter() - start) * 1000
        meta["response"] = response
        meta["response_length"] = (
            content_length_of(response) if sent.streams else len(response.content or b"")
        )
        first_request = ((response.history and response.history[0]) or response).request
        if first_request is not None:
            meta["url"] = str(first_request.url)
            meta["name"] = name or self.request_name or first_request.path_url
        return self._report(response, meta, catch_response=catch_response)

    def _response_of(
        self, sent: SentRequest, name: str | None, data: Any, json: Any, more: dict[str, Any]
    ) -> Any:
        """Return the response that requests creates from a call."""
        self.explicit_name = name
        sent.adapter.finished_call = sent.call
        url = sent.origin.root + sent.target
        more = {key: value for key, value in more.items() if key != "params"}
        try:
            return self._send_request_safe_mode(sent.method, url, data=data, json=json, **more)
        finally:
            sent.adapter.finished_call = None

    def _report(self, response: Any, meta: dict[str, Any], *, catch_response: bool) -> Any:
        """Report a response as the installed Locust does."""
        event = self.request_event
        if hasattr(ResponseContextManager, "wrap_response"):
            response = ResponseContextManager.wrap_response(
                response, request_event=event, request_meta=meta, catch_response=catch_response
            )
            if not catch_response:
                response.__exit__(None, None, None)
            return response
        manager = ResponseContextManager(response, request_event=event, request_meta=meta)
        if catch_response:
            return manager
        with manager:
            pass
        return response


def content_length_of(response: Any) -> int:
    """Return the Content-Length of a response whose body is not read yet; 0 without one."""
    return int(response.headers.get("content-length") or 0)
