"""Faults, timeouts and greenlets of a FastHttpUser."""

import gevent
import pytest

from broken import BROKEN
from surface import REPORTS_ALL
from waiting import wait_until

SILENT = [fault for fault in BROKEN if fault.startswith("silent")]
# Stock Locust sends these requests again, a dozen times; torr repeats nothing.
REPEATED = ["closed", "reset"]
# Stock Locust reads heads of any length; torr reads 64 KiB.
UNBOUND = ["long-head", "many-headers"]
# What is said of the others is the parser's own; torr's has other words for it.
WORDED = ["reset-head", "reset-body", "reset-chunk", "not-gzip", "cut-gzip"]
FAULTS = [fault for fault in BROKEN if fault not in [*SILENT, *REPEATED, *UNBOUND]]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_reported(outcome, fault):
    seen = outcome(lambda client: client.get(f"/broken/{fault}"), in_words=fault in WORDED)
    assert len(seen.wire) == 1


@pytest.mark.parametrize("fault", REPEATED)
def test_a_request_that_was_not_answered_is_reported_and_not_repeated(play, fault):
    seen = play(lambda client: client.get(f"/broken/{fault}"))
    assert len(seen.wire) == 1
    assert seen.value["status"] == 0
    assert seen.event["exception"]["class"] == "geventhttpclient.response.HTTPConnectionClosed"


def test_a_head_without_measure_is_a_failure(play):
    seen = play(lambda client: client.get("/broken/long-head"))
    assert seen.trouble is not None


@pytest.mark.parametrize("fault", REPEATED)
@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_what_was_posted_is_not_repeated(outcome, method, fault):
    seen = outcome(lambda client: client.request(method, f"/broken/{fault}", data="once"))
    assert seen.event["exception"] is not None


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_a_connection_that_served_before(outcome, fault):
    def scenario(client):
        client.get("/echo")
        client.get(f"/broken/{fault}")

    assert outcome(scenario, in_words=fault in WORDED).wire[0]["connection"] == 1


@pytest.mark.parametrize("fault", FAULTS)
def test_after_a_fault_all_is_well(outcome, fault):
    def scenario(client):
        try:
            client.get(f"/broken/{fault}")
        except Exception:
            assert not REPORTS_ALL
        return client.get("/echo")

    seen = outcome(scenario, in_words=fault in WORDED)
    assert seen.value["status"] == 200
    assert seen.events[-1]["exception"] is None


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_a_stream(outcome, fault):
    def scenario(client):
        answer = client.get(f"/broken/{fault}", stream=True)
        try:
            return answer.read()
        except Exception as error:
            return error

    assert len(outcome(scenario, in_words=fault in WORDED).wire) == 1


def test_a_fault_as_a_user_catches_it(outcome, closed_port):
    def scenario(client):
        with client.get(f"http://127.0.0.1:{closed_port}/", catch_response=True) as answer:
            answer.failure(f"{answer.status_code}: broken")

    assert outcome(scenario).event["exception"]["text"] == "0: broken"


def test_a_port_where_nobody_listens(outcome, closed_port):
    seen = outcome(lambda client: client.get(f"http://127.0.0.1:{closed_port}/path"))
    assert (seen.value["status"], seen.value["content"]) == (0, None)
    assert seen.value["error"]["class"] == "builtins.ConnectionRefusedError"
    assert seen.event["exception"]["row"] == "ConnectionRefusedError(111, 'Connection refused')"


def test_a_name_that_nobody_has(outcome):
    seen = outcome(lambda client: client.get("http://no-such-name.invalid/"))
    assert seen.event["exception"]["class"] == "socket.gaierror"


@pytest.mark.parametrize("fault", SILENT)
def test_a_server_that_keeps_silent(outcome, fault):
    seen = outcome(lambda client: client.get(f"/broken/{fault}"), network_timeout=0.2)
    assert "timed out" in seen.trouble["text"]


def test_a_connection_that_nobody_takes(outcome, full_port):
    url = f"http://127.0.0.1:{full_port}/"
    seen = outcome(lambda client: client.get(url), connection_timeout=0.2)
    assert seen.value["status"] == 0
    assert "timed out" in seen.event["exception"]["text"]


def test_retries(outcome):
    seen = outcome(lambda client: client.get("/broken/silent"), network_timeout=0.2, max_retries=2)
    assert len(seen.wire) == 3
    assert len(seen.events) == 1


def test_a_user_that_is_killed_in_a_request_reports_nothing(outcome, site):
    def scenario(client):
        asking = gevent.spawn(client.get, "/broken/silent")
        wait_until(lambda: site.seen)
        asking.kill()
        return type(asking.value).__name__, client.get("/echo").status_code

    seen = outcome(scenario)
    assert seen.value == ["GreenletExit", 200]
    assert len(seen.events) == 1


def test_a_timeout_from_outside(outcome):
    def scenario(client):
        caught = None
        try:
            with gevent.Timeout(0.2):
                client.get("/broken/silent")
        except gevent.Timeout as timeout:
            caught = str(timeout)
        return caught, client.get("/echo").status_code

    assert outcome(scenario).value[1] == 200


@pytest.mark.parametrize("concurrency", [1, 3])
def test_only_so_many_requests_at_once(outcome, concurrency):
    def scenario(client):
        group = [gevent.spawn(client.get, f"/together/{concurrency}?n={n}") for n in range(6)]
        gevent.joinall(group, timeout=60)
        return [one.value.status_code for one in group]

    seen = outcome(scenario, in_order=False, concurrency=concurrency)
    assert seen.value == [200] * 6
    assert seen.wire[0]["connection"] == f"of {concurrency}"


def test_ten_requests_at_once_are_the_default(outcome):
    def scenario(client):
        group = [gevent.spawn(client.get, "/together/10") for _ in range(15)]
        gevent.joinall(group, timeout=60)

    assert outcome(scenario, in_order=False).wire[0]["connection"] == "of 10"


def test_many_users_at_once(outcome):
    def scenario(client):
        users = [type(client.user)(client.user.environment) for _ in range(50)]
        group = [gevent.spawn(user.client.get, f"/slow-head?n={n}") for n, user in enumerate(users)]
        gevent.joinall(group, timeout=60)
        return [one.value.url.rpartition("=")[2] for one in group]

    seen = outcome(scenario, in_order=False)
    assert seen.value == [str(n) for n in range(50)]
    assert len(seen.events) == 50
