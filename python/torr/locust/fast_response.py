"""The response to a plain request of a FastHttpUser, whose attributes are created on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from geventhttpclient.header import Headers
from locust.contrib.fasthttp import FastRequest, FastResponse, ResponseContextManager

from torr.locust.fast_body import FastBody
from torr.locust.wire import fields_of

if TYPE_CHECKING:
    from torr.locust.fast import FastHttpSession
    from torr.locust.fast_plain import SentFastRequest


class LazyResponse:
    """Attributes that are read from the call when they are used."""

    _sent: SentFastRequest
    _prepared: FastRequest | None = None
    error = None

    def _set_call(self, sent: SentFastRequest) -> None:
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
        """Return the fields of the response."""
        return self._response.info()

    @property
    def request(self) -> FastRequest:
        """Return the request that was sent."""
        if self._prepared is None:
            sent, fields = self._sent, Headers()
            for name, value in fields_of(sent.head):
                fields.add(name, value)
            self._prepared = FastRequest(sent.url, sent.method, fields, sent.body or None)
        return self._prepared

    _request = request

    def raise_for_status(self) -> None:
        """Do nothing: a plain response is successful."""


class PlainFastResponse(LazyResponse, FastResponse):
    """The response to a request without `catch_response`."""

    def __init__(self, sent: SentFastRequest) -> None:
        self._set_call(sent)


class PlainFastContextManager(LazyResponse, ResponseContextManager):
    """The response to a request with `catch_response`."""

    raise_for_status = ResponseContextManager.raise_for_status

    def __init__(
        self, sent: SentFastRequest, session: FastHttpSession, meta: dict[str, Any]
    ) -> None:
        self._set_call(sent)
        self._request_event = session.event
        self._environment = getattr(session, "environment", None)
        self.request_meta = meta
        self._catch_response = True
