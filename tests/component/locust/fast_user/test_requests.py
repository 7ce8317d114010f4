"""The requests of a FastHttpUser: methods, queries, bodies, headers."""

import io

import pytest

from surface import REPORTS_ALL

VERBS = ["get", "options", "head", "post", "put", "patch", "delete"]


def values(request, name):
    return [value for key, value in request["headers"] if key.lower() == name.lower()]


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_is_sent_and_reported(outcome, verb):
    seen = outcome(lambda client: getattr(client, verb)("/echo"))
    assert seen.request["line"] == f"{verb.upper()} /echo"
    assert (seen.event["request_type"], seen.event["name"]) == (verb.upper(), "/echo")


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_with_a_body(outcome, verb):
    seen = outcome(lambda client: getattr(client, verb)("/echo", data="body"))
    assert seen.request["body"] == b"body"


@pytest.mark.parametrize("method", ["PROPFIND", "get"])
def test_any_method_goes_through_request(outcome, method):
    seen = outcome(lambda client: client.request(method, "/echo"))
    assert seen.event["request_type"] == method
    assert seen.request["line"].endswith(" /echo")


def test_what_is_sent_by_itself(outcome):
    sent = dict(outcome(lambda client: client.get("/echo")).request["headers"])
    assert sent["User-Agent"].startswith("python/gevent-http-client")
    assert "gzip" in sent["Accept-Encoding"]
    assert "Connection" not in sent


def test_one_connection_serves_request_after_request(outcome):
    seen = outcome(lambda client: [client.get("/echo") for _ in range(3)])
    assert [one["connection"] for one in seen.wire] == [1, 1, 1]


QUERIES = {
    "a dict": ({"a": "1", "b": "2"}, "?a=1&b=2"),
    "a list": ({"a": [1, 2]}, "?a=1&a=2"),
    "umlauts": ({"ä": "ö ü"}, "?%C3%A4=%C3%B6+%C3%BC"),
    "none": ({"a": None}, ""),
    "empty": ({}, ""),
    "pairs": ([("a", 1), ("a", 2)], "?a=1&a=2"),
}


@pytest.mark.parametrize("given", QUERIES)
def test_params_become_the_query(outcome, given):
    params, query = QUERIES[given]
    seen = outcome(lambda client: client.get("/echo", params=params))
    assert seen.request["line"] == f"GET /echo{query}"
    assert seen.event["name"] == "/echo"


def test_params_join_the_query_of_the_url(outcome):
    seen = outcome(lambda client: client.get("/echo?z=0", params={"a": 1}))
    assert seen.request["line"] == "GET /echo?z=0&a=1"


FORM, TEXT = "application/x-www-form-urlencoded; charset=utf-8", "text/plain; charset=utf-8"
BODIES = {
    "a dict": ({"a": "1", "b": "ü"}, b"a=1&b=%C3%BC", [FORM]),
    "text": ("plain", b"plain", [TEXT]),
    "umlauts": ("grün 緑", "grün 緑".encode(), [TEXT]),
    "bytes": (b"\x00\xff", b"\x00\xff", ["application/octet-stream"]),
    "an empty dict": ({}, b"", []),
    "empty text": ("", b"", []),
    "none": (None, b"", []),
}


@pytest.mark.parametrize("given", BODIES)
def test_data_is_sent_as_what_it_is(outcome, given):
    data, body, kinds = BODIES[given]
    seen = outcome(lambda client: client.post("/echo", data=data))
    assert seen.request["body"] == body
    assert values(seen.request, "Content-Type") == kinds


STREAMS = {
    "a file": lambda folder: (folder / "body").open("rb"),
    "bytes in memory": lambda _folder: io.BytesIO(b"the body"),
    "a generator": lambda _folder: (piece for piece in [b"the", b" ", b"body"]),
}


@pytest.mark.parametrize("given", STREAMS)
def test_what_can_be_read_is_streamed(outcome, given, tmp_path):
    (tmp_path / "body").write_text("the body")

    def scenario(client):
        stream = STREAMS[given](tmp_path)
        try:
            return client.post("/echo", data=stream).status_code
        finally:
            stream.close()

    assert outcome(scenario).request["body"] == b"the body"


@pytest.mark.parametrize("value", [{"a": [1, None, "ü"]}, [], {}, 0, False, "text"])
def test_json_is_encoded_with_its_type(outcome, value):
    seen = outcome(lambda client: client.post("/echo", json=value))
    assert values(seen.request, "Content-Type") == ["application/json"]
    assert values(seen.request, "Accept") == ["application/json"]


def test_json_of_none_is_no_body(outcome):
    seen = outcome(lambda client: client.post("/echo", json=None))
    assert values(seen.request, "Content-Type") == []


def test_data_wins_over_json(outcome):
    seen = outcome(lambda client: client.post("/echo", data={"a": 1}, json={"b": 2}))
    assert seen.request["body"] == b"a=1"


def test_a_type_that_is_given_stays(outcome):
    kind = {"content-type": "application/vnd.api+json"}
    seen = outcome(lambda client: client.post("/echo", json={}, headers=kind))
    assert values(seen.request, "Content-Type") == ["application/vnd.api+json"]


def test_files_are_the_parts_of_a_form(outcome):
    files = {"one": ("name.txt", b"content", "text/plain")}
    seen = outcome(lambda client: client.post("/status/200", files=files, data={"a": "1"}))
    assert b'filename="name.txt"' in seen.request["body"]


def test_what_urlopen_takes_besides_becomes_the_query_or_the_form(outcome):
    def scenario(client):
        client.get("/echo", colour="red")
        client.post("/echo", colour="red")

    get, post = outcome(scenario).wire
    assert get["line"] == "GET /echo?colour=red"
    assert post["body"] == b"colour=red"


def test_a_large_body(outcome):
    seen = outcome(lambda client: client.post("/status/200", data=b"x" * 3_000_000))
    assert len(seen.request["body"]) == 3_000_000


def test_headers_of_the_request(outcome):
    seen = outcome(lambda client: client.get("/echo", headers={"X-One": "1", "user-agent": "own"}))
    assert values(seen.request, "X-One") == ["1"]
    assert values(seen.request, "User-Agent") == ["own"]


def test_headers_of_every_request(outcome):
    def scenario(client):
        client.get("/echo")
        client.get("/echo", headers={"x-every": "own"})

    seen = outcome(scenario, default_headers={"X-Every": "1"})
    assert [values(one, "X-Every") for one in seen.wire] == [["1"], ["own"]]


def test_headers_of_every_request_may_change(outcome):
    def scenario(client):
        client.client.default_headers["X-Turn"] = "1"
        client.get("/echo")
        client.client.default_headers["X-Turn"] = "2"
        client.get("/echo")

    assert [values(one, "X-Turn") for one in outcome(scenario).wire] == [["1"], ["2"]]


@pytest.mark.parametrize("value", [1, "grün", None, "", ["a", "b"], b"bytes"])
def test_odd_values_of_headers(outcome, value):
    seen = outcome(lambda client: client.get("/echo", headers={"X-One": value}))
    sent = value if isinstance(value, list) else [str(value)]
    assert values(seen.request, "X-One") == sent


@pytest.mark.parametrize("value", ["two\r\nlines", "緑"])
def test_a_value_that_cannot_be_a_header_is_an_error_of_the_caller(outcome, value):
    seen = outcome(lambda client: client.get("/echo", headers={"X-One": value}))
    assert seen.raised["class"] == "builtins.ValueError"
    assert (seen.wire, seen.events) == ([], [])


@pytest.mark.parametrize("name", ["Host", "Accept-Encoding", "accept-encoding", "Connection"])
def test_what_is_sent_by_itself_can_be_said_otherwise(outcome, name):
    seen = outcome(lambda client: client.get("/echo", headers={name: "own"}))
    assert values(seen.request, name) == ["own"]


def test_a_dict_of_headers_keeps_what_it_had(outcome):
    def scenario(client):
        headers = {"X-One": "1"}
        client.post("/echo", json={}, headers=headers)
        return headers

    assert outcome(scenario).value["X-One"] == "1"


def test_closing_is_respected_when_asked_for(outcome):
    def scenario(client):
        for _ in range(2):
            client.get("/echo", headers={"Connection": "close"})

    assert [one["connection"] for one in outcome(scenario).wire] == [1, 2]


TARGETS = {
    "/": "/",
    "": "/",
    "?a=1": "/?a=1",
    "/a b": "/a%20b",
    "/a%20b": "/a%20b",
    "/grün": "/gr%C3%BCn",
    "/a%zz": "/a%25zz",
    "/a#part": "/a",
    "/a?": "/a",
    "/a?b=c d&e=ü": "/a?b=c%20d&e=%C3%BC",
    "/a/./b": "/a/./b",
    "/a/../b": "/a/../b",
    "/a//b": "/a//b",
    "//a": None,
    "/a|b^c`d": "/a%7Cb%5Ec%60d",
    "/[a]": "/[a]",
    "/a\\b": "/a%5Cb",
    "/緑": "/%E7%B7%91",
    "/tab\there": "/tabhere",
    "/new\nline": "/newline",
    "/a:b@c!$&'()*,=": "/a:b@c!$&'()*,=",
    "/a?b=%26&c=+": "/a?b=%26&c=+",
    "/a??b=?": "/a??b=?",
}
# The oldest Locust quotes nothing.
UNQUOTED = {
    "/a b": None,
    "/grün": "/grün",
    "/a%zz": "/a%zz",
    "/a?b=c d&e=ü": None,
    "/a|b^c`d": "/a|b^c`d",
    "/a\\b": "/a\\b",
    "/緑": None,
}


@pytest.mark.parametrize("path", TARGETS)
def test_what_becomes_of_a_path(outcome, path):
    target = (TARGETS if REPORTS_ALL else {**TARGETS, **UNQUOTED})[path]
    seen = outcome(lambda client: client.get(path))
    assert [one["line"] for one in seen.wire] == ([] if target is None else [f"GET {target}"])
    assert (seen.raised is None) == (target is not None)


def test_a_whole_url_leaves_the_host_aside(outcome, site):
    seen = outcome(lambda client: client.get(f"{site.other.url}/echo"))
    assert seen.value["url"] == f"{site.other.url}/echo"
    assert seen.event["name"] == f"{site.other.url}/echo"


@pytest.mark.parametrize("host", ["{url}/api", "HTTP://127.0.0.1:{port}"])
def test_the_host_of_a_user(outcome, site, host):
    host = host.format(url=site.url, port=site.port)
    seen = outcome(lambda client: client.get("/echo"), host=host)
    assert seen.event["url"] == f"{host}/echo"


@pytest.mark.parametrize(
    "url", ["/path", "http://", "http://127.0.0.1:port/", "ftp://127.0.0.1/", "http://[::1/"]
)
def test_what_is_no_url(outcome, url):
    seen = outcome(lambda client: client.get(url), host="nothing")
    assert seen.wire == []


def test_basic_auth(outcome):
    def scenario(client):
        client.get("/basic", auth=("guest", "secret"))
        client.get("/echo")
        return client.get("/basic")

    seen = outcome(scenario)
    assert values(seen.wire[0], "Authorization") == ["Basic Z3Vlc3Q6c2VjcmV0"]
    assert seen.value["status"] == 401


@pytest.mark.parametrize("word", ["secret", "p%40ss"])
def test_credentials_in_the_host(outcome, site, word):
    host = f"http://guest:{word}@127.0.0.1:{site.port}"
    seen = outcome(lambda client: (client.base_url, client.get("/basic").status_code), host=host)
    assert seen.value == [site.url, 200]
