"""What is watched during a level is kept with it, however the level ends."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from torr.experiments.run import run
from torr.model.monitored import Monitored
from torr.monitor.monitor import Watch


def test_a_level_is_watched_from_before_its_load_to_its_end(bench, plan):
    lab = replace(bench.lab(), watch=Watch)
    [level] = run(plan, lab).levels
    found = Monitored.model_validate(level["monitor"])
    assert found.derived.generator_cpu_rate is not None
    assert found.t_s


def test_a_level_that_nobody_watches_has_an_empty_monitor(bench, plan):
    [level] = run(plan, bench.lab()).levels
    assert level["monitor"] == {}


def test_a_load_that_fails_leaves_no_thread_behind(bench, plan):
    def fails(_number):
        raise RuntimeError("the engine broke")

    bench.engine.on_slice = fails
    with pytest.raises(RuntimeError, match="the engine broke"):
        run(plan, replace(bench.lab(), watch=Watch))
    assert not [each for each in threading.enumerate() if each.name == "torr-monitor"]


def test_warnings_of_what_was_watched_join_those_of_the_level(bench, plan):
    lab = replace(bench.lab(), watch=lambda: Watch(roots=lambda: [4_000_000]))
    [level] = run(plan, lab).levels
    assert level["warnings"] == ["monitor: the process of the target is not there"]
