"""The live view of a load in a terminal."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import struct
import termios
from contextlib import suppress

import pytest

from doubles import Truth, measured_interval, measured_level
from torr.cli.live_view import LiveView, chart, progress_for
from torr.cli.progress import Progress
from torr.experiments.context import Step
from torr.model.pace import Closed
from torr.model.plan import Duration, Group, Plan
from torr.model.request import Request
from torr.model.source import Source
from torr.options.result import ResultOptions
from torr.units import SECOND_NS

BLOCKS = "▁▂▃▄▅▆▇█"


class Clock:
    """A clock that the test sets."""

    def __init__(self):
        self.now_s = 100.0

    def __call__(self):
        return self.now_s


def step(index=0, total=1):
    group = Group(pace=Closed(200), source=Source.of(Request("http://127.0.0.1/")))
    return Step(index, Plan(groups=(group,), stop=Duration(10 * SECOND_NS)), 1, total)


def view_of(stream=None, language="en"):
    return LiveView(stream or io.StringIO(), None, Clock(), language)


def test_the_view_has_throughput_latency_errors_and_generator():
    view = view_of()
    view.level_started(step())
    assert len(view.lines(step(), None)) == 1
    health = {"workers": [0, 1], "worker_cpu_rate": [12.5, 63.0]}
    for second, rate in enumerate((500, 1000)):
        truth = Truth(ok_per_s=rate, errors={"timeout": 3, "status": 1})
        piece = measured_interval(truth, second, reasons={"timeout.body": 3}, health=health)
        view.interval_came(step(), piece)
    head, throughput, latency, errors, generator = view.lines(step(), piece)
    assert head.endswith("200 connections")
    assert throughput.split() == ["throughput", "1,000", "ok/s", "▅█"]
    assert latency == "latency     p50 5.00 ms  p95 7.50 ms  p99 10.0 ms"
    assert errors == "errors      8 errors (0.53 %): timeout.body 6"
    assert generator == "generator   busiest worker 63 % of a core"


def test_a_ladder_has_a_chart_of_its_finished_levels():
    view = view_of()
    for index, rate in enumerate((250, 500, 1000)):
        view.level_started(step(index, 4))
        view.level_ended(step(index, 4), measured_level(1 + index, Truth(ok_per_s=rate)))
    view.level_started(step(3, 4))
    piece = measured_interval(Truth(), 0)
    view.interval_came(step(3, 4), piece)
    assert view.lines(step(3, 4), piece)[-1].split() == ["levels", "3", "levels", "▃▅█"]
    assert "levels" not in view_of().lines(step(), piece)[-1]


@pytest.mark.parametrize(
    ("values", "drawn"),
    [
        ([], ""),
        ([0, 0], "▁▁"),
        ([1], "█"),
        ([0, 1, 2, 3, 4, 5, 6, 7, 8], "▁▂▃▄▅▆▇██"),
        ([8, 8, 0, 0, 4, 4], "██▁▁▅▅"),
    ],
)
def test_a_chart_has_heights_from_zero_to_the_maximum(values, drawn):
    assert chart(values, 9, BLOCKS) == drawn


def test_values_share_a_block_if_there_are_too_many():
    assert chart([8, 8, 0, 0, 4, 4], 3, BLOCKS) == "█▁▅"


def test_an_encoding_without_blocks_gets_plain_characters():
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    view = view_of(stream)
    view.level_started(step())
    piece = measured_interval(Truth(), 0)
    view.interval_came(step(), piece)
    assert all(line.isascii() for line in view.lines(step(), piece))


def terminal(columns, rows):
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    return ours, os.fdopen(theirs, "w")


@pytest.mark.parametrize(
    ("columns", "rows", "is_large"), [(80, 24, True), (59, 24, False), (80, 11, False)]
)
def test_a_small_terminal_gets_the_line(monkeypatch, columns, rows, is_large):
    ours, stream = terminal(columns, rows)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stderr", stream)
    with progress_for(ResultOptions()) as progress:
        assert type(progress) is (LiveView if is_large else Progress)
    stream.close()
    os.close(ours)


def rest_of(ours):
    """Return what is left to read of a terminal whose other side is closed, in several reads."""
    pieces = []
    with suppress(OSError):
        while piece := os.read(ours, 100_000):
            pieces.append(piece)
    os.close(ours)
    return b"".join(pieces).decode()


def test_the_view_is_drawn_and_cleared_and_has_no_colour(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    ours, stream = terminal(80, 24)
    view = view_of(stream)
    view.level_started(step())
    view.clock.now_s += 1
    view.interval_came(step(), measured_interval(Truth(), 0))
    view.clear()
    view.clear()
    stream.close()
    drawn = rest_of(ours)
    assert "throughput  1,000 ok/s" in drawn
    assert "\x1b[3" not in drawn
    assert drawn.endswith("\x1b[2K")


def test_the_view_is_drawn_four_times_per_second_at_most(monkeypatch):
    view = view_of()
    drawn = []
    monkeypatch.setattr(view, "lines", lambda _step, piece: drawn.append(piece) or [])
    view.level_started(step())
    for _ in range(10):
        view.clock.now_s += 0.1
        view.interval_came(step(), measured_interval(Truth(), 0))
    assert len(drawn) == 4
