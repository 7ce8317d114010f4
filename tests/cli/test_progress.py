"""The moving line and the rows of a ladder."""

from __future__ import annotations

import io

import pytest

from doubles import Truth, level_of, slice_of
from torr.cli.progress import CLEAR, Progress, row
from torr.experiments.lab import Step
from torr.model.pace import Closed
from torr.model.plan import Count, Duration, Group, Plan
from torr.model.request import Request
from torr.model.source import Source
from torr.units import SECOND_NS


def step(index=0, total=1, seconds=10, stop=None):
    group = Group(pace=Closed(200), source=Source.of(Request("http://127.0.0.1/")))
    stop = stop or Duration(seconds * SECOND_NS)
    return Step(index, Plan(groups=(group,), stop=stop, warmup_ns=2 * SECOND_NS), 1, total)


def test_users_who_share_connections_are_users():
    group = Group(pace=Closed(200, pool=3), source=Source.of(Request("http://127.0.0.1/")))
    line = io.StringIO()
    progress = Progress(line, None, iter(range(100)).__next__)
    progress.level_started(Step(0, Plan(groups=(group,), stop=Count(1)), 1, 1))
    assert "200 users" in last(line)


def last(line):
    return line.getvalue().rpartition(CLEAR)[2]


@pytest.fixture
def clock():
    return iter(range(100)).__next__


def test_the_line_says_what_is_done_and_how_long_it_takes(clock):
    line = io.StringIO()
    progress = Progress(line, None, clock)
    progress.level_started(step())
    assert last(line) == "200 connections  warm-up, 11 s left"
    progress.slice_came(step(), slice_of(Truth(errors={"timeout": 3}), 0))
    progress.slice_came(step(), slice_of(Truth(errors={"timeout": 2}), 1))
    assert last(line) == ("200 connections  measuring, 9 s left  1,000 ok/s  p99 10.0 ms  5 errors")


def test_a_ladder_knows_how_many_levels_are_left(clock):
    line = io.StringIO()
    Progress(line, None, clock).level_started(step(1, 10))
    assert last(line) == "level 2 of 10: 200 connections  warm-up, 1:47 left"


def test_one_connection_and_one_error_are_no_plurals(clock):
    line = io.StringIO()
    group = Group(pace=Closed(1), source=Source.of(Request("http://127.0.0.1/")))
    plan = Plan(groups=(group,), stop=Duration(10 * SECOND_NS), warmup_ns=0)
    Progress(line, None, clock).slice_came(
        Step(0, plan, 1, 1), slice_of(Truth(errors={"timeout": 1}), 0)
    )
    assert last(line).startswith("1 connection  ")
    assert last(line).endswith("1 error")


def test_an_automatic_ladder_knows_its_level_only(clock):
    line = io.StringIO()
    Progress(line, None, clock).level_started(step(1, None))
    assert last(line) == "level 2: 200 connections  warm-up, 11 s left of this level"


def test_the_drain_and_counted_runs_have_no_end_in_sight(clock):
    line = io.StringIO()
    progress = Progress(line, None, clock)
    progress.slice_came(step(), {**slice_of(Truth(), 3), "phase": "drain"})
    assert "waiting for open requests" in last(line)
    progress.slice_came(step(stop=Count(5)), slice_of(Truth(), 3))
    assert last(line).startswith("200 connections  1 s ")


def test_a_slice_with_few_answers_shows_a_lower_percentile(clock):
    line = io.StringIO()
    piece = slice_of(Truth(service_ms=4), 0)
    piece["latency"]["response_ms"].update(p99=None, p95=None)
    progress = Progress(line, None, clock)
    progress.slice_came(step(), piece)
    assert "p90 4.80 ms" in last(line)
    piece["latency"] = {}
    progress.slice_came(step(), piece)
    assert last(line).endswith("1,000 ok/s  0 errors")


def test_short_runs_draw_no_line(clock):
    line = io.StringIO()
    group = Group(pace=Closed(1), source=Source.of(Request("http://127.0.0.1/")))
    plan = Plan(groups=(group,), stop=Duration(SECOND_NS), warmup_ns=0)
    Progress(line, None, clock).level_started(Step(0, plan))
    assert line.getvalue() == ""


def test_the_line_is_gone_before_a_row_is_written(clock):
    both = io.StringIO()
    progress = Progress(both, both, clock)
    progress.level_started(step(0, 3))
    progress.level_ended(step(0, 3), level_of(200, Truth()))
    rows = both.getvalue().rpartition(CLEAR)[2].splitlines()
    assert rows[0].startswith(" users")
    assert rows[1].startswith("   200      1,000")


def test_a_row_says_why_a_level_claims_nothing():
    text = row(level_of(200, Truth(0, health="generator-limited", failure="no answer")))
    assert text.endswith("generator-limited: no descriptor left: raise nofile  no answer")
