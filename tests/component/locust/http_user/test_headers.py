"""Headers of a request: those of the session, those of the request, and both merged."""

import pytest


def values(request, name):
    return [value for key, value in request["headers"] if key.lower() == name.lower()]


def test_a_header_of_the_request_is_sent(outcome):
    seen = outcome(lambda client: client.get("/echo", headers={"X-One": "1"}))
    assert values(seen.request, "X-One") == ["1"]


def test_headers_are_merged_whatever_their_case(outcome):
    def scenario(client):
        client.headers.update({"X-One": "session", "X-Two": "session"})
        return client.get("/echo", headers={"x-one": "request"})

    request = outcome(scenario).request
    assert values(request, "X-One") == ["request"]
    assert values(request, "X-Two") == ["session"]


def test_none_takes_a_header_away(outcome):
    def scenario(client):
        client.headers["X-One"] = "session"
        client.get("/echo", headers={"X-One": None, "User-Agent": None})
        client.get("/echo")

    without, with_it = outcome(scenario).wire
    assert values(without, "X-One") == []
    assert values(with_it, "X-One") == ["session"]


def test_headers_of_the_session_may_change_between_requests(outcome):
    def scenario(client):
        for n in range(3):
            client.headers["X-Turn"] = str(n)
            client.get("/echo")
        del client.headers["X-Turn"]
        client.get("/echo")

    turns = [values(one, "X-Turn") for one in outcome(scenario).wire]
    assert turns == [["0"], ["1"], ["2"], []]


def test_the_token_of_a_login_is_sent_from_then_on(outcome):
    def scenario(client):
        client.get("/echo")
        client.headers.update({"Authorization": "Bearer t"})
        client.get("/echo")

    assert [values(one, "Authorization") for one in outcome(scenario).wire] == [[], ["Bearer t"]]


def test_headers_of_the_session_may_be_replaced(outcome):
    def scenario(client):
        client.headers = {"X-Only": "this"}
        client.get("/echo")
        client.headers["X-More"] = "that"
        client.get("/echo")

    first, second = outcome(scenario).wire
    assert values(first, "Accept") == []
    assert values(second, "X-More") == ["that"]


def test_headers_of_the_session_may_be_cleared(outcome):
    def scenario(client):
        client.headers.clear()
        return client.get("/echo")

    assert values(outcome(scenario).request, "Accept") == []


@pytest.mark.parametrize("name", ["Host", "User-Agent", "Accept", "Connection", "accept-encoding"])
def test_what_is_sent_by_itself_can_be_said_otherwise(outcome, name):
    seen = outcome(lambda client: client.get("/echo", headers={name: "own"}))
    assert values(seen.request, name) == ["own"]


VALUES = {
    "bytes": (b"bytes", ["bytes"]),
    "empty": ("", [""]),
    "latin-1": ("grün", ["grün"]),
    "spaces inside": ("a  b", ["a  b"]),
}


@pytest.mark.parametrize("given", VALUES)
def test_values_of_headers(outcome, given):
    value, sent = VALUES[given]
    seen = outcome(lambda client: client.get("/echo", headers={"X-One": value}))
    assert values(seen.request, "X-One") == sent


def test_a_header_may_have_a_name_of_bytes(outcome):
    seen = outcome(lambda client: client.get("/echo", headers={b"X-One": b"1"}))
    assert values(seen.request, "X-One") == ["1"]


@pytest.mark.parametrize("value", [1, 1.5, True, "two\r\nlines", " leading", "two\n lines", ["a"]])
def test_a_value_that_cannot_be_a_header_is_reported(outcome, value):
    seen = outcome(lambda client: client.get("/echo", headers={"X-One": value}))
    assert seen.wire == []
    assert seen.trouble["class"] in ("requests.exceptions.InvalidHeader", "builtins.AttributeError")


@pytest.mark.parametrize("name", ["X One\r\n", " X", "X:"])
def test_a_name_that_cannot_be_a_header(outcome, name):
    seen = outcome(lambda client: client.get("/echo", headers={name: "1"}))
    assert seen.wire == []
    assert seen.trouble["class"] in ("requests.exceptions.InvalidHeader", "builtins.AttributeError")


def test_a_header_beyond_latin_1(outcome):
    seen = outcome(lambda client: client.get("/echo", headers={"X-One": "緑"}), in_words=False)
    assert seen.raised["class"] == "builtins.UnicodeEncodeError"


def test_a_dict_of_headers_is_left_as_it_was(outcome):
    def scenario(client):
        headers = {"X-One": "1"}
        client.post("/echo", json={}, headers=headers)
        return headers

    assert outcome(scenario).value == {"X-One": "1"}


def test_closing_is_respected_when_asked_for(outcome):
    def scenario(client):
        for _ in range(2):
            client.get("/echo", headers={"Connection": "close"})

    assert [one["connection"] for one in outcome(scenario).wire] == [1, 2]
