"""Every test of Locust leaves a run that says what Locust says, and more."""

from __future__ import annotations

import json
import re

import jsonschema
import pytest

from torr.model.result import schema_text
from torr.store.kept.place import Place
from torr.store.kept.store import Store

EVENTS = "locustfile_events"


def counted(err):
    """What Locust's own summary counts: requests and failures by name."""
    rows = re.findall(r"^\s*(?:RPC)?\s+(good|bad|one)\s+(\d+)\s+(\d+)\(", err, re.MULTILINE)
    return {name: (int(requests), int(failures)) for name, requests, failures in rows}


def kept(level):
    """The same of a run."""
    return {
        step["name"].removeprefix("RPC "): (
            step["counts"]["attempted"],
            sum(step["counts"]["errors"].values()),
        )
        for step in level["steps"]
    }


def balances(part):
    counts = part["counts"]
    errors = sum(counts["errors"].values())
    return counts["attempted"] == counts["ok"] + errors + counts["in_flight"]


@pytest.mark.parametrize("processes", [(), ("--processes", "2")])
def test_counts_what_locust_counts(locust, processes):
    ended = locust(EVENTS, "-u", "4", "-r", "4", "-t", "3s", "--only-summary", *processes)
    result, level = ended.result, ended.level
    assert counted(ended.err) == kept(level)
    assert set(kept(level)) == {"good", "bad"}
    assert (result["kind"], result["status"], level["concurrency"]) == ("locust", "complete", 4)
    assert level["generator"]["processes"] == (2 if processes else 1)
    assert all(balances(part) for part in (level, *level["steps"]))
    jsonschema.validate(result, json.loads(schema_text()))


def test_events_are_marked_and_in_no_total(locust):
    ended = locust(EVENTS, "-u", "2", "-t", "2s")
    level = ended.level
    assert [(step["name"], step["event"]) for step in level["steps"]] == [
        ("RPC good", True),
        ("bad", True),
    ]
    assert level["counts"]["attempted"] == 0
    good, bad = level["steps"]
    assert good["latency"]["response_ms"]["max"] == pytest.approx(12.5, rel=0.01)
    assert good["bytes_in"] == 7 * good["counts"]["ok"]
    assert bad["latency"]["response_ms"] is None
    assert bad["reasons"] == {"check.locustfile": bad["counts"]["attempted"]}
    assert level["samples"][0]["detail"] == "token=*** is wrong"
    assert "the locustfile itself told of" in ended.err


def test_says_the_verdict_the_trust_and_the_place_last(locust, tmp_path):
    ended = locust(EVENTS, "-u", "2", "-t", "2s", "--torr-out", "kept", "--torr-name", "mine")
    *_, verdict, trust, kept, place = ended.err.strip().splitlines()
    assert verdict.startswith(("No request was sent by torr's clients", "Claims nothing"))
    assert "busiest process" in trust
    assert kept.startswith("kept    as run ")
    (folder,) = (tmp_path / "kept").glob("mine-*")
    assert place == f"report  kept/{folder.name}/report.html"
    names = {path.name for path in folder.iterdir()}
    assert names == {"levels.csv", "report.html", "result.json", "slices.jsonl", "summary.md"}
    assert "RPC good (event)" in (folder / "summary.md").read_text()


def test_a_test_is_registered_with_its_note_and_tags(locust, own_store):
    said = ("--torr-note", "api 1.2 CPU", "--torr-tag", "b", "--torr-tag", "a")
    ended = locust(EVENTS, "-u", "2", "-t", "1s", *said, TORR_STORE=f"sqlite:///{own_store}")
    assert "kept    as run 1" in ended.err
    with Store.open(Place(f"sqlite:///{own_store}")) as store:
        (run,) = store.find()
    assert (run.kind, run.note, run.tags) == ("locust", "api 1.2 CPU", ("a", "b"))


def test_a_test_may_be_kept_out_of_the_store(locust, own_store):
    ended = locust(
        EVENTS, "-u", "2", "-t", "1s", "--torr-no-store", TORR_STORE=f"sqlite:///{own_store}"
    )
    assert "report  " in ended.err
    assert not own_store.exists()


def test_keeps_stdout_for_the_json_of_locust(locust):
    ended = locust(EVENTS, "-u", "2", "-t", "2s", "--json")
    rows = json.loads(ended.out)
    assert {row["name"]: row["num_requests"] for row in rows} == {
        name: requests for name, (requests, _) in kept(ended.level).items()
    }


def test_none_leaves_no_run(locust, tmp_path):
    ended = locust(EVENTS, "-u", "2", "-t", "1s", "--torr-out", "none")
    assert counted(ended.err)["good"][0] > 0
    assert not list(tmp_path.rglob("slices.jsonl"))
    assert "report" not in ended.err.splitlines()[-1]


def test_the_environment_and_a_file_say_where_a_run_goes(locust, tmp_path):
    locust(EVENTS, "-u", "1", "-t", "1s", TORR_OUT="from-env", TORR_NAME="named")
    assert list(tmp_path.glob("from-env/named-*/result.json"))
    (tmp_path / "locust.conf").write_text("torr-out = from-file\n")
    locust(EVENTS, "-u", "1", "-t", "1s")
    assert list(tmp_path.glob("from-file/locust-*/result.json"))


@pytest.mark.parametrize("processes", [(), ("--processes", "2")])
def test_what_locust_resets_is_the_warm_up(locust, processes):
    ended = locust(
        EVENTS, "-u", "6", "-r", "3", "-t", "5s", "--reset-stats", "--only-summary", *processes
    )
    level = ended.level
    phases = [piece["phase"] for piece in level["slices"]]
    assert phases == sorted(phases, reverse=True)
    assert set(phases) == {"warmup", "measure"}
    assert all((piece["t_s"] < 0) == (piece["phase"] == "warmup") for piece in level["slices"])
    warm = sum(step["warmup"]["counts"]["attempted"] for step in level["steps"])
    assert warm > 0
    assert level["warmup"]["seconds"] > 0.5
    if not processes:
        # Locust counts by when a request ended, torr by when it was asked for: these take 12.5 ms.
        for name, (requests, _) in counted(ended.err).items():
            assert 0 <= requests - kept(level)[name][0] <= 12


def test_exceptions_of_tasks_are_told(locust):
    ended = locust("locustfile_raising", "-u", "2", "-t", "2s")
    assert ended.code == 1
    (warning,) = ended.level["warnings"]
    assert re.fullmatch(r"tasks raised \d+ exceptions, most often 'nobody caught this'", warning)


def test_a_locustfile_that_quits_keeps_its_exit_code_and_its_run(locust):
    ended = locust("locustfile_quits", "-u", "2")
    told = int(re.search(r"told (\d+)", ended.out)[1])
    assert ended.code == 7
    assert kept(ended.level) == {"one": (told, 0)}
    assert ended.result["status"] == "complete"


def test_slices_have_the_users_of_a_shape_and_the_sentence_the_most_of_them(locust):
    ended = locust("locustfile_shape")
    level = ended.level
    # The first slice may end before anybody is there.
    users = [piece["concurrency"] for piece in level["slices"] if piece["concurrency"]]
    assert (users[0], max(users), users[-1]) == (2, 8, 4)
    assert level["concurrency"] == 8
    assert "to up to 8 users" in ended.err or "Claims nothing" in ended.err


@pytest.mark.parametrize("processes", [(), ("--processes", "2")])
def test_csv_files_end_as_they_do_under_locust(locust, tmp_path, processes):
    ended = locust(EVENTS, "-u", "2", "-t", "3s", "--only-summary", "--csv", "rows", *processes)
    assert "Traceback" not in ended.err
    assert "good" in (tmp_path / "rows_stats.csv").read_text()


def test_csv_files_that_are_closed_trouble_nobody_who_is_late(locust, tmp_path):
    ended = locust("locustfile_late", "-u", "1", "-t", "1s", "--csv", "rows")
    assert "late" in ended.out
    assert "Traceback" not in ended.err
    assert ended.code == 0
    assert "good" in (tmp_path / "rows_stats.csv").read_text()
