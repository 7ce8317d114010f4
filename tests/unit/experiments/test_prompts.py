"""Prompts over several levels."""

from __future__ import annotations

from dataclasses import replace

import pytest

import typed
from torr.experiments.prompts import (
    WARM_UP,
    after_prompts,
    for_warm_up,
    prompts_sent,
    with_prompts,
)
from torr.model.feed import RowFeed
from torr.model.pace import Closed, Fed
from torr.model.plan import Count, Group, Plan
from torr.model.request import Request
from torr.model.rows import Rows
from torr.model.source import Source
from torr.results.stream import PromptCounts


def plan(*, turns=1, is_unique=False):
    requests = tuple(Request("http://127.0.0.1:9/", name=f"turn {n}") for n in range(turns))
    rows = Rows(("prompt",), (("a",), ("b",), ("c",)), is_unique)
    source = Source(requests, "steps" if turns > 1 else "turn")
    return Plan((Group(Closed(1), source, data=rows),), Count(1))


def level(first, warmup=0, workers=1):
    counts, before = {"attempted": first}, {"attempted": warmup}
    return typed.level(
        counts={"attempted": 100},
        requests=[{"name": "turn 0", "counts": counts, "warmup": {"counts": before}}],
        generator={"workers": workers},
        stream={},
    )


@pytest.mark.parametrize(
    ("first", "before", "reused"), [(2, 0, 0), (3, 0, 0), (5, 0, 2), (2, 2, 1), (2, 7, 2)]
)
def test_what_was_said_before_is_said_again(first, before, reused):
    prompts = with_prompts(level(first), plan(), before).stream.prompts
    assert prompts == PromptCounts(provided=3, sent=first, reused=reused)


def test_rows_that_repeat_prompts_are_no_more_prompts():
    (group,) = plan().groups
    repeated = replace(group.data, rows=group.data.rows * 2, distinct=3)
    twice = replace(plan(), groups=(replace(group, data=repeated),))
    prompts = with_prompts(level(5), twice, 0).stream.prompts
    assert prompts == PromptCounts(provided=3, sent=5, reused=2)


def test_only_first_turns_begin_a_conversation():
    prompts = with_prompts(level(4, warmup=3), plan(turns=2), 0).stream.prompts
    assert (prompts.sent, prompts.reused) == (7, 4)


def test_of_several_workers_only_a_lower_bound_is_known():
    assert with_prompts(level(2, workers=2), plan(), 0).stream.prompts.at_least is False
    assert with_prompts(level(3, workers=2), plan(), 0).stream.prompts.at_least is True


def test_what_begins_anew_each_time_is_never_said_again():
    assert with_prompts(level(9), plan(is_unique=True), 9).stream.prompts.reused == 0


def test_a_level_goes_on_where_the_last_one_ended():
    earlier = [with_prompts(level(4), plan(), 0), typed.level()]
    assert prompts_sent(earlier) == 4
    turned = after_prompts(plan(), 4).groups[0].data
    assert turned.rows == (("b",), ("c",), ("a",))


def test_a_feed_knows_the_number_and_the_users_of_its_level():
    def fed(pace):
        feed = RowFeed(("prompt",), lambda level: iter([(level.number, level.users)]))
        return Plan((Group(pace, Source((Request("http://127.0.0.1:9/"),)), data=feed),), Count(1))

    users, times = fed(Fed(7, is_timed=False)), fed(Fed(7, is_timed=True))
    numbers = [next(after_prompts(users, 4, number).feed.open()) for number in range(3)]
    assert numbers == [(0, 7), (1, 7), (2, 7)]
    assert list(after_prompts(times, 4, 1).feed.open()) == [(1, None)]
    assert list(for_warm_up(users).feed.open()) == [(WARM_UP, 7)]
    assert after_prompts(plan(), 0) == plan()
