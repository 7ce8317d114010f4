"""The answer to a plain request of a FastHttpUser, filled when somebody looks at it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from geventhttpclient.header import Headers
from locust.contrib.fasthttp import FastRequest, FastResponse, ResponseContextManager

from torr.locust.fast_body import FastBody

if TYPE_CHECKING:
    from torr.locust.fast import FastHttpSession
    from torr.locust.fast_plain import FastSent


class Lazy:
    """What is looked up in the call instead of being set."""

    _sent: FastSent
    _made: FastRequest | None = None
    error = None

    def _fill(self, sent: FastSent) -> None:
        self._sent = sent
        self._call = sent.call
        self._response = FastBody(sent.call, sent.reactor, sent.method, "", None)
        self._elapsed = None
        self._history: list[Any] = []

    @property
    def _sent_request(self) -> str:
        return self._sent.head.decode("latin-1")

    @property
    def headers(self) -> Headers:
        """The fields of the answer."""
        return self._response.info()

    @property
    def request(self) -> FastRequest:
        """What was sent."""
        if self._made is None:
            sent, fields = self._sent, Headers()
            for line in sent.head.decode("latin-1").split("\r\n")[1:-2]:
                name, _, value = line.partition(": ")
                if name.lower() != "host":
                    fields.add(name, value)
            self._made = FastRequest(sent.url, sent.method, fields, sent.body or None)
        return self._made

    _request = request

    def raise_for_status(self) -> None:
        """A plain answer is no failure."""


class FastAnswer(Lazy, FastResponse):
    """What a request gives without `catch_response`."""

    def __init__(self, sent: FastSent) -> None:
        self._fill(sent)


class FastCaught(Lazy, ResponseContextManager):
    """What a request gives with `catch_response`."""

    raise_for_status = ResponseContextManager.raise_for_status

    def __init__(self, sent: FastSent, session: FastHttpSession, meta: dict[str, Any]) -> None:
        self._fill(sent)
        self._request_event = session.fired
        self._environment = getattr(session, "environment", None)
        self.request_meta = meta
        self._catch_response = True
