"""Tables, summary and CSV of a comparison: what is in result.json, as people read it."""

import csv
import io

import pytest

import typed
from compared import FACTORS, cells, compared, failure, on_trace, pair, rounds
from page import english
from torr.messages.message import message
from torr.model.condition import Condition
from torr.report.data.comparison import Comparison
from torr.report.files import csv as levels_csv
from torr.report.files import markdown
from torr.report.tables import comparison_facts, comparison_tables, slo_table, verdict_table
from torr.report.view import view_tables
from torr.verdicts.capacity import verdicts_of_trials
from torr.verdicts.comparison import Procedure

AT = {"connections": 500}
HOSTILE = "<b>a|b</b> `c` _d_ [e](f)"


@pytest.fixture
def four():
    return pair(0.88, 0.9, 1.0, 0.7, factors=FACTORS)


def tables_of(result):
    return dict(comparison_tables.of_cells(Comparison.of(result)))


def test_there_is_a_table_for_each_number_of_workers(four):
    found = tables_of(four)
    assert list(found) == ["1 process", "4 processes"]
    table = found["1 process"]
    assert table.columns[:9] == (
        *("connections", "candidate", "ok/s", "spread", "ratio", "95 %", "n", "verdict", "errors"),
    )
    assert table.columns[9:] == ("p50", "ratio", "p99", "ratio")
    assert [row[:8] for row in table.rows[:2]] == [
        ("100", "go-net", "12,082", "0.9 %", "–", "–", "10", "baseline"),
        ("100", "go-gin", "10,548", "0.8 %", "0.87 ×", "0.87–0.88", "10", "slower"),
    ]
    assert [row[0] for row in table.rows] == ["100", "100", "500", "500"]


def test_a_load_at_the_times_of_a_trace_has_no_number_of_connections():
    result = on_trace(0.5)
    (table,) = tables_of(result).values()
    assert table.columns[:3] == ("candidate", "p99", "spread")
    text = markdown.text(result)
    assert "1,000" not in text
    assert "go-gin: slower at the times of the trace (" in text


def test_medians_are_those_of_the_verdicts(four):
    found = Comparison.of(four)
    for place in found.cells:
        for entry in place.rivals:
            verdict = place.verdict(entry)
            assert entry.median(place.primary) == verdict.value
            assert place.base.median(place.primary) == verdict.baseline_value


def test_cells_stand_in_the_order_of_their_factors_whatever_the_order_of_measuring(four):
    four.levels.reverse()
    assert [place.words for place in Comparison.of(four).cells] == [
        *("1 process and 100 connections", "1 process and 500 connections"),
        *("4 processes and 100 connections", "4 processes and 500 connections"),
    ]


def test_what_was_watched_has_columns(four):
    derived = {"target_cpu_us_per_request": 41.0, "limit": "target"}
    levels = [typed.changed(level, monitor={"derived": derived}) for level in four.levels]
    table = tables_of(compared(levels, factors=FACTORS))["1 process"]
    assert table.columns[-3:] == ("CPU a request", "ratio", "limit")
    assert table.rows[1][-3:] == ("41 µs", "1.00 ×", "target")


def test_a_failed_candidate_stands_in_its_cell_without_numbers():
    result = compared(
        rounds({"go-net": 12_000}, AT), names=["go-net", "x"], failures=[failure("x", AT)]
    )
    (table,) = tables_of(result).values()
    assert table.rows[1] == ("500", "x", "–", "–", "–", "–", "0", "failed", *["–"] * 5)
    found = Comparison.of(result)
    assert comparison_tables.of_failures(found).rows == (
        ("x", "500 connections", "1", "did not start", "it exited: code 3; look at its log"),
    )
    ((trial, tail),) = comparison_facts.log_tails(found)
    assert trial == "x, round 1, 500 connections"
    assert tail.endswith("OSError: <port> is `taken`")


def test_a_cell_in_which_all_failed_is_a_cell():
    result = compared([], names=["a", "b"], baseline="a", failures=[failure("a", AT)])
    (place,) = Comparison.of(result).cells
    assert place.words == "500 connections"
    assert [place.standing(entry) for entry in place.entries] == ["failed", "not measured"]


def test_words_are_counted_over_cells(four):
    table = comparison_tables.of_words(Comparison.of(four))
    assert table.columns == (
        *("cells of 4", "faster", "slower", "same", "inconclusive", "no verdict", "failed"),
    )
    assert table.rows == (("go-gin", "–", "3", "1", "–", "–", "–"),)
    assert comparison_tables.of_words(Comparison.of(pair(0.88))) is None


def test_rounds_that_a_rule_discards_leave_medians_but_not_errors():
    levels = rounds({"go-net": 12_000, "go-gin": 10_000}, AT)
    levels[5] = typed.changed(
        levels[5],
        ok_per_s=1.0,
        success_rate=50.0,
        counts={"attempted": 2000, "ok": 1000, "errors": {"read": 1000}},
        reasons={"read.reset": 1000},
    )
    result = compared(levels, procedure=Procedure(rule=Condition.parse("success < 99%")))
    found = Comparison.of(result)
    entry = found.cells[0].rivals[0]
    assert entry.discarded == {3}
    assert set(entry.values(found.primary)) == set(range(1, 11)) - {3}
    (table,) = tables_of(result).values()
    assert [row[table.columns.index("n")] for row in table.rows] == ["9", "9"]
    (row,) = comparison_tables.of_discarded(found).rows
    assert row[:4] == ("500 connections", "go-gin", "3", "go-gin 1")
    assert row[4].startswith("slower, 0.84 × (")
    assert row[4].endswith("n = 9")
    assert row[5].endswith("n = 10")
    (errors,) = comparison_tables.of_errors(found).rows
    assert errors[:4] == ("500 connections", "go-gin", "read.reset", "1,000")


def test_notes_are_what_the_verdicts_say(four):
    assert list(comparison_facts.notes(Comparison.of(four))) == [
        (
            "go-gin: slower at 1 process and 100 connections (0.87 ×, 0.87–0.88), "
            "1 process and 500 connections (0.90 ×, 0.89–0.91), "
            "4 processes and 500 connections (0.70 ×, 0.69–0.71); "
            "same at 4 processes and 100 connections (1.00 ×, 0.99–1.01)."
        ),
        (
            "go-gin, secondary metrics: p50 slower in 3, same in 1; p99 slower in 3, same in 1; "
            "errors same in 4."
        ),
    ]


def test_the_summary_has_its_sections_in_order(four):
    four.experiment.differences = ["go-gin says Date, go-net does not."]
    failed = failure("go-gin", {"processes": 1, "connections": 100}, 3)
    four = typed.changed(four, failures=[failed])
    text = markdown.text(four)
    titles = [line[3:] for line in text.splitlines() if line.startswith("## ")]
    assert titles == [
        *("1 process", "4 processes", "Notes", "Trials that failed", "Configuration"),
        *("Candidates", "Differences of the responses", "Rules of fairness, as applied"),
        *("Every verdict", "Environment"),
    ]
    assert text.startswith("# healthz\n\n**go-gin is slower than go-net in 3 of 4 cells")
    assert "- go-gin says Date, go-net does not.\n" in text
    assert "| machine: cpu | Example |" in text
    assert "| processes | 1, 4 |" in text
    # The cells' tables have one interval, that of the primary metric.
    every = text.partition("## Every verdict")[2].splitlines()
    (p99,) = (row for row in every if row.startswith("| 4 | 500 | p99 |"))
    verdict = next(
        x
        for x in four.verdicts
        if (x.metric, x.factors["processes"], x.concurrency) == ("response_ms.p99", 4, 500)
    )
    assert "–".join(f"{end:.3f}" for end in verdict.interval) in p99


def test_names_cannot_break_the_summary():
    levels = rounds({"a": 100, HOSTILE: 200}, AT)
    told = failure("a", AT, text="a | b")
    told["log_tail"] = ["```", "# no title"]
    text = markdown.text(compared(levels, baseline="a", failures=[told]))
    cells, _, every = text.partition("## Every verdict")
    rows = [line for line in cells.splitlines() if line.startswith("| 500 |")]
    assert rows
    assert all(row.replace("\\|", "").count("|") == rows[0].count("|") for row in rows)
    rows = [line for line in every.splitlines() if line.startswith("| 500 |")]
    assert rows
    assert all(row.replace("\\|", "").count("|") == rows[0].count("|") for row in rows)
    assert "\\<b\\>a\\|b\\</b\\> \\`c\\` \\_d\\_ \\[e\\](f)" in text
    assert "````\n```\n# no title\n````" in text


def test_csv_has_columns_for_candidate_and_factors_and_a_row_for_failed_trials(tmp_path, four):
    failed = failure("=x()", {"processes": 4, "connections": 100}, 2)
    four = typed.changed(four, failures=[failed])
    (path,) = levels_csv.write(four, tmp_path)
    rows = list(csv.DictReader(io.StringIO(path.read_text())))
    assert len(rows) == 81
    assert rows[0]["candidate"] == "go-net"
    assert (rows[0]["factors.processes"], rows[0]["factors.connections"]) == ("1", "100")
    assert rows[-1]["candidate"] == "'=x()"
    assert (rows[-1]["factors.processes"], rows[-1]["round"]) == ("4", "2")
    assert (rows[-1]["failure"], rows[-1]["failure_kind"]) == ("it exited: code 3", "did_not_start")
    assert rows[-1]["ok_per_s"] == ""


def test_settings_in_words():
    settings = cells({"processes": [1], "delay": ["500ms"], "log": [True, False]})
    levels = [x for s in settings for x in rounds({"a": 100, "b": 200}, s, count=1)]
    assert [place.words for place in Comparison.of(compared(levels, baseline="a")).cells] == [
        "1 process, delay 500ms and log on",
        "1 process, delay 500ms and log off",
    ]
    levels[2:] = [typed.changed(level, concurrency=1) for level in levels[2:]]
    assert [place.words for place in Comparison.of(compared(levels, baseline="a")).cells] == [
        "1 process, delay 500ms, log on and 50 connections",
        "1 process, delay 500ms, log off and 1 connection",
    ]


def survivors(**more):
    """One candidate answers everybody, the other half of them, and those quickly."""
    counts = {"attempted": 8000, "ok": 4000, "errors": {"read": 4000}}
    levels = rounds({"go-net": 1000, "go-gin": 800}, AT, **more)
    levels[1::2] = [typed.changed(level, counts=counts) for level in levels[1::2]]
    return compared(levels)


def test_times_of_survivors_have_no_ratio_and_keep_their_numbers():
    result = survivors()
    (table,) = tables_of(result).values()
    row = dict(zip(table.columns[:10], table.rows[1][:10], strict=True))
    assert (row["ratio"], row["verdict"], row["p50"]) == ("0.80 ×", "slower", "1.25 ms")
    assert table.rows[1][9:] == ("1.25 ms", "–", "3.12 ms", "–")
    every = verdict_table.verdicts(result)
    at = every.columns.index("change")
    changes = {row[every.columns.index("metric")]: row[at : at + 2] for row in every.rows}
    assert changes["p50"] == changes["p99"] == ("–", "–")
    assert changes["ok/s"][0].startswith("0.8")
    assert "0.80 ×" in markdown.text(result)


def test_where_the_generator_was_the_limit_there_is_no_ratio():
    result = compared(rounds({"go-net": 1000, "go-gin": 800}, AT, health="generator-limited"))
    (table,) = tables_of(result).values()
    assert table.rows[1][4:8] == ("–", "–", "10", "no verdict")
    assert table.rows[1][9:] == ("1.25 ms", "–", "3.12 ms", "–")
    (place,) = Comparison.of(result).cells
    short = comparison_tables.of_cell(place).rows[1]
    assert short[2:5] == ("–", "–", "no verdict")
    assert short[1] == table.rows[1][2]
    assert not any("×" in cell for cell in short[1:])


def test_slos_have_a_row_a_cell_and_candidate_in_summary_and_page(four):
    four.levels.reverse()
    slos = [Condition.parse("ok/s > 9k"), Condition.parse("p99 < 1s")]
    judged = [*four.verdicts, *verdicts_of_trials(four.levels, slos)]
    four = typed.changed(four, verdicts=judged)
    table = slo_table.of_comparison(four)
    columns = ("cell", "candidate", "SLO", "value", "90 % interval", "word", "reason")
    assert table.columns == columns
    assert len(table.rows) == 16
    assert [row[0] for row in table.rows[::4]] == [p.words for p in Comparison.of(four).cells]
    assert [row[1] for row in table.rows] == ["go-net", "go-net", "go-gin", "go-gin"] * 4
    broken = [row[:2] for row in table.rows if row[5] == "broken"]
    assert broken == [("4 processes and 500 connections", "go-gin")]
    text = markdown.text(four)
    assert text.index("## Notes") < text.index("## SLOs") < text.index("## Configuration")
    assert text.count("| held |") == 15
    shown = next(each for each in view_tables.tables(four) if english(each["title"]) == "SLOs")
    assert len(shown["rows"]) == 16
    assert slo_table.of_comparison(pair(0.88)) is None


def test_intervals_are_named_by_how_surely_they_hold(four):
    third = pair(0.88, procedure=Procedure(alpha=0.05 / 3))
    (table,) = tables_of(third).values()
    assert table.columns[5] == "98.3 %"
    assert "98.3 % interval" in verdict_table.verdicts(third).columns
    assert "95 % interval" in verdict_table.verdicts(four).columns


def test_headers_of_answers_are_written_as_headers(four):
    four.experiment.answers["go-gin"]["headers"] = {"Server": "gin", "Vary": "Accept, Range"}
    table = comparison_facts.candidates(Comparison.of(four))
    column = table.columns.index("headers")
    assert [row[column] for row in table.rows] == ["–", "Server: gin; Vary: Accept, Range"]


def test_what_candidates_are_made_of_stands_side_by_side(four):
    assert comparison_facts.versions(Comparison.of(four)) is None
    known = four.experiment.candidates
    known["go-net"]["versions"] = {"go": "1.26"}
    known["go-gin"]["versions"] = {"go": "1.26", "gin": "1.11"}
    table = comparison_facts.versions(Comparison.of(four))
    assert table.columns == ("package", "go-net", "go-gin")
    assert table.rows == (("gin", "–", "1.11"), ("go", "1.26", "1.26"))
    assert "Versions of the candidates" in markdown.text(four)


def test_a_candidate_that_ran_out_of_descriptors_is_named(four):
    reason = message("bottleneck.descriptors", "no descriptor left")
    full = {"limit": "target", "limit_reason": reason}
    levels = [
        typed.changed(level, monitor={"derived": full})
        if level.candidate == "go-net" and level.factors["connections"] == 500
        else level
        for level in four.levels
    ]
    four = typed.changed(four, levels=levels)
    assert list(comparison_facts.notes(Comparison.of(four)))[-1] == (
        "go-net ran out of its descriptors at 1 process and 500 connections and 4 processes and"
        " 500 connections."
    )
