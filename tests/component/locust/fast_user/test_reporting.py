"""The reports of a FastHttpUser, and `catch_response`."""

import pytest
from locust.exception import ResponseError

from surface import REPORTS_ALL


def names(outcome):
    return [event["name"] for event in outcome.events]


def test_the_arguments_of_a_request_event(outcome, site):
    seen = outcome(lambda client: client.get("/echo?a=1"))
    event = seen.event
    assert (event["request_type"], event["name"]) == ("GET", "/echo?a=1")
    assert event["url"] == f"{site.url}/echo?a=1"
    assert event["response_length"] == len(seen.value["content"])
    assert (event["exception"], event["has_response_time"], event["started"]) == (None, True, True)


def test_a_name_that_is_given(outcome):
    seen = outcome(lambda client: client.get("/echo?id=5", name="/echo?id=[id]"))
    assert names(seen) == ["/echo?id=[id]"]


def test_requests_of_a_block_are_renamed(outcome):
    def scenario(client):
        with client.rename_request("grouped"):
            client.get("/echo?id=1")
            client.get("/echo?id=2", name="own")
        client.get("/echo?id=3")

    # The oldest Locust has no such block.
    sent = ["grouped", "own", "/echo?id=3"] if REPORTS_ALL else []
    assert names(outcome(scenario)) == sent


def test_contexts(outcome):
    seen = outcome(
        lambda client: client.get("/echo", context={"who": "request"}),
        context=lambda _user: {"who": "user", "where": "here"},
    )
    assert seen.event["context"] == {"who": "request", "where": "here"}


@pytest.mark.parametrize("path", ["/echo", "/status/404", "/status/503"])
def test_a_block_that_says_nothing(outcome, path):
    def scenario(client):
        with client.get(path, catch_response=True) as answer:
            return answer.status_code

    seen = outcome(scenario)
    assert (seen.event["exception"] is None) == (path == "/echo")


@pytest.mark.parametrize("path", ["/status/404", "/status/503"])
def test_an_answer_that_is_called_a_success(outcome, path):
    def scenario(client):
        with client.get(path, catch_response=True) as answer:
            answer.success()

    assert outcome(scenario).event["exception"] is None


@pytest.mark.parametrize("why", ["not what was wanted", ValueError("too little")])
def test_an_answer_that_is_called_a_failure(outcome, why):
    def scenario(client):
        with client.get("/echo", catch_response=True) as answer:
            answer.failure(why)

    assert outcome(scenario).event["exception"]["text"] == str(why)


@pytest.mark.parametrize("error", [ResponseError("judged"), ValueError("mine")])
def test_an_exception_within_the_block(outcome, error):
    def scenario(client):
        with client.get("/echo", catch_response=True):
            raise error

    seen = outcome(scenario)
    assert len(seen.events) == isinstance(error, ResponseError)


@pytest.mark.parametrize("catch", [True, False])
@pytest.mark.parametrize("word", ["success", "failure"])
def test_judging_without_a_block(outcome, word, catch):
    def scenario(client):
        answer = client.get("/echo", catch_response=catch)
        getattr(answer, word)(*(["why"] if word == "failure" else []))

    assert outcome(scenario).raised is not None


def test_a_block_without_catching(outcome):
    def scenario(client):
        with client.get("/echo") as answer:
            return answer.status_code

    seen = outcome(scenario)
    assert seen.value == 200
    assert len(seen.events) == 1


def test_raise_for_status_after_the_judgement(outcome):
    def scenario(client):
        with client.get("/status/404", catch_response=True) as answer:
            answer.success()
            answer.raise_for_status()
            return "went on"

    seen = outcome(scenario)
    assert seen.event["exception"] is None
    assert seen.value == "went on" if REPORTS_ALL else "code=404" in seen.raised["text"]


def test_a_status_is_checked_by_a_hook_of_the_client(outcome):
    def scenario(client):
        client.client.valid_response_codes = frozenset([404])
        return [client.get(path).status_code for path in ("/status/404", "/echo")]

    events = outcome(scenario).events
    assert [event["exception"] is None for event in events] == [True, False]
