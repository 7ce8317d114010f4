"""`torr diff` with a fake engine: verdicts, limits, and what CI reads."""

from __future__ import annotations

import json
from itertools import count
from xml.etree import ElementTree as ET

import pytest

from doubles import Truth

URL = "http://127.0.0.1:9/x"


@pytest.fixture
def measure(torr, fake, tmp_path):
    """Run a ladder of rounds at some ok/s, a little other each time; its directory."""

    def run(name, rate, rounds=6):
        turn = count()
        fake.curve = lambda users: Truth(rate * users * (1 + next(turn) * 3 % 7 / 2000))
        torr("ladder", "--levels", "10,20", "--rounds", str(rounds), "-n", name, URL)
        return str(next((tmp_path / "_output/torr").glob(f"{name}-*")))

    return run


def test_runs_of_six_rounds_get_verdicts(torr, measure):
    ended = torr("diff", measure("before", 100), measure("after", 120))
    assert ended.code == 0
    assert "; faster at 10 and 20." in ended.out
    rows = [line.split() for line in ended.out.splitlines()]
    row = next(row for row in rows if row[:2] == ["10", "ok/s"])
    assert row[2:4] == ["1.200", "×"]
    assert "faster" in row
    assert all(
        len(line) <= 80 for line in ended.out.splitlines() if "×" in line and ";" not in line
    )


def test_one_run_a_side_gets_ratios_and_no_verdict(torr, measure):
    ended = torr("diff", measure("before", 100, 1), measure("after", 120, 1))
    assert ended.code == 0
    assert "one run each, no verdict" in ended.out
    assert "faster" not in ended.out


def test_a_limit_that_was_surely_passed_ends_with_one(torr, measure, tmp_path):
    before, after = measure("before", 100), measure("after", 80)
    ended = torr("diff", "--fail-if", "ok/s < -10%", before, after)
    assert ended.code == 1
    assert "--fail-if ok/s < -10% at 10 (the 90 % interval is -20" in ended.err
    kept = json.loads(
        next((tmp_path / "_output/torr").glob("before_after-*/result.json")).read_text()
    )
    assert {entry["word"] for entry in kept["fail_if"]} == {"failed"}


def test_a_limit_that_was_not_passed_ends_well(torr, measure):
    before, after = measure("before", 100), measure("after", 100)
    ended = torr("diff", "--fail-if", "ok/s < -10%", "--fail-if", "ok/s < -0%", before, after)
    assert ended.code == 0
    assert "note: ok/s < -0% at 10: not shown: the 90 % interval is" in ended.err


def test_a_limit_needs_trials_and_leaves_no_diff_without(torr, measure, tmp_path):
    before, after = measure("before", 100, 1), measure("after", 80, 1)
    ended = torr("diff", "--fail-if", "ok/s < -10%", before, after)
    assert ended.code == 2
    assert "--fail-if 'ok/s < -10%' needs trials" in ended.err
    assert "--rounds 6" in ended.err
    assert list((tmp_path / "_output/torr").glob("before_after*")) == []


def test_junit_is_written_where_it_is_asked_for(torr, measure, tmp_path):
    before, after = measure("before", 100), measure("after", 80)
    ended = torr("diff", "--junit", "ci.xml", "--fail-if", "ok/s < -10%", before, after)
    assert ended.code == 1
    suite = ET.parse(tmp_path / "ci.xml").getroot()  # noqa: S314 - made right here
    assert suite.get("failures") == "2"


def test_a_junit_file_that_cannot_be_written_is_named(torr, measure):
    before, after = measure("before", 100, 1), measure("after", 80, 1)
    ended = torr("diff", "--junit", "none/ci.xml", before, after)
    assert ended.code == 2
    assert "--junit none/ci.xml: cannot be written" in ended.err


@pytest.mark.parametrize("limit", ["p99 > 10%", "errors > +10%", "p99"])
def test_a_limit_that_is_none_is_refused_with_an_example(torr, limit):
    ended = torr("diff", "--fail-if", limit, "a.dat", "b.dat")
    assert ended.code == 2
    assert "p99 > +10%" in ended.err
