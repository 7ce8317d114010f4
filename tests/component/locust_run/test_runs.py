"""The directory of a recorded test, and the phases of the test in its run."""

from __future__ import annotations

import json
import re

import pytest

EVENTS = "locustfile_events"
# Stock Locust does not end where a second user runs when the first one quits.
QUITS = ("locustfile_quits", "-u", "1")


def test_a_test_may_be_kept_out_of_the_store_and_where_the_environment_says(locust, tmp_path):
    store = tmp_path / "own" / "runs.db"
    settings = {"TORR_STORE": f"sqlite:///{store}", "TORR_OUT": "from-env", "TORR_NAME": "named"}
    ended = locust(*QUITS, "--torr-no-store", **settings)
    assert "report  from-env/named-" in ended.err
    assert list(tmp_path.glob("from-env/named-*/result.json"))
    assert not store.exists()


def test_a_file_says_where_a_run_goes(locust, tmp_path):
    (tmp_path / "locust.conf").write_text("torr-out = from-file\n")
    locust(*QUITS)
    assert list(tmp_path.glob("from-file/locust-*/result.json"))


def test_none_leaves_no_run(locust, tmp_path):
    ended = locust(*QUITS, "--torr-out", "none")
    assert "told 100" in ended.out
    assert not list(tmp_path.rglob("intervals.jsonl"))
    assert "report" not in ended.err.splitlines()[-1]


def test_a_locustfile_that_quits_keeps_its_exit_code_and_its_run(locust):
    ended = locust(*QUITS)
    told = int(re.search(r"told (\d+)", ended.out)[1])
    assert ended.code == 7
    (step,) = ended.level["requests"]
    assert (step["name"], step["counts"]["attempted"]) == ("RPC one", told)
    assert step["counts"]["errors"] == {}
    assert ended.result["status"] == "complete"


PROCESSES = [(), pytest.param(("--processes", "2"), marks=pytest.mark.full)]


@pytest.mark.parametrize("processes", PROCESSES)
def test_what_locust_resets_is_the_warm_up(locust, processes):
    shared = ("-t", "3s", "--reset-stats", "--json")
    ended = locust(EVENTS, "-u", "2", "-r", "1", *shared, *processes)
    level = ended.level
    phases = [piece["phase"] for piece in level["intervals"]]
    assert phases == sorted(phases, reverse=True)
    assert set(phases) == {"warmup", "measure"}
    assert all((piece["t_s"] < 0) == (piece["phase"] == "warmup") for piece in level["intervals"])
    warm = sum(step["warmup"]["counts"]["attempted"] for step in level["requests"])
    assert warm > 0
    assert level["warmup"]["seconds"] > 0.5
    if not processes:
        # Locust counts by when a request ended, torr by when it was asked for: these take 12.5 ms.
        measured = {step["name"]: step["counts"]["attempted"] for step in level["requests"]}
        for row in json.loads(ended.out):
            name = f"{row['method']} {row['name']}".strip()
            assert 0 <= row["num_requests"] - measured[name] <= 4


@pytest.mark.full
def test_intervals_have_the_users_of_a_shape_and_the_sentence_the_most_of_them(locust, target):
    ended = locust("locustfile_shape", "-H", target.url)
    level = ended.level
    # The first interval may end before anybody is there.
    users = [piece["concurrency"] for piece in level["intervals"] if piece["concurrency"]]
    assert (users[0], max(users), users[-1]) == (2, 8, 4)
    assert level["concurrency"] == 8
    assert "to up to 8 users" in ended.err or "Claims nothing" in ended.err


@pytest.fixture(scope="module")
def late(run_in, tmp_path_factory):
    """A test whose process takes long to begin and to end."""
    asked = ("-u", "1", "-t", "1s", "--csv", "rows")
    return run_in(tmp_path_factory.mktemp("late"), "locustfile_late", *asked)


def test_csv_files_that_are_closed_trouble_nobody_who_is_late(late):
    assert "late" in late.out
    assert "Traceback" not in late.err
    assert late.code == 0
    # The rows of the test's last second may be missing, under stock Locust too.
    assert "Request Count" in (late.folder / "rows_stats.csv").read_text()


def test_the_time_that_a_locustfile_takes_to_begin_is_not_run_time(late):
    assert late.level["seconds"] > 0.9
