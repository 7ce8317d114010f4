"""Streams of a target's log and of a client are put side by side one by one, or not at all."""

from __future__ import annotations

import pytest

from streams.joined import Stream, aiperf_records, joined, target_log, torr_log

MS = 1_000_000
APART_MS = 100


def stream(texts, began_ms, first_ms=0, last_ms=0):
    return Stream(texts, began_ms * MS, (began_ms + first_ms) * MS, (began_ms + last_ms) * MS)


def test_streams_are_joined_by_their_texts_and_their_order_in_time():
    sent = [stream(3, 10, 5), stream(2, 20, 6), stream(3, 500, 7)]
    seen = [stream(3, 499, 9), stream(3, 9, 8), stream(2, 19, 7)]
    assert joined(sent, seen, APART_MS) == [
        (sent[1], seen[2]),
        (sent[0], seen[1]),
        (sent[2], seen[0]),
    ]


def test_clocks_may_differ():
    sent = [stream(3, 10), stream(3, 500)]
    seen = [stream(3, 1_000_009), stream(3, 1_000_499)]
    assert [client.began for _, client in joined(sent, seen, APART_MS)] == [
        1_000_009 * MS,
        1_000_499 * MS,
    ]


@pytest.mark.parametrize("close", ["target", "client"])
def test_streams_that_began_together_are_left_out(close):
    far = [stream(3, 0), stream(3, 1000), stream(3, 2000), stream(3, 3000)]
    near = [far[0], far[1], stream(3, 1050), far[3]]
    sides = (near, far) if close == "target" else (far, near)
    assert joined(*sides, APART_MS) == [(far[0], far[0]), (far[3], far[3])]


@pytest.mark.parametrize(
    ("sent", "seen"),
    [([stream(3, 0)], []), ([], [stream(3, 0)]), ([stream(3, 0)], [stream(2, 0)])],
)
def test_streams_of_one_side_alone_are_no_pair(sent, seen):
    both = [stream(5, 10, 5)]
    assert joined([*sent, *both], [*seen, *both], APART_MS) == [(both[0], both[0])]


def test_a_target_log_has_streams_that_ended_and_how_late_texts_were(tmp_path):
    path = tmp_path / "truth.csv"
    path.write_text(
        "stream,event,planned_ns,sent_ns,tokens\n0,received,5,5,7\n0,started,5,6,0\n"
        "1,received,6,6,7\n0,other,6,6,0\n0,text,7,8,1\n1,text,7,9,1\n0,text,9,13,1\n0,end,9,13,2\n"
        "2,received,20,20,7\n2,end,21,21,0\n"
    )
    log = target_log(path)
    assert log.streams == [Stream(2, 5, 8, 13), Stream(0, 20, 0, 0)]
    assert (log.texts, log.unfinished) == (3, 1)
    assert list(zip(log.sent_ns, log.late_ns, strict=True)) == [(8, 1), (9, 2), (13, 4)]


def test_the_log_of_torr_has_streams_that_ended_well(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(
        "class,sent_ns,first_text_ns,last_text_ns,texts\nok,1,9,20,3\nstream,2,9,20,2\nread,3,,,\n"
    )
    assert torr_log(path) == [Stream(3, 1, 9, 20)]


def test_records_of_aiperf_have_its_own_times(tmp_path):
    path = tmp_path / "profile_export.jsonl"
    path.write_text(
        '{"metadata": {"request_start_ns": 1000}, "error": null, "metrics": {'
        '"time_to_first_token": {"value": 2.5, "unit": "ms"},'
        ' "request_latency": {"value": 10.0, "unit": "ms"},'
        ' "usage_completion_tokens": {"value": 3, "unit": "tokens"}}}\n'
        '{"metadata": {"request_start_ns": 2000}, "error": {"code": 500}, "metrics": {}}\n'
    )
    [only] = aiperf_records(path)
    assert only == Stream(3, 1000, 2_501_000, 10_001_000)
    assert only.ttft_ms == 2.5
