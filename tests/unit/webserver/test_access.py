"""Who may ask for what."""

from __future__ import annotations

import pytest

from torr.webserver.access import Access, AccessRequest, is_loopback

TOKEN = "t0ken"  # noqa: S105
HERE = Access("torr-live-1", is_loopback_only=True, token=TOKEN)
WIDE = Access("torr-live-1", is_loopback_only=False, token=TOKEN)
BEARER = {"authorization": "Bearer t0ken"}
HOST = "127.0.0.1:8677"


def status(access, method="GET", *, query=None, cookies=None, **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    said = AccessRequest(method, {"host": HOST, **named}, query or {}, cookies or {})
    refusal = access.refusal(said)
    return None if refusal is None else refusal.status


@pytest.mark.parametrize("host", [HOST, "localhost", "localhost:9", "[::1]:8677", "a.localhost"])
def test_everybody_of_this_machine_may_look(host):
    assert status(HERE, host=host) is None


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example:8677",
        "localhost.evil.example",
        "10.0.0.1",
        "",
        "[::1",
        "a@b:1",
    ],
)
def test_a_name_that_was_bent_to_this_machine_may_not(host):
    assert status(HERE, host=host) == 421


def test_a_change_needs_the_token():
    assert status(HERE, "POST") == 403
    assert status(HERE, "POST", authorization="Bearer wrong") == 403
    assert status(HERE, "POST", authorization="Basic t0ken") == 403
    assert status(HERE, "POST", cookies={"torr-live-1": "t0ken"}) == 403
    assert status(HERE, "POST", **BEARER) is None
    assert status(HERE, "POST", x_torr_token=TOKEN) is None
    assert status(HERE, "POST", query={"token": "t0ken"}) is None


@pytest.mark.parametrize(
    "said",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"sec_fetch_site": "none"},
        {"sec_fetch_site": "cross-site", "origin": f"http://{HOST}"},
    ],
)
def test_a_change_is_for_no_other_site_whatever_it_knows(said):
    assert status(HERE, "POST", **BEARER, **said) == 403
    assert status(WIDE, "POST", **BEARER, **said) == 403


def test_a_change_is_for_the_page_itself():
    said = {"origin": f"http://{HOST}", "sec_fetch_site": "same-origin"}
    assert status(HERE, "POST", **BEARER, **said) is None


def test_on_another_address_every_look_needs_the_token():
    assert status(WIDE) == 401
    assert status(WIDE, host="machine.example:8677") == 401
    assert status(WIDE, query={"token": "wrong"}) == 401
    assert status(WIDE, authorization="Bearer t0ke") == 401
    assert status(WIDE, query={"token": "t0ken"}) is None
    assert status(WIDE, cookies={"torr-live-1": "t0ken"}, host="machine.example:1") is None
    assert status(WIDE, **BEARER) is None


def test_a_token_of_other_letters_is_refused_and_breaks_nothing():
    assert status(WIDE, query={"token": "tökén"}) == 401
    assert status(WIDE, query={"token": "\udcff"}) == 401


def test_each_server_has_a_token_of_its_own_and_shows_it_in_no_text():
    one, other = Access("a", is_loopback_only=True), Access("a", is_loopback_only=True)
    assert one.token != other.token
    assert len(one.token) >= 32
    assert one.token not in repr(one)


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        *(("127.3.2.1", True), ("::1", True), ("localhost", True), ("a.localhost", True)),
        *(("10.0.0.1", False), ("::", False), ("localhost.example", False)),
        ("notlocalhost", False),
    ],
)
def test_what_is_loopback(name, is_one):
    assert is_loopback(name) == is_one
