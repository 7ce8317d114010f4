"""Streams of two logs are put side by side as they should be."""

from __future__ import annotations

import pytest

from truth.streams import Seen, Sent, first_texts, gaps, seen_of, streams_of

MS = 1_000_000


def test_both_logs_are_read(tmp_path):
    truth = tmp_path / "truth.csv"
    truth.write_text(
        "stream,event,planned_ns,sent_ns\n0,received,5,5\n0,other,6,6\n0,text,7,8\n0,text,9,10\n"
        "1,received,6,6\n0,end,9,10\n"
    )
    assert streams_of(truth) == [Sent(5, [8, 10])]
    log = tmp_path / "log.csv"
    log.write_text("name,sent_ns,first_text_ns\nx,1,9\ny,2,\n")
    assert seen_of(log) == [Seen(1, 9)]


def test_first_texts_are_compared_on_average_and_stamp_by_stamp():
    sent = [Sent(0, [10 * MS]), Sent(0, [20 * MS])]
    seen = [Seen(0, 21 * MS), Seen(0, 11 * MS)]
    found = first_texts(sent, seen)
    assert (found["ttft mean"].seen, found["ttft mean"].known) == (16, 15)
    assert found["ttft mean"].distance() > found["ttft mean"].allowed
    assert found["stamps late p99"].seen == pytest.approx(1)


def test_gaps_are_those_within_a_stream():
    sent = [Sent(0, [0, 10 * MS, 30 * MS]), Sent(0, [5 * MS, 20 * MS])]
    level = {"stream": {"inter_chunk_ms": {"p50": 15.2, "p99": None}}}
    found = gaps(sent, level)
    assert list(found) == ["inter_chunk p50"]
    assert (found["inter_chunk p50"].known, found["inter_chunk p50"].seen) == (15, 15.2)
