"""Streams that do not end as a reader of the run would think."""

from __future__ import annotations

import json
import re

import pytest

from page import Page, english


def counted(out):
    """What Locust's own statistics say: requests by name."""
    rows = json.loads(out[out.index("[\n    {") :])
    return {row["name"]: row["num_requests"] for row in rows}


@pytest.fixture
def streams(locust):
    """Run the users of these names for a moment."""

    def run(*names, users=4):
        return locust(
            "locustfile_streams", *names, "-H", "", "-u", users, "-r", users, "-t", "5s", "--json"
        )

    return run


def test_what_locust_counted_when_the_test_ended_is_in_flight(streams):
    ended = streams("Never", "Holder", users=6)
    level = ended.level
    held, never = level["steps"]
    rows = counted(ended.out)
    assert never["counts"]["attempted"] == rows["never"]
    assert held["counts"]["attempted"] == held["counts"]["in_flight"] == rows["held"] == 3
    assert level["counts"]["in_flight"] >= 3


def test_a_stream_that_was_left_has_no_end(streams):
    level = streams("Never", "Reader").level
    never, read = level["steps"]
    assert (never["name"], read["name"]) == ("POST never", "POST read")
    ok, left = never["counts"]["ok"], never["stream"]["left"]
    assert left > 0
    assert never["stream"]["ttft_ms"]["n"] == ok
    # Python lets go of some of them only when they have ended.
    for stats in (never["stream"]["stream_end_ms"], never["latency"]["service_ms"]):
        assert (stats or {"n": 0})["n"] == ok - left
    assert read["stream"]["left"] == 0
    assert read["stream"]["stream_end_ms"]["n"] == read["counts"]["ok"] > 0
    text = f"{left} streams left by the client before the end"
    assert text in level["warnings"]


def test_streams_that_broke_and_were_not_reported_are_said(streams):
    ended = streams("Silent")
    rows = counted(ended.out)
    (warning,) = ended.level["warnings"]
    said = re.fullmatch(r"(\d+) streams broke of which the locustfile reported nothing", warning)
    assert int(said[1]) == rows["broke"]
    assert "cut" not in rows
    assert warning in ended.err
    page = Page((ended.folder / "_output/torr/latest/report.html").read_text()).data["run"]
    titles = [english(table["title"]) for table in page["view"]["tables"]]
    assert "Events that the locustfile told of as failed" in titles
    samples = page["result"]["levels"][0]["samples"]
    assert ("check.locustfile", "OWN broke") in {(x["reason"], x["name"]) for x in samples}
