"""`torr ladder` and `torr diff` with a fake engine."""

from __future__ import annotations

import json
import re

import pytest

from doubles import Truth, capacity
from torr.errors import UsageError
from torr.options.ladder import read_levels

URL = "http://127.0.0.1:9/x"
LEVELS = "10,20,40,80,160,320"


@pytest.fixture(autouse=True)
def server(fake):
    """A server that works on 64 requests at once, 5 ms each."""
    fake.curve = capacity(64)
    return fake


def result_of(folder):
    return json.loads((folder / "_output/torr/latest/result.json").read_text())


def test_a_row_a_level_then_the_verdict_and_the_capacity(torr):
    ended = torr("ladder", "--levels", LEVELS, URL)
    assert ended.code == 0
    rows = ended.out.splitlines()
    assert rows[0].split()[:2] == ["users", "ok/s"]
    assert [row.split()[0] for row in rows[1:7]] == LEVELS.split(",")
    assert "Peaks at 12,800 requests/s, reached from 80 connections on" in ended.out
    for word in ("peak", "knee", "capacity under SLO", "USL"):
        assert f"\n{word}" in ended.out


def test_the_newest_data_and_pictures_lie_beside_the_run(torr, tmp_path):
    torr("ladder", "--levels", LEVELS, "-n", "api", URL)
    root = tmp_path / "_output" / "torr"
    for name in ("api.dat", "api_qps_ttlb.png", "api_successrate.png"):
        assert (root / name).stat().st_size > 0
    assert (root / "latest" / "report.html").exists()
    assert (root / "api.dat").read_text().splitlines()[0].split()[0] == "10"


def test_the_wrktest_levels_are_the_default(torr, server):
    torr("ladder", URL)
    assert server.concurrencies[0] == 200
    assert server.concurrencies[-1] == 50000
    assert len(server.concurrencies) == 10


def test_an_automatic_ladder_starts_where_it_is_told(torr, server):
    assert torr("ladder", "--levels", "auto:8", URL).code == 0
    assert server.concurrencies[:3] == [8, 16, 32]


def test_an_automatic_ladder_gives_each_endpoint_a_connection(torr, server):
    assert torr("ladder", "--levels", "auto", URL, "http://127.0.0.1:19/").code == 0
    assert server.concurrencies[:3] == [2, 4, 8]


def test_rounds_show_their_medians(torr, server):
    ended = torr("ladder", "--levels", "10,20,40", "--rounds", "2", URL)
    assert server.concurrencies == [10, 20, 40, 10, 20, 40]
    assert "median of rounds" in ended.out


def test_an_slo_that_breaks_on_the_way_up_is_a_capacity_not_a_failure(torr, tmp_path):
    ended = torr("ladder", "--levels", LEVELS, "--slo", "p95 < 15ms", URL)
    assert ended.code == 0
    assert result_of(tmp_path)["capacity"]["slo"]["concurrency"] == 80


def test_an_slo_that_the_lowest_level_breaks_ends_with_1(torr):
    ended = torr("ladder", "--levels", "10,20", "--slo", "p95 < 1ms", URL)
    assert ended.code == 1
    assert "SLO broken: p95 < 1ms" in ended.err


FEW = Truth(ok_per_s=10)
"""100 answers in a level, where a success of 99 % takes 300."""
SLOS = ("--levels", "10,20,40", "--slo", "success >= 99%", "--slo", "p95 < 500ms")


def with_lowest(lowest, above=None):
    """A curve with the given level of 10 users."""
    return lambda users: lowest if users == 10 else above or capacity(64)(users)


def test_a_lowest_level_with_too_few_answers_does_not_decide(torr, server, tmp_path):
    server.curve = with_lowest(FEW)
    ended = torr("ladder", *SLOS, "--min-capacity", "40 users", URL)
    assert (ended.code, ended.err) == (0, "")
    assert "Holds 8,000 requests/s at 40 connections, the highest level measured," in ended.out
    assert result_of(tmp_path)["capacity"]["slo"]["concurrency"] == 40


@pytest.mark.parametrize(
    ("lowest", "why"),
    [
        (Truth(ok_per_s=20, errors={"status": 1}), "not shown: success >= 99% (1 error in 201"),
        (Truth(ok_per_s=100, service_ms=400), "broken: p95 < 500ms"),
    ],
)
def test_a_lowest_level_that_fails_or_breaks_an_slo_decides(torr, server, lowest, why):
    server.curve = with_lowest(lowest)
    ended = torr("ladder", *SLOS, "--min-capacity", "20 users", URL)
    assert ended.code == 1
    assert f"SLO {why}" in ended.err
    assert "--min-capacity '20 users': not shown: " in ended.err


@pytest.mark.parametrize("above", [FEW, Truth(service_ms=600)])
def test_too_few_answers_do_not_pass_where_no_level_holds(torr, server, above):
    server.curve = with_lowest(FEW, above)
    ended = torr("ladder", *SLOS, URL)
    assert ended.code == 1
    assert "SLO not shown: success >= 99% (no error in 100 attempts is not enough" in ended.err


@pytest.mark.parametrize(
    ("least", "flags", "why"),
    [
        ("80 users", ("--slo", "p95 < 15ms"), None),
        ("81 users", ("--slo", "p95 < 15ms"), "missed: "),
        ("1 ok/s", ("--slo", "p95 < 15ms"), None),
        ("1M ok/s", ("--slo", "p95 < 15ms"), "missed: "),
        ("1M ok/s", ("--slo", "p95 < 10m"), "not shown: the highest level held"),
        ("1 ok/s", (), None),
        ("1M ok/s", (), "missed: "),
    ],
)
def test_a_ladder_is_gated_by_its_capacity(torr, least, flags, why):
    ended = torr("ladder", "--levels", LEVELS, "--min-capacity", least, *flags, URL)
    assert ended.code == (0 if why is None else 1), ended.err
    if why is not None:
        assert f"--min-capacity '{least}': {why}" in ended.err


def test_a_capacity_that_is_a_lower_bound_is_marked_where_it_is_missed(torr, fake):
    fake.curve = lambda _users: Truth(1000, health="contended")
    ended = torr("ladder", "--levels", "10,20", "--min-capacity", "1M ok/s", URL)
    assert "--min-capacity '1M ok/s': missed: ≥ 1,000 ok/s at 10 connections" in ended.err


def test_a_missing_url_is_named_with_an_example_of_the_verb(torr):
    ended = torr("ladder")
    assert (ended.code, ended.err) == (
        2,
        "torr: URL is missing\nhint: torr ladder http://localhost:8080/\n",
    )


def test_what_is_no_capacity_is_refused(torr):
    ended = torr("ladder", "--min-capacity", "5 apples", URL)
    assert ended.code == 2
    assert "'5 apples' is not a capacity" in ended.err
    assert "write '5000 ok/s', '200 users' or '200 arrivals/s'" in ended.err


def test_limited_levels_are_marked_and_claim_nothing(torr, fake, tmp_path):
    def curve(users):
        return Truth(health="generator-limited" if users > 20 else "healthy")

    fake.curve = curve
    ended = torr("ladder", "--levels", "10,20,40", URL)
    assert ended.code == 0
    assert "generator-limited: no descriptor left: raise nofile" in ended.out
    assert "40: limited by the generator" in ended.out
    data = (tmp_path / "_output/torr/apiserver.dat").read_text()
    assert [line.split()[0] for line in data.splitlines()] == ["10", "20"]
    ended = torr("ladder", "--levels", "10,40", "--strict", URL)
    assert ended.code == 4
    assert "the generator was the limit at 40 connections" in ended.err
    ended = torr("ladder", "--levels", "10,40", "--pool", "9", "--strict", URL)
    assert ended.code == 4
    assert "the generator was the limit at 40 users" in ended.err
    assert "at 10 users" in ended.out
    assert "connections" not in ended.out


def test_a_target_that_never_answers_ends_at_the_first_level(torr, fake):
    fake.curve = lambda _users: Truth(
        0, errors={"connect": 3}, failure="no response byte within 31 s"
    )
    ended = torr("ladder", URL)
    assert ended.code == 3
    assert fake.concurrencies == [200]


def test_json_output_is_result_json_and_nothing_else(torr, tmp_path):
    ended = torr("ladder", "--levels", LEVELS, "-o", "json", URL)
    assert json.loads(ended.out) == result_of(tmp_path)
    assert ended.err == ""


def test_two_ladders_are_set_side_by_side(torr, server, tmp_path):
    torr("ladder", "--levels", LEVELS, "-n", "before", URL)
    server.curve = capacity(128)
    torr("ladder", "--levels", LEVELS, "-n", "after", URL)
    root = tmp_path / "_output" / "torr"
    ended = torr("diff", f"{root}/before.dat", f"{root}/after.dat")
    assert ended.code == 0
    assert "2.00 ×" in ended.out
    for kind in ("qps.ttlb", "success_rate"):
        assert (root / f"before_after.{kind}.diff.png").stat().st_size > 0
    as_json = torr("diff", "-o", "json", f"{root}/before.dat", f"{root}/after.dat")
    assert json.loads(as_json.out)["kind"] == "diff"


def test_run_directories_can_be_compared_too(torr, tmp_path):
    torr("ladder", "--levels", "10,20", "-n", "before", URL)
    torr("ladder", "--levels", "10,20", "-n", "after", URL)
    root = tmp_path / "_output" / "torr"
    before = next(root.glob("before-*"))
    assert torr("diff", str(before), str(root / "latest")).code == 0
    # A diff is no load: `latest` is the ladder still, and the same command works again.
    assert torr("diff", str(before), str(root / "latest")).code == 0
    assert (root / "before_after.qps.ttlb.diff.png").exists()


def test_what_was_asked_for_is_kept(torr, tmp_path):
    torr("ladder", "--levels", "10,20", "--rounds", "2", "--abort-on", "errors > 50%", URL)
    assert result_of(tmp_path)["experiment"] == {
        "levels": [10, 20],
        "rounds": 2,
        "abort_on": ["errors > 50%"],
    }


def test_an_automatic_ladder_finds_the_knee_of_a_capacity(torr, server, tmp_path):
    server.curve = capacity(16)
    torr("ladder", "--levels", "auto", URL)
    found = result_of(tmp_path)["capacity"]
    assert found["knee"]["concurrency"] == 16
    assert found["peak"]["ok_per_s"] == 3200


def test_a_level_at_which_nothing_succeeded_is_said_and_ends_the_capacity(torr, server, tmp_path):
    hung = "no request could start in the window"
    server.curve = lambda users: Truth(0, failure=hung) if users == 40 else capacity(64)(users)
    ended = torr("ladder", "--levels", "10,20,40,80", "--slo", "p95 < 500ms", URL)
    assert ended.code == 0
    assert ended.out.count("; at 40 connections no request succeeded.") == 1
    assert "Holds 4,000 requests/s at 20 connections" in ended.out
    beyond = result_of(tmp_path)["capacity"]["slo"]["beyond"]
    assert (beyond["concurrency"], beyond["reason"]["code"]) == (40, "slo.no_success")
    data = (tmp_path / "_output/torr/apiserver.dat").read_text().splitlines()
    assert data[2] == "40 0.00 nan nan"


def test_a_ladder_limited_everywhere_does_not_pass_its_slos(torr, fake):
    fake.curve = lambda _users: Truth(health="generator-limited")
    assert torr("ladder", "--levels", "10,20", URL).code == 0
    ended = torr("ladder", "--levels", "10,20", "--slo", "p95 < 1s", URL)
    assert ended.code == 1
    assert "not shown: the generator was the limit" in ended.err
    assert torr("ladder", "--levels", "10", "--slo", "p95 < 1s", "--strict", URL).code == 4


def test_a_level_with_a_limited_round_is_shown_as_one_that_claims_something(torr, fake):
    verdicts = iter(["generator-limited", "healthy", "healthy", "healthy"])
    fake.curve = lambda _users: Truth(health=next(verdicts))
    ended = torr("ladder", "--levels", "10,20", "--rounds", "2", URL)
    assert re.search(r"\nleft out +rounds of (10|20): limited by the generator\n", ended.out)
    assert "no claim" not in ended.out


def test_a_level_cut_short_is_shown_as_that_and_claims_nothing(torr, server, tmp_path):
    def curve(users):
        return Truth(ok_per_s=99_999, service_ms=50) if users == 40 else capacity(64)(users)

    server.curve = curve
    ended = torr("ladder", "--levels", "10,20,40", "--abort-on", "p95 > 70ms", URL)
    assert ended.code == 1
    assert "; ended early by --abort-on 'p95 > 70ms'.\n" in ended.out
    row = next(line for line in ended.out.splitlines() if line.startswith("    40 "))
    assert row.endswith("healthy, cut short")
    assert "\ncut short   40: claims nothing" in ended.out
    assert result_of(tmp_path)["capacity"]["peak"]["concurrency"] == 20
    data = (tmp_path / "_output/torr/apiserver.dat").read_text().splitlines()
    assert [line.split()[0] for line in data] == ["10", "20"]
    assert "healthy, cut short" in (tmp_path / "_output/torr/latest/summary.md").read_text()


def test_a_level_whose_users_starved_is_shown_as_that_and_claims_nothing(torr, server, tmp_path):
    def curve(users):
        starving = Truth(ok_per_s=99_999, service_ms=1, starved=30)
        return starving if users == 40 else capacity(64)(users)

    server.curve = curve
    ended = torr("ladder", "--levels", "10,20,40", "--slo", "p95 < 70ms", URL)
    assert ended.code == 0
    row = next(line for line in ended.out.splitlines() if line.startswith("    40 "))
    assert row.endswith("healthy, 30 of 40 users got no response in the window")
    assert re.search(r"\nfewer users +40: claims nothing", ended.out)
    assert result_of(tmp_path)["capacity"]["slo"]["concurrency"] == 20
    data = (tmp_path / "_output/torr/apiserver.dat").read_text().splitlines()
    assert [line.split()[0] for line in data] == ["10", "20"]
    assert "healthy, users starved" in (tmp_path / "_output/torr/latest/summary.md").read_text()


def test_an_slo_does_not_pass_where_users_starve_at_every_level(torr, server):
    server.curve = lambda _users: Truth(starved=9)
    assert torr("ladder", "--levels", "10", URL).code == 0
    ended = torr("ladder", "--levels", "10", "--slo", "p95 < 1s", URL)
    assert ended.code == 1
    assert "SLO p95 < 1s: not shown: 9 of 10 users got no response in the window" in ended.err


@pytest.mark.parametrize(
    ("text", "start", "most"),
    [
        ("auto", 1, 50_000),
        ("auto:64", 64, 50_000),
        ("auto:64:2000", 64, 2_000),
        ("auto:60000", 60_000, 60_000),
    ],
)
def test_a_search_has_a_start_and_an_end(text, start, most):
    search = read_levels(text).search
    assert (search.start, search.most) == (start, most)


@pytest.mark.parametrize("text", ["auto:9:8", "auto:1:2:3", "auto:x", "auto:", "best"])
def test_other_bounds_are_refused(text):
    with pytest.raises(UsageError):
        read_levels(text)
