"""The loads of a ladder of rates, as a fake engine got them."""

from __future__ import annotations

import json

import pytest

from doubles import limit

URL = "http://127.0.0.1:9"
FILE = """
url = "http://127.0.0.1:9"
connections = 7

[[requests]]
name = "a"
url = "/a"

[[requests]]
name = "b"
url = "/b"

[[groups]]
requests = ["a"]
weight = 1

[[groups]]
requests = ["b"]
weight = 3
"""


def paces_of(load):
    return [group["pace"] for group in load.plan.as_json()["groups"]]


def result_in(folder):
    (path,) = folder.glob("**/result.json")
    return json.loads(path.read_text())


def test_each_rate_is_an_open_loop_with_the_options_of_one(torr, fake):
    more = ("-c", "7", "--max-in-flight", "9", "--arrivals", "poisson")
    torr("ladder", "--rates", "100,2.5k", *more, URL)
    assert [paces_of(load) for load in fake.loads] == [
        [{"kind": "poisson", "rate_per_s": rate, "connections": 7, "max_in_flight": 9}]
        for rate in (100.0, 2500.0)
    ]


def test_groups_of_a_plan_file_have_their_part_of_each_rate(torr, fake, tmp_path):
    (tmp_path / "plan.toml").write_text(FILE)
    torr("ladder", "--rates", "100,200", "plan.toml")
    assert [[pace["rate_per_s"] for pace in paces_of(load)] for load in fake.loads] == [
        [25.0, 75.0],
        [50.0, 150.0],
    ]


@pytest.mark.parametrize("more", ["", "connections = 7\n"])
def test_connections_beside_a_plan_file_need_rates(torr, fake, tmp_path, more):
    (tmp_path / "plan.toml").write_text(f'{more}[[requests]]\nname = "a"\nurl = "{URL}"\n')
    ended = torr("ladder", "plan.toml", "--levels", "1,2", "-c", "5")
    assert ended.code == 2
    assert "-c/--connections needs --rates" in ended.err
    assert "the levels of --levels are numbers of connections" in ended.err
    assert not fake.loads


def test_connections_of_a_plan_file_are_those_of_a_run(torr, fake, tmp_path):
    (tmp_path / "plan.toml").write_text(FILE)
    assert torr("ladder", "--levels", "4,8", "plan.toml").code == 0
    assert fake.concurrencies == [4, 8]


def test_a_result_has_the_rates_of_its_levels_and_of_its_capacity(torr, fake, tmp_path):
    fake.rate_curve = limit(300)
    ended = torr("ladder", "--rates", "100,200,400", "--slo", "p95 < 100ms", URL)
    result = result_in(tmp_path)
    assert result["experiment"]["rates"] == [100, 200, 400]
    assert [level["rate"] for level in result["levels"]] == [100.0, 200.0, 400.0]
    assert [level["falls_behind"] for level in result["levels"]] == [False, False, True]
    slo = result["capacity"]["slo"]
    assert (slo["rate"], slo["beyond"]["rate"]) == (200.0, 400.0)
    assert ended.out.splitlines()[5].startswith("Holds 200 requests/s at 200 arrivals/s with p95")
    assert "400 arrivals/s break p95 under 100 ms (750 ms)" in ended.out


@pytest.mark.parametrize(("least", "code"), [("200 arrivals/s", 0), ("201 arrivals/s", 1)])
def test_a_least_capacity_may_be_a_rate(torr, fake, least, code):
    fake.rate_curve = limit(300)
    slo = ("--slo", "p95 < 100ms", "--min-capacity", least)
    assert torr("ladder", "--rates", "100,200,400", *slo, URL).code == code


def test_the_dat_file_of_rates_is_read_as_rates(torr, fake):
    fake.rate_curve = limit(300)
    torr("ladder", "--rates", "100,200", "-n", "a", URL)
    torr("ladder", "--rates", "200,400", "-n", "b", URL)
    ended = torr("diff", "_output/torr/a.dat", "_output/torr/b.dat")
    assert ended.code == 0, ended.err
    assert "arrivals/s" in ended.out


@pytest.mark.usefixtures("fake")
def test_rates_are_not_compared_with_numbers_of_users(torr, tmp_path):
    torr("ladder", "--rates", "100,200", "-n", "a", URL)
    torr("ladder", "--levels", "100,200", "-n", "b", URL)
    runs = [str(next(tmp_path.glob(f"**/{name}-*/result.json"))) for name in ("a", "b")]
    ended = torr("diff", *runs)
    assert ended.code == 2
    assert "a and b cannot be compared: levels of one are rates" in ended.err


def test_two_ladders_of_rates_are_compared_at_their_common_rates(torr, fake, tmp_path):
    fake.rate_curve = limit(300)
    torr("ladder", "--rates", "100,200", "--rounds", "6", "-n", "a", URL)
    torr("ladder", "--rates", "200,400", "--rounds", "6", "-c", "50", "-n", "b", URL)
    runs = [str(next(tmp_path.glob(f"**/{name}-*/result.json"))) for name in ("a", "b")]
    assert torr("diff", *runs).code == 0
    result = json.loads(next(tmp_path.glob("**/a_b*/result.json")).read_text())
    assert {verdict["rate"] for verdict in result["verdicts"]} == {200.0}


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--levels", "1,2"), "--levels and --rates are both given"),
        (("--think", "1s"), "--think and --rates are both given"),
        (("--pool", "5"), "--pool and --rates are both given"),
        (("--profile", "1"), "--profile and --rates are both given"),
        (("--min-capacity", "5 users"), "is a number of users, and --rates has none"),
    ],
)
def test_what_rates_do_not_have_is_refused(torr, fake, more, says):
    ended = torr("ladder", "--rates", "100,200", *more, URL)
    assert ended.code == 2
    assert says in ended.err
    assert fake.loads == []


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("-c", "5"), "-c/--connections needs --rates"),
        (("--arrivals", "poisson"), "--arrivals needs --rates"),
        (("--min-capacity", "5 arrivals/s"), "is a rate of arrivals, which needs --rates"),
    ],
)
def test_what_only_rates_have_is_refused_without_them(torr, fake, more, says):
    ended = torr("ladder", "--levels", "1,2", *more, URL)
    assert ended.code == 2
    assert says in ended.err
    assert fake.loads == []


@pytest.mark.parametrize("text", ["", "0,5", "a", "5,1", "auto:10:5", "auto:x", "auto:1:2:3"])
def test_texts_that_are_no_rates_are_refused(torr, fake, text):
    assert torr("ladder", "--rates", text, URL).code == 2
    assert fake.loads == []
