"""Each method, and the default headers of a request."""

import pytest
import requests

VERBS = ["get", "options", "head", "post", "put", "patch", "delete"]


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_is_sent_and_reported(outcome, verb):
    seen = outcome(lambda client: getattr(client, verb)("/echo"))
    assert seen.request["line"] == f"{verb.upper()} /echo"
    assert (seen.event["request_type"], seen.event["name"]) == (verb.upper(), "/echo")


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_with_a_body(outcome, verb):
    seen = outcome(lambda client: getattr(client, verb)("/echo", data=b"body"))
    assert seen.request["body"] == b"body"


@pytest.mark.parametrize("verb", ["post", "put", "patch"])
def test_a_body_may_be_given_by_its_place(outcome, verb):
    seen = outcome(lambda client: getattr(client, verb)("/echo", {"a": "1"}))
    assert seen.request["body"] == b"a=1"


@pytest.mark.parametrize(
    ("method", "sent"), [("PROPFIND", "PROPFIND"), ("get", "GET"), (b"GET", "GET")]
)
def test_any_method_goes_through_request(outcome, method, sent):
    seen = outcome(lambda client: client.request(method, "/echo"))
    assert seen.request["line"].split()[0] == sent


@pytest.mark.parametrize("verb", VERBS)
def test_a_redirect_is_followed_unless_the_verb_says_not(outcome, verb):
    seen = outcome(lambda client: getattr(client, verb)("/to/302?where=/echo"))
    assert len(seen.wire) == (1 if verb == "head" else 2)


def test_what_is_sent_by_itself(outcome):
    seen = outcome(lambda client: client.get("/echo"))
    sent = dict(seen.request["headers"])
    assert sent["User-Agent"].startswith("python-requests/")
    assert sent["Connection"] == "keep-alive"
    assert sent["Host"].startswith("127.0.0.1:")


def test_one_connection_serves_request_after_request(outcome):
    seen = outcome(lambda client: [client.get("/echo") for _ in range(3)])
    assert [one["connection"] for one in seen.wire] == [1, 1, 1]


def test_the_client_is_a_session_of_requests(outcome):
    seen = outcome(lambda client: isinstance(client, requests.Session))
    assert seen.value is True


def test_the_answer_is_one_of_requests(outcome):
    seen = outcome(lambda client: isinstance(client.get("/echo"), requests.Response))
    assert seen.value is True


@pytest.mark.parametrize("call", [("/echo", 1, 2, 3), ()])
def test_too_many_or_few_arguments_are_an_error_of_the_caller(outcome, call):
    seen = outcome(lambda client: client.get(*call))
    assert seen.raised["class"] == "builtins.TypeError"
    assert seen.events == []


def test_an_argument_that_nobody_knows_is_an_error_of_the_caller(outcome):
    seen = outcome(lambda client: client.get("/echo", colour="red"))
    assert seen.raised["class"] == "builtins.TypeError"
