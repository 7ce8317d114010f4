"""`FastHttpSession`: Locust's, on the reactor.

Plain requests are sent by `fast_plain.py`, the others by geventhttpclient itself with clients on
the reactor (`fast_client.py`). In both cases reports are those of Locust.

"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from geventhttpclient.response import HTTPParseError
from locust.contrib.fasthttp import FAILURE_EXCEPTIONS, ResponseContextManager
from locust.contrib.fasthttp import FastHttpSession as Original
from locust.user import User

from torr.locust.fast_answer import FastAnswer, FastCaught
from torr.locust.fast_client import Clients
from torr.locust.fast_plain import FastPlain, content_of, key_of

if TYPE_CHECKING:
    from torr.locust.fast_plain import FastSent

NOTHING: dict[str, Any] = {}
# Older versions of Locust catch the parser's errors separately.
FAILURES = (*FAILURE_EXCEPTIONS, HTTPParseError)


class FastHttpSession(Original):
    """A drop-in replacement of Locust's FastHttpSession."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.plain: FastPlain | None = None
        if kwargs.get("client_pool") is None and kwargs.get("ssl_context_factory") is None:
            # A pool or TLS context that the locustfile passes is used as it is, on its own sockets.
            clients = Clients(**self.client.clientpool.client_args)
            self.client.clientpool = clients
            self.plain = FastPlain(self, clients)
        user = self.user
        self._has_context = user is not None and type(user).context is not User.context

    @property
    def event(self) -> Any:
        """Return the event of every request; older versions of Locust keep it elsewhere."""
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
        context: dict[str, Any] = NOTHING,
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
                plain.learn(method, url, content[1], key, sent_for(response))
            return response
        call = sent.call
        is_fine = call.outcome() > 0
        elapsed = time.perf_counter() - start
        row_name = name or getattr(self, "request_name", None) or url
        shortcut = self.event.__dict__.get("shortcut")
        if is_fine and not catch_response and shortcut is not None and shortcut.is_open():
            shortcut.count(method, row_name, call, elapsed * 1000)
            return FastAnswer(sent)
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
        if not is_fine:
            return self._response(sent, meta, start, catch_response=catch_response)
        meta["response_length"] = call.body_length
        meta["response_time"] = elapsed * 1000
        if catch_response:
            caught = meta["response"] = FastCaught(sent, self, meta)
            return caught
        response = meta["response"] = FastAnswer(sent)
        self.event.fire(**meta)
        return response

    def _response(
        self, sent: FastSent, meta: dict[str, Any], start: float, *, catch_response: bool
    ) -> Any:
        """Report the response that geventhttpclient makes of a call, and return it."""
        response = sent.plain.finished(sent)
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


def sent_for(response: Any) -> str:
    """Return the head of the request that a response is to, the last after redirects."""
    return str(getattr(getattr(response, "_response", None), "_sent_request", None) or "")
