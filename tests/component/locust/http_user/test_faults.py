"""Faults are reported in the words of requests, and the next request does not suffer."""

from contextlib import suppress
from functools import partial

import pytest

from broken import BROKEN
from surface import REPORTS_ALL

SILENT = [fault for fault in BROKEN if fault.startswith("silent")]
# What requests takes for a response although it is none; torr does not.
FORGIVEN = ["half-head", "no-colon", "words-for-length", "less-than-none"]
# Bounds of requests that are not torr's: a hundred fields.
BOUNDS = ["many-headers"]
FAULTS = [fault for fault in BROKEN if fault not in [*SILENT, *FORGIVEN, *BOUNDS]]
# What is said of these is the parser's own; torr's has other words for it.
WORDED_OTHERWISE = ["two-lengths", "cut-between-chunks", "cut-chunk", "cut-chunk-size"]
WORDED_OTHERWISE += ["words-for-chunk-size"]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_reported(outcome, fault):
    in_words = fault not in WORDED_OTHERWISE
    seen = outcome(lambda client: client.get(f"/broken/{fault}", timeout=5), in_words=in_words)
    # Of half a gzip, requests gives what it could open.
    assert (seen.trouble is not None) == (fault != "cut-gzip")


@pytest.mark.parametrize("fault", FORGIVEN)
def test_an_answer_that_is_none_is_a_failure(play, fault):
    seen = play(lambda client: client.get(f"/broken/{fault}", timeout=5))
    assert seen.event["exception"] is not None
    assert seen.value["status"] == 0
    failed = seen.value["error"]["class"]
    assert failed.rpartition(".")[2] in ("ConnectionError", "InvalidHeader")


@pytest.mark.parametrize("fault", FAULTS)
def test_after_a_fault_all_is_well(outcome, play, fault):
    def scenario(client):
        # The oldest Locust raises it of an error without a request.
        with suppress(AttributeError):
            client.get(f"/broken/{fault}", timeout=5)
        return client.get("/echo")

    compared = partial(outcome, in_words=fault not in WORDED_OTHERWISE)
    seen = (compared if REPORTS_ALL else play)(scenario)
    assert seen.value["status"] == 200
    assert seen.events[-1]["exception"] is None


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_a_connection_that_served_before(outcome, fault):
    def scenario(client):
        client.get("/echo")
        client.get(f"/broken/{fault}", timeout=5)

    seen = outcome(scenario, in_words=fault not in WORDED_OTHERWISE)
    assert seen.wire[1]["connection"] == 1


@pytest.mark.parametrize("way", ["iter_content", "iter_lines"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_a_stream_is_raised_where_it_is_read(outcome, fault, way):
    def scenario(client):
        answer = client.get(f"/broken/{fault}", stream=True, timeout=5)
        try:
            return b"".join(getattr(answer, way)(512) if answer.raw else [])
        except Exception as error:
            return error

    assert len(outcome(scenario, in_words=fault not in WORDED_OTHERWISE).wire) == 1


@pytest.mark.parametrize("fault", BOUNDS)
def test_a_head_without_measure_is_a_failure(play, fault):
    seen = play(lambda client: client.get(f"/broken/{fault}"))
    assert seen.value["error"]["class"] == "requests.exceptions.ConnectionError"


def test_a_port_where_nobody_listens(outcome, closed_port):
    seen = outcome(lambda client: client.get(f"http://127.0.0.1:{closed_port}/path"))
    assert seen.value["status"] == 0
    assert seen.value["content"] is None
    assert seen.event["exception"]["class"].endswith("ConnectionRefusedError")
    assert seen.event["exception"]["row"] == "ConnectionRefusedError(111, 'Connection refused')"
    assert (seen.event["name"], seen.event["response_length"]) == ("/path", 0)


def test_a_refusal_as_a_user_catches_it(outcome, closed_port):
    def scenario(client):
        client.get(f"http://127.0.0.1:{closed_port}/").raise_for_status()

    assert outcome(scenario).raised["class"] == "requests.exceptions.ConnectionError"


@pytest.mark.parametrize("times", [1, 3])
def test_a_refusal_again_and_again(outcome, closed_port, times):
    def scenario(client):
        url = f"http://127.0.0.1:{closed_port}/"
        return [client.get(url).status_code for _ in range(times)]

    assert outcome(scenario).value == [0] * times


def test_a_fault_while_the_body_goes_out(outcome):
    seen = outcome(lambda client: client.post("/broken/reset", data=b"x" * 100_000))
    assert seen.value["status"] == 0
    assert "reset" in seen.event["exception"]["text"]


def test_a_generator_that_raises_what_requests_would(outcome):
    def breaking():
        yield b"first"
        raise OSError("the disk is gone")

    seen = outcome(lambda client: client.post("/echo", data=breaking()))
    assert (seen.wire, seen.value["status"]) == ([], 0)
    assert seen.event["exception"]["text"] == "the disk is gone"
