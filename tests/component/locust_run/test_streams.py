"""Streams that do not end as a reader of the run would think."""

from __future__ import annotations

import json

import pytest

from page import Page, english


@pytest.fixture(scope="module")
def ended(run_in, tmp_path_factory):
    """A test with two users of each of the file's classes."""
    users = ("-H", "", "-u", "8", "-r", "8", "-t", "3s", "--json")
    return run_in(tmp_path_factory.mktemp("streams"), "locustfile_streams", *users)


@pytest.fixture(scope="module")
def rows(ended):
    """What Locust's own statistics say: requests by name."""
    rows = json.loads(ended.out[ended.out.index("[\n    {") :])
    return {row["name"]: row["num_requests"] for row in rows}


@pytest.fixture(scope="module")
def steps(ended):
    return {step["name"]: step for step in ended.level["requests"]}


def test_what_locust_counted_when_the_test_ended_is_in_flight(ended, rows, steps):
    held, never = steps["POST held"], steps["POST never"]
    assert never["counts"]["attempted"] == rows["never"]
    assert held["counts"]["attempted"] == held["counts"]["in_flight"] == rows["held"] == 2
    assert ended.level["counts"]["in_flight"] >= 2


def test_a_stream_that_was_left_has_no_end(ended, steps):
    never, read = steps["POST never"], steps["POST read"]
    ok, left = never["counts"]["ok"], never["stream"]["abandoned"]
    assert left > 0
    assert never["stream"]["ttft_ms"]["n"] == ok
    # Python lets go of some of them only when they have ended.
    for stats in (never["stream"]["stream_end_ms"], never["latency"]["service_ms"]):
        assert (stats or {"n": 0})["n"] == ok - left
    assert read["stream"]["abandoned"] == 0
    assert read["stream"]["stream_end_ms"]["n"] == read["counts"]["ok"] > 0
    values = [
        w["values"] for w in ended.level["warnings"] if w["code"] == "warning.streams_abandoned"
    ]
    assert values == [{"n": left}]


def test_streams_that_broke_and_were_not_reported_are_said(ended, rows):
    code = "warning.streams_unreported"
    (warning,) = (w for w in ended.level["warnings"] if w["code"] == code)
    assert warning["values"]["n"] == rows["broke"]
    assert "cut" not in rows
    assert warning["text"] in ended.err
    page = Page((ended.folder / "_output/torr/latest/report.html").read_text()).data["run"]
    titles = [english(table["title"]) for table in page["view"]["tables"]]
    assert "Events that the locustfile reported as failed" in titles
    samples = page["result"]["levels"][0]["samples"]
    assert ("check.locustfile", "OWN broke") in {(x["reason"], x["name"]) for x in samples}
