"""The moving line and the rows of a ladder."""

from __future__ import annotations

import io
import os
import pty

import msgspec
import pytest

import typed
from doubles import Truth, measured_interval, measured_level
from torr.cli.live_view import progress_for
from torr.cli.progress import CLEAR, Progress, row, row_of_trial, row_of_tuning
from torr.experiments.context import Step
from torr.model.feed import RowFeed
from torr.model.pace import Closed, Fed
from torr.model.plan import Count, Duration, Group, LastRow, Plan
from torr.model.request import Request
from torr.model.source import Source
from torr.options.result import ResultOptions
from torr.results.result import TrialFailure
from torr.results.tuning import TrialPlace
from torr.units import SECOND_NS

EMPTY, FULL = "─" * 12, "━" * 12


class Clock:
    """A clock that the test turns."""

    def __init__(self):
        self.now_s = 100.0

    def __call__(self):
        return self.now_s


def step(index=0, total=1, *, seconds=10, stop=None, users=200, warmup_s=2):
    group = Group(pace=Closed(users), source=Source.of(Request("http://127.0.0.1/")))
    stop = stop or Duration(seconds * SECOND_NS)
    return Step(index, Plan(groups=(group,), stop=stop, warmup_ns=warmup_s * SECOND_NS), 1, total)


def test_users_who_share_connections_are_users():
    group = Group(pace=Closed(200, pool=3), source=Source.of(Request("http://127.0.0.1/")))
    line = io.StringIO()
    progress = Progress(line, None, Clock())
    progress.level_started(Step(0, Plan(groups=(group,), stop=Count(1)), 1, 1))
    assert "200 users" in last(line)


def test_a_load_at_the_times_of_a_trace_is_called_so():
    feed = RowFeed(("prompt",), lambda _level: iter(()))
    source = Source.of(Request("http://127.0.0.1/"))
    group = Group(pace=Fed(1000, is_timed=True), source=source, data=feed)
    line = io.StringIO()
    Progress(line, None, Clock()).level_started(
        Step(0, Plan(groups=(group,), stop=LastRow()), 1, 1)
    )
    assert last(line).endswith("the times of the trace")


def last(line):
    return line.getvalue().rpartition(CLEAR)[2]


@pytest.fixture
def clock():
    return Clock()


def test_the_line_says_what_is_done_and_how_long_it_takes(clock):
    line = io.StringIO()
    progress = Progress(line, None, clock)
    progress.level_started(step())
    assert last(line) == f"{EMPTY}  warm-up, 12 s left  200 connections"
    clock.now_s += 3
    progress.interval_came(step(), measured_interval(Truth(errors={"timeout": 3}), 0))
    clock.now_s += 3
    progress.interval_came(step(), measured_interval(Truth(errors={"timeout": 2}), 1))
    bar = "━" * 6 + "─" * 6
    assert last(line) == f"{bar}  6 s left  1,000 ok/s  p99 10.0 ms  5 errors  200 connections"


def test_a_ladder_knows_how_many_levels_are_left(clock):
    line = io.StringIO()
    progress = Progress(line, None, clock)
    progress.level_started(step(0, 10))
    clock.now_s += 60
    progress.level_started(step(5, 10))
    half = "━" * 6 + "─" * 6
    assert last(line) == f"{half}  warm-up, 60 s left  level 6 of 10, 200 connections"


def test_a_narrow_terminal_cuts_off_what_matters_least(clock):
    line = io.StringIO()
    progress = Progress(line, None, clock)
    progress.level_started(step(1, 10))
    progress.interval_came(step(1, 10), measured_interval(Truth(errors={"timeout": 3}), -1))
    assert len(last(line)) == 79
    assert last(line).startswith(f"{EMPTY}  warm-up, 1:48 left  1,000 ok/s  p99 10.0 ms  3 errors")


def test_an_old_locale_gets_a_bar_of_plain_signs(clock):
    line = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    progress = Progress(line, None, clock)
    progress.level_started(step())
    clock.now_s += 6
    progress.interval_came(step(), measured_interval(Truth(), 4))
    line.seek(0)
    assert "######------  6 s left" in line.read()


def test_one_connection_and_one_error_are_no_plurals(clock):
    line = io.StringIO()
    one = step(users=1, warmup_s=0)
    Progress(line, None, clock).interval_came(
        one, measured_interval(Truth(errors={"timeout": 1}), 0)
    )
    assert last(line).endswith("  1 error  1 connection")


def test_an_automatic_ladder_knows_its_level_only(clock):
    line = io.StringIO()
    progress = Progress(line, None, clock)
    progress.level_started(step(0, None))
    clock.now_s += 60
    progress.level_started(step(1, None))
    assert last(line) == f"{EMPTY}  warm-up, 12 s left of this level  level 2, 200 connections"


def test_a_load_by_count_is_estimated_from_its_own_rate(clock):
    line = io.StringIO()
    progress = Progress(line, None, clock)
    counted = step(stop=Count(5000))
    progress.level_started(counted)
    clock.now_s += 2
    progress.interval_came(counted, measured_interval(Truth(), -1))
    assert last(line).startswith("warm-up, 2 s  1,000 ok/s")
    clock.now_s += 1
    progress.interval_came(counted, measured_interval(Truth(), 0))
    bar = "━" * 5 + "─" * 7
    assert last(line).startswith(f"{bar}  4 s left  1,000 ok/s")


def test_the_drain_has_no_end_in_sight(clock):
    line = io.StringIO()
    progress = Progress(line, None, clock)
    progress.level_started(step())
    clock.now_s += 30
    progress.interval_came(step(), measured_interval(Truth(), 3, phase="drain"))
    assert last(line).startswith(f"{FULL}  waiting for the server")


def test_an_interval_with_few_answers_shows_a_lower_percentile(clock):
    line = io.StringIO()
    piece = measured_interval(Truth(service_ms=4), 0)
    few = typed.changed(piece.latency.response, p99=None, p95=None)
    piece = typed.changed(piece, latency={"response_ms": few})
    progress = Progress(line, None, clock)
    progress.interval_came(step(), piece)
    assert "p90 4.80 ms" in last(line)
    progress.interval_came(step(), typed.changed(piece, latency={}))
    assert "1,000 ok/s  0 errors" in last(line)


@pytest.mark.parametrize(("term", "is_drawn"), [("xterm", True), ("dumb", False)])
def test_a_line_is_drawn_where_it_can_be_taken_back(monkeypatch, term, is_drawn):
    ours, theirs = pty.openpty()
    monkeypatch.setenv("TERM", term)
    with os.fdopen(theirs, "w") as terminal:
        monkeypatch.setattr("sys.stderr", terminal)
        with progress_for(ResultOptions(output="json")) as progress:
            assert (progress.line is not None) == is_drawn
            assert progress.rows is None
    os.close(ours)


def test_what_is_no_terminal_gets_no_line():
    with progress_for(ResultOptions()) as progress:
        assert progress.line is None
        assert progress.rows is not None


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
    progress.level_ended(step(0, 3), measured_level(200, Truth()))
    rows = both.getvalue().rpartition(CLEAR)[2].splitlines()
    assert rows[0].startswith(" users")
    assert rows[1].startswith("   200      1,000")


def test_a_row_says_why_a_level_claims_nothing():
    text = row(measured_level(200, Truth(0, health="generator-limited", failure="no response")))
    assert text.endswith("generator-limited: no descriptor left: raise nofile  no response")


def test_a_row_marks_lower_bounds():
    level = measured_level(200, Truth(health="contended"))
    response = typed.changed(level.latency.response, at_least=["p95", "p99"])
    late = typed.changed(level, latency=typed.changed(level.latency, response_ms=response))
    assert row(late).startswith("   200    ≥ 1,000    5.00 ms  ≥ 7.50 ms  ")
    place = TrialPlace(phase="search", stage=1, round=2, setting=3)
    for text in (row_of_trial(late), row_of_tuning(late, place)):
        assert "  ≥ 1,000 " in text
        assert text.count("≥") == 2


def test_rows_of_a_tuning_end_with_the_setting():
    rows = io.StringIO()
    progress = Progress(None, rows)
    place = TrialPlace(phase="search", stage=1, round=2, setting=3)
    setting = {"workers": 4, "gc": "off"}
    level = measured_level(16, Truth(), factors=setting)
    progress.level_ended(step(0, 3), msgspec.structs.replace(level, place=place))
    labels = {"candidate": "api", "factors": setting, "round": 1, "kind": "died"}
    place = TrialPlace(phase="fresh", stage=0, round=1, setting=3)
    progress.trial_failed(TrialFailure(**labels, place=place, text="it ended"))
    assert rows.getvalue().splitlines() == [
        "trial             ok/s       p95  success  health             setting",
        "search 1.2       1,000   7.50 ms    100 %  healthy            workers 4, gc off",
        "fresh 1      workers 4, gc off: it ended",
    ]


def test_what_is_known_before_the_search_of_a_tuning_is_written():
    rows = io.StringIO()
    progress = Progress(None, rows)
    progress.trials_planned(40, 80, 60.0)
    progress.noted("p99 needs 1,000 responses")
    Progress(None, None).noted("nobody reads it")
    assert rows.getvalue().splitlines() == [
        "40 to 80 trials, about 40 min to 80 min",
        "note: p99 needs 1,000 responses",
    ]
