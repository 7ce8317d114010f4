"""Authentication: basic, digest, credentials in the host, callables."""

import pytest
from requests.auth import AuthBase, HTTPBasicAuth, HTTPDigestAuth

GUEST = "Basic Z3Vlc3Q6c2VjcmV0"


def sent(outcome):
    return [dict(one["headers"]).get("Authorization") for one in outcome.wire]


class Token(AuthBase):
    def __call__(self, request):
        request.headers["X-Token"] = "t"
        return request


@pytest.mark.parametrize("auth", [("guest", "secret"), HTTPBasicAuth("guest", "secret")])
def test_basic(outcome, auth):
    seen = outcome(lambda client: client.get("/basic", auth=auth))
    assert sent(seen) == [GUEST]
    assert seen.value["status"] == 200


def test_basic_of_the_session(outcome):
    def scenario(client):
        client.get("/echo")
        client.auth = ("guest", "secret")
        client.get("/echo")
        client.get("/echo", auth=("other", "one"))
        client.auth = None
        client.get("/echo")

    assert sent(outcome(scenario)) == [None, GUEST, "Basic b3RoZXI6b25l", None]


def test_without_it_the_answer_is_a_failure(outcome):
    seen = outcome(lambda client: client.get("/basic"))
    assert seen.value["status"] == 401
    assert seen.event["exception"]["class"] == "requests.exceptions.HTTPError"


def test_a_class_of_the_locustfile(outcome):
    seen = outcome(lambda client: client.get("/echo", auth=Token()))
    assert ("X-Token", "t") in seen.request["headers"]


def test_a_function(outcome):
    def sign(request):
        request.headers["X-Signed"] = f"{request.method} {request.path_url} {request.body!r}"
        return request

    seen = outcome(lambda client: client.post("/echo", data="x", auth=sign))
    assert ("X-Signed", "POST /echo 'x'") in seen.request["headers"]


def test_a_function_that_changes_the_body(outcome):
    def sign(request):
        request.prepare_body(b"another body", None)
        return request

    seen = outcome(lambda client: client.post("/echo", data="x", auth=sign))
    assert seen.request["body"] == b"another body"


def test_a_function_of_the_session(outcome):
    def scenario(client):
        client.auth = Token()
        client.get("/echo")
        client.get("/echo")

    wire = outcome(scenario).wire
    assert [("X-Token", "t") in one["headers"] for one in wire] == [True] * 2


def test_digest(outcome):
    seen = outcome(lambda client: client.get("/digest", auth=HTTPDigestAuth("guest", "secret")))
    assert seen.value["content"] == b"welcome"
    assert [one["connection"] for one in seen.wire] == [1, 1]
    assert len(seen.events) == 1


def test_digest_of_the_session_answers_before_it_is_asked_again(outcome):
    def scenario(client):
        client.auth = HTTPDigestAuth("guest", "secret")
        return [client.get("/digest").status_code for _ in range(2)]

    seen = outcome(scenario)
    assert seen.value == [200, 200]
    assert len(seen.wire) == 3


def test_digest_with_a_wrong_word(outcome):
    seen = outcome(lambda client: client.get("/digest", auth=HTTPDigestAuth("guest", "wrong")))
    assert seen.value["status"] == 401


def test_digest_sends_a_body_again(outcome):
    def scenario(client):
        return client.post("/digest", data={"a": 1}, auth=HTTPDigestAuth("guest", "secret"))

    assert [one["body"] for one in outcome(scenario).wire] == [b"a=1", b"a=1"]


def test_credentials_in_the_host(outcome, site):
    host = f"http://guest:secret@127.0.0.1:{site.port}"

    def scenario(client):
        client.get("/basic")
        return client.base_url

    seen = outcome(scenario, host=host)
    assert sent(seen) == [GUEST]
    assert seen.value == site.url


def test_credentials_in_the_host_may_have_odd_signs(outcome, site):
    host = f"http://guest:p%40ss@127.0.0.1:{site.port}"
    seen = outcome(lambda client: client.get("/basic"), host=host)
    assert sent(seen)[0].startswith("Basic ")


def test_credentials_in_a_url(outcome, site):
    url = f"http://guest:secret@127.0.0.1:{site.port}/basic"
    seen = outcome(lambda client: client.get(url))
    assert sent(seen) == [GUEST]


def test_credentials_stay_within_a_host(outcome):
    def scenario(client):
        client.auth = ("guest", "secret")
        client.get("/to/302?where=/echo")
        client.get("/elsewhere/302")

    kept = [value is not None for value in sent(outcome(scenario))]
    assert kept == [True, True, True, False]


def test_a_header_by_hand_gives_way_to_auth(outcome):
    def scenario(client):
        headers = {"Authorization": "Bearer t"}
        client.get("/echo", headers=headers)
        client.get("/echo", headers=headers, auth=("guest", "secret"))

    assert sent(outcome(scenario)) == ["Bearer t", GUEST]


@pytest.mark.parametrize("auth", ["text", 5])
def test_auth_that_cannot_be_called(outcome, auth):
    seen = outcome(lambda client: client.get("/echo", auth=auth))
    assert seen.raised["class"] == "builtins.TypeError"
