"""Groups of a plan file: users who begin apart, arrivals, and both changing with time."""

from __future__ import annotations

import pytest

REQUEST = 'url = "http://127.0.0.1:9"\n{}[[requests]]\nname = "a"\nurl = "/"\n'


def text(*groups, first=""):
    """A file of one request and groups of these lines."""
    tables = (f'[[groups]]\nrequests = ["a"]\n{group}\n' for group in groups)
    return REQUEST.format(first) + "".join(tables)


@pytest.fixture
def planned(torr, fake, tmp_path):
    """What the engine gets for a file and flags, load by load."""

    def call(text, *flags, verb="run"):
        (tmp_path / "plan.toml").write_text(text)
        ended = torr(verb, "plan.toml", *flags)
        assert ended.code in (0, 1), ended.err
        return [load.plan.as_json() for load in fake.loads]

    return call


@pytest.fixture
def refused(torr, fake, tmp_path):
    """What is said of a file that is not run."""

    def call(text, *flags, verb="run"):
        (tmp_path / "plan.toml").write_text(text)
        ended = torr(verb, "plan.toml", *flags)
        assert (ended.code, fake.loads) == (2, []), ended.out
        return ended.err

    return call


def paces(plan):
    return [group["pace"] for group in plan["groups"]]


@pytest.mark.parametrize("rate", ["5", '"5"', '"5/s"', "5.0"])
def test_users_of_a_group_begin_at_its_rate(planned, rate):
    (plan,) = planned(text(f"users = 10\nspawn_rate = {rate}", "users = 3"))
    assert paces(plan) == [
        {"kind": "closed", "users": 10, "spawn_rate": 5.0},
        {"kind": "closed", "users": 3},
    ]


def test_a_ladders_levels_keep_the_rate_at_which_users_begin(planned):
    groups = text("weight = 4\nspawn_rate = 5", "weight = 1\nspawn_rate = 0.5")
    plans = planned(groups, "--levels", "10,50", verb="ladder")
    assert [[pace["users"] for pace in paces(plan)] for plan in plans] == [[8, 2], [40, 10]]
    assert [[pace["spawn_rate"] for pace in paces(plan)] for plan in plans] == [[5.0, 0.5]] * 2


def test_the_rate_of_the_file_stays_beside_that_of_a_group(planned):
    (plan,) = planned(text("users = 10\nspawn_rate = 5", first='connections_per_second = "9"\n'))
    assert plan["transport"]["connections_per_second"] == 9
    assert paces(plan)[0]["spawn_rate"] == 5


def test_arrivals_of_a_group_are_those_of_the_flags(planned):
    (plan,) = planned(
        text(
            'rate = "50"',
            'rate = 2.5\narrivals = "poisson"\nconnections = 7\nmax_in_flight = 20',
            "users = 4",
        ),
    )
    constant, poisson, closed = paces(plan)
    assert (constant["kind"], constant["rate_per_s"], constant["connections"]) == (
        "constant",
        50.0,
        100,
    )
    assert (poisson["kind"], poisson["rate_per_s"]) == ("poisson", 2.5)
    assert (poisson["connections"], poisson["max_in_flight"]) == (7, 20)
    assert closed == {"kind": "closed", "users": 4}


def test_thoughts_of_the_file_are_its_users(planned):
    (plan,) = planned(text("rate = 5", "users = 4", first='think = "1s"\n'))
    assert [group["think"] is not None for group in plan["groups"]] == [False, True]


def test_users_are_dealt_over_groups_of_steady_users_alone(planned):
    (plan,) = planned(text("weight = 1", "rate = 5", "weight = 3"), "-c", "8")
    assert [pace.get("users") for pace in paces(plan)] == [2, None, 6]


def test_stages_of_a_group_are_users_or_its_rate_and_say_how_long(planned):
    (plan,) = planned(
        text(
            'users = 2\nstages = "10s:5,50s:0"',
            'stages = "1m:3"',
            'rate = 0\nstages = "30s:100,30s:0"',
            "users = 4",
        )
    )
    assert (plan["stop"]["duration_ns"], plan["warmup_ns"]) == (60_000_000_000, 0)
    users, others, rate, steady = paces(plan)
    assert (users["users"], [stage["target"] for stage in users["stages"]]) == (5, [2, 5, 0])
    assert (others["users"], [stage["target"] for stage in others["stages"]]) == (3, [3])
    assert (rate["rate_per_s"], [stage["target"] for stage in rate["stages"]]) == (100, [100, 0])
    assert steady == {"kind": "closed", "users": 4}


def test_spin_is_for_arrivals_of_any_group(planned, refused):
    assert "--spin needs an open loop" in refused(text("users = 4"), "--spin")
    (plan,) = planned(text("users = 4", "rate = 5"), "--spin")
    assert plan["spin"] is True


@pytest.mark.parametrize(
    ("second", "says"),
    [("rate = 5", "'group 1' is a group of arrivals"), ('stages = "1s:5"', "users in stages")],
)
def test_a_ladder_is_of_steady_users(refused, second, says):
    said = refused(text("users = 4", second), verb="ladder")
    assert "plan.toml:8: " in said
    assert says in said
    assert "torr run" in said


def test_users_that_are_typed_need_a_group_of_users(refused):
    assert "-c: the file has no group with users" in refused(text("rate = 5"), "-c", "5")


def test_a_request_that_captures_is_nobodys_without_users(refused):
    captures = text("rate = 5").replace('url = "/"', 'url = "/"\ncapture = "t=json:$.t"')
    said = refused(captures)
    assert "plan.toml:6: " in said
    assert "open-loop requests do not belong to a user" in said


@pytest.mark.parametrize("key", ["rate", "arrivals", "stages"])
def test_what_a_group_says_is_no_key_of_the_file(refused, key):
    said = refused(text("users = 4", first=f"{key} = 5\n"))
    assert f"plan.toml:2: there is no {key!r} here" in said
    assert "write it into [[groups]]" in said


def test_the_time_until_all_are_there_is_waited_for():
    from torr.model.pace import Closed
    from torr.model.plan import Duration, Group, Plan
    from torr.model.request import Request
    from torr.model.source import Source

    source = Source.of(Request("http://127.0.0.1:9/"))
    groups = tuple(
        Group(Closed(users, spawn_rate=rate), source) for users, rate in ((11, 2), (5, 9))
    )
    assert Plan(groups, Duration(10_000_000_000)).seconds == 15
