"""`torr diff` with a fake engine: verdicts, limits, and what CI reads."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
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
    assert "\nreport  " in ended.out
    assert "faster" not in ended.out


def test_two_long_names_make_a_shorter_one(torr, tmp_path):
    sides = [letter * 180 for letter in "ab"]
    for name in sides:
        (tmp_path / f"{name}.dat").write_text("10 1000 5 100\n")
    ended = torr("diff", *(f"{name}.dat" for name in sides))
    assert ended.code == 0
    assert list((tmp_path / "_output/torr").glob("aaa*…*bbb-*/report.html"))


def test_profiles_of_both_sides_are_kept_under_their_names(torr, measure, tmp_path):
    sides = [measure("before", 100, 1), measure("after", 120, 1)]
    for side, folded in zip(sides, ("main;log 30\nmain;work 70\n", "main;work 50\n"), strict=True):
        path = Path(side) / "result.json"
        result = json.loads(path.read_text())
        profile = {"tool": "pprof", "concurrency": 10, "seconds": 5, "ok_per_s": 9.0, "unit": "ns"}
        nothing = {"cost_rate": None, "failure": None, "hint": None}
        path.write_text(
            json.dumps({**result, "profiles": [{**profile, **nothing, "folded": folded}]})
        )
    torr("diff", *sides)
    (kept,) = (tmp_path / "_output/torr").glob("before_after-*")
    found = json.loads((kept / "result.json").read_text())["profiles"]
    assert [profile["candidate"] for profile in found] == ["before", "after"]
    assert "Where time differs: after beside before" in (kept / "report.html").read_text()


def test_a_limit_that_was_surely_passed_ends_with_one(torr, measure, tmp_path):
    before, after = measure("before", 100), measure("after", 80)
    ended = torr("diff", "--fail-if", "ok/s < -10%", before, after)
    assert ended.code == 1
    assert "--fail-if ok/s < -10% at 10 (the 90 % interval is -20" in ended.err
    kept = json.loads(
        next((tmp_path / "_output/torr").glob("before_after-*/result.json")).read_text()
    )
    assert {entry["word"] for entry in kept["fail_if"]} == {"broken"}


def test_a_limit_that_was_not_passed_ends_well(torr, measure):
    before, after = measure("before", 100), measure("after", 100)
    ended = torr("diff", "--fail-if", "ok/s < -10%", before, after)
    assert (ended.code, ended.err) == (0, "")


def test_a_limit_that_is_not_shown_passes_only_where_that_is_allowed(torr, measure, tmp_path):
    sides = measure("before", 100), measure("after", 100)
    limits = ("--fail-if", "ok/s < -10%", "--fail-if", "ok/s < -0%", "--junit", "ci.xml")
    ended = torr("diff", *limits, *sides)
    assert ended.code == 1
    why = "--fail-if not shown: ok/s < -0% at 10 (the 90 % interval is "
    assert ended.err.startswith(f"torr: {why}")
    assert ended.err.count("--fail-if not shown: ok/s < -0%") == 2
    assert "\nhint: measure more, such as --rounds 20 of both sides, or pass" in ended.err
    suite = ET.parse(tmp_path / "ci.xml").getroot()  # noqa: S314 - made right here
    assert [suite.get(key) for key in ("failures", "skipped")] == ["1", "2"]
    ended = torr("diff", *limits, "--allow-not-shown", *sides)
    assert ended.code == 0
    assert f"note: {why}" in ended.err
    suite = ET.parse(tmp_path / "ci.xml").getroot()  # noqa: S314 - made right here
    assert [suite.get(key) for key in ("failures", "skipped")] == ["0", "2"]


def test_a_limit_that_the_generator_hides_is_not_shown(torr, fake, measure):
    before = measure("before", 100)
    rates = count(1000)
    fake.curve = lambda users: Truth(
        next(rates), health="generator-limited" if users == 20 else "healthy"
    )
    torr("ladder", "--levels", "10,20", "--rounds", "6", "-n", "limited", URL)
    ended = torr("diff", "--fail-if", "ok/s < -10%", before, "_output/torr/latest")
    assert ended.code == 1
    assert "ok/s < -10% at 20 (the generator was the limit in 6 trials)" in ended.err


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
    assert "--junit: none/ci.xml: cannot be written" in ended.err


@pytest.mark.parametrize("limit", ["p99 > 10%", "errors > +10%", "p99"])
def test_a_limit_that_is_none_is_refused_with_an_example(torr, limit):
    ended = torr("diff", "--fail-if", limit, "a.dat", "b.dat")
    assert ended.code == 2
    assert "p99 > +10%" in ended.err


@pytest.fixture
def kept(torr, measure, own_store):  # noqa: ARG001 - a store of this test
    """Two kept ladders of six rounds, runs 1 and 2."""
    measure("before", 100)
    measure("after", 120)
    return torr


def test_kept_runs_are_named_by_their_ids(kept, tmp_path):
    for path in (tmp_path / "_output/torr").glob("*/result.json"):
        path.unlink()
    ended = kept("diff", "1", "2")
    assert ended.code == 0
    assert "; faster at 10 and 20." in ended.out


def test_the_baseline_is_the_newest_run_with_a_tag(kept):
    kept("runs", "tag", "1", "main")
    ended = kept("diff", "--baseline", "main")
    assert ended.code == 0
    assert ended.out.startswith("after answers")
    assert kept("diff", "--baseline", "main", "2").out.startswith("after answers")
    assert kept("diff", "-q", "--baseline", "main", "--fail-if", "ok/s > +5%", "2").code == 1


@pytest.mark.usefixtures("own_store")
def test_the_baseline_is_of_the_other_side_s_name(torr, measure):
    for name, rate in (("api", 100), ("web", 50), ("api", 120)):
        measure(name, rate)
    torr("runs", "tag", "2", "main")
    ended = torr("diff", "-o", "json", "--baseline", "main")
    assert round(json.loads(ended.out)["verdicts"][0]["ratio"], 1) == 2.4
    assert (
        ended.err == "note: --baseline main: no run of api has this tag; torr uses run 2 of web\n"
    )
    torr("runs", "tag", "1", "main")
    ended = torr("diff", "-o", "json", "--baseline", "main")
    assert round(json.loads(ended.out)["verdicts"][0]["ratio"], 1) == 1.2
    assert ended.err == ""


REFUSED = {
    "one side": (["1"], "a diff has two sides"),
    "three sides": (["1", "2", "3"], "a diff has two sides"),
    "a baseline and two": (["--baseline", "main", "1", "2"], "leave A out"),
    "no such tag": (["--baseline", "none", "1"], "no stored run has this tag"),
    "itself": (["--baseline", "main", "1"], "is the other side itself"),
    "no such run": (["1", "99"], "there is no run 99"),
    "no such candidate": (["1", "2:gin"], "has no candidate 'gin'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_sides_that_are_none_are_refused(kept, name):
    sides, said = REFUSED[name]
    kept("runs", "tag", "1", "main")
    ended = kept("diff", *sides)
    assert ended.code == 2
    assert said in ended.err


def test_what_exists_as_a_path_is_a_path(kept, tmp_path):
    (tmp_path / "2").write_text("10 50 1 100\n20 60 1 100\n")
    assert kept("diff", "1", "2").out.startswith("2 answers")
