"""What the server of kept runs answers: pages, each made when it is asked for; it only reads."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from torr.errors import StoreError, TorrError
from torr.model.json import JsonObject
from torr.report.files.html import document
from torr.webserver.guard import Guarded, without_token
from torr.webserver.history import asked, pages

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from torr.store.runs.store import Store
    from torr.webserver.access import Access

Page = Callable[["Store", Request], JsonObject]
Endpoint = Callable[[Request], Response]

_UNFORESEEN = 500


def app(open_store: Callable[[], Store], access: Access, tag: str, lang: str | None) -> ASGIApp:
    """The application over a store, which is opened for each page.

    `tag` is that of baselines, `lang` the language of whoever chose none.
    """

    def written(data: JsonObject) -> str:
        return document({**data, "lang": lang})

    def answer(make: Page) -> Endpoint:
        @wraps(make)
        def endpoint(request: Request) -> Response:
            clean = without_token(request, access)
            if clean is not None:
                return clean
            status, made = _made(open_store, lambda store: written(make(store, request)))
            if isinstance(made, TorrError):
                if status == _UNFORESEEN:
                    sys.stderr.write(f"note: {request.url.path!r}: {made.message}\n")
                made = written(pages.failure(made))
            return HTMLResponse(made, status)

        return endpoint

    @answer
    def runs(store: Store, request: Request) -> JsonObject:
        return pages.runs(store, request.query_params)

    @answer
    def run(store: Store, request: Request) -> JsonObject:
        return pages.run(store, asked.whole(request.path_params["id"], "run"))

    @answer
    def overlay(store: Store, request: Request) -> JsonObject:
        return pages.overlay(store, request.query_params)

    @answer
    def trend(store: Store, request: Request) -> JsonObject:
        return pages.trend(store, request.query_params, tag)

    routes = [
        Route("/", runs),
        Route("/runs/{id}", run),
        Route("/overlay", overlay),
        Route("/trend", trend),
    ]
    return Guarded(Starlette(routes=routes), access)


def _made(
    open_store: Callable[[], Store], write: Callable[[Store], str]
) -> tuple[int, str | TorrError]:
    """A page, or what went wrong, which is a page too; and its status."""
    try:
        with open_store() as store:
            try:
                return 200, write(store)
            except StoreError as error:
                return 404, error
    except StoreError as error:
        return 503, error
    except TorrError as error:
        return 400, error
    except Exception as error:  # What a broken run holds may make anything fail.
        why = f"this page cannot be made: {type(error).__name__}: {error}"
        return _UNFORESEEN, TorrError(why, "`torr runs show -o json ID` prints what a run holds")
