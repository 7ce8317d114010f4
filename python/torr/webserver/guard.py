"""An application behind the rule of who may ask, whose answers are kept and framed by nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import Headers, QueryParams
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse

from torr.webserver.access import TOKEN, Access, AccessRequest

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

SAFETY = {
    "cache-control": "no-store",
    "content-security-policy": "frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
"""On every answer: kept by nobody, framed by nobody (Stop could be clicked unseen), told nobody."""


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


def without_token(request: Request, access: Access) -> RedirectResponse | None:
    """Send a browser on to the same page without the token, which goes on as a cookie.

    It leaves the address bar and the history. None where the URL has none; a wrong one never comes
    here, since it is refused.
    """
    if TOKEN not in request.query_params:
        return None
    rest = [(k, v) for k, v in request.query_params.multi_items() if k != TOKEN]
    url = request.url.replace(scheme="", netloc="", query=str(QueryParams(rest)))
    response = RedirectResponse(str(url), status_code=303)
    # Strict would keep it from whoever clicks a link in a chat or a mail, even this one. No GET
    # changes anything, and a change needs the token in a header (`access.py`).
    response.set_cookie(access.cookie, access.token, httponly=True, samesite="lax")
    return response


def knows(request: Request, access: Access) -> bool:
    """Whether a request has the token, so that the page that it asks for may have it, too."""
    return access.knows(_asked(request.scope))


def _asked(scope: Scope) -> AccessRequest:
    headers = Headers(scope=scope)
    return AccessRequest(
        method=scope["method"],
        headers=dict(headers),
        query=dict(QueryParams(scope["query_string"])),
        cookies=cookie_parser(headers.get("cookie", "")),
    )
