"""What the live page's server answers: the page, its events, numbers for Prometheus, and Stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from torr.webserver.guard import Guarded, knows, without_token
from torr.webserver.live import exposition
from torr.webserver.live.stream import EventStream, Readers

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.types import ASGIApp

    from torr.webserver.access import Access

MOST_READERS = 32


@dataclass(frozen=True)
class Served:
    """What there is to serve: the page, and what is called in the server's thread."""

    document: str
    """The page, which may end the run."""
    document_to_look: str
    """The page of whoever does not know the token."""
    metrics: Callable[[], str]
    stop: Callable[[], object]


def app(served: Served, readers: Readers, access: Access) -> ASGIApp:
    """The application; every answer of it is guarded."""

    async def page(request: Request) -> Response:
        clean = without_token(request, access)
        if clean is not None:
            return clean
        may_change = knows(request, access)
        return HTMLResponse(served.document if may_change else served.document_to_look)

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
