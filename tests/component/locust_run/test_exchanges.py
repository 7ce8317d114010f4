"""Requests of torr's clients are in the run as Locust counts them, row by row."""

from __future__ import annotations

import json

import pytest

REASONS = {
    "GET refused": "connect.refused",
    "GET unknown": "connect.other",
    "GET judged": "check.locustfile",
    "GET fast refused": "connect.refused",
}


def counted(out):
    """What Locust's own statistics say: requests and failures by name."""
    rows = json.loads(out[out.index("[\n    {") :])
    return {
        f"{row['method']} {row['name']}": (row["num_requests"], row["num_failures"]) for row in rows
    }


@pytest.fixture(scope="module")
def ended(run_in, target, tmp_path_factory):
    """A test with three users of each of the file's classes."""
    asked = ("-H", target.url, "-u", "9", "-r", "9", "--json")
    return run_in(tmp_path_factory.mktemp("exchanges"), "locustfile_requests", *asked)


def test_the_run_counts_every_request_that_locust_counts(ended):
    level = ended.level
    steps = {step["name"]: step for step in level["requests"]}
    kept = {
        name: (step["counts"]["attempted"], sum(step["counts"]["errors"].values()))
        for name, step in steps.items()
    }
    assert kept == counted(ended.out)
    assert [name for name, step in steps.items() if step.get("event")] == ["OWN told"]
    own, _ = kept.pop("OWN told")
    assert own == kept["GET told"][0]
    assert level["counts"]["attempted"] == sum(requests for requests, _ in kept.values())
    for name, reason in REASONS.items():
        assert steps[name]["reasons"] == {reason: kept[name][1]}
    # What was sent has times of its sockets.
    assert steps["GET /ok"]["latency"]["service_ms"]["n"] == kept["GET /ok"][0]
    assert steps["GET fast"]["latency"]["ttfb_ms"]["n"] == kept["GET fast"][0]


def test_every_request_has_one_response_time_however_often_the_statistics_are_read(ended):
    rows = json.loads(ended.out[ended.out.index("[\n    {") :])
    times = {row["name"]: sum(row["response_times"].values()) for row in rows}
    assert times == {row["name"]: row["num_requests"] for row in rows}


def test_exceptions_of_tasks_are_told(ended):
    assert ended.code == 1
    (warning,) = ended.level["warnings"]
    assert warning["code"] == "warning.task_exceptions"
    assert warning["values"]["first"] == "'nobody caught this'"
