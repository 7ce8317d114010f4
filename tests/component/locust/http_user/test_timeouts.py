"""How long a client waits: for the connection, for the head, between the pieces of a body."""

import pytest

from surface import REPORTS_ALL

READ = "requests.exceptions.ReadTimeout"


@pytest.mark.parametrize("timeout", [5, 5.0, (5, 5), (None, 5), (5, None), None])
def test_who_answers_in_time_is_not_disturbed(outcome, timeout):
    seen = outcome(lambda client: client.get("/slow-head", timeout=timeout))
    assert seen.value["content"] == b"hi"


@pytest.mark.parametrize("timeout", [0.2, (5, 0.2), (None, 0.2)])
@pytest.mark.parametrize("fault", ["silent", "silent-head"])
def test_a_server_that_keeps_silent(outcome, timeout, fault):
    seen = outcome(lambda client: client.get(f"/broken/{fault}", timeout=timeout))
    assert seen.value["status"] == 0
    assert seen.value["error"]["class"] == READ
    assert "Read timed out" in seen.event["exception"]["text"]


@pytest.mark.parametrize("fault", ["silent-body", "silent-chunk"])
def test_a_body_that_stops(outcome, fault):
    seen = outcome(lambda client: client.get(f"/broken/{fault}", timeout=0.2))
    assert ("Read timed out" in seen.trouble["text"]) == REPORTS_ALL


def test_a_slow_body_is_in_time_when_each_piece_is(outcome):
    seen = outcome(lambda client: client.get("/slow-body", timeout=(30, 10)))
    assert seen.value["content"] == b"bytes!"


@pytest.mark.parametrize("timeout", [0.2, (0.2, 5), (0.2, None)])
def test_a_connection_that_nobody_takes(outcome, full_port, timeout):
    seen = outcome(lambda client: client.get(f"http://127.0.0.1:{full_port}/", timeout=timeout))
    assert seen.value["error"]["class"] == "requests.exceptions.ConnectTimeout"
    assert "Connection to 127.0.0.1 timed out" in seen.event["exception"]["text"]


def test_after_a_timeout_the_next_request_has_a_connection_of_its_own(outcome):
    def scenario(client):
        client.get("/echo")
        client.get("/broken/silent", timeout=0.2)
        return client.get("/echo")

    seen = outcome(scenario)
    assert [one["connection"] for one in seen.wire] == [1, 1, 2]
    assert seen.value["status"] == 200


@pytest.mark.parametrize("timeout", ["soon", (1, 2, 3), 0, -1, (0, 1), True, (1, "x")])
def test_a_timeout_that_is_none(outcome, timeout):
    seen = outcome(lambda client: client.get("/echo", timeout=timeout))
    assert seen.raised["class"] == "builtins.ValueError"
    assert seen.wire == []


def test_a_stream_that_stops_while_it_is_read(outcome):
    def scenario(client):
        answer = client.get("/broken/silent-chunk", stream=True, timeout=0.6)
        pieces = []
        try:
            pieces.extend(answer.iter_content(4))
        except Exception as error:
            return pieces, error
        return pieces, None

    pieces, error = outcome(scenario).value
    assert b"".join(pieces) == b"half"
    assert error["class"] == "requests.exceptions.ConnectionError"


def test_lines_that_stop_coming(outcome):
    def scenario(client):
        answer = client.get("/broken/silent-chunk", stream=True, timeout=0.6)
        try:
            return list(answer.iter_lines())
        except Exception as error:
            return error

    assert outcome(scenario).value["class"] == "requests.exceptions.ConnectionError"


def test_a_timeout_as_a_user_catches_it(outcome):
    def scenario(client):
        with client.get("/broken/silent", timeout=0.2, catch_response=True) as answer:
            answer.failure(f"too late: {type(answer.error).__name__}")

    assert outcome(scenario).event["exception"]["text"] == "too late: ReadTimeout"
