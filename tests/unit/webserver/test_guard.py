"""The token leaves the address bar."""

from __future__ import annotations

import pytest
from starlette.requests import Request

from torr.webserver.access import Access
from torr.webserver.guard import redirect_without_token

ACCESS = Access("torr-1", is_loopback_only=False, token="t0ken")  # noqa: S106


def asked(path, query):
    server = {"server": ("machine.example", 8678), "headers": [], "scheme": "http"}
    scope = {"type": "http", "method": "GET", "path": path, "query_string": query.encode()}
    return Request({**scope, **server})


@pytest.mark.parametrize(
    ("path", "query", "on"),
    [
        ("/", "token=t0ken", "/"),
        ("/", "token=x&name=a%26b&tag=c&tag=d", "/?name=a%26b&tag=c&tag=d"),
        ("/runs/12", "lang=zh&token=t0ken", "/runs/12?lang=zh"),
    ],
)
def test_a_browser_is_sent_on_without_it(path, query, on):
    response = redirect_without_token(asked(path, query), ACCESS)
    assert (response.status_code, response.headers["location"]) == (303, on)
    cookie = response.headers["set-cookie"].lower()
    assert cookie.startswith("torr-1=t0ken;")
    assert "httponly" in cookie
    assert "samesite=lax" in cookie


def test_a_page_without_it_is_answered_at_once():
    assert redirect_without_token(asked("/", "name=token"), ACCESS) is None
