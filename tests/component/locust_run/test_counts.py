"""The counts of a recorded test are those of Locust, in output, result and CSV file."""

from __future__ import annotations

import csv
import json
from types import SimpleNamespace

import jsonschema
import pytest

from torr.results.result import schema_text
from torr.store.runs.database_url import DatabaseUrl
from torr.store.runs.store import Store

EVENTS = ("locustfile_events", "-u", "4", "-r", "4", "--json", "--csv", "rows")
# A directory that is not the default one, and that tests find where the default one is.
OUT = ("--torr-out", "../_output/torr", "--torr-name", "mine")
NOTED = ("--torr-note", "api 1.2 CPU", "--torr-tag", "b", "--torr-tag", "a")


def counted(out):
    """Return what Locust's own statistics count: requests and failures by name."""
    # Worker processes print empty lists, before or after.
    rows, _ = json.JSONDecoder().raw_decode(out, out.index("[\n    {"))
    return {row["name"]: (row["num_requests"], row["num_failures"]) for row in rows}


def kept(level):
    """Return the same of a run."""
    return {
        step["name"].removeprefix("RPC "): (
            step["counts"]["attempted"],
            sum(step["counts"]["errors"].values()),
        )
        for step in level["requests"]
    }


def balances(part):
    counts = part["counts"]
    errors = sum(counts["errors"].values())
    return counts["attempted"] == counts["ok"] + errors + counts["in_flight"]


def written(folder):
    """Return the same of the CSV file that Locust writes."""
    with (folder / "rows_stats.csv").open(newline="") as file:
        return {
            row["Name"]: (int(row["Request Count"]), int(row["Failure Count"]))
            for row in csv.DictReader(file)
            if row["Name"] != "Aggregated"
        }


def check_counts(ended, processes):
    """Fail unless a run counts what Locust counts, in its output and its result."""
    result, level = ended.result, ended.level
    assert "Traceback" not in ended.err
    generator, warnings = level["generator"], level["warnings"]
    assert counted(ended.out) == kept(level), (generator, warnings, ended.err)
    assert set(kept(level)) == {"good", "bad"}
    assert (result["kind"], result["status"], level["concurrency"]) == ("locust", "complete", 4)
    assert level["generator"]["processes"] == processes, ended.err
    assert all(balances(part) for part in (level, *level["requests"]))
    jsonschema.validate(result, json.loads(schema_text()))


@pytest.fixture(scope="module")
def test(run_in, tmp_path_factory):
    """One test of Locust in one process, and where it was called."""
    folder = tmp_path_factory.mktemp("test")
    (folder / "called").mkdir()
    store = f"sqlite:///{folder}/runs.db"
    ended = run_in(folder / "called", *EVENTS, "-t", "2s", *OUT, *NOTED, TORR_STORE=store)
    ended.folder = folder
    return SimpleNamespace(ended=ended, store=store, called=folder / "called")


def test_counts_what_locust_counts(test):
    check_counts(test.ended, 1)


def test_processes_count_what_locust_counts(locust, tmp_path):
    ended = locust(*EVENTS, "--processes", "2", TEST_TIME_S="1")
    check_counts(ended, 2)
    assert written(tmp_path) == counted(ended.out)


def test_csv_files_end_as_they_do_under_locust(test):
    assert written(test.called) == counted(test.ended.out)


def test_events_are_marked_and_in_no_total(test):
    level = test.ended.level
    assert [(step["name"], step["event"]) for step in level["requests"]] == [
        ("RPC good", True),
        ("bad", True),
    ]
    assert level["counts"]["attempted"] == 0
    good, bad = level["requests"]
    assert good["latency"]["response_ms"]["max"] == pytest.approx(12.5, rel=0.01)
    assert good["bytes_in"] == 7 * good["counts"]["ok"]
    assert bad["latency"]["response_ms"] is None
    assert bad["reasons"] == {"check.locustfile": bad["counts"]["attempted"]}
    assert level["samples"][0]["detail"] == "token=*** is wrong"


def test_says_the_verdict_the_trust_and_the_place_last(test):
    *_, verdict, trust, stored, place = test.ended.err.strip().splitlines()
    assert verdict.startswith(("No request was sent by torr's clients", "Claims nothing"))
    assert "busiest process" in trust
    assert stored.startswith("stored  as run 1")
    (folder,) = (test.ended.folder / "_output/torr").glob("mine-*")
    assert place == f"report  ../_output/torr/{folder.name}/report.html"
    names = {path.name for path in folder.iterdir()}
    assert names == {"levels.csv", "report.html", "result.json", "intervals.jsonl", "summary.md"}
    assert "RPC good (event)" in (folder / "summary.md").read_text()


def test_a_test_is_registered_with_its_note_and_tags(test):
    with Store.open(DatabaseUrl(test.store)) as store:
        (run,) = store.find()
    assert (run.kind, run.note, run.tags) == ("locust", "api 1.2 CPU", ("a", "b"))
