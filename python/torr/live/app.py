"""What the live page's server answers: the page, its events, numbers for Prometheus, and Stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.datastructures import Headers, QueryParams
from starlette.requests import Request, cookie_parser
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import Route

from torr.live import exposition
from torr.live.access import TOKEN, Access, Asked
from torr.live.stream import EventStream, Readers

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_READERS = 32
SAFETY = {
    "cache-control": "no-store",
    "content-security-policy": "frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
"""On every answer: kept by nobody, framed by nobody (Stop could be clicked unseen), told nobody."""


@dataclass(frozen=True)
class Served:
    """What there is to serve: the page, and what is called in the server's thread."""

    document: str
    metrics: Callable[[], str]
    stop: Callable[[], object]


def app(served: Served, readers: Readers, access: Access) -> ASGIApp:
    """The application; every answer of it is guarded."""

    async def page(request: Request) -> Response:
        if TOKEN in request.query_params:
            # The token leaves the address bar and the history, and goes on as a cookie.
            response = RedirectResponse("/", status_code=303)
            response.set_cookie(access.cookie, access.token, httponly=True, samesite="strict")
            return response
        return HTMLResponse(served.document)

    async def events(request: Request) -> Response:
        place = readers.journal.place_of(request.headers.get("last-event-id"))
        if readers.journal.is_over and not readers.journal.is_behind(place):
            return Response(status_code=204)  # an EventSource takes this for the end
        if readers.count >= MOST_READERS:
            return PlainTextResponse("too many readers\n", 503)
        return EventStream(readers, place)

    async def metrics(_request: Request) -> Response:
        return Response(served.metrics(), media_type=exposition.MEDIA_TYPE)

    async def stop(_request: Request) -> Response:
        served.stop()
        return JSONResponse({"stopping": True}, 202)

    routes = [
        Route("/", page),
        Route("/events", events),
        Route("/metrics", metrics),
        Route("/stop", stop, methods=["POST"]),
    ]
    return Guarded(Starlette(routes=routes), access)


class Guarded:
    """An application behind the rule of who may ask, whose answers all carry SAFETY."""

    def __init__(self, inner: ASGIApp, access: Access) -> None:
        self._inner = inner
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or refuse."""
        if scope["type"] != "http":
            return
        refusal = self._access.refusal(_asked(scope))
        answering: ASGIApp = self._inner
        if refusal is not None:
            answering = PlainTextResponse(f"{refusal.text}\n", refusal.status)

        async def safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                known = {name for name, _ in message["headers"]}
                safety = [(k.encode(), v.encode()) for k, v in SAFETY.items()]
                added = [pair for pair in safety if pair[0] not in known]
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        await answering(scope, receive, safely)


def _asked(scope: Scope) -> Asked:
    headers = Headers(scope=scope)
    return Asked(
        method=scope["method"],
        headers=dict(headers),
        query=dict(QueryParams(scope["query_string"])),
        cookies=cookie_parser(headers.get("cookie", "")),
    )
