"""Flags of the load become paces: stages, replays, pools; what contradicts is refused."""

from __future__ import annotations

import pytest

from torr.units import SECOND_NS

URL = "http://127.0.0.1:9/x"


def plan_of(fake):
    return fake.loads[0].plan.as_json()


def pace_of(fake):
    return plan_of(fake)["groups"][0]["pace"]


def stages(*pairs):
    return [{"duration_ns": lasts * SECOND_NS, "target": target} for lasts, target in pairs]


def test_stages_are_users_from_0_on_until_the_last_one_ends(torr, fake):
    assert torr("run", "--stages", "3s:100,2s:1k,1s:0", URL).code == 0
    assert pace_of(fake) == {
        "kind": "closed",
        "users": 1000,
        "stages": stages((3, 100.0), (2, 1000.0), (1, 0.0)),
    }
    plan = plan_of(fake)
    assert plan["stop"] == {"kind": "duration", "duration_ns": 6 * SECOND_NS}
    assert plan["warmup_ns"] == 0


def test_stages_of_users_begin_at_c(torr, fake):
    torr("run", "-c", "50", "--stages", "3s:10", URL)
    assert pace_of(fake)["stages"] == stages((0, 50.0), (3, 10.0))
    assert pace_of(fake)["users"] == 50


def test_stages_with_a_rate_are_rates_that_begin_at_it(torr, fake):
    torr("run", "--rate", "10", "--stages", "3s:2.5k,1s:0", "-c", "7", "--max-in-flight", "9", URL)
    assert pace_of(fake) == {
        "kind": "constant",
        "rate_per_s": 2500.0,
        "connections": 7,
        "max_in_flight": 9,
        "stages": stages((0, 10.0), (3, 2500.0), (1, 0.0)),
    }


def test_stages_of_a_rate_may_begin_at_0(torr, fake):
    torr("run", "--rate", "0", "--arrivals", "poisson", "--stages", "3s:5", URL)
    assert (pace_of(fake)["kind"], pace_of(fake)["stages"]) == ("poisson", stages((3, 5.0)))


def test_a_replay_starts_each_request_at_its_time(torr, fake, tmp_path):
    (tmp_path / "times").write_text("10\n12.5\n11\n")
    torr("run", "--replay", "times", "--speed", "2", "-c", "7", "--max-in-flight", "9", URL)
    assert pace_of(fake) == {
        "kind": "replay",
        "offsets_ns": [0, SECOND_NS // 2, SECOND_NS * 5 // 4],
        "connections": 7,
        "max_in_flight": 9,
    }
    assert plan_of(fake)["stop"] == {"kind": "requests", "requests": 3}
    assert plan_of(fake)["warmup_ns"] == 0


def test_a_duration_cuts_a_replay(torr, fake, tmp_path):
    (tmp_path / "times").write_text("10\n11\n12.5\n")
    torr("run", "--replay", "times", "-z", "2s", URL)
    assert pace_of(fake)["offsets_ns"] == [0, SECOND_NS]
    assert pace_of(fake)["connections"] == 100


def test_times_that_lie_more_than_ten_years_apart_are_refused(torr, fake, tmp_path):
    (tmp_path / "times").write_text("0\n1000000\n")
    ended = torr("run", "--replay", "times", "--speed", "0.0000001", URL)
    assert ended.code == 2
    assert "--replay times: its times lie too far apart" in ended.err
    assert fake.loads == []


def test_the_times_of_a_replay_are_not_kept(torr, tmp_path, fake):
    (tmp_path / "times").write_text("10\n10.123456789\n")
    torr("run", "--replay", "times", URL)
    assert "123456789" in fake.loads[0].plan.to_text()
    kept = (tmp_path / "_output/torr/latest/result.json").read_text()
    assert "123456789" not in kept


def test_users_share_a_pool(torr, fake):
    torr("run", "-c", "100k".replace("k", "000"), "--pool", "1000", "--think", "1s", URL)
    assert pace_of(fake) == {"kind": "closed", "users": 100_000, "pool": 1000}
    assert (fake.loads[0].plan.concurrency, fake.loads[0].plan.connections) == (100_000, 1000)


def test_levels_of_a_ladder_share_a_pool(torr, fake):
    assert torr("ladder", "--levels", "2,50", "--pool", "10", URL).code == 0
    paces = [load.plan.as_json()["groups"][0]["pace"] for load in fake.loads]
    assert [(pace["users"], pace["pool"]) for pace in paces] == [(2, 2), (50, 10)]


def test_a_pool_of_a_ladder_may_be_larger_than_its_first_levels(torr, fake):
    assert torr("ladder", "--levels", "200,1000,5000", "--pool", "1000", URL).code == 0
    paces = [load.plan.as_json()["groups"][0]["pace"] for load in fake.loads]
    assert [(p["users"], p["pool"]) for p in paces] == [(200, 200), (1000, 1000), (5000, 1000)]


def test_without_c_there_are_as_many_users_as_a_large_pool_has_connections(torr, fake):
    assert torr("run", "--pool", "70", URL).code == 0
    assert pace_of(fake) == {"kind": "closed", "users": 70, "pool": 70}


def test_the_first_connections_of_a_rate_with_stages_may_be_paced(torr, fake):
    flags = ["--rate", "5", "--stages", "3s:5", "--connections-per-second", "9"]
    assert torr("run", *flags, URL).code == 0
    assert plan_of(fake)["transport"]["connections_per_second"] == 9


BAD = {
    "a stage without a target": (["--stages", "30s"], "--stages: '30s' is not a stage"),
    "half a user": (["--stages", "3s:1.5"], "--stages: 1.5 users are not whole"),
    "two ends": (["--stages", "3s:5", "-z", "5s"], "-z/--duration and --stages are both given"),
    "a count": (["--stages", "3s:5", "--requests", "5"], "--requests and --stages are both"),
    "a warm-up": (["--stages", "3s:5", "--warmup", "1s"], "--stages and --warmup are both given"),
    "a pool": (["--stages", "3s:5", "--pool", "2"], "--pool and --stages are both given"),
    "paced connections": (
        ["--stages", "3s:5", "--connections-per-second", "9"],
        "--connections-per-second and --stages are both given",
    ),
    "no rate": (["--rate", "0"], "--rate: '0' is not a rate above 0"),
    "a pool of arrivals": (["--rate", "5", "--pool", "2"], "--pool and --rate are both given"),
    "a large pool": (["-c", "5", "--pool", "6"], "--pool 6: 5 users need no more"),
    "no pool": (["--pool", "0"], "--pool: '0' is not at least 1"),
    "a rate": (["--replay", "times", "--rate", "5"], "--rate and --replay are both given"),
    "arrivals": (["--replay", "times", "--arrivals", "poisson"], "--arrivals and --replay are"),
    "stages": (["--replay", "times", "--stages", "1s:5"], "--stages and --replay are both"),
    "requests": (["--replay", "times", "--requests", "5"], "--requests and --replay are both"),
    "a shared replay": (["--replay", "times", "--pool", "5"], "--pool and --replay are both"),
    "a warm replay": (["--replay", "times", "--warmup", "1s"], "--replay and --warmup are both"),
    "thoughts": (["--replay", "times", "--think", "1s"], "--think and --replay are both given"),
    "speed alone": (["--speed", "2"], "--speed needs --replay"),
    "no speed": (["--replay", "times", "--speed", "0"], "--speed: '0' is not more than 0"),
    "no file": (["--replay", "none"], "--replay: none: No such file"),
    "no times": (["--replay", "broken"], "broken:1: 'hello' has no time"),
}


@pytest.mark.parametrize("name", BAD)
def test_flags_that_contradict_are_refused(name, torr, fake, tmp_path):
    (tmp_path / "times").write_text("1\n2\n")
    (tmp_path / "broken").write_text("hello\n")
    arguments, says = BAD[name]
    ended = torr("run", *arguments, URL)
    assert ended.code == 2
    assert says in ended.err
    assert len(ended.err.strip().splitlines()) == 2 or "hint" not in ended.err
    assert fake.loads == []
    assert not (tmp_path / "_output").exists()


def test_a_warm_up_of_nothing_is_none(torr, fake):
    assert torr("run", "--stages", "3s:5", "--warmup", "0s", URL).code == 0
    assert plan_of(fake)["warmup_ns"] == 0


@pytest.mark.parametrize("words", [("--rate", "10"), ("--stream", "sse")])
def test_spin_is_for_arrivals_and_streams(torr, fake, words):
    assert torr("run", *words, "--spin", URL).code == 0
    assert plan_of(fake)["spin"] is True


def test_users_without_streams_do_not_spin(torr):
    refused = torr("run", "--spin", URL)
    assert refused.code == 2
    assert "--spin needs an open loop or streams" in refused.err


def test_what_waits_for_its_turn_has_a_limit_even_if_none_is_given(torr, fake):
    torr("run", "--rate", "10", URL)
    assert pace_of(fake)["max_in_flight"] == 5_000_000
