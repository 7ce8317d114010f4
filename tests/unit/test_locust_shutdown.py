"""A master of Locust ends its workers once, and receives their last reports before it ends."""

from types import SimpleNamespace

import gevent
import pytest

from torr.locust.shutdown import quit_once, wait_before_kill


class Master:
    """Waits for its workers as Locust's does, or is killed meanwhile."""

    def __init__(self, end=lambda: None):
        self.calls = 0
        self.end = end

    def quit(self):
        self.calls += 1
        gevent.sleep(0)
        self.end()


def test_later_calls_do_nothing():
    master = Master()
    quit_once(master)
    master.quit()
    master.quit()
    assert master.calls == 1


def test_another_greenlet_waits_for_the_end_of_the_first_call():
    calls = []
    master = Master(end=lambda: calls.append("ended"))
    quit_once(master)
    first = gevent.spawn(master.quit)
    second = gevent.spawn(lambda: (master.quit(), calls.append("second")))
    gevent.joinall([first, second], raise_error=True)
    assert (master.calls, calls) == (1, ["ended", "second"])


def test_a_listener_that_calls_it_again_does_not_wait_for_itself():
    master = Master()
    master.end = lambda: master.calls < 2 and master.quit()
    quit_once(master)
    master.quit()
    assert master.calls == 2


def test_a_first_call_that_failed_leaves_nobody_waiting():
    def fail():
        raise OSError("no socket")

    master = Master(end=fail)
    quit_once(master)
    first = gevent.spawn(master.quit)
    second = gevent.spawn(master.quit)
    second.get(timeout=60)
    with pytest.raises(OSError, match="no socket"):
        first.get()


def test_the_greenlet_that_receives_reports_is_killed_after_the_wait():
    calls = []
    greenlets = SimpleNamespace(kill=lambda block: calls.append(("kill", block)))
    wait_before_kill(SimpleNamespace(greenlet=greenlets), lambda: calls.append("wait"))
    greenlets.kill(block=True)
    assert calls == ["wait", ("kill", True)]
