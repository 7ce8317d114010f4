"""The query of a URL."""

import pytest

QUERIES = {
    "a dict": ({"a": "1", "b": "2"}, "/echo?a=1&b=2"),
    "a list": ({"a": [1, 2]}, "/echo?a=1&a=2"),
    "none": ({"a": None, "b": "2"}, "/echo?b=2"),
    "empty": ({}, "/echo"),
    "an empty value": ({"a": ""}, "/echo?a="),
    "numbers": ({"a": 1, "b": 1.5, "c": True}, "/echo?a=1&b=1.5&c=True"),
    "bytes": (b"a=1&b=%20", "/echo?a=1&b=%20"),
    "text": ("a=1 2", "/echo?a=1%202"),
    "pairs": ([("b", "2"), ("a", "1"), ("b", "3")], "/echo?b=2&a=1&b=3"),
    "umlauts": ({"ä": "ö ü"}, "/echo?%C3%A4=%C3%B6+%C3%BC"),
    "signs": ({"a": "&=?/#%+"}, "/echo?a=%26%3D%3F%2F%23%25%2B"),
    "bytes in a dict": ({b"a": b"\xff"}, "/echo?a=%FF"),
}


@pytest.mark.parametrize("given", QUERIES)
def test_params_become_the_query(outcome, given):
    params, target = QUERIES[given]
    seen = outcome(lambda client: client.get("/echo", params=params))
    assert seen.request["line"] == f"GET {target}"
    assert seen.event["name"] == target


def test_params_join_the_query_of_the_url(outcome):
    seen = outcome(lambda client: client.get("/echo?z=0", params={"a": 1}))
    assert seen.request["line"] == "GET /echo?z=0&a=1"


def test_params_come_before_a_fragment(outcome):
    seen = outcome(lambda client: client.get("/echo#there", params={"a": 1}))
    assert seen.request["line"] == "GET /echo?a=1"


def test_params_of_the_session_join_those_of_the_request(outcome):
    def scenario(client):
        client.params = {"key": "k", "page": 1}
        client.get("/echo", params={"page": 2})
        client.get("/echo", params={"key": None})
        client.get("/echo")

    lines = [one["line"] for one in outcome(scenario).wire]
    assert lines == ["GET /echo?key=k&page=2", "GET /echo?page=1", "GET /echo?key=k&page=1"]


@pytest.mark.parametrize("params", [5, [1, 2], object])
def test_params_that_are_none_are_an_error_of_the_caller(outcome, params):
    seen = outcome(lambda client: client.get("/echo", params=params))
    assert seen.raised is not None
    assert seen.wire == []
