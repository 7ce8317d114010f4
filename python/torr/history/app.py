"""What the server of kept runs answers: pages, each made when it is asked for; it only reads."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from torr.errors import StoreError, TorrError
from torr.history import asked, pages
from torr.report.html import document
from torr.serving.guard import Guarded, without_token

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from torr.serving.access import Access
    from torr.store.kept.store import Store

Json = dict[str, Any]
Page = Callable[["Store", Request], Json]
Endpoint = Callable[[Request], Response]


def app(open_store: Callable[[], Store], access: Access, tag: str, lang: str | None) -> ASGIApp:
    """The application over a store, which is opened for each page.

    `tag` is that of baselines, `lang` the language of whoever chose none.
    """

    def answer(make: Page) -> Endpoint:
        @wraps(make)
        def endpoint(request: Request) -> Response:
            clean = without_token(request, access)
            if clean is not None:
                return clean
            status, data = _made(open_store, make, request)
            return HTMLResponse(document({**data, "lang": lang}), status)

        return endpoint

    @answer
    def runs(store: Store, request: Request) -> Json:
        return pages.runs(store, request.query_params)

    @answer
    def run(store: Store, request: Request) -> Json:
        return pages.run(store, asked.whole(request.path_params["id"], "run"))

    @answer
    def overlay(store: Store, request: Request) -> Json:
        return pages.overlay(store, request.query_params)

    @answer
    def trend(store: Store, request: Request) -> Json:
        return pages.trend(store, request.query_params, tag)

    routes = [
        Route("/", runs),
        Route("/runs/{id}", run),
        Route("/overlay", overlay),
        Route("/trend", trend),
    ]
    return Guarded(Starlette(routes=routes), access)


def _made(open_store: Callable[[], Store], make: Page, request: Request) -> tuple[int, Json]:
    """A page and its status; what went wrong is a page too."""
    try:
        with open_store() as store:
            try:
                return 200, make(store, request)
            except StoreError as error:
                return 404, pages.failure(error)
    except StoreError as error:
        return 503, pages.failure(error)
    except TorrError as error:
        return 400, pages.failure(error)
