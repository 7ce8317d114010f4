"""The number of users of a test in several processes, whose last reports may be the only ones."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from torr.locust.recorded_test import RecordedTest
from torr.locust.reporting import receive_tallies, send_tallies


class Listeners(list):
    add_listener = list.append

    def fire(self, **values):
        for listener in self:
            listener(**values)


class Runner:
    """A runner that calls the other side's handlers with its messages, as Locust does."""

    def __init__(self, user_count=0):
        self.user_count = user_count
        self.handlers = {}
        self.master = None

    def register_message(self, name, handler):
        self.handlers[name] = handler

    def send_message(self, name, data):
        self.master.handlers[name](msg=SimpleNamespace(node_id=f"{id(self)}", data=data))


class Aggregate:
    def __init__(self):
        self.users = []

    def set_users(self, now):
        self.users.append(now)

    def add_report(self, _process, _tally):
        return []


def environment():
    names = ("report_to_master", "worker_report", "test_stopping", "test_stop")
    return SimpleNamespace(events=SimpleNamespace(**{name: Listeners() for name in names}))


def stop(worker, place):
    """Stop a worker as Locust does: its users are gone when `test_stop` fires."""
    place.events.test_stopping.fire()
    worker.user_count = 0
    place.events.test_stop.fire()


def test_the_last_report_is_sent_also_if_a_periodic_one_had_all_counts():
    sent = []
    worker = SimpleNamespace(user_count=3, send_message=lambda _name, data: sent.append(data))
    tallies = iter([b"all", None])
    recorder = SimpleNamespace(tally=SimpleNamespace(take_report=lambda: next(tallies)))
    place = environment()
    send_tallies(place, worker, recorder)
    place.events.report_to_master.fire(data={})
    stop(worker, place)
    assert sent == [{"tally": None, "is_over": True, "users": 3}]


@pytest.mark.parametrize(("known", "most"), [(0, 4), (1, 4), (4, 4), (9, 9)])
def test_users_that_no_other_report_named_are_those_of_the_last_reports(known, most):
    test = RecordedTest(None, Aggregate())
    master = Runner()
    receive_tallies(
        environment(),
        master,
        lambda process, tally, is_over, users: test.add_report(
            process, tally, is_over=is_over, users=users
        ),
    )
    if known:
        test.count_users(known)
    recorder = SimpleNamespace(tally=SimpleNamespace(take_report=lambda: b""))
    for count in (3, 1):
        worker, place = Runner(count), environment()
        worker.master = master
        send_tallies(place, worker, recorder)
        stop(worker, place)
    assert max(test.aggregate.users) == most


def test_a_worker_that_joins_a_running_test_is_waited_for_until_its_last_report():
    test = RecordedTest(None, Aggregate())
    test.add_report("late", b"", is_over=False)
    assert test.awaited == {"late"}
    test.add_report("late", b"", is_over=True, users=1)
    test.add_report("late", b"", is_over=False)  # Locust sends a report after the end
    assert not test.awaited
