"""`rest` of the users: JSON in requests and responses, and failures with the received body."""

import pytest

from surface import FAMILIES

WITH_REST = [family for family, (user, *_) in FAMILIES.items() if hasattr(user, "rest")]


@pytest.fixture(params=WITH_REST)
def family(request):
    return request.param


def test_json_goes_and_comes(outcome):
    def scenario(client):
        with client.user.rest("POST", "/echo", json={"a": 1}) as answer:
            return answer.js["body"], answer.status_code

    seen = outcome(scenario)
    assert seen.value == ['{"a": 1}', 200]
    sent = {name.lower(): value for name, value in seen.request["headers"]}
    assert (sent["content-type"], sent["accept"]) == ("application/json", "application/json")


def test_an_answer_that_is_no_json_is_a_failure(outcome):
    def scenario(client):
        with client.user.rest("GET", "/utf-8") as answer:
            return answer.js

    assert "Could not parse response as JSON" in outcome(scenario).event["exception"]["text"]


def test_an_answer_without_a_body(outcome):
    def scenario(client):
        with client.user.rest("GET", "/empty") as answer:
            return answer.js

    assert outcome(scenario).event["exception"] is None


@pytest.mark.parametrize("why", ["wrong", "wrong,"])
def test_an_assertion_in_the_block_is_a_failure(outcome, why):
    def scenario(client):
        with client.user.rest("GET", "/json") as answer:
            assert answer.js["a"] == 5, why

    exception = outcome(scenario).event["exception"]
    assert exception["text"].startswith("wrong")


def test_an_exception_in_the_block_is_a_failure(outcome):
    def scenario(client):
        with client.user.rest("GET", "/json") as answer:
            answer.js["missing"]

    assert outcome(scenario).event["exception"]["text"].startswith("KeyError: 'missing'")


def test_a_failure_that_the_block_calls_so(outcome):
    def scenario(client):
        with client.user.rest("GET", "/json") as answer:
            answer.failure("not so")

    assert outcome(scenario).event["exception"]["text"] == "not so"


def test_an_answer_that_failed(outcome, closed_port):
    def scenario(client):
        found = []
        for url in ("/status/404", f"http://127.0.0.1:{closed_port}/"):
            with client.user.rest("GET", url) as answer:
                found.append(answer.js)
        return found

    seen = outcome(scenario)
    assert seen.value == [None, None]
    assert [event["exception"] is not None for event in seen.events] == [True, True]


def test_headers_and_name(outcome):
    def scenario(client):
        headers = {"Accept": "text/x-own", "X-One": "1"}
        with client.user.rest("GET", "/echo?id=1", name="/echo", headers=headers) as answer:
            return answer.js["headers"]["Accept"]

    seen = outcome(scenario)
    assert seen.value == "text/x-own"
    assert seen.event["name"] == "/echo"


def test_the_time_in_the_query(outcome, monkeypatch):
    monkeypatch.setattr("time.time", lambda: 1_700_000_000.0)

    def scenario(client):
        with client.user.rest_("GET", "/echo?a=1") as answer:
            return answer.js["target"]

    seen = outcome(scenario)
    assert seen.value == "/echo?a=1&_=1700000000000"
    assert seen.event["name"] == "/echo?a=1&_=..."
