"""Whose server a trial gets, and when it is stopped."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from torr.experiments.server_lifetime import ServerPerCell, ServerPerTrial
from torr.experiments.trial import Trial
from torr.messages.message import message
from torr.servers.command import Command
from torr.servers.expectation import Expectation
from torr.servers.failure import TrialError
from torr.sources.candidate_entry import Candidate


def trial(name, number=1):
    command = Command(("serve",), "http://127.0.0.1:{port}/", name)
    return Trial(Candidate(name, command, Expectation(), {}, 1), {}, number)


class Servers:
    """Begins servers that have numbers, and remembers what happened to them."""

    def __init__(self, leaks=()):
        self.log = []
        self.count = 0
        self.leaks = leaks

    @contextmanager
    def begin(self):
        self.count += 1
        number = self.count
        self.log.append(f"start {number}")
        try:
            yield number
        finally:
            self.log.append(f"stop {number}")
        if number in self.leaks:
            raise TrialError("left_behind", str(number), message("test.left", "it left a file"))


def use(lender, servers, *names):
    for name in names:
        with lender.server_for(trial(name), servers.begin) as number:
            servers.log.append(f"{name} {number}")


def test_every_trial_has_a_server_of_its_own():
    servers, lender = Servers(), ServerPerTrial()
    use(lender, servers, "a", "a")
    assert lender.stop_all() == []
    assert servers.log == ["start 1", "a 1", "stop 1", "start 2", "a 2", "stop 2"]


def test_a_server_stays_up_until_the_cell_ends():
    servers, lender = Servers(), ServerPerCell()
    use(lender, servers, "a", "b", "b", "a")
    assert servers.log == ["start 1", "a 1", "start 2", "b 2", "b 2", "a 1"]
    assert lender.stop_all() == []
    assert servers.log[6:] == ["stop 2", "stop 1"]
    use(lender, servers, "a")
    assert servers.log[8:] == ["start 3", "a 3"]


def test_one_that_failed_is_stopped_and_begun_anew():
    servers, lender = Servers(), ServerPerCell()
    use(lender, servers, "a", "b")
    with (
        pytest.raises(TrialError, match="it ended"),
        lender.server_for(trial("a", 2), servers.begin) as number,
    ):
        raise TrialError("died", str(number), message("test.ended", "it ended"))
    assert servers.log[-1] == "stop 1"
    use(lender, servers, "a", "b")
    assert servers.log[-3:] == ["start 3", "a 3", "b 2"]


def test_what_is_left_behind_is_told_with_the_last_trial():
    servers, lender = Servers(leaks={1, 2}), ServerPerCell()
    use(lender, servers, "a", "b", "c")
    with lender.server_for(trial("a", 7), servers.begin):
        pass
    told = [(found.candidate.name, found.round, str(error)) for found, error in lender.stop_all()]
    assert told == [("b", 1, "2: it left a file"), ("a", 7, "1: it left a file")]
    assert servers.log[-3:] == ["stop 3", "stop 2", "stop 1"]
