"""Requests before a trial: so many reach the target, and none of them is kept."""

from __future__ import annotations

from dataclasses import replace

import pytest

from recorder import recording
from torr.experiments.context import RunContext
from torr.experiments.interrupt import Interrupt
from torr.experiments.warmup import warm_up
from torr.model.pace import Closed
from torr.model.plan import Duration, Group, Plan
from torr.model.request import Request
from torr.model.source import Source
from torr.results.result import RunHead
from torr.store.rundir import RunDirectory
from torr.units import SECOND_NS


@pytest.fixture
def context(tmp_path):
    with RunDirectory.create(tmp_path, "warm", RunHead(kind="compare")) as directory:
        yield RunContext(directory)


def plan_of(url):
    group = Group(pace=Closed(3), source=Source.of(Request(f"{url}/warm")))
    # Nothing of the trial's own time is spent: neither its window nor its warm-up.
    return Plan(groups=(group,), stop=Duration(3600 * SECOND_NS), warmup_ns=3600 * SECOND_NS)


def test_so_many_requests_reach_the_target_and_none_is_kept(context):
    with recording() as recorder:
        warm_up(plan_of(recorder.url), 50, context)
    assert len(recorder.of("/warm")) == 50
    assert context.directory.levels == []


def test_without_a_number_there_is_no_request(context):
    with recording() as recorder:
        warm_up(plan_of(recorder.url), None, context)
    assert recorder.seen == []


def test_whoever_asked_for_the_end_is_not_kept_waiting(context):
    interrupt = Interrupt()
    interrupt.press()
    with recording() as recorder:
        warm_up(plan_of(recorder.url), 50, replace(context, interrupt=interrupt))
    assert recorder.seen == []
