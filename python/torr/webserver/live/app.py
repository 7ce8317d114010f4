"""The application of the live page: page, events, numbers for Prometheus, and Stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from torr.webserver.guard import AccessGuard, has_token, redirect_without_token
from torr.webserver.live import exposition
from torr.webserver.live.stream import EventStream, Readers

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.types import ASGIApp

    from torr.webserver.access import Access

MAX_READERS = 32


@dataclass(frozen=True)
class LiveContent:
    """The documents to serve, and the functions to call in the server's thread."""

    document: str
    """The page with the token, which can stop the run."""
    read_only_document: str
    """The page without the token."""
    metrics: Callable[[], str]
    stop: Callable[[], object]


def app(content: LiveContent, readers: Readers, access: Access) -> ASGIApp:
    """Return the application, with access control."""

    async def page(request: Request) -> Response:
        redirect = redirect_without_token(request, access)
        if redirect is not None:
            return redirect
        may_change = has_token(request, access)
        return HTMLResponse(content.document if may_change else content.read_only_document)

    async def events(request: Request) -> Response:
        position = readers.journal.position_of(request.headers.get("last-event-id"))
        if readers.journal.is_over and not readers.journal.is_behind(position):
            return Response(status_code=204)  # ends the reconnects of an EventSource
        if readers.count >= MAX_READERS:
            return PlainTextResponse("too many readers\n", 503)
        return EventStream(readers, position)

    async def metrics(_request: Request) -> Response:
        return Response(content.metrics(), media_type=exposition.MEDIA_TYPE)

    async def stop(_request: Request) -> Response:
        content.stop()
        return JSONResponse({"stopping": True}, 202)

    routes = [
        Route("/", page),
        Route("/events", events),
        Route("/metrics", metrics),
        Route("/stop", stop, methods=["POST"]),
    ]
    return AccessGuard(Starlette(routes=routes), access)
