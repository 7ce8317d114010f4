"""What is watched during a level is kept with it, however the level ends."""

from __future__ import annotations

import json
import threading
from dataclasses import replace

import pytest

from torr.experiments.run import run
from torr.messages.message import from_object
from torr.monitor.monitor import MonitorScope


def test_a_level_is_watched_from_before_its_load_to_its_end(bench, plan):
    notes, start = [], bench.engine.start

    def started(*arguments):
        notes.append("load")
        return start(*arguments)

    def roots():
        notes.append("monitor")
        return []

    bench.engine.start = started
    context = replace(bench.context(), monitor_scope=lambda: MonitorScope(roots=roots))
    [level] = run(plan, context).levels
    assert notes.index("monitor") < notes.index("load")
    found = level.monitor
    assert found.derived.generator_cpu_rate is not None
    assert found.t_s


def test_a_level_that_nobody_watches_has_an_empty_monitor(bench, plan):
    [level] = run(plan, bench.context()).levels
    assert level.monitor is None


def test_a_load_that_fails_leaves_no_thread_behind(bench, plan):
    def fails(_number):
        raise RuntimeError("the engine broke")

    bench.engine.on_interval = fails
    with pytest.raises(RuntimeError, match="the engine broke"):
        run(plan, replace(bench.context(), monitor_scope=MonitorScope))
    assert not [each for each in threading.enumerate() if each.name == "torr-monitor"]


class Broken:
    """A source of numbers that fails when it is asked; the level must be on disk by then."""

    cost_s = 0.0

    def __init__(self, directory):
        self._directory = directory
        self.kept = None

    def start(self, axis):
        """Nothing is to be done."""

    def abandon(self):
        """Nothing is to be done."""

    def stop(self, _seconds):
        self.kept = json.loads(self._directory.result_path.read_text())["levels"]
        raise RuntimeError("no such form")


def test_a_source_that_fails_costs_its_numbers_and_not_the_level(bench, plan):
    context = bench.context()
    broken = Broken(context.directory)
    [level] = run(
        plan, replace(context, monitor_scope=lambda: MonitorScope(sources=(broken,)))
    ).levels
    assert level.warnings == ["monitor: monitoring failed: RuntimeError: no such form"]
    assert level.monitor is None
    assert [one["ok_per_s"] for one in broken.kept] == [level.ok_per_s]
    kept = json.loads(context.directory.result_path.read_text())["levels"][0]
    assert [from_object(text) for text in kept["warnings"]] == level.warnings


def test_warnings_of_what_was_watched_join_those_of_the_level(bench, plan):
    context = replace(
        bench.context(), monitor_scope=lambda: MonitorScope(roots=lambda: [4_000_000])
    )
    [level] = run(plan, context).levels
    assert level.warnings == ["monitor: the process of the target does not exist"]
