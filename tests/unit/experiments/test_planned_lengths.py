"""The level says whether prompts and outputs had the planned number of tokens."""

from __future__ import annotations

import pytest

import typed
from torr.experiments.planned_lengths import with_output_lengths, with_prompt_lengths
from torr.model.pace import Closed
from torr.model.plan import Duration, Group, Plan
from torr.model.request import Request
from torr.model.rows import Rows
from torr.model.source import Source
from torr.model.stream import Stream


def checked(tokens_in, planned=(100,), ok=8, *, unreported=0, failed=0, warmup=0, workers=1):
    request = Request("http://127.0.0.1:9/", stream=Stream("openai"))
    rows = Rows(("prompt_1",), tuple(("p",) for _ in planned), tokens=planned)
    group = Group(Closed(1), Source.of(request), data=rows)
    level = typed.level(
        stream={"tokens_in": tokens_in, "tokens_unreported": unreported},
        counts={"attempted": ok + failed, "ok": ok},
        warmup={"counts": {"attempted": warmup}},
        generator={"workers": workers},
    )
    return with_prompt_lengths(level, Plan((group,), Duration(10**9)))


@pytest.mark.parametrize(("tokens", "codes"), [(840, []), (760, []), (841, [1]), (759, [1])])
def test_totals_that_are_off_by_more_than_five_percent_are_a_warning(tokens, codes):
    level = checked(tokens)
    assert len(level.warnings) == len(codes)
    assert all(x.code == "warning.prompt_length_differs" for x in level.warnings)
    lengths = level.stream.prompt_lengths
    assert (lengths.planned_mean, lengths.reported_mean) == (100, tokens / 8)
    assert lengths.difference_percent == pytest.approx(tokens / 8 - 100)


def test_streams_without_a_count_are_no_part_of_the_mean():
    lengths = checked(600, unreported=2).stream.prompt_lengths
    assert (lengths.checked, lengths.difference_mean) == (6, 0)


def test_a_server_that_reports_nothing_is_a_warning():
    (warning,) = checked(None).warnings
    assert warning.code == "warning.prompt_length_unknown"


def test_the_planned_lengths_are_those_of_the_prompts_that_were_sent():
    planned = (10, 20, 30, 40, 50, 1000)
    lengths = checked(20 + 30 + 40, planned, ok=3, warmup=1).stream.prompt_lengths
    assert (lengths.planned_mean, lengths.difference_mean) == (30, 0)
    # After the last prompt comes the first one again.
    lengths = checked(1000 + 10, planned, ok=2, warmup=11).stream.prompt_lengths
    assert (lengths.planned_mean, lengths.difference_mean) == (505, 0)


@pytest.mark.parametrize(("tokens", "codes"), [(840, []), (760, []), (841, [1]), (759, [1])])
def test_lengths_that_vary_are_as_exact_as_those_that_do_not(tokens, codes):
    assert len(checked(tokens, planned=(50, 150)).warnings) == len(codes)


def test_prompts_without_a_count_widen_what_lengths_may_differ():
    # One of 100 prompts may have had 150 tokens, or 50.
    assert checked(10_434, (50, 150), ok=99, failed=1).warnings == []
    assert checked(10_456, (50, 150), ok=99, failed=1).warnings
    assert checked(10_434, (100,), ok=99, failed=1).warnings


def test_a_worker_may_be_a_prompt_ahead_of_the_others():
    assert checked(10_590, (50, 150), ok=100, workers=2).warnings == []
    assert checked(10_610, (50, 150), ok=100, workers=2).warnings


def test_nothing_is_said_of_other_prompts():
    level = checked(100, planned=())
    assert (level.stream.prompt_lengths, level.warnings) == (None, [])


def of_trace(tokens_in, ok=8, rows=8):
    """A level of a trace whose rows have 100 tokens on average, and 150 at most."""
    tokens = {"total": 100 * rows, "mean": 100, "p50": 100, "p99": 150, "max": 150}
    level = typed.level(
        stream={"tokens_in": tokens_in, "tokens_unreported": 0},
        counts={"attempted": rows, "ok": ok},
        trace={"format": "mooncake", "rows": rows, "sessions": rows, "input_tokens": tokens},
    )
    request = Request("http://127.0.0.1:9/", stream=Stream("openai"))
    return with_prompt_lengths(level, Plan((Group(Closed(1), Source.of(request)),), Duration(1)))


@pytest.mark.parametrize(("tokens", "count"), [(840, 0), (841, 1), (759, 1)])
def test_rows_of_a_trace_are_compared_too(tokens, count):
    level = of_trace(tokens)
    assert level.stream.prompt_lengths.reported_mean == tokens / 8
    assert len(level.warnings) == count


def test_rows_without_a_count_widen_what_a_trace_may_differ():
    # One row of 100 may have had 150 of all 10,000 tokens.
    assert of_trace(99 * 106, ok=99, rows=100).warnings == []
    assert of_trace(99 * 107, ok=99, rows=100).warnings
    assert of_trace(6 * 110, ok=6).stream.prompt_lengths is None
    # Whichever rows these were, they had not twice as many tokens.
    assert of_trace(6 * 200, ok=6).warnings


def trace_of(rows, member):
    """What a level says of a trace whose outputs have 100 tokens on average, if it says it."""
    tokens = {"total": 100 * rows, "mean": 100, "p50": 90, "p99": 150, "max": 150}
    return {"format": "mooncake", "rows": rows, "sessions": rows, member: tokens}


def outputs(tokens_out, ok=8, of_trace=None, of_rows=()):
    """A level whose outputs were planned by a trace, or by rows."""
    level = typed.level(
        stream={"tokens_in": 800, "tokens_out": tokens_out, "tokens_unreported": 0},
        counts={"attempted": ok, "ok": ok},
        **({} if of_trace is None else {"trace": trace_of(ok, of_trace)}),
    )
    rows = Rows(("output_1",), tuple((str(n),) for n in of_rows or (0,)), output_tokens=of_rows)
    request = Request("http://127.0.0.1:9/", stream=Stream("openai"))
    group = Group(Closed(1), Source.of(request), data=rows)
    return with_output_lengths(level, Plan((group,), Duration(10**9)))


PLANNED = [{"of_trace": "output_tokens"}, {"of_rows": (50, 150)}]


@pytest.mark.parametrize("planned", PLANNED)
@pytest.mark.parametrize(("tokens", "count"), [(800, 0), (840, 0), (760, 0), (841, 1), (320, 1)])
def test_outputs_are_compared_with_those_that_were_planned(planned, tokens, count):
    level = outputs(tokens, **planned)
    lengths = level.stream.output_lengths
    assert (lengths.planned_mean, lengths.reported_mean) == (100, tokens / 8)
    assert [x.code for x in level.warnings] == count * ["warning.output_length_differs"]


@pytest.mark.parametrize("planned", PLANNED)
def test_outputs_without_a_count_are_not_called_kept(planned):
    (warning,) = outputs(None, **planned).warnings
    assert warning.code == "warning.output_length_unknown"


@pytest.mark.parametrize("planned", [{"of_trace": "input_tokens"}, {}])
def test_nothing_is_said_of_outputs_whose_length_nobody_planned(planned):
    level = outputs(320, **planned)
    assert (level.stream.output_lengths, level.warnings) == (None, [])
