import pytest

import typed
from page import titles
from streamed import streaming
from torr.report.files import markdown
from torr.report.tables import request_tables, stream_tables
from torr.report.view import view_tables


@pytest.fixture
def steps(streamed):
    """Two turns, of which the second has too few streams for a median, and a plain request."""
    level = streamed.levels[0]
    first = {"name": "turn 1", "stream": typed.changed(level.stream, goodput_rate=None)}
    few = {"n": 9, "mean": 410.0}
    second = {"name": "turn 2", "stream": {"ttft_ms": few, "tokens_per_s": 4.0}}
    return typed.changed(level, requests=[first, second, {"name": "login"}])


def test_levels_of_streams_are_rows(streamed_ladder):
    found = stream_tables.streams_of_levels(streamed_ladder)
    assert found.columns == (
        *("connections", "ttft p50", "ttft p95", "tpot mean", "tokens/s", "goodput"),
    )
    assert found.rows[0] == ("10", "261 ms", "–", "20.0 ms", "189", "97.5 %")
    assert [row[0] for row in found.rows] == ["10", "20", "50", "100", "200", "400"]
    assert found.rows[1][2] != "–"


def test_levels_too_short_for_a_median_have_a_mean(streamed_ladder):
    first = {"stream": {"ttft_ms": {"p50": None}}}
    streamed_ladder = typed.patched(streamed_ladder, levels={0: first})
    found = stream_tables.streams_of_levels(streamed_ladder)
    assert found.columns[1:4] == ("ttft mean", "ttft p50", "ttft p95")
    assert found.rows[0][1].endswith(" ms")
    assert found.rows[0][2:4] == ("–", "–")


def test_rates_of_a_shared_machine_and_late_percentiles_are_lower_bounds(streamed_ladder):
    second = {"health": {"verdict": "contended"}, "stream": {"ttft_ms": {"at_least": ["p95"]}}}
    streamed_ladder = typed.patched(streamed_ladder, levels={1: second})
    row = stream_tables.streams_of_levels(streamed_ladder).rows[1]
    assert [cell.startswith("≥ ") for cell in row] == [False, False, True, False, True, False]


def test_a_rate_of_tokens_that_were_not_all_reported_is_a_lower_bound(streamed_ladder):
    second = {"stream": {"tokens_unreported": 1}}
    streamed_ladder = typed.patched(streamed_ladder, levels={1: second})
    rows = stream_tables.streams_of_levels(streamed_ladder).rows
    assert [row[4].startswith("≥ ") for row in rows[:3]] == [False, True, False]


def test_each_number_is_the_median_of_the_rounds_that_claim_something(make_station, make_result):
    levels = [streaming(make_station(20, delay_ms=500), ttft) for ttft in (100, 200, 300, 9000)]
    rounds = [
        typed.patched(level, round=at, stream={"tokens_per_s": 10.0 * at})
        for at, level in enumerate(levels, 1)
    ]
    rounds[-1] = typed.patched(rounds[-1], health={"verdict": "generator-limited"})
    (row,) = stream_tables.streams_of_levels(make_result("ladder", rounds)).rows
    assert row[-2] == "20"


def test_what_no_level_knows_has_no_column(streamed_ladder):
    unknown = dict.fromkeys(("tokens_per_s", "goodput_rate", "tpot_ms", "ttft_ms"))
    levels = [
        typed.patched(level, stream={**unknown, "ttfe_ms": level.stream.ttft_ms})
        for level in streamed_ladder.levels
    ]
    found = stream_tables.streams_of_levels(typed.changed(streamed_ladder, levels=levels))
    assert found.columns == ("connections", "ttfe p50", "ttfe p95", "inter_chunk mean")


def test_levels_of_calls_have_the_times_of_messages(called_ladder):
    found = stream_tables.streams_of_levels(called_ladder)
    assert found.columns == (
        *("connections", "ttfe p50", "ttfe p95", "message p50", "message p95"),
        *("inter_chunk mean", "goodput"),
    )
    assert found.rows[0] == ("10", "261 ms", "–", "19.9 ms", "21.8 ms", "20.0 ms", "97.5 %")


def test_a_level_of_calls_has_neither_texts_nor_tokens(called):
    names = [row[0] for row in stream_tables.streams(called.levels[0]).rows]
    assert names == ["ttfe", "inter_chunk"]
    assert [row[0] for row in stream_tables.tokens(called.levels[0]).rows] == [
        *("goodput", "messages")
    ]
    assert "Messages" in titles(called, is_folded=False)
    assert "Tokens" not in titles(called)


def test_levels_of_streams_are_in_page_and_summary(streamed_ladder):
    assert "## Streams\n\n| connections | ttft p50 |" in markdown.text(streamed_ladder)
    assert "Streams: median of rounds" in titles(streamed_ladder, is_folded=False)


def test_levels_without_streams_have_no_table_of_them(ladder):
    assert stream_tables.streams_of_levels(ladder) is None
    assert "Streams" not in markdown.text(ladder)
    assert not [title for title in titles(ladder) if "Streams" in title]


def test_requests_that_stream_have_their_first_texts(steps, streamed):
    found = request_tables.streams_of_requests(steps)
    assert found.columns == (
        *("request", "ttft mean", "ttft p50", "ttft p95", "tpot mean", "tokens/s"),
    )
    assert found.rows[0][0] == "turn 1"
    assert "–" not in found.rows[0]
    assert found.rows[1:] == (
        ("turn 2", "410 ms", "–", "–", "–", "4"),
        ("login", "–", "–", "–", "–", "–"),
    )
    result = typed.changed(streamed, levels=[steps])
    assert "## Streams of requests\n\n| request | ttft mean |" in markdown.text(result)
    assert "Streams of requests" in titles(result, is_folded=False)


def test_requests_of_every_level_that_stream_have_rows(steps, make_result):
    levels = [steps, typed.changed(steps, concurrency=10)]
    result = make_result("ladder", levels)
    found = request_tables.streams_of_requests_of_levels(result)
    assert found.columns[:3] == ("connections", "request", "ttft mean")
    assert [row[:2] for row in found.rows][2:4] == [("10", "login"), ("20", "turn 1")]
    assert "## Streams of requests" in markdown.text(result)
    assert "Streams of requests at every level" in titles(result, is_folded=True)


def test_turns_that_a_trace_does_not_have_have_no_rows(steps):
    trace = {"format": "sharegpt", "rows": 9, "sessions": 2}
    turns = [
        {"name": f"turn {n}", "counts": {"attempted": count}}
        for n, count in ((1, 2), (2, 7), (3, 0))
    ]
    level = typed.changed(steps, trace=trace, requests=turns)
    assert [row[0] for row in request_tables.requests(level).rows] == ["turn 1", "turn 2"]
    level = typed.changed(level, requests=[turns[0], turns[2]])
    assert request_tables.requests(level) is None


def test_turns_show_how_the_context_grows_and_what_of_it_is_cached(steps):
    first, second, *others = steps.requests
    turns = [
        typed.patched(first, counts={"ok": 10}, stream={"tokens_in": 1000}),
        typed.patched(
            second, counts={"ok": 10}, stream={"tokens_in": 23_400, "tokens_cached": 11_700}
        ),
    ]
    found = request_tables.streams_of_requests(typed.changed(steps, requests=[*turns, *others]))
    assert found.columns[:3] == ("request", "prompt tokens", "cached")
    assert [row[1:3] for row in found.rows] == [("100", "–"), ("2,340", "50 %"), ("–", "–")]


def test_requests_that_do_not_stream_have_no_table_of_streams(steps):
    plain = typed.changed(steps, requests=[{"name": step.name} for step in steps.requests])
    assert request_tables.requests(plain)
    assert request_tables.streams_of_requests(plain) is None


def test_percentiles_that_no_time_of_streams_carries_have_no_column(streamed):
    level = streamed.levels[0]
    found = stream_tables.streams(level)
    assert found.columns == (*("stream", "n", "p50", "p75", "p90", "p95", "p99", "max", "mean"),)
    assert {len(row) for row in found.rows} == {len(found.columns)}
    level = typed.patched(level, stream={"stream_tokens_per_s": {"n": 9, "stdev": 1.5}})
    assert stream_tables.streams(level).columns[-1] == "stdev"


def test_long_names_of_other_tools_may_break_in_the_page(streamed):
    first = streamed.levels[0].stream.ttft_ms
    alias = {"aiperf": {"time_to_first_token_ms": first}}
    found = view_tables.tables(typed.patched(streamed, levels={0: {"stream": {"alias": alias}}}))
    (table,) = [t for t in found if t["title"] == {"en": "Streams", "zh": "流"}]
    assert table["names"] == [0]
    assert "aiperf time_to_first_token" in [row[0] for row in table["rows"]]
