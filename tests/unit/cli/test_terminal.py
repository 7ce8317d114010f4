"""What a person reads at the end: exact text for known results."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

import typed
from doubles import Truth, measured_level
from torr.cli.terminal import show
from torr.model.condition import Condition
from torr.results.base import builtins
from torr.results.level import NamedRequest
from torr.results.series import LevelPoint
from torr.stats.series import Series
from torr.verdicts import capacity, diff


def result_of(*levels, kind="run", slos=()):
    parsed = [Condition.parse(text) for text in slos]
    return typed.result(
        kind=kind,
        levels=levels,
        verdicts=capacity.verdicts(levels, parsed),
        capacity=capacity.analyse(levels, parsed) if kind == "ladder" else None,
    )


def shown(result, **settings):
    text = io.StringIO()
    console = Console(file=text, width=80, highlight=False, soft_wrap=True, **settings)
    show(result, console=console)
    return text.getvalue()


def body(text):
    """Everything below verdict and trust, which have tests of their own."""
    return [line.rstrip() for line in text.splitlines()[2:]]


def test_a_run_in_numbers():
    level = measured_level(50, Truth(ok_per_s=1000, service_ms=5))
    assert body(shown(result_of(level))) == [
        "",
        "             mean      p50      p90      p95      p99    p99.9      max",
        "response  5.00 ms  5.00 ms  6.00 ms  7.50 ms  10.0 ms  15.0 ms  20.0 ms",
        "",
        "throughput  1,000 ok/s · 1,000 attempted/s · 0 B/s in",
        "attempts    10,000 · success 100 %",
        "statuses    200 × 10,000",
        "health      healthy",
    ]


def test_requests_that_were_sent_again_and_limits_of_the_server_are_said():
    limits = {"streams": 100, "window_bytes": 65536}
    http2 = {"requests_per_write": 9.5, "server_limits": limits}
    level = typed.patched(measured_level(50, Truth()), http2=http2, resent=1200)
    text = shown(result_of(level))
    assert " · 1,200 sent again" in text
    assert "HTTP/2      9.5 requests per write, the server allows 100 streams\n" in text
    # Windows limit requests with a body only.
    level = with_times(level, window_wait_ms=level.latency.service_ms)
    text = shown(result_of(level))
    assert "100 streams, its initial window size is 64 KiB\n" in text.replace("\n            ", " ")


def test_a_rate_is_that_of_all_answers_only_where_all_are_arrivals():
    level = measured_level(150, Truth(ok_per_s=1000, service_ms=5), rate=50)
    said = "throughput  1,000 ok/s of 50/s asked for · 1,000 attempted/s · 0 B/s in"
    assert said in body(shown(result_of(level)))
    said = "throughput  1,000 ok/s · arrivals: 50/s asked for · 1,000 attempted/s · 0 B/s in"
    assert said in body(shown(result_of(typed.changed(level, users=50))))


def test_each_request_has_a_row_within_80_columns():
    level = measured_level(50, Truth(ok_per_s=1000, service_ms=5))
    name = "GET /a/path/that/is/longer/than/a/terminal"
    level = typed.changed(level, requests=[step_of(level, name), step_of(level, "login")])
    lines = body(shown(result_of(level)))
    rows = lines[4:7]
    assert [row.split()[0] for row in rows] == ["request", "GET", "login"]
    assert rows[1].startswith("GET /a/path/that/is/lon…  1,000    10,000  5.00 ms  7.50 ms")
    assert max(map(len, lines)) <= 80


def test_service_and_response_have_a_row_each_when_they_differ():
    level = measured_level(50, Truth(service_ms=5))
    service = level.latency.service
    slower = typed.changed(service, p99=100.0)
    level = with_times(level, response_ms=slower, ttfb_ms=service)
    names = [line.partition(" ")[0] for line in body(shown(result_of(level)))[2:5]]
    assert names == ["response", "service", "ttfb"]


def test_lower_bounds_are_marked():
    level = measured_level(50, Truth(service_ms=5, dropped=3))
    bounded = typed.changed(level.latency.response, at_least=["p99"])
    level = with_times(level, response_ms=bounded)
    text = shown(result_of(level))
    assert "≥ 10.0 ms" in text
    assert "3 dropped" in text


def test_rates_of_a_shared_machine_and_medians_of_bounded_times_are_marked():
    level = measured_level(50, Truth(health="contended"), inputs_per_s=2000.0)
    assert "throughput  ≥ 1,000 ok/s · ≥ 2,000 inputs/s" in shown(result_of(level))
    late = with_times(level, response_ms=typed.changed(level.latency.response, at_least=["p95"]))
    rounds = [typed.changed(late, round=number) for number in (1, 2)]
    lines = shown(result_of(*rounds, kind="ladder")).splitlines()
    (row,) = (line.split() for line in lines if line.split()[:1] == ["50"])
    assert row[1:7] == ["≥", "1,000", "5.00", "ms", "≥", "7.50"]


def test_errors_have_their_reason_and_an_example():
    level = measured_level(50, Truth(errors={"status": 7, "timeout": 2}))
    reasons = {"status.503": 4, "status.500": 3}
    sample = {
        "class": "status",
        "reason": "status.503",
        "detail": "",
        "head": "HTTP/1.1 503 Busy\r\n",
    }
    level = typed.changed(level, reasons=reasons, samples=[sample])
    assert body(shown(result_of(level)))[-4:] == [
        "errors      count  for example",
        "status.503      4  HTTP/1.1 503 Busy",
        "status.500      3  answered with a status that is not accepted",
        "timeout         2",
    ]


def test_the_text_of_another_reason_is_no_example():
    level = measured_level(50, Truth(errors={"read": 9, "timeout": 1}))
    reasons = {"read.reset": 2, "read.closed": 7, "timeout.body": 1}
    cut_off = {"class": "read", "reason": "read.reset", "detail": "reset before the first byte"}
    level = typed.changed(level, reasons=reasons, samples=[cut_off])
    assert body(shown(result_of(level)))[-3:] == [
        "read.reset        2  reset before the first byte",
        "read.closed       7  closed before the first byte of the response",
        "timeout.body      1  the body of the response was not complete in time",
    ]


def test_a_long_example_ends_in_an_ellipsis_within_80_columns():
    level = measured_level(50, Truth(errors={"tls": 7}))
    level = typed.changed(level, reasons={"tls.authority_as_server": 7})
    lines = body(shown(result_of(level)))
    assert lines[-1].endswith("…")
    assert lines[-1].startswith("tls.authority_as_server      7  the server presents the")
    assert 70 < len(lines[-1]) <= 80


def test_no_number_is_cut_where_marks_make_the_table_wide():
    level = measured_level(50, Truth(service_ms=1234))
    stats = level.latency.service
    bounds = ["mean", "p50", "p90", "p95", "p99", "p99_9", "max"]
    bounded = typed.changed(stats, at_least=bounds)
    level = with_times(level, response_ms=bounded, ttfb_ms=stats, service_ms=None)
    assert body(shown(result_of(level)))[1:4] == [
        "                mean         p50         p95         p99       p99.9         max",
        "response  ≥ 1,234 ms  ≥ 1,234 ms  ≥ 1,851 ms  ≥ 2,468 ms  ≥ 3,702 ms  ≥ 4,936 ms",
        "ttfb        1,234 ms    1,234 ms    1,851 ms    2,468 ms    3,702 ms    4,936 ms",
    ]


def test_a_bound_without_a_number_is_a_dash_alone():
    level = measured_level(50, Truth(service_ms=5))
    bounds = {"p99_9": None, "at_least": ["p99", "p99_9"]}
    bounded = typed.changed(level.latency.response, **bounds)
    level = with_times(level, response_ms=bounded, service_ms=bounded)
    lines = body(shown(result_of(level)))
    assert lines[2].endswith("  ≥ 10.0 ms      –  20.0 ms")


def test_a_terminal_too_narrow_for_the_numbers_gets_wider_lines():
    text = io.StringIO()
    console = Console(file=text, width=20, highlight=False, soft_wrap=True)
    show(result_of(measured_level(50, Truth(service_ms=5))), console=console)
    assert "response  7.50 ms  10.0 ms  20.0 ms\n" in text.getvalue()


def test_slos_have_their_word_value_and_reason():
    level = measured_level(50, Truth(service_ms=5))
    lines = body(shown(result_of(level, slos=["p95 < 6ms", "p99.99 < 1s", "success >= 99%"])))
    assert lines[-3] == "broken     p95 < 6ms, seen 7.50 ms"
    assert lines[-2].startswith("not shown  p99.99 < 1s (")
    held = "held       success >= 99%, seen 100 %, 90 % interval 99.97 % – 100 %"
    assert lines[-1] == held


def test_a_ladder_ends_with_its_capacity_and_what_claims_nothing():
    truths = {10: 2000, 20: 4000, 40: 8000, 80: 8100, 160: 8050}
    levels = [
        measured_level(users, Truth(rate, service_ms=users / rate * 1000))
        for users, rate in truths.items()
    ]
    levels.append(measured_level(320, Truth(health="generator-limited")))
    lines = body(shown(result_of(*levels, kind="ladder", slos=["p95 < 20ms"])))
    assert [" ".join(line.split()[:6]) for line in lines[1:5]] == [
        "at result",
        "peak 40 8,000 requests/s; the highest",
        "knee 40 8,000 requests/s in 5.00",
        "capacity under SLO 80 8,100 requests/s",
    ]
    assert lines[5].startswith("USL fit              –  not claimed: ")
    assert lines[6] == "no claim    320: limited by the generator"


def with_times(level, **times):
    """Return a level with other times."""
    return typed.changed(level, latency=typed.changed(level.latency, **times))


def step_of(level, name):
    """Return a named request with the numbers of a level."""
    return typed.made(NamedRequest, {**builtins(level), "name": name})


def streamed(level, ttft_ms, **more):
    first = {"n": 900, "mean": ttft_ms, "p50": ttft_ms, "p95": 2 * ttft_ms}
    tpot = {"n": 900, "mean": 20.0}
    stream = {"ttft_ms": first, "tpot_ms": tpot, "tokens_per_s": 812.0, **more}
    return typed.changed(level, stream=stream)


def test_levels_of_streams_have_their_first_texts_above_the_capacity():
    levels = [
        streamed(measured_level(n, Truth(n * 100)), 2.0 * n, goodput_rate=97.5) for n in (8, 80)
    ]
    assert body(shown(result_of(*levels, kind="ladder")))[:5] == [
        "",
        "connections  ttft p50  ttft p95  tpot mean  tokens/s  goodput",
        "8             16.0 ms   32.0 ms    20.0 ms       812   97.5 %",
        "80             160 ms    320 ms    20.0 ms       812   97.5 %",
        "",
    ]


def test_requests_that_stream_have_rows_of_their_own():
    level = measured_level(50, Truth(ok_per_s=1000, service_ms=5))
    name = "a conversation that has a very long name"
    first = streamed(measured_level(50, Truth()), 30.0)
    level = typed.changed(level, requests=[step_of(first, name), step_of(level, "login")])
    lines = body(shown(result_of(level)))
    assert lines[8:11] == [
        "request                   ttft p50  ttft p95  tpot mean  tokens/s",
        "a conversation that has…   30.0 ms   60.0 ms    20.0 ms       812",
        "login                            –         –          –         –",
    ]


def test_a_ladder_without_levels_is_said_to_have_none():
    assert "Nothing was measured" in shown(result_of(kind="ladder"))


@pytest.mark.parametrize(
    ("bounds", "ratio"),
    [((), "0.50 ×"), ("b", "≥ 0.50 ×"), ("a", "≤ 0.50 ×"), ("ab", "0.50 × ?")],
)
def test_a_diff_marks_ratios_of_lower_bounds(bounds, ratio):
    rates = {"a": 1000.0, "b": 500.0}
    a, b = (
        Series(n, (LevelPoint(1, r, 2.0, 100.0, at_least=n in bounds),)) for n, r in rates.items()
    )
    text = shown(diff.ratios(a, b))
    assert body(text)[-1].split("  ")[0] == "1"
    assert f" {ratio} " in body(text)[-1]
    assert ("shared a machine" in text) is bool(bounds)


def test_a_diff_shows_p95_and_spread_where_they_are_known():
    sides = [
        Series(name, (LevelPoint(1000, rate, 2.0, 100.0, p95_ms=p95, spread=spread),))
        for name, rate, p95, spread in (("a", 1000.0, 4.0, 0.012), ("b", 500.0, 6.0, 0.03))
    ]
    lines = body(shown(diff.ratios(*sides)))
    assert lines[-2:] == [
        "connections    ok/s  mean time     p95       success  spread of ok/s",
        "1,000        0.50 ×     1.00 ×  1.50 ×  +0.00 points   1.2 % / 3.0 %",
    ]
    bare = [Series(s.name, (LevelPoint(1000, s.points[0].ok_per_s, 2.0, 100.0),)) for s in sides]
    assert "spread" not in shown(diff.ratios(*bare)).splitlines()[3]


def test_one_connection_is_no_plural():
    text = shown(result_of(measured_level(1, Truth(1000)), kind="ladder", slos=["p95 < 1s"]))
    assert "at 1 connection" in text
    assert "1 connections" not in text


def test_quiet_is_one_line():
    text = io.StringIO()
    show(result_of(measured_level(50, Truth())), quiet=True, console=Console(file=text, width=80))
    assert text.getvalue().startswith("Answers 1,000 requests/s")


@pytest.mark.parametrize(("terminal", "coloured"), [(True, True), (False, False)])
def test_colours_are_for_terminals(terminal, coloured, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    text = shown(result_of(measured_level(50, Truth())), force_terminal=terminal)
    assert ("\x1b[" in text) is coloured


@pytest.mark.parametrize(("setting", "coloured"), [(None, True), ("1", False)])
def test_no_color_takes_the_colours_away(monkeypatch, setting, coloured):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    if setting is not None:
        monkeypatch.setenv("NO_COLOR", setting)
    text = shown(result_of(measured_level(50, Truth(health="contended"))), force_terminal=True)
    assert bool(re.search(r"\x1b\[[\d;]*3\dm", text)) is coloured
