"""Greenlets: users that are killed, timeouts from outside, several at once on one session."""

import gevent
from gevent.pool import Group

from waiting import wait_until


def ends(task, *arguments):
    """Return the result of a task in a greenlet of its own."""
    return gevent.spawn(task, *arguments).get(timeout=60)


def test_a_user_that_is_killed_in_a_request_reports_nothing(outcome, site):
    def scenario(client):
        asking = gevent.spawn(client.get, "/broken/silent")
        wait_until(lambda: site.seen)
        asking.kill()
        return type(asking.value).__name__, client.get("/echo").status_code

    seen = outcome(scenario)
    assert seen.value == ["GreenletExit", 200]
    assert [event["name"] for event in seen.events] == ["/echo"]


def test_a_user_that_is_killed_in_the_body(outcome, site):
    def scenario(client):
        asking = gevent.spawn(client.get, "/broken/silent-chunk")
        wait_until(lambda: site.seen)
        gevent.sleep(0.2)
        asking.kill()
        return client.get("/echo").status_code

    seen = outcome(scenario)
    assert [one["connection"] for one in seen.wire] == [1, 2]
    assert len(seen.events) == 1


def test_a_user_that_is_killed_while_it_connects(outcome, full_port):
    def scenario(client):
        asking = gevent.spawn(client.get, f"http://127.0.0.1:{full_port}/")
        gevent.sleep(0.2)
        asking.kill()
        return asking.dead, client.get("/echo").status_code

    assert outcome(scenario).value == [True, 200]


def test_a_user_that_is_killed_in_a_stream(outcome):
    def scenario(client):
        lines = []

        def task():
            lines.extend(client.get("/broken/silent-chunk", stream=True).iter_content(4))

        asking = gevent.spawn(task)
        wait_until(lambda: lines)
        asking.kill()
        return lines, client.get("/echo").status_code

    assert outcome(scenario).value == [[b"half"], 200]


def test_a_timeout_from_outside(outcome):
    def scenario(client):
        caught = None
        try:
            with gevent.Timeout(0.2):
                client.get("/broken/silent")
        except gevent.Timeout as timeout:
            caught = str(timeout)
        return caught, client.get("/echo").status_code

    seen = outcome(scenario)
    assert seen.value == ["0.2 seconds", 200]
    assert len(seen.events) == 1


def test_a_timeout_from_outside_that_is_not_needed(outcome):
    def scenario(client):
        with gevent.Timeout(5):
            return client.get("/slow-head").status_code

    assert outcome(scenario).value == 200


def test_a_silent_timeout_from_outside(outcome):
    def scenario(client):
        with gevent.Timeout(0.2, False):
            client.get("/broken/silent-body")
        return client.get("/echo").status_code

    assert outcome(scenario).value == 200


def test_an_exception_thrown_in(outcome, site):
    def scenario(client):
        def task():
            try:
                client.get("/broken/silent")
            except KeyError as error:
                return error.args

        asking = gevent.spawn(task)
        wait_until(lambda: site.seen)
        asking.kill(KeyError("thrown"))
        return asking.get(), client.get("/echo").status_code

    assert outcome(scenario).value == [["thrown"], 200]


def test_greenlets_share_a_session(outcome):
    def scenario(client):
        group = [gevent.spawn(client.get, f"/together/5?n={n}") for n in range(5)]
        gevent.joinall(group, timeout=60)
        return [(one.value.status_code, one.value.url[-1]) for one in group]

    seen = outcome(scenario, in_order=False)
    assert seen.value == [[200, str(n)] for n in range(5)]
    assert seen.wire[0]["connection"] == "of 5"


def test_a_greenlet_waits_while_others_run(outcome):
    def scenario(client):
        turns = []

        def other():
            for _ in range(3):
                turns.append("other")
                gevent.sleep(0)

        running = gevent.spawn(other)
        client.get("/slow-body")
        turns.append("answer")
        running.join()
        return turns

    assert outcome(scenario).value == ["other", "other", "other", "answer"]


def test_connections_are_given_back_to_be_shared(outcome):
    def scenario(client):
        for read in (3, 6, 9):
            group = [gevent.spawn(client.get, f"/together/{read}") for _ in range(3)]
            gevent.joinall(group, timeout=60)

    seen = outcome(scenario, in_order=False)
    assert seen.wire[0]["connection"] == "of 3"


def test_many_users_at_once(outcome):
    def scenario(client):
        users = [type(client.user)(client.user.environment) for _ in range(50)]
        group = Group()

        def task(n):
            with users[n].client.get(f"/slow-head?user={n}", catch_response=True) as answer:
                gevent.sleep(0.001)
                return answer.content, answer.request.url.rpartition("=")[2]

        return list(group.imap(task, range(50)))

    seen = outcome(scenario, in_order=False)
    assert seen.value == [[b"hi", str(n)] for n in range(50)]
    assert len(seen.events) == 50


def test_a_user_asks_from_a_task_of_locust(outcome):
    def scenario(client):
        user = client.user
        asked = []

        def task(visitor):
            asked.append(visitor.client.get("/echo").status_code)
            visitor.stop()

        user.tasks.append(task)
        type(user).wait_time = lambda _self: 0.001
        group = Group()
        user.start(group)
        group.join(timeout=60)
        return asked

    seen = outcome(scenario, tasks=[])
    assert 200 in seen.value


def test_a_request_out_of_the_hub_of_a_listener(outcome):
    def scenario(client):
        def again(name, **_given):
            if name == "/echo":
                client.get("/empty")

        client.request_event.add_listener(again)
        client.get("/echo")

    names = [event["name"] for event in outcome(scenario).events]
    assert sorted(names) == ["/echo", "/empty"]
