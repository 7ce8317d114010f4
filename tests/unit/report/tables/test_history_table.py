"""The tuning ledger as people read it: the table of a session, drawn by itself."""

import csv
import io

import pytest
from msgspec.structs import replace

import stored_runs
import typed
from stored_runs import level
from torr.messages.message import message
from torr.messages.say import render
from torr.report.files import ledger as ledger_text
from torr.report.tables import history_table
from torr.results.history import Ledger
from torr.verdicts import history as measured
from torr.verdicts.history import MeasuredRun

ROUNDS = {
    "api 0.8 CPU": 21.5,
    "api 1.2 CPU": 30.8,
    "api 2 CPU, 2 workers": 49.5,
    "PostgreSQL tuned": 54.1,
    "=DB on SSD | more CPU": 48.4,
}


def result(*arguments, **more):
    return typed.result(**stored_runs.result(*arguments, **more))


def ledger(results, concurrency=None, baseline=None):
    runs = [MeasuredRun.of(run, found, None, concurrency) for run, found in results]
    return measured.ledger(runs, baseline)


def session(baseline=None, **more):
    results = [
        (n, result("chat", level(50, rate, p95=4200.0, **more)))
        for n, rate in enumerate(ROUNDS.values(), 1)
    ]
    beside = baseline and MeasuredRun.of(baseline, dict(results)[baseline], None, None)
    found = ledger(results, baseline=beside)
    entries = [
        replace(entry, started=f"2026-01-31T12:0{n}:00.000Z", note=note, tags=["a", "b"])
        for n, (entry, note) in enumerate(zip(found, ROUNDS, strict=True))
    ]
    return Ledger(name="chat", entries=entries, baseline=beside and entries[baseline - 1])


def test_the_sentence_names_the_best_run():
    said = "5 runs of chat: run 4 (PostgreSQL tuned) is the best, 54.1 ok/s, 2.52 × the first"
    said += " (one run each)."
    assert history_table.sentence(session()) == said


def test_a_ratio_of_two_lower_bounds_is_marked_in_the_sentence():
    said = history_table.sentence(session(health="contended"))
    assert "run 4 (PostgreSQL tuned) is the best, ≥ 54.1 ok/s, 2.52 × ? the first" in said


def test_beside_a_baseline_the_newest_run_is_what_matters():
    found = session(baseline=3)
    assert history_table.sentence(found) == (
        "The newest of chat, run 5 (=DB on SSD | more CPU), has 48.4 ok/s, 0.98 × the"
        " baseline's, run 3 (api 2 CPU, 2 workers): one run each."
    )
    assert render(history_table.sentence(found), "zh") == (
        "chat 最新的是运行 5（=DB on SSD | more CPU），测得 48.4 ok/s，是基线（运行 3（api 2"
        " CPU, 2 workers））的 0.98 ×：各只运行一次。"
    )
    content = history_table.table(found)
    assert content.columns[-1] == "to the baseline"
    assert [row[-1] for row in content.rows][2:] == [
        "–",
        "1.09 × one run each",
        "0.98 × one run each",
    ]


def test_the_newest_run_may_be_the_baseline_or_claim_nothing():
    assert history_table.sentence(session(baseline=5)).endswith(
        "is the baseline itself: 48.4 ok/s."
    )
    found = session(baseline=1)
    reason = message("history.cut_short", "its window was cut short")
    found.entries[-1] = replace(found.entries[-1], reason=reason, ok_per_s=None)
    assert history_table.sentence(found).endswith("claims nothing: its window was cut short.")
    assert history_table.table(found).rows[-1][-3:] == ("its window was cut short", "–", "–")


def test_a_baseline_that_claims_nothing_there_is_said_with_its_reason():
    results = [(1, result("chat", level(10, 20))), (2, result("chat", level(10), level(40, 48.4)))]
    of = MeasuredRun.of(*results[0], None, 40)
    found = replace(session(), entries=ledger(results, 40, of), baseline=of.entry())
    assert history_table.sentence(found) == (
        "The newest of chat, run 2, has 48.4 ok/s; the baseline, run 1, claims nothing there:"
        " it has no level 40."
    )
    assert render(history_table.sentence(found), "zh") == (
        "chat 最新的是运行 2，测得 48.4 ok/s；基线（运行 1）在此无法得出结论：它没有 40 这一级。"
    )
    assert history_table.table(found).rows[-1][-1] == "–"
    assert ledger_text.markdown(found).startswith("**The newest of chat")


def test_where_no_run_claims_anything_the_newest_says_why_and_what_to_try():
    found = session(health="generator-limited")
    assert history_table.sentence(found) == (
        "No run of chat claims anything. The newest, run 5 (=DB on SSD | more CPU): the generator"
        " was the limit; give it more cores (--workers), or another machine."
    )
    assert render(history_table.sentence(found), "zh").endswith(
        "：压测端是瓶颈；给它更多的核（--workers），或换一台机器。"
    )
    assert [row[8] for row in history_table.table(found).rows] == [
        "the generator was the limit"
    ] * 5


def test_an_empty_ledger_says_whether_there_are_other_runs_of_the_name():
    found = replace(session(), entries=[], baseline=None)
    assert history_table.sentence(found) == "The store has no run of chat."
    assert history_table.sentence(replace(found, others=True)).startswith(
        "The store has runs of chat, but none"
    )


def of_arrivals(*p99s):
    results = [
        (n, result("api", level(50, 500, rate=500.0, p95=p99 / 2))) for n, p99 in enumerate(p99s, 1)
    ]
    return Ledger(name="api", entries=ledger(results))


def test_arrivals_have_the_best_by_p99_and_say_so():
    assert history_table.sentence(of_arrivals(90, 60, 70)) == (
        "3 runs of api: run 2 is the best, p99 60.0 ms, 0.67 × the first (one run each)."
    )
    found = of_arrivals(90, 60)
    found.baseline = found.entries[0]
    found.entries[1].baseline = found.entries[1].before
    assert history_table.sentence(found) == (
        "The newest of api, run 2, has p99 60.0 ms, 0.67 × the baseline's, run 1: one run each."
    )


def trials(rate, spread):
    rates = [rate * (1 + spread * (n % 3 - 1)) for n in range(6)]
    return result("chat", *(level(50, each, number=n) for n, each in enumerate(rates, 1)))


@pytest.mark.parametrize(
    ("spread", "end"), [(0.002, "1.20 × the first."), (0.3, "1.20 × the first (inconclusive).")]
)
def test_the_best_is_in_doubt_unless_trials_show_it(spread, end):
    results = [(1, trials(100, spread)), (2, trials(120, spread))]
    found = replace(session(), entries=ledger(results))
    assert history_table.sentence(found) == f"2 runs of chat: run 2 is the best, 120 ok/s, {end}"


def test_a_ledger_of_a_request_says_so():
    assert history_table.sentence(replace(session(), request="simple")).startswith(
        "5 runs of simple of chat"
    )


def test_a_row_has_numbers_and_what_they_changed():
    content = history_table.table(session())
    assert content.columns[:3] == ("run", "when (UTC)", "note")
    assert content.rows[0] == (
        *("1", "2026-01-31 12:00", "api 0.8 CPU", "50 connections", "1"),
        *("21.5", "4,200 ms", "100 %", "–", "–"),
    )
    assert content.rows[-1][-2:] == ("0.89 × one run each", "0.89 × one run each")


def test_bounds_are_marked():
    row = history_table.table(session(health="contended")).rows[1]
    assert row[5] == "≥ 30.8"
    assert row[-1] == "1.43 × ? one run each"


def test_a_run_that_claims_nothing_says_why():
    entries = ledger(
        [(1, result("chat", level(50, 20))), (2, result("chat", level(cut_short=True)))]
    )
    row = history_table.table(replace(session(), entries=entries)).rows[1]
    assert row[-5:] == ("–", "–", "–", "its window was cut short", "–")


def test_arrivals_are_compared_by_p99_and_say_so():
    row = history_table.table(session(rate=50.0)).rows[1]
    assert row[3] == "50/s"
    assert row[-1] == "p99 1.00 × one run each"


def test_markdown_is_one_sentence_and_one_table():
    lines = ledger_text.markdown(session()).splitlines()
    assert lines[0].startswith("**5 runs of chat")
    assert len(lines) == 2 + 2 + len(ROUNDS)
    assert len({line.replace("\\|", "").count("|") for line in lines[2:]}) == 1


def test_csv_has_every_number_and_no_formula():
    rows = list(csv.DictReader(io.StringIO(ledger_text.comma_separated(session()))))
    assert [float(row["ok_per_s"]) for row in rows] == list(ROUNDS.values())
    assert [row["before.run"] for row in rows] == ["", "1", "2", "3", "4"]
    assert rows[-1]["note"] == "'=DB on SSD | more CPU"
    assert "before" not in rows[0]
