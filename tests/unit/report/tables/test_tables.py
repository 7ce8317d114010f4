import csv
import io

import typed
from page import titles
from torr.report.files import csv as levels_csv
from torr.report.files import markdown
from torr.report.tables import level_table, request_tables
from torr.results.series import LevelPoint
from torr.stats.series import Series
from torr.verdicts import diff


def test_levels_are_rows_in_ascending_order(limited_ladder):
    falling = typed.changed(limited_ladder, levels=limited_ladder.levels[::-1])
    found = level_table.levels(falling)
    assert found.columns == (
        *("connections", "ok/s", "spread", "mean TTLB", "p50", "p95", "p99", "success", "health"),
    )
    assert found.rows[3] == (
        *("100", "≥ 18,959", "2.8 %", "5.27 ms", "4.77 ms", "11.6 ms", "18.6 ms", "100 %"),
        "contended",
    )
    assert found.rows[-1][-1] == "generator-limited"


def test_percentiles_that_are_lower_bounds_say_so(make_level, make_result):
    at_least = {"response_ms": {"at_least": ["p99"]}}
    made = typed.patched(make_level(5, 100.0, 1.0), latency=at_least)
    assert level_table.levels(make_result("ladder", [made])).rows[0][6] == "≥ 3.59 ms"
    assert level_table.times(made).rows[0][6] == "≥ 3.59 ms"


def test_a_percentile_on_too_few_answers_is_a_dash(make_level):
    made = make_level(5, 100.0, 1.0)
    assert level_table.times(made).rows[0][8] == "–"
    made = typed.patched(made, latency={"response_ms": {"at_least": ["p99_99"]}})
    assert level_table.times(made).rows[0][8] == "–"


def step(name, ok, **errors):
    counts = {"attempted": ok + sum(errors.values()), "ok": ok, "errors": errors}
    times = {"n": ok, "p50": 1.5, "p95": 20.0, "p99": 300.0, "at_least": ["p99"]}
    return {"name": name, "counts": counts, "ok_per_s": ok / 10, "latency": {"response_ms": times}}


def test_each_request_has_a_row_where_there_are_several(run):
    steps = [step("GET /a", 9000), step("login", 0, status=1000)]
    level = typed.changed(run.levels[0], requests=steps)
    assert request_tables.requests(level).rows == (
        ("GET /a", "900", "9,000", "1.50 ms", "20.0 ms", "≥ 300 ms", "0"),
        ("login", "0", "1,000", "1.50 ms", "20.0 ms", "≥ 300 ms", "1,000"),
    )
    assert request_tables.requests(typed.changed(level, requests=steps[:1])) is None
    result = typed.changed(run, levels=[level])
    assert "## Requests\n\n| request |" in markdown.text(result)
    assert "Requests" in titles(result, is_folded=False)


def test_each_request_of_a_ladder_has_a_row_at_each_level(make_level, make_result):
    levels = []
    for users, rate in ((8, 80.0), (5, 40.0), (5, 60.0), (5, 50.0)):
        steps = [step("GET /a", round(rate) * 10), step("GET /b", 10)]
        shared = {"requested": 2, "open_max": 2, "opened": 2}
        levels.append(make_level(users, rate, 1.0, requests=steps, connections=shared))
    result = make_result("ladder", levels)
    found = request_tables.requests_of_levels(result)
    assert found.columns[:3] == ("users", "request", "ok/s")
    # Of three rounds the one in the middle.
    assert [row[:3] for row in found.rows] == [
        *(("5", "GET /a", "50"), ("5", "GET /b", "1")),
        *(("8", "GET /a", "80"), ("8", "GET /b", "1")),
    ]
    assert level_table.levels(result).columns[0] == "users"
    assert "## Requests\n\n| users | request |" in markdown.text(result)
    assert "Requests at every level" in titles(result, is_folded=True)


def test_turns_that_a_trace_does_not_have_have_no_row(run):
    steps = [
        {"name": f"turn {n}", "counts": {"attempted": sent, "ok": sent}}
        for n, sent in ((1, 9), (2, 4), (3, 0))
    ]
    trace = {"format": "bailian", "rows": 13, "sessions": 9}
    level = typed.changed(run.levels[0], requests=steps)
    names = [row[0] for row in request_tables.requests(level).rows]
    assert names == ["turn 1", "turn 2", "turn 3"]
    of_trace = typed.changed(level, trace=trace)
    assert [row[0] for row in request_tables.requests(of_trace).rows] == names[:2]


def test_a_ticket_has_no_room_for_many_requests(make_level, make_result):
    steps = [step(f"GET /{n}", 10) for n in range(50)]
    levels = [make_level(users, 10.0, 1.0, requests=steps) for users in (5, 8)]
    result = make_result("ladder", levels)
    assert "## Requests" not in markdown.text(result)
    assert len(request_tables.requests_of_levels(result).rows) == 100


def test_throughput_shows_that_counts_balance(run):
    found = dict(level_table.throughput(run.levels[0]).rows)
    assert found["attempted"] == "21,540"
    assert found["ok"] == "21,500"
    assert found["errors"] == "40"
    assert found["open connections"] == "50 of 50"


def test_errors_come_with_their_reasons_the_commonest_first(run):
    assert level_table.errors(run).rows == (
        ("50", "timeout", "30", "0.14 %", "timeout.first_byte 30"),
        ("50", "status", "10", "0.05 %", "status.503 10"),
    )


def test_the_share_of_errors_is_of_all_attempts(make_level, make_result):
    counts = {"attempted": 100, "ok": 60, "errors": {"timeout": 40}}
    level = make_level(5, 100.0, 1.0, counts=counts)
    (row,) = level_table.errors(make_result("run", [level])).rows
    assert row[:4] == ("5", "timeout", "40", "40 %")


def test_without_errors_there_is_no_table_of_errors(ladder):
    assert level_table.errors(ladder) is None


def test_capacity_says_why_something_is_not_claimed(collapsing_ladder):
    found = {row[0]: row[1:] for row in level_table.capacity(collapsing_ladder).rows}
    assert found["peak"] == ("200", "47,574 requests/s; within 5 % of it at 200, 500, 1,000")
    assert found["knee"] == (
        "–",
        "not claimed: the ladder starts too late: power is greatest at its lowest level, 200",
    )
    assert found["capacity under SLO"][1] == (
        "42,500 requests/s with p95 < 500ms; at 10,000 p95 < 500ms is broken (575 ms)"
    )
    assert found["USL fit"] == ("–", "not claimed: needs 6 levels with success ≥ 99 %, there are 5")


def test_a_fit_is_shown_with_its_numbers(make_level, make_result):
    levels = []
    for n in (1, 2, 4, 8, 16, 32, 64, 128, 256):
        rate = 1000 * n / (1 + 0.03 * (n - 1) + 0.0005 * n * (n - 1))
        levels.append(make_level(n, rate, n / rate * 1000))
    found = {row[0]: row[1:] for row in level_table.capacity(make_result("ladder", levels)).rows}
    assert found["USL fit"][1] == "λ 1,000/s, σ 0.03, κ 0.0005; R² 1.0000, rms 0.0 %"
    assert found["USL peak N*"] == (
        "44",
        "throughput falls past it (95 % interval 44 to 44)",
    )


def test_ratios_are_rows_of_both_sides(diffed):
    found = level_table.ratios(diffed)
    assert found.columns[1:4] == ("ok/s bare", "ok/s apiserver", "ratio")
    assert found.rows[0] == (
        *("10", "1,940", "1,293", "0.67 ×", "5.15 ms", "7.73 ms", "1.50 ×"),
        *("11.4 ms", "17.1 ms", "1.50 ×", "100 % / 100 %", "2.8 % / 2.8 %"),
    )
    assert found.columns[7:10] == ("p95 bare", "p95 apiserver", "ratio")
    assert len(found.rows) == 8


def test_ratios_of_sides_without_a_p95_have_no_columns_for_it():
    a, b = (Series(name, (LevelPoint(10, 100.0, 2.0, 100.0),)) for name in ("a", "b"))
    found = level_table.ratios(diff.ratios(a, b))
    assert not any(name.startswith("p95") for name in found.columns)
    assert len(found.columns) == len(found.rows[0]) == 9


def test_csv_has_a_row_a_level_under_the_names_of_the_result(tmp_path, run):
    (path,) = levels_csv.write(run, tmp_path)
    (row,) = csv.DictReader(io.StringIO(path.read_text()))
    assert row["concurrency"] == "50"
    assert row["latency.service_ms.p99"] == repr(run.levels[0].latency.service.p99)
    assert row["counts.errors.timeout"] == "30"
    assert row["health.worker_cpu_rate"] == "61.2"
    assert row["latency.service_ms.p99_99"] == ""
    assert not {"intervals", "histograms.service", "samples"} & row.keys()


def test_csv_runs_no_formula_in_a_spreadsheet():
    assert levels_csv.text([{"candidate": "=cmd()", "x": None}]) == "candidate,x\n'=cmd(),\n"
    named = levels_csv.text([{"=cmd()": 1, "factors": {"a\rb": 2}, "-1": 3}])
    assert named == "'=cmd(),\"factors.a\nb\",'-1\n1,2,3\n"


def test_csv_of_a_diff_has_a_row_a_level_of_each_side(tmp_path, diffed):
    (path,) = levels_csv.write(diffed, tmp_path)
    rows = list(csv.DictReader(io.StringIO(path.read_text())))
    assert [row["series"] for row in rows].count("apiserver") == 9
    assert rows[0]["ok_per_s"] == repr(diffed.series[0].points[0].ok_per_s)


def test_the_summary_starts_with_verdict_and_trust(run):
    assert markdown.text(run) == (
        "# apiserver\n"
        "\n"
        "**Answers 2,150 requests/s over 50 connections with p95 51.1 ms; 0.19 % failed.**\n"
        "\n"
        "Healthy: the generator had room · busiest worker 61 % of a core · "
        "1 round: spread of intervals 2.8 %, run-to-run variance not measured.\n"
        "\n"
        "## Times\n"
        "\n"
        "| time | n | p50 | p75 | p90 | p95 | p99 | p99.9 | p99.99 | max | mean | stdev |\n"
        "| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |\n"
        "| response | 21,500 | 20.9 ms | 25.5 ms | 34.8 ms | 51.1 ms | 81.7 ms | 123 ms | – "
        "| 204 ms | 23.2 ms | 7.74 ms |\n"
        "| service | 21,500 | 20.9 ms | 25.5 ms | 34.8 ms | 51.0 ms | 81.7 ms | 122 ms | – "
        "| 204 ms | 23.2 ms | 7.73 ms |\n"
        "| ttfb | 21,500 | 20.3 ms | 24.8 ms | 33.8 ms | 49.5 ms | 79.2 ms | 119 ms | – "
        "| 198 ms | 22.5 ms | 7.50 ms |\n"
        "| queue_wait | 21,500 | 0.009 ms | 0.011 ms | 0.015 ms | 0.022 ms | 0.035 ms | 0.053 ms "
        "| – | 0.088 ms | 0.010 ms | 0.003 ms |\n"
        "| connect | 21,500 | 0.270 ms | 0.330 ms | 0.450 ms | 0.660 ms | 1.06 ms | 1.58 ms | – "
        "| 2.64 ms | 0.300 ms | 0.100 ms |\n"
        "| scheduling_lag | 21,500 | 0.018 ms | 0.022 ms | 0.030 ms | 0.044 ms | 0.070 ms "
        "| 0.106 ms | – | 0.176 ms | 0.020 ms | 0.007 ms |\n"
        "\n"
        "## Throughput\n"
        "\n"
        "|  | measured |\n"
        "| --- | --: |\n"
        "| ok requests/s | 2,150 |\n"
        "| attempted | 21,540 |\n"
        "| ok | 21,500 |\n"
        "| errors | 40 |\n"
        "| success | 99.81 % |\n"
        "| in flight at the end | 0 |\n"
        "| dropped | 0 |\n"
        "| measurement window | 10 s |\n"
        "| open connections | 50 of 50 |\n"
        "| received | 2.87 MiB |\n"
        "| sent | 1.85 MiB |\n"
        "\n"
        "## Errors\n"
        "\n"
        "| connections | class | count | of attempts | reasons |\n"
        "| --: | --- | --: | --: | --- |\n"
        "| 50 | timeout | 30 | 0.14 % | timeout.first_byte 30 |\n"
        "| 50 | status | 10 | 0.05 % | status.503 10 |\n"
        "\n"
        "```sh\n"
        "torr run http://127.0.0.1:8080/healthz -H 'x: it'\"'\"'s'\n"
        "```\n"
        "\n"
        "torr 0.1.0 run · 2026-01-31 12:00:00 – 12:02:00 UTC\n"
    )


def test_names_cannot_break_the_summary(run):
    run = typed.changed(run, name="a|b <script> `x` _y_ z_z", command=["torr", "```"])
    assert markdown.text(run).startswith("# a\\|b \\<script\\> \\`x\\` \\_y\\_ z_z\n")
    assert "````sh\ntorr '```'\n````" in markdown.text(run)


def test_the_summary_of_a_diff_shows_its_ratios(diffed):
    text = markdown.text(diffed)
    assert "## Ratios" in text
    assert "| 10 | 1,940 | 1,293 | 0.67 × |" in text


def test_what_the_server_allows_connections_of_http2_is_in_rows(run):
    limits = {"streams": None, "window_bytes": 65536, "header_list_bytes": 16384}
    level = typed.patched(run.levels[0], http2={"server_limits": limits}, resent=7)
    rows = dict(level_table.throughput(level).rows)
    assert rows["sent again"] == "7"
    assert rows["streams that the server allows"] == "no limit"
    sizes = "initial window size of the server", "largest head of a request that the server allows"
    assert [rows[name] for name in sizes] == ["64 KiB", "16 KiB"]
    level = typed.patched(level, http2={"server_limits": limits | {"header_list_bytes": None}})
    assert sizes[1] not in dict(level_table.throughput(level).rows)


def test_what_connections_of_websocket_did_are_rows(run):
    lifetime = {"n": 3, "mean": 1500.0}
    counts = {"unmatched_messages": 1200, "pings": 4, "closed": 3, "closed_by_server": 2}
    level = typed.patched(run.levels[0], websocket=counts | {"lifetime_ms": lifetime})
    rows = dict(level_table.throughput(level).rows)
    assert rows["unmatched messages"] == "1,200"
    assert rows["ended by the server"] == "2"
    assert rows["mean lifetime of a connection"] == "1,500 ms"
    assert "not confirmed by the server" not in rows
    level = typed.patched(level, websocket={"unconfirmed": 2})
    rows = dict(level_table.throughput(level).rows)
    assert rows["not confirmed by the server"] == "2"
    assert "connections that ended" not in dict(level_table.throughput(run.levels[0]).rows)
