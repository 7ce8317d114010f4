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


MEMBERS = {
    "prompt_lengths": ("input_tokens", with_prompt_lengths),
    "output_lengths": ("output_tokens", with_output_lengths),
}


def of_trace(name, percent, *, is_planned=True, absolute=None):
    """A level of a trace whose lengths differ by so many percent, by the count of the engine.

    With `absolute`, single differences are so many percent: older results do not have them.
    """
    member, with_lengths = MEMBERS[name]
    lengths = {
        "checked": 8,
        "planned_mean": 100,
        "reported_mean": 100 + (percent or 0),
        "difference_mean": percent or 0,
        "difference_percent": percent or 0,
    }
    if absolute is not None:
        lengths["absolute_difference_percent"] = absolute
    tokens = {"total": 800, "mean": 100, "p50": 90, "p99": 150, "max": 150}
    trace = {"format": "mooncake", "rows": 8, "sessions": 8}
    level = typed.level(
        stream={} if percent is None else {name: lengths},
        counts={"attempted": 8, "ok": 8},
        trace={**trace, member: tokens} if is_planned else trace,
    )
    request = Request("http://127.0.0.1:9/", stream=Stream("openai"))
    return with_lengths(level, Plan((Group(Closed(1), Source.of(request)),), Duration(1)))


@pytest.mark.parametrize("name", MEMBERS)
@pytest.mark.parametrize(("percent", "count"), [(5, 0), (-5, 0), (5.1, 1), (-60, 1)])
def test_lengths_of_a_trace_are_those_that_the_engine_has_compared(name, percent, count):
    level = of_trace(name, percent)
    assert getattr(level.stream, name).difference_percent == percent
    codes = {"prompt_lengths": "prompt_length_differs", "output_lengths": "output_length_differs"}
    assert [x.code for x in level.warnings] == count * [f"warning.{codes[name]}"]


@pytest.mark.parametrize("name", MEMBERS)
@pytest.mark.parametrize(
    ("percent", "absolute", "code"),
    [(0, 5, None), (0, 98, "lengths_differ_singly"), (-60, 60, "length_differs")],
)
def test_lengths_of_a_trace_that_are_off_one_by_one_and_not_on_average_are_a_warning(
    name, percent, absolute, code
):
    level = of_trace(name, percent, absolute=absolute)
    kind = {"prompt_lengths": "prompt", "output_lengths": "output"}[name]
    assert [x.code for x in level.warnings] == [f"warning.{kind}_{code}"][: bool(code)]
    assert all(f"{absolute}.0 %" in str(x) for x in level.warnings)


@pytest.mark.parametrize("name", MEMBERS)
def test_lengths_of_a_trace_without_a_count_are_not_called_kept(name):
    (warning,) = of_trace(name, None).warnings
    assert warning.code.endswith("_length_unknown")
    assert of_trace(name, None, is_planned=False).warnings == []


def outputs(tokens_out, planned=(), ok=8):
    """A level whose outputs were planned by rows."""
    level = typed.level(
        stream={"tokens_in": 800, "tokens_out": tokens_out, "tokens_unreported": 0},
        counts={"attempted": ok, "ok": ok},
    )
    rows = Rows(("output_1",), tuple((str(n),) for n in planned or (0,)), output_tokens=planned)
    request = Request("http://127.0.0.1:9/", stream=Stream("openai"))
    group = Group(Closed(1), Source.of(request), data=rows)
    return with_output_lengths(level, Plan((group,), Duration(10**9)))


@pytest.mark.parametrize(("tokens", "count"), [(800, 0), (840, 0), (760, 0), (841, 1), (320, 1)])
def test_outputs_are_compared_with_those_that_were_planned(tokens, count):
    level = outputs(tokens, planned=(50, 150))
    lengths = level.stream.output_lengths
    assert (lengths.planned_mean, lengths.reported_mean) == (100, tokens / 8)
    assert [x.code for x in level.warnings] == count * ["warning.output_length_differs"]


def test_outputs_without_a_count_are_not_called_kept():
    (warning,) = outputs(None, planned=(50, 150)).warnings
    assert warning.code == "warning.output_length_unknown"


def test_nothing_is_said_of_outputs_whose_length_nobody_planned():
    level = outputs(320)
    assert (level.stream.output_lengths, level.warnings) == (None, [])
