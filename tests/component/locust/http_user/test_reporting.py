"""The reports of requests: names, contexts, and `catch_response`."""

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
    assert event["exception"] is None
    assert (event["has_response_time"], event["started"]) == (True, True)
    assert event["context"] == {}


def test_a_name_that_is_given(outcome):
    seen = outcome(lambda client: client.get("/echo?id=5", name="/echo?id=[id]"))
    assert names(seen) == ["/echo?id=[id]"]
    assert seen.value["url"].endswith("/echo?id=5")


@pytest.mark.parametrize("name", ["", None, "grün", 5])
def test_odd_names(outcome, name):
    assert len(outcome(lambda client: client.get("/echo", name=name)).events) == 1


def test_requests_of_a_block_are_renamed(outcome):
    def scenario(client):
        with client.rename_request("grouped"):
            client.get("/echo?id=1")
            client.get("/echo?id=2", name="own")
        client.get("/echo?id=3")

    assert names(outcome(scenario)) == ["grouped", "own", "/echo?id=3"]


def test_the_name_goes_when_a_block_fails(outcome):
    def scenario(client):
        with pytest.raises(KeyError), client.rename_request("grouped"):
            raise KeyError("inside")
        client.get("/echo")

    assert names(outcome(scenario)) == ["/echo"]


def test_the_name_of_the_session(outcome):
    def scenario(client):
        client.request_name = "set"
        client.get("/echo")
        client.request_name = None
        client.get("/echo")

    assert names(outcome(scenario)) == ["set", "/echo"]


def test_a_context_is_handed_on(outcome):
    seen = outcome(lambda client: client.get("/echo", context={"order": 5}))
    assert seen.event["context"] == {"order": 5}


def test_the_context_of_the_user_comes_first(outcome):
    seen = outcome(
        lambda client: client.get("/echo", context={"who": "request"}),
        context=lambda _user: {"who": "user", "where": "here"},
    )
    assert seen.event["context"] == {"who": "request", "where": "here"}


def test_the_context_of_the_user_is_asked_each_time(outcome):
    turns = []

    def context(_user):
        turns.append(len(turns) % 2)
        return {"turn": turns[-1]}

    seen = outcome(lambda client: [client.get("/echo") for _ in range(2)], context=context)
    assert [event["context"] for event in seen.events] == [{"turn": 0}, {"turn": 1}]


def test_listeners_come_and_go(outcome):
    def scenario(client):
        calls = []

        def listener(name, **_others):
            calls.append(name)

        client.request_event.add_listener(listener)
        client.get("/echo")
        client.request_event.remove_listener(listener)
        client.get("/echo")
        return calls

    assert outcome(scenario).value == ["/echo"]


def test_a_listener_that_raises_disturbs_nobody(outcome):
    def scenario(client):
        def listener(**_given):
            raise KeyError("mine")

        client.request_event.add_listener(listener)
        return client.get("/echo").status_code

    seen = outcome(scenario)
    assert seen.value == 200
    assert len(seen.events) == 1


def test_an_answer_that_is_called_a_failure(outcome):
    def scenario(client):
        with client.get("/echo", catch_response=True) as answer:
            answer.failure("not what was wanted")

    exception = outcome(scenario).event["exception"]
    assert exception["class"] == "locust.exception.CatchResponseError"
    assert exception["text"] == "not what was wanted"


def test_an_answer_that_is_called_a_failure_by_an_exception(outcome):
    def scenario(client):
        with client.get("/echo", catch_response=True) as answer:
            answer.failure(ValueError("too little"))

    assert outcome(scenario).event["exception"]["class"] == "builtins.ValueError"


@pytest.mark.parametrize("path", ["/status/404", "/status/500", "/broken/closed"])
def test_an_answer_that_is_called_a_success(outcome, path):
    def scenario(client):
        with client.get(path, catch_response=True) as answer:
            answer.success()

    assert outcome(scenario).event["exception"] is None


def test_the_last_word_counts(outcome):
    def scenario(client):
        with client.get("/echo", catch_response=True) as answer:
            answer.failure("no")
            answer.success()
        with client.get("/echo", catch_response=True) as answer:
            answer.success()
            answer.failure("no")

    assert [event["exception"] is None for event in outcome(scenario).events] == [True, False]


@pytest.mark.parametrize("path", ["/echo", "/status/503", "/broken/closed"])
def test_a_block_that_says_nothing(outcome, path):
    def scenario(client):
        with client.get(path, catch_response=True) as answer:
            return answer.status_code

    seen = outcome(scenario)
    assert (seen.event["exception"] is None) == (path == "/echo")


def test_nothing_is_reported_before_the_block_ends(outcome):
    def scenario(client):
        count = []
        client.request_event.add_listener(lambda **_given: count.append(1))
        with client.get("/echo", catch_response=True):
            inside = len(count)
        return inside, len(count)

    assert outcome(scenario).value == [0, 1]


def test_an_answer_to_catch_that_is_never_entered_is_not_reported(outcome):
    seen = outcome(lambda client: client.get("/echo", catch_response=True).status_code)
    assert seen.value == 200
    assert seen.events == []


@pytest.mark.parametrize("word", ["success", "failure"])
def test_judging_without_a_block(outcome, word):
    def scenario(client):
        answer = client.get("/echo", catch_response=True)
        getattr(answer, word)(*(["why"] if word == "failure" else []))

    raised = outcome(scenario).raised
    assert raised["class"] == "locust.exception.LocustError"
    assert "has not yet been made" in raised["text"]


@pytest.mark.parametrize("word", ["success", "failure"])
def test_judging_without_catching(outcome, word):
    seen = outcome(lambda client: getattr(client.get("/echo"), word)())
    assert seen.raised is not None


def test_a_block_without_catching(outcome):
    def scenario(client):
        with client.get("/echo") as answer:
            return answer.status_code

    seen = outcome(scenario)
    # The oldest Locust lets it pass.
    assert seen.raised["class"].endswith("LocustError") if REPORTS_ALL else seen.value == 200


@pytest.mark.parametrize("error", [ResponseError("judged"), ValueError("mine"), AssertionError()])
def test_an_exception_within_the_block(outcome, error):
    def scenario(client):
        with client.get("/echo", catch_response=True):
            raise error

    seen = outcome(scenario)
    reported = isinstance(error, ResponseError)
    assert len(seen.events) == reported
    assert (seen.raised is None) == reported


def test_an_exception_after_the_judgement(outcome):
    def scenario(client):
        with client.get("/echo", catch_response=True) as answer:
            answer.failure("judged before")
            raise ValueError("mine")

    seen = outcome(scenario)
    assert seen.event["exception"]["text"] == "judged before"
    assert seen.raised["class"] == "builtins.ValueError"


def test_raise_for_status_after_the_judgement(outcome):
    def scenario(client):
        with client.get("/status/404", catch_response=True) as answer:
            answer.success()
            answer.raise_for_status()
            return "went on"

    seen = outcome(scenario)
    assert seen.value == "went on" if REPORTS_ALL else seen.raised["class"].endswith("HTTPError")


def test_an_error_is_reported_under_its_name(outcome):
    seen = outcome(lambda client: client.get("/status/404?id=5", name="/status"))
    assert seen.event["exception"]["text"] == "404 Client Error: Not Found for url: /status"
    assert "id=5" in seen.value["url"]


def test_what_the_response_carries(outcome):
    def scenario(client):
        with client.get("/echo", catch_response=True, name="mine") as answer:
            meta = dict(answer.request_meta)
            return {name: meta[name] for name in ("request_type", "name", "context", "exception")}

    assert outcome(scenario).value["name"] == "mine"


def test_the_time_may_be_changed_in_the_block(outcome):
    def scenario(client):
        told = []
        client.request_event.add_listener(lambda **given: told.append(given["response_time"]))
        with client.get("/echo", catch_response=True) as answer:
            answer.request_meta["response_time"] = 12_345.0
        return told

    assert outcome(scenario).value == [12_345.0]


def test_rows_of_the_locustfile_itself(outcome):
    def scenario(client):
        client.user.environment.events.request.fire(
            request_type="SSE",
            name="TTFB",
            response_time=1.5,
            response_length=0,
            exception=None,
            context={},
            url=None,
            start_time=0.0,
            response=client.get("/echo"),
        )

    assert names(outcome(scenario)) == ["/echo", "TTFB"]
