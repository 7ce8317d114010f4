"""`FastHttpSession`: Locust's class, with connections of the reactor.

Plain requests are sent by `fast_plain.py`, the others by geventhttpclient itself with clients on
the reactor (`fast_client.py`). In both cases the reported events are those of Locust.

"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from geventhttpclient.response import HTTPParseError
from locust.contrib.fasthttp import FAILURE_EXCEPTIONS, ResponseContextManager
from locust.contrib.fasthttp import FastHttpSession as Original
from locust.user import User

from torr.locust.fast_client import Clients
from torr.locust.fast_plain import PlainFastRequests, content_of, key_of
from torr.locust.fast_response import PlainFastContextManager, PlainFastResponse

if TYPE_CHECKING:
    from torr.locust.fast_plain import SentFastRequest

NO_CONTEXT: dict[str, Any] = {}
# Older versions of Locust catch the parser's errors separately.
FAILURES = (*FAILURE_EXCEPTIONS, HTTPParseError)


class FastHttpSession(Original):
    """A drop-in replacement of Locust's FastHttpSession."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.plain: PlainFastRequests | None = None
        if kwargs.get("client_pool") is None and kwargs.get("ssl_context_factory") is None:
            # A pool or TLS context that the locustfile passes is used as it is, on its own sockets.
            clients = Clients(**self.client.clientpool.client_args)
            self.client.clientpool = clients
            self.plain = PlainFastRequests(self, clients)
        user = self.user
        self._has_context = user is not None and type(user).context is not User.context

    @property
    def event(self) -> Any:
        """Return the request event; older versions of Locust have it in another attribute."""
        event = getattr(self, "request_event", None)
        return event if event is not None else self.environment.events.request

    def request(
        self,
        method: str,
        url: str,
        name: str | None = None,
        data: Any = None,
        catch_response: bool = False,
        stream: bool = False,
        headers: dict[str, Any] | None = None,
        auth: Any = None,
        json: Any = None,
        allow_redirects: bool = True,
        context: dict[str, Any] = NO_CONTEXT,
        **more: Any,
    ) -> Any:
        """Send a request and report it; the arguments are those of Locust's FastHttpSession."""
        start = time.perf_counter()
        plain = self.plain
        content = key = sent = None
        if plain is not None and not stream and not more and allow_redirects:
            content = content_of(data, json)
            key = content and key_of(method, content[0], auth or self.auth_header, headers)
        if plain is not None and content is not None and key:
            sent = plain.send(method, url, content[1], key)
        if sent is None:
            response = super().request(
                method,
                url,
                name=name,
                data=data,
                catch_response=catch_response,
                stream=stream,
                headers=headers,
                auth=auth,
                json=json,
                allow_redirects=allow_redirects,
                context=context,
                **more,
            )
            if plain is not None and content is not None and key and response.status_code == 200:
                plain.add_template(method, url, content[1], key, sent_head_of(response))
            return response
        call = sent.call
        is_ok = call.outcome() > 0
        elapsed = time.perf_counter() - start
        row_name = name or getattr(self, "request_name", None) or url
        counter = self.event.__dict__.get("direct_counter")
        if is_ok and not catch_response and counter is not None and counter.is_active():
            counter.count(method, row_name, call, elapsed * 1000)
            return PlainFastResponse(sent)
        if self._has_context:
            context = {**self.user.context(), **context}
        meta = {
            "request_type": method,
            "name": row_name,
            "context": dict(context),
            "response": None,
            "exception": None,
            "start_time": time.time() - elapsed,
            "url": sent.url,
            "response_length": 0,
            "response_time": 0.0,
        }
        if not is_ok:
            return self._response(sent, meta, start, catch_response=catch_response)
        meta["response_length"] = call.body_length
        meta["response_time"] = elapsed * 1000
        if catch_response:
            caught = meta["response"] = PlainFastContextManager(sent, self, meta)
            return caught
        response = meta["response"] = PlainFastResponse(sent)
        self.event.fire(**meta)
        return response

    def _response(
        self, sent: SentFastRequest, meta: dict[str, Any], start: float, *, catch_response: bool
    ) -> Any:
        """Report the response that geventhttpclient creates from a call, and return it."""
        response = sent.plain.response_of(sent)
        meta["response"] = response
        try:
            meta["response_length"] = len(response.content or b"")
            response.raise_for_status()
        except FAILURES as error:
            meta["exception"] = error
        meta["response_time"] = (time.perf_counter() - start) * 1000
        if not catch_response:
            self.event.fire(**meta)
            return response
        if hasattr(self, "environment"):
            return ResponseContextManager(response, environment=self.environment, request_meta=meta)
        return ResponseContextManager(response, self.event, meta, catch_response)


def sent_head_of(response: Any) -> str:
    """Return the head of the request of a response; after redirects, of the last one."""
    return str(getattr(getattr(response, "_response", None), "_sent_request", None) or "")
