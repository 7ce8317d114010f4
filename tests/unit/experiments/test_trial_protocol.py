"""The steps of a trial whose server does not last."""

from __future__ import annotations

from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from torr.experiments import trial as trials
from torr.experiments.trial import ComparisonState, Trial, run_protocol
from torr.messages.message import message
from torr.servers.command import Command
from torr.servers.expectation import Expectation
from torr.servers.failure import TrialError
from torr.sources.candidate_entry import Candidate

COMMAND = Command(("serve",), "unix:/run/app.sock", "app")
TRIAL = Trial(Candidate("app", COMMAND, Expectation(), {}, 1), {}, 1)


class Ended:
    """A server that has ended, while another one answers at its socket."""

    command = COMMAND

    def check(self):
        raise TrialError("died", "app", message("test.ended", "it ended"))


def test_a_server_that_ended_before_its_load_is_not_measured(monkeypatch):
    @contextmanager
    def server_for(_trial, _begin):
        yield Ended()

    warmed_up = []
    monkeypatch.setattr(trials, "warm_up", lambda *_: warmed_up.append("warm-up"))
    monkeypatch.setattr(trials, "measure", lambda *_: pytest.fail("it was measured"))
    state = ComparisonState(1)
    state.servers = SimpleNamespace(server_for=server_for)
    with pytest.raises(TrialError, match="it ended"):
        run_protocol(TRIAL, lambda *_: None, SimpleNamespace(), state)
    assert warmed_up == ["warm-up"]
