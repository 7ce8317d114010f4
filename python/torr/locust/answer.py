"""The answer to a plain request: a requests.Response that is filled when somebody looks at it."""

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
from torr.locust.body import ReactorResponse as RawAnswer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType

    from torr.locust.plain import Sent
    from torr.locust.reactor import Call

MILLISECONDS = 1e-6
MICROSECONDS = 1e-3


# Whether a block around an answer that is not to be judged is an error; in newer versions it is.
IS_STRICT = hasattr(ResponseContextManager, "wrap_response")
Told = tuple[Any, ...]
Fills = dict[str, "Callable[[LocustResponse, Sent], Any]"]
NOTHING: Told = ()
META = ("request_type", "name", "response_time", "context", "url", "response_length")


class LocustResponse(ResponseContextManager):
    """What Locust gives for a request, made of a call that is over and was plain."""

    fills: ClassVar[Fills] = {}
    error = None
    _manual_result = None
    _entered = False
    _catch_response = False

    def __init__(self, sent: Sent, told: Told = NOTHING) -> None:
        self._sent = sent
        self._call = sent.call
        # What was told of it, where no event was fired.
        self._told = told

    def __getattr__(self, name: str) -> Any:
        """Fill in what requests would have set, the first time that it is looked at."""
        fill = self.fills.get(name)
        if fill is None or "_sent" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        value = self.__dict__[name] = fill(self, self._sent)
        return value

    def __enter__(self) -> Any:
        """Let the locustfile judge it, if it asked to; older versions of Locust let it block."""
        if self._catch_response or IS_STRICT:
            return super().__enter__()
        return self

    def __exit__(
        self,
        exc: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        """Report it; without a word from the locustfile a plain answer is a success."""
        if not self._catch_response:
            return False  # it was reported when it came
        if exc is None and self._manual_result is None:
            self._report_success()
            return True
        return bool(super().__exit__(exc, value, traceback))

    def reported(
        self,
        event: Any,
        meta: Mapping[str, Any],
        *,
        catch_response: bool,
    ) -> LocustResponse:
        """Report it, unless the locustfile wants to have a word."""
        self._request_event = event
        self.request_meta = meta
        self._catch_response = catch_response
        if not catch_response:
            self._report_success()
        return self

    def _report_success(self) -> None:
        """Fire the event; its listeners find the name in the place of the URL, as Locust has it."""
        event, meta, own = self._request_event, self.request_meta, self.__dict__
        shortcut = event.__dict__.get("shortcut")
        if shortcut is not None and shortcut.is_open() and is_untouched(meta, self._call):
            method, name, took = meta["request_type"], meta["name"], meta["response_time"]
            shortcut.count(method, name, self._call, took)
            return
        own["url"], url = meta["name"], self.url
        event.fire(**meta)
        own["url"] = url


def is_untouched(meta: Mapping[str, Any], call: Call) -> bool:
    """Whether a locustfile has left alone what is to be reported."""
    return (
        meta["exception"] is None
        and type(meta["response_time"]) is float
        and meta["response_length"] == call.body_length
    )


def _judge(word: str) -> Callable[..., None]:
    """An older Locust's word on an answer, be it to be judged or not."""

    def judge(answer: LocustResponse, *args: Any) -> None:
        owner = ResponseContextManager if answer._catch_response else requests.Response  # noqa: SLF001
        getattr(owner, word)(answer, *args)

    return judge


if not IS_STRICT:
    LocustResponse.success = _judge("success")
    LocustResponse.failure = _judge("failure")


def _headers(_answer: LocustResponse, sent: Sent) -> CaseInsensitiveDict[str]:
    fields = sent.call.head()[3]
    return CaseInsensitiveDict(HTTPHeaderDict(fields))


def _elapsed(_answer: LocustResponse, sent: Sent) -> timedelta:
    asked, _, first_byte, _, _ = sent.call.stamps()
    return timedelta(microseconds=max(0, first_byte - asked) * MICROSECONDS)


def _raw(answer: LocustResponse, sent: Sent) -> RawAnswer:
    answer.content  # noqa: B018 - it has been read
    raw = RawAnswer(BodyFile(sent.call, sent.adapter.lanes.reactor), sent.method, None)
    raw.read()
    return raw


def _request(_answer: LocustResponse, sent: Sent) -> requests.PreparedRequest:
    """What was sent, from the bytes that were sent."""
    prepared = requests.PreparedRequest()
    lines = sent.head.decode("latin-1").split("\r\n")[1:-2]
    fields = [line.partition(": ")[::2] for line in lines]
    prepared.method = sent.method
    prepared.url = sent.origin.root + sent.target
    prepared.headers = CaseInsensitiveDict([x for x in fields if x[0] != "Host"])
    prepared.body = sent.content
    prepared._cookies = RequestsCookieJar()  # noqa: SLF001
    prepared.hooks = {"response": []}
    return prepared


def _meta(answer: LocustResponse, sent: Sent) -> dict[str, Any]:
    told = (*answer._told, answer.url, sent.call.body_length)  # noqa: SLF001
    meta = dict(zip(META, told, strict=False))
    return {**meta, "response": answer, "exception": None, "start_time": time.time()}


LocustResponse.fills = {
    "status_code": lambda _answer, sent: sent.call.status,
    "_content": lambda _answer, sent: sent.call.body(),
    "_content_consumed": lambda _answer, _sent: True,
    "headers": _headers,
    "encoding": lambda answer, _sent: get_encoding_from_headers(answer.headers),
    "reason": lambda _answer, sent: sent.call.head()[2],
    "url": lambda _answer, sent: sent.origin.root + sent.target,
    "history": lambda _answer, _sent: [],
    "cookies": lambda _answer, _sent: RequestsCookieJar(),
    "elapsed": _elapsed,
    "raw": _raw,
    "request": _request,
    "connection": lambda _answer, sent: sent.adapter,
    "request_meta": _meta,
    "_next": lambda _answer, _sent: None,
}
