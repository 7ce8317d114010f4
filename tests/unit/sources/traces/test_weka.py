"""Weka's traces: sessions of agents, with sub-agents that run beside one another."""

from __future__ import annotations

import json

import pytest

from torr.errors import FileError, UsageError
from torr.sources.traces.reader import read_trace

S = 1_000_000_000


def request(t, tokens=100, *, ids=(1,), **more):
    return {
        "t": t,
        "type": "s",
        "model": "m",
        "in": tokens,
        "out": 5,
        "hash_ids": list(ids),
        **more,
    }


def agent(t, *requests, status="completed"):
    return {"t": t, "type": "subagent", "agent_id": "a", "status": status, "requests": requests}


def session(*requests, scope="local", **more):
    return {"id": "x", "models": ["m"], "block_size": 64, "hash_id_scope": scope, **more} | {
        "requests": requests
    }


def links(rows):
    """The length of each row, by which tests name it, and the lengths of those before it."""
    by_number = {row.number: row.input_tokens for row in rows}
    return {row.input_tokens: sorted(by_number[number] for number in row.after) for row in rows}


def read(write, *sessions):
    for number, each in enumerate(sessions):
        path = write(f"traces/{number:02}.json", json.dumps(each, indent=1))
    return list(read_trace(path.parent))


def test_a_request_waits_for_the_one_before_it_and_thinks(write):
    rows = read(
        write,
        session(
            request(3.0, 200, ids=[1, 2, 3], think_time=0.0, api_time=1.5),
            request(10.5, 300, ids=[1, 2, 3, 4], think_time=2.25),
            request(20, 301, ids=[]),
        ),
    )
    assert [(row.number, row.at_ns, row.turn, row.after, row.pause_ns) for row in rows] == [
        (0, 0, 1, (), 0),
        (1, 7_500_000_000, 2, (0,), 2_250_000_000),
        # Neither the time to think nor that of the request before is recorded.
        (2, 17 * S, 3, (1,), 0),
    ]
    assert {(row.session, row.block_tokens, row.model, row.output_tokens) for row in rows} == {
        (0, 64, "m", 5)
    }
    # The last block of 200 tokens has no id.
    assert [len(row.hash_ids) for row in rows] == [3, 4, 0]


def test_a_pause_that_is_not_recorded_is_what_the_times_leave(write):
    rows = read(write, session(request(0, api_time=4), request(6), request(6.5)))
    assert [row.pause_ns for row in rows] == [0, 2 * S, 0]
    rows = read(write, session(request(0), agent(1, request(1, api_time=2)), request(9)))
    assert [row.pause_ns for row in rows] == [0, 0, 0]


def test_beside_other_agents_a_pause_is_what_the_times_leave(write):
    first, second = request(11, 11, api_time=20), request(60, 12, api_time=10, think_time=0.0)
    other = agent(11, request(11, 21, api_time=60, think_time=0.5))
    requests = [request(0, 1, api_time=10), agent(11, first, second), other]
    rows = read(write, session(*requests, request(75, 2, think_time=4.0)))
    pauses = {row.input_tokens: row.pause_ns for row in rows}
    assert pauses == {1: 0, 11: S, 21: S, 12: 29 * S, 2: 4 * S}
    # Without a time of the API, the recorded time to think is all that is known.
    unknown = agent(11, request(11, 11), request(60, 12, think_time=0.5))
    rows = read(write, session(request(0, 1, api_time=10), unknown, other))
    assert {row.input_tokens: row.pause_ns for row in rows}[12] == S // 2


def test_sub_agents_run_beside_one_another_and_their_parent_waits_for_all(write):
    rows = read(
        write,
        session(
            request(0, 1),
            agent(1, request(1, 11), request(5, 12)),
            agent(1, request(2, 21)),
            request(9, 2),
            request(10, 3),
        ),
    )
    assert links(rows) == {1: [], 11: [1], 21: [1], 12: [11], 2: [1, 12, 21], 3: [2]}
    assert [row.input_tokens for row in rows] == [1, 11, 21, 12, 2, 3]
    assert [(row.turn, row.is_branch) for row in rows] == [
        (1, False),
        (1, True),
        (1, True),
        (2, True),
        (2, False),
        (3, False),
    ]
    followers = {row.input_tokens: row.followers for row in rows}
    assert followers == {1: 3, 11: 1, 12: 1, 21: 1, 2: 1, 3: 0}


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        ([agent(0, request(0, 11)), request(1, 1)], {11: [], 1: [11]}),
        ([request(0, 1), agent(0), request(1, 2)], {1: [], 2: [1]}),
        (
            [request(0, 1), agent(0, request(1, 11), status="async_launched"), request(0.5, 2)],
            {1: [], 11: [1], 2: [1]},
        ),
        (
            [
                request(0, 1),
                agent(1, request(1, 11), agent(2, request(2, 111)), agent(2, request(3, 112))),
                request(9, 2),
            ],
            {1: [], 11: [1], 111: [11], 112: [11], 2: [1, 11, 111, 112]},
        ),
        (
            [request(0, 1), agent(1, agent(2, request(2, 11))), request(3, 2)],
            {1: [], 11: [1], 2: [1, 11]},
        ),
        ([request(0, 1), {**request(1, 2), "out": 0}, request(2, 3)], {1: [], 3: [1]}),
    ],
    ids=["first", "empty", "not awaited", "nested", "nested first", "failed"],
)
def test_who_waits_for_whom(write, requests, expected):
    assert links(read(write, session(*requests))) == expected


def test_requests_of_an_agent_that_overlapped_run_beside_one_another(write):
    rows = read(
        write,
        session(
            request(0, 1, api_time=30),
            request(1, 2, api_time=2),
            agent(32, request(32, 11, api_time=8), request(45, 12, api_time=5)),
            request(33, 3, api_time=60, think_time=30.0),
            request(34.95, 4, api_time=1),
            request(55, 5, api_time=1, think_time=9.0),
            request(99, 6, api_time=1),
        ),
    )
    before = [1, 2]
    expected = {1: [], 2: [], 11: before, 3: before, 12: [11], 4: before, 5: [4, 12], 6: [3, 5]}
    assert links(rows) == expected
    pauses = {row.input_tokens: row.pause_ns for row in rows}
    assert pauses == {1: 0, 2: 0, 11: 2 * S, 3: 3 * S, 12: 5 * S, 4: 4.95 * S, 5: 5 * S, 6: 6 * S}
    assert [row.turn for row in rows if not row.is_branch] == [1, 2, 3, 4, 5, 6]


def test_a_start_within_the_rounding_of_an_end_is_after_it(write):
    rows = read(write, session(request(0, 1, api_time=5.05), request(5, 2, api_time=1)))
    assert links(rows) == {1: [], 2: [1]}


def test_times_of_a_sub_agent_may_begin_with_it(write):
    inner = [request(0, 11, api_time=4), request(7, 12, api_time=1)]
    rows = read(write, session(request(0, 1, api_time=10), agent(12, *inner), request(30, 2)))
    assert [(row.input_tokens, row.at_ns // S, row.pause_ns // S) for row in rows] == [
        (1, 0, 0),
        (11, 12, 2),
        (12, 19, 3),
        (2, 30, 10),
    ]


def test_requests_without_times_follow_one_another(write):
    untimed = [request(0, number, api_time=9, think_time=2.0) for number in (1, 2)]
    for each in untimed:
        del each["t"]
    rows = read(write, session(*untimed))
    assert [(row.after, row.pause_ns) for row in rows] == [((), 0), ((0,), 2 * S)]


def untimed(tokens, **more):
    each = request(0, tokens, **more)
    del each["t"]
    return each


def test_many_requests_without_times_have_one_predecessor_each(write):
    requests = [untimed(1 + number, api_time=9) for number in range(600)]
    rows = read(write, session(*requests))
    assert [row.after for row in rows] == [(), *((number,) for number in range(599))]


def test_a_sub_agent_without_a_time_changes_nothing_for_later_requests(write):
    inner = agent(0, untimed(11))
    del inner["t"]
    first, second = request(0, 1, api_time=1), request(2, 2, api_time=8)
    rows = read(write, session(first, second, inner, request(5, 3)))
    assert links(rows) == {1: [], 2: [1], 11: [2], 3: [1, 11]}


def test_requests_whose_times_go_back_start_no_earlier_than_those_before_them(write):
    starts = [0, 5, 10, 3, 11]
    requests = [request(at, 1 + number, api_time=1) for number, at in enumerate(starts)]
    rows = read(write, session(*requests))
    assert [(row.input_tokens, row.at_ns // S) for row in rows] == [
        (1, 0),
        (2, 5),
        (3, 10),
        (4, 10),
        (5, 11),
    ]
    assert all(row.after for row in rows[1:])


def test_think_times_count_where_times_are_not_recorded(write):
    first, second = untimed(1, api_time=9), untimed(2, api_time=9, think_time=5.0)
    inner = agent(0, untimed(11, api_time=1))
    rows = read(write, session(first, inner, second, untimed(3, api_time=9, think_time=7.0)))
    pauses = {row.input_tokens: row.pause_ns for row in rows}
    assert (pauses[2], pauses[3]) == (5 * S, 7 * S)


@pytest.mark.parametrize(
    "inner", [[untimed(11), request(5, 12)], [request(150, 11), request(5, 12)]]
)
def test_one_time_before_the_sub_agent_shows_that_its_times_begin_with_it(write, inner):
    rows = read(write, session(request(0, 1, api_time=1), agent(100, *inner)))
    times = {row.input_tokens: row.at_ns // S for row in rows}
    assert times[12] >= 105


def test_a_request_is_behind_those_that_it_waits_for_whatever_their_times_are(write):
    rows = read(
        write, session(request(5, 1), agent(0, request(0, 11), request(7, 12)), request(6, 2))
    )
    assert [(row.input_tokens, row.at_ns) for row in rows] == [
        (1, 0),
        (11, 0),
        (12, 2 * S),
        (2, 2 * S),
    ]
    assert all(before < row.number for row in rows for before in row.after)


def test_sessions_follow_one_another_and_ids_are_their_own(write):
    local = session(request(4, 64), request(5, 64))
    rows = read(write, local, local, session(request(0, 64), scope="global"))
    assert [(row.number, row.session, row.turn, row.at_ns) for row in rows] == [
        (0, 0, 1, 0),
        (1, 0, 2, S),
        (2, 1, 1, 0),
        (3, 1, 2, S),
        (4, 2, 1, 0),
    ]
    first, same, second, _, shared = (row.hash_ids for row in rows)
    assert first == same
    assert len({first, second, shared}) == 3
    assert shared == (1,)


def test_ids_of_the_scope_global_are_shared_between_sessions(write):
    shared = session(request(0, 64), scope="global")
    first, second = read(write, shared, shared)
    assert first.hash_ids == second.hash_ids == (1,)


def test_sessions_are_also_read_from_lines(write):
    trace = read_trace(write("a.jsonl", [session(request(0)), session(request(0))]))
    assert [row.session for row in trace] == [0, 1]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"type": "x"}, "x"),
        ({"in": -1}, "in"),
        ({"hash_ids": [-1]}, "-1|>= 0"),
        ({"hash_ids": 7}, "array"),
        ({"t": "a"}, "t"),
    ],
)
def test_a_session_that_cannot_be_read_is_named(write, change, why):
    path = write("traces/a.json", json.dumps(session({**request(0), **change})))
    with pytest.raises(FileError, match=rf"a\.json:1: not a row: .*{why}"):
        list(read_trace(path.parent))


def test_a_folder_without_sessions_is_refused(write):
    folder = write("traces/readme.txt", "a").parent
    with pytest.raises(UsageError, match="no session in this folder"):
        read_trace(folder)
    with pytest.raises(UsageError, match="only Weka's format"):
        read_trace(folder, "mooncake")


def test_only_one_file_of_a_folder_is_open(write, monkeypatch):
    opened = []
    from torr.sources.traces import reader

    real = reader.opened_source
    monkeypatch.setattr(
        reader, "opened_source", lambda path: opened.append(path.name) or real(path)
    )
    for number in range(5):
        path = write(f"traces/{number}.json", json.dumps(session(request(0))))
    trace = read_trace(path.parent)
    assert opened == ["0.json"]
    next(trace), next(trace)
    assert opened == ["0.json", "1.json"]
