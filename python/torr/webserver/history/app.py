"""The application that serves the pages of stored runs; read-only."""

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
from torr.messages.say import say
from torr.model.json import JsonObject
from torr.report.files.html import document
from torr.webserver.guard import AccessGuard, redirect_without_token
from torr.webserver.history import pages, parameters

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from torr.store.runs.store import Store
    from torr.webserver.access import Access

Page = Callable[["Store", Request], JsonObject]
Endpoint = Callable[[Request], Response]

_UNEXPECTED = 500


def app(open_store: Callable[[], Store], access: Access, tag: str, lang: str | None) -> ASGIApp:
    """Return the application for a store, which is opened for each page.

    `tag` is that of baselines, `lang` the language of browsers without a choice.
    """

    def render(data: JsonObject) -> str:
        return document({**data, "lang": lang})

    def answer(make: Page) -> Endpoint:
        @wraps(make)
        def endpoint(request: Request) -> Response:
            redirect = redirect_without_token(request, access)
            if redirect is not None:
                return redirect
            status, body = _render(open_store, lambda store: render(make(store, request)))
            if isinstance(body, TorrError):
                if status == _UNEXPECTED:
                    sys.stderr.write(f"note: {request.url.path!r}: {body.message}\n")
                body = render(pages.failure(body))
            return HTMLResponse(body, status)

        return endpoint

    @answer
    def runs(store: Store, request: Request) -> JsonObject:
        return pages.runs(store, request.query_params)

    @answer
    def run(store: Store, request: Request) -> JsonObject:
        return pages.run(store, parameters.positive_int(request.path_params["id"], "run"))

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
    return AccessGuard(Starlette(routes=routes), access)


def _render(
    open_store: Callable[[], Store], write: Callable[[Store], str]
) -> tuple[int, str | TorrError]:
    """Return the status, and a page or the error for an error page."""
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
    except Exception as error:  # a broken run may cause any exception
        reason = say(
            "torr cannot make this page: {name}: {error}", name=type(error).__name__, error=error
        )
        return _UNEXPECTED, TorrError(reason, say("print the run with `torr runs show -o json ID`"))
