"""The level says what its trace has, and what of it torr cannot send."""

from __future__ import annotations

from dataclasses import replace

import pytest

import typed
from torr.experiments.trace_use import with_trace
from torr.model.feed import RowFeed
from torr.model.pace import Fed
from torr.model.plan import Group, LastRow, Plan
from torr.model.request import Request
from torr.model.source import Source
from torr.results.trace import TraceContent

CONTENT = TraceContent(format="azure", rows=3, sessions=3)


def plan(content, is_timed=False):
    feed = RowFeed(("a",), lambda _level: iter([]), lambda: iter([]), lambda: content)
    source = Source.of(Request("http://127.0.0.1:9/"))
    return Plan((Group(Fed(1, is_timed), source, data=feed),), LastRow())


def test_a_level_has_what_was_read_of_its_trace():
    level = with_trace(typed.level(), plan(CONTENT))
    assert (level.trace, level.warnings) == (CONTENT, [])


@pytest.mark.parametrize("images", [1, 1200])
def test_images_that_are_not_sent_are_a_warning(images):
    content = TraceContent(format="azure", rows=3, sessions=3, images=images)
    (warning,) = with_trace(typed.level(), plan(content)).warnings
    assert warning.code == "warning.trace_images"
    assert warning.endswith(f": {images:,}")


@pytest.mark.parametrize(
    ("sessions", "users", "few"), [(7, 50, True), (1, 2, True), (50, 50, False)]
)
def test_fewer_sessions_than_users_are_a_warning(sessions, users, few):
    content = TraceContent(format="weka", rows=500, sessions=sessions, is_whole=True)
    level = with_trace(typed.level(users=users, concurrency=users), plan(content))
    assert [warning.code for warning in level.warnings] == ["warning.few_sessions"] * few
    if few:
        assert f"{sessions} session" in level.warnings[0]
        assert f"for {users} users" in level.warnings[0]


def test_a_trace_at_its_times_has_no_users():
    content = TraceContent(format="azure", rows=3, sessions=3)
    level = with_trace(typed.level(concurrency=1000), plan(content, is_timed=True))
    assert level.warnings == []


def test_a_load_without_a_trace_has_nothing_of_it():
    fed = plan(CONTENT)
    plain = replace(fed, groups=(replace(fed.groups[0], data=None),))
    level = typed.level()
    assert with_trace(level, plain) == level
