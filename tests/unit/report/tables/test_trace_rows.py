"""The table of a level says what its trace has, and what was not sent of it."""

import typed
from torr.report.tables.trace_rows import trace_rows

LENGTHS = {"total": 606_053, "mean": 605.4, "p50": 611, "p99": 1191, "max": 1198}
TRACE = {"format": "mooncake", "rows": 1001, "sessions": 1001, "input_tokens": LENGTHS}


def rows_of(result, **level):
    return dict(trace_rows(typed.patched(result.levels[0], **level)))


def test_a_load_without_a_trace_has_no_row_of_it(run):
    assert trace_rows(run.levels[0]) == []


def test_rows_lengths_and_repeated_beginnings_are_named(run):
    assert rows_of(run, trace={**TRACE, "repeated_tokens": 63.93}) == {
        "rows of the trace": "1,001",
        "input tokens in the trace": "605 on average, p50 611, p99 1,191",
        "repeated beginnings in the trace": "63.93 % of input tokens",
    }


def test_sessions_are_counted_where_they_have_several_rows(run):
    assert rows_of(run, trace={**TRACE, "sessions": 90})["rows of the trace"] == (
        "1,001 in 90 sessions"
    )


def test_a_share_of_a_sample_is_an_estimate(run):
    made = rows_of(run, trace={**TRACE, "repeated_tokens": 50.0, "is_sampled": True})
    assert made["repeated beginnings in the trace"] == "about 50 % of input tokens"


def test_what_was_not_sent_has_its_reason(run):
    rows = rows_of(run, trace={**TRACE, "skipped": {"no_prompt": 3}, "without_parent": 2})
    assert rows["not sent of the trace"] == "conversations without a text of a user: 3"
    assert rows["rows without their predecessor"] == "2"


def test_images_that_are_not_sent_are_named(run):
    assert "images of the trace, not sent" not in rows_of(run, trace=TRACE)
    rows = rows_of(run, trace={**TRACE, "images": 1200})
    assert rows["images of the trace, not sent"] == "1,200"


def test_waits_for_others_stand_behind(run):
    rows = rows_of(run, trace=TRACE, postponed=4, postponed_mean_ms=20.0, left_out=1)
    assert rows["started late because others had not ended"] == "4, 20.0 ms on average"
    assert rows["left out after a failed predecessor"] == "1"
