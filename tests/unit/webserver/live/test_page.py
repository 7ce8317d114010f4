"""Page, numbers and Stop, over real connections."""

from __future__ import annotations

import re
import socket

import pytest

from doubles import Truth
from events import ask, token_of
from page import Page
from torr.monitor.exposition import is_exposition
from torr.webserver import server


def test_the_page_is_nobody_elses(played):
    status, headers, text = ask(played().url)
    assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert 'id="torr-data"' in text
    assert headers["cache-control"] == "no-store"
    assert headers["x-frame-options"] == "DENY"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["referrer-policy"] == "no-referrer"
    assert "access-control-allow-origin" not in headers


def live_data(url, **headers):
    return Page(ask(url, **headers)[2]).data["live"]


def cookie_of(url):
    """Open the URL that torr printed, and return the cookie that a browser gets."""
    status, headers, _ = ask(url, f"/?token={token_of(url)}")
    assert (status, headers["location"]) == (303, "/")
    assert "HttpOnly" in headers["set-cookie"]
    assert "samesite=lax" in headers["set-cookie"].lower()
    return headers["set-cookie"].partition(";")[0]


def test_the_page_may_stop_the_run_where_it_was_opened_by_the_url_that_torr_printed(played):
    url = played().url
    token = token_of(url)
    assert live_data(url, cookie=cookie_of(url)) == {"token": token}
    assert live_data(url, authorization=f"Bearer {token}") == {"token": token}


def test_whoever_does_not_know_the_token_is_not_told(played):
    url = played().url
    name = cookie_of(url).partition("=")[0]
    assert live_data(url) == {"token": None}
    assert live_data(url, cookie=f"{name}=guessed") == {"token": None}
    assert token_of(url) not in ask(url)[2]


def test_a_wrong_token_gets_no_cookie(played):
    url = played().url
    status, headers, text = ask(url, "/?token=guessed")
    assert status == 401
    assert "set-cookie" not in headers
    assert "open the URL that torr printed" in text


def test_numbers_are_in_the_format_of_prometheus(played):
    run = played()
    run.begin()
    run.slice(0)
    status, headers, text = ask(run.url, "/metrics")
    assert (status, headers["content-type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
    assert is_exposition(text)
    assert 'torr_ok_total{phase="measure"} 1000\n' in text


def test_stop_presses_once_however_often_it_is_clicked(played):
    run = played()
    token = {"authorization": f"Bearer {token_of(run.url)}"}
    assert ask(run.url, "/stop", "POST", **token)[0] == 202
    assert ask(run.url, "/stop", "POST", **token)[0] == 202
    assert run.interrupt.presses == 1


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("POST", {}, 403),
        ("POST", {"origin": "http://evil.example"}, 403),
        ("POST", {"host": "evil.example"}, 421),
        ("GET", {}, 405),
        ("OPTIONS", {"origin": "http://evil.example"}, 403),
    ],
)
def test_nobody_else_can_stop_it(played, method, headers, status):
    run = played()
    assert ask(run.url, "/stop", method, **headers)[0] == status
    assert not run.interrupt.requested


def test_a_form_of_another_site_cannot_stop_it_with_a_stolen_token(played):
    run = played()
    path = f"/stop?token={token_of(run.url)}"
    assert ask(run.url, path, "POST", "a=1", origin="http://evil.example")[0] == 403
    assert ask(run.url, path, "POST", "a=1", sec_fetch_site="cross-site")[0] == 403
    assert not run.interrupt.requested


@pytest.mark.parametrize("path", ["/", "/events", "/metrics"])
def test_a_name_that_was_bent_to_loopback_sees_nothing(played, path):
    status, headers, text = ask(played().url, path, host="evil.example:8677")
    assert status == 421
    assert "token" not in text
    assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("host", "place"),
    [
        ("10.0.0.1", "http://10.0.0.1:8677/"),
        ("fe80::1", "http://[fe80::1]:8677/"),
        ("::", f"http://{socket.gethostname()}:8677/"),
    ],
)
def test_the_url_is_one_that_a_browser_can_open(host, place):
    assert server.page_url(host, 8677) == place


def test_a_wide_page_shows_nothing_without_its_token(played, monkeypatch):
    monkeypatch.setattr(server, "is_loopback", lambda _host: False)
    run = played()
    url, token = run.url.split("/?token=")
    for path in ("/", "/events", "/metrics", "/nothing"):
        assert ask(url, path)[0] == 401
    assert ask(url, "/metrics", authorization=f"Bearer {token}")[0] == 200
    cookie = cookie_of(run.url)
    assert ask(url, "/", cookie=cookie)[0] == 200
    assert ask(url, "/stop", "POST", cookie=cookie)[0] == 403
    assert ask(url, "/stop", "POST", cookie=cookie, authorization=f"Bearer {token}")[0] == 202


def test_what_a_run_is_called_is_data(played):
    name = "<script>alert(1)</script>&x".replace("/", "-")
    run = played(name=name)
    run.begin()
    run.slice(0, truth=Truth(errors={name: 1}))
    run.finish(truth=Truth(errors={name: 1}))
    assert name not in ask(run.url)[2]
    assert f'name="{name}"' in ask(run.url, "/metrics")[2]


def test_the_cpu_time_of_its_thread_is_a_metric(played):
    text = ask(played().url, "/metrics")[2]
    (used,) = re.findall(r"^torr_live_cpu_seconds_total (.+)$", text, re.MULTILINE)
    assert float(used) > 0
