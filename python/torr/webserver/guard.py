"""Wrap an application with access control and security headers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import Headers, QueryParams
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse

from torr.webserver.access import TOKEN, Access, AccessRequest

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

SECURITY_HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
"""Headers of all responses: no caching, no frames (against clickjacking on Stop), no referrer."""


class AccessGuard:
    """An application that refuses requests by `access` and adds SECURITY_HEADERS to answers."""

    def __init__(self, inner: ASGIApp, access: Access) -> None:
        self._inner = inner
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or refuse a request."""
        if scope["type"] != "http":
            return
        refusal = self._access.refusal(_access_request(scope))
        app: ASGIApp = self._inner
        if refusal is not None:
            app = PlainTextResponse(f"{refusal.text}\n", refusal.status)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                known = {name for name, _ in message["headers"]}
                safety = [(k.encode(), v.encode()) for k, v in SECURITY_HEADERS.items()]
                added = [pair for pair in safety if pair[0] not in known]
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        await app(scope, receive, send_with_headers)


def redirect_without_token(request: Request, access: Access) -> RedirectResponse | None:
    """Redirect a browser to the same page without the token, which becomes a cookie.

    So the token does not stay in address bar and history. Returns None if the URL has no token; a
    wrong one has been refused before.
    """
    if TOKEN not in request.query_params:
        return None
    rest = [(k, v) for k, v in request.query_params.multi_items() if k != TOKEN]
    url = request.url.replace(scheme="", netloc="", query=str(QueryParams(rest)))
    response = RedirectResponse(str(url), status_code=303)
    # Not `strict`, so that links from chats and mails work. GET requests change nothing, and
    # changes need the token in a header (`access.py`).
    response.set_cookie(access.cookie, access.token, httponly=True, samesite="lax")
    return response


def has_token(request: Request, access: Access) -> bool:
    """Return whether a request has the token, so that the page may contain it."""
    return access.has_token(_access_request(request.scope))


def _access_request(scope: Scope) -> AccessRequest:
    headers = Headers(scope=scope)
    return AccessRequest(
        method=scope["method"],
        headers=dict(headers),
        query=dict(QueryParams(scope["query_string"])),
        cookies=cookie_parser(headers.get("cookie", "")),
    )
