"""`torr` beside a target of this machine: it says what the target used, and at which cost."""

from __future__ import annotations

import pytest

from torr.results.result import read


def test_a_local_target_is_watched_without_being_named(torr, target):
    server = target("delay", "--delay", "1ms")
    # As much work as takes the target a part of a second, however fast it is.
    load = ("--requests", "40000", "--warmup", "200ms", "-c", "32")
    ended = torr("run", *load, server.url)
    assert ended.code == 0, ended.err
    level = read(ended.folder / "_output/torr/latest/result.json").levels[0]
    seen = level.monitor
    assert seen.target.names[0].split()[0] == str(server.process.pid)
    assert seen.derived.target_cpu_rate > 0
    product = seen.derived.target_cpu_us_per_request * seen.derived.requests_per_cpu_s
    assert product == pytest.approx(1e6, rel=0.01)
    assert seen.t_s[0] < 0 < seen.t_s[-1]
    assert "a request" in ended.out
    assert "Target and machine" in (ended.folder / "_output/torr/latest/report.html").read_text()
