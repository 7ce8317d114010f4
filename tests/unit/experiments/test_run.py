"""One level: every interval kept as it comes, every way to end it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from msgspec import UNSET

import typed
from doubles import Truth, limit
from torr.errors import OutputError
from torr.experiments.run import run
from torr.model.condition import Condition
from torr.model.pace import Open, Stage
from torr.model.plan import Duration
from torr.results.level import ErrorSample
from torr.units import SECOND_NS
from torr.verdicts.conclusions import of_load


def test_a_run_keeps_its_intervals_and_its_level(bench, plan):
    outcome = run(plan, bench.context())
    lines = (bench.directory.path / "intervals.jsonl").read_text().splitlines()
    kept = [json.loads(line) for line in lines]
    assert [piece["t_s"] for piece in kept] == [-1.0, 0.0, 1.0, 2.0, 3.0]
    assert {(p["level"], p["concurrency"], p["round"]) for p in kept} == {(0, 50, 1)}
    assert outcome.status == "complete"
    assert outcome.levels == tuple(bench.directory.levels)
    assert outcome.levels[0].candidate is None
    assert outcome.levels[0].factors == {}


def at_rate(plan, rate_per_s, **more):
    """Return the plan with arrivals in place of users."""
    return replace(
        plan, groups=tuple(replace(x, pace=Open(rate_per_s, **more)) for x in plan.groups)
    )


def test_a_run_holds_no_slo_at_a_rate_with_which_its_target_does_not_keep_up(bench, plan):
    bench.engine.rate_curve = limit(300)
    p95 = Condition.parse("p95 < 10s")
    levels = [run(at_rate(plan, rate), bench.context()).levels[0] for rate in (200.0, 400.0)]
    assert [level.falls_behind for level in levels] == [False, True]
    held, behind = (of_load("run", [level], [p95]).verdicts[0] for level in levels)
    assert (held.word, behind.word) == ("held", "not shown")
    assert behind.reason.startswith("the target did not keep up")


def test_open_requests_of_a_rate_with_stages_may_grow(bench, plan):
    bench.engine.rate_curve = limit(300)
    stages = (Stage(0, 100), Stage(10 * SECOND_NS, 400))
    (level,) = run(at_rate(plan, 400.0, stages=stages), bench.context()).levels
    assert level.falls_behind is False


def test_users_do_not_fall_behind(bench, plan):
    assert run(plan, bench.context()).levels[0].falls_behind is UNSET


def test_a_listener_hears_start_intervals_and_end(bench, plan):
    run(plan, bench.context())
    assert bench.heard.events[0] == ("started", 50, 1)
    assert bench.heard.events[-1] == ("ended", 50, 1000.0)
    assert [event[0] for event in bench.heard.events].count("interval") == 5


def test_an_interrupt_stops_the_load_and_keeps_what_was_measured(bench, plan):
    bench.engine.on_interval = lambda number: bench.interrupt.press() if number == 2 else None
    outcome = run(plan, bench.context())
    assert outcome.status == "interrupted"
    assert bench.engine.loads[0].stopped
    assert not bench.engine.loads[0].aborted
    assert len(outcome.levels) == 1


def test_a_second_interrupt_aborts_the_load_and_still_keeps_the_level(bench, plan):
    bench.engine.on_interval = lambda _number: (bench.interrupt.press(), bench.interrupt.press())
    outcome = run(plan, bench.context())
    assert bench.engine.loads[0].aborted
    assert len(outcome.levels) == 1


def test_an_interrupt_that_came_before_the_load_stops_it(bench, plan):
    bench.interrupt.press()
    run(plan, bench.context())
    assert bench.engine.loads[0].stopped


def test_no_answer_at_all_is_a_failure(bench, plan):
    bench.engine.curve = lambda _users: Truth(0, failure="no response byte within 31 s")
    outcome = run(plan, bench.context())
    assert outcome.status == "failed"
    assert outcome.failure == "no response byte within 31 s"


def test_three_bad_intervals_in_a_row_end_the_run(bench, plan):
    bench.engine.interval_count = 100
    outcome = run(plan, bench.context("p95 > 1ms"))
    assert bench.engine.loads[0].stopped
    (level,) = bench.directory.full_levels()
    assert len(level.intervals) == 4  # one of the warm-up, three measured
    assert outcome.ended_by == "--abort-on 'p95 > 1ms'"
    assert outcome.status == "complete"


def test_intervals_that_cannot_be_kept_end_the_load(bench, plan, monkeypatch):
    def full(_piece):
        raise OutputError("no space left")

    monkeypatch.setattr(bench.directory, "keep_interval", full)
    with pytest.raises(OutputError, match="no space left"):
        run(plan, bench.context())
    assert bench.engine.loads[0].aborted


def cut_short(bench, plan, press_at, seconds):
    bench.engine.on_interval = lambda number: (
        bench.interrupt.press() if number == press_at else None
    )
    level = run(replace(plan, stop=Duration(seconds * SECOND_NS)), bench.context()).levels[0]
    assert level.interrupted
    return level.cut_short


def test_a_window_that_was_ended_early_is_cut_short(bench, plan):
    assert cut_short(bench, plan, press_at=3, seconds=4)


def test_a_window_that_was_over_when_the_end_was_asked_for_is_whole(bench, plan):
    assert not cut_short(bench, plan, press_at=3, seconds=3)


def test_a_run_that_nobody_ended_is_whole(bench, plan):
    assert run(plan, bench.context()).levels[0].cut_short is False


def test_secrets_in_the_answers_that_are_kept_are_not(bench, plan):
    answer = {"class": "status", "reason": "status.401", "t_s": 0.5, "status": 401}
    texts = {
        "detail": "",
        "head": "HTTP/1.1 401 Unauthorized",
        "body": '{"n": 1, "access_token": "hush", "refresh_token": "hu',
    }
    bench.engine.curve = lambda _users: Truth(samples=({**answer, **texts},))
    kept = run(plan, bench.context()).levels[0].samples
    body = '{"n": 1, "access_token": "***", "refresh_token": "***"'
    assert kept == [typed.made(ErrorSample, {**answer, **texts, "body": body})]
