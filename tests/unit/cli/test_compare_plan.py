"""`torr compare --plan`: how many trials there are, for how long, and what they can decide."""

from __future__ import annotations

import pytest

TOP = """\
baseline = "one"
duration = "5s"
url = "http://127.0.0.1:{port}/"
"""
CANDIDATE = """\
[[candidates]]
name = "%s"
command = ["no-such-server", "{port}"]
"""


@pytest.fixture
def planned(torr, tmp_path):
    """The last lines of the plan of a matrix with these keys at its top."""

    def lines(more="", *flags, names=("one", "two")):
        text = TOP + more + "".join(CANDIDATE % name for name in names)
        (tmp_path / "matrix.toml").write_text(text)
        ended = torr("compare", "--plan", *flags, "matrix.toml")
        assert ended.code == 0, ended.err
        return ended.out.rpartition("\n\n")[2].splitlines()

    return lines


def test_a_warm_up_is_two_seconds_of_load(planned):
    assert planned("rounds = 11\n")[0] == "22 trials in 1 cell, about 4 min"


def test_a_warm_up_by_requests_is_one_by_no_time(planned):
    found = planned("rounds = 11\nwarmup_requests = 500\n")
    assert found[0] == "22 trials in 1 cell, about 3 min and the warm-up requests"


def test_a_warm_up_by_requests_and_by_time_is_both(planned):
    found = planned('rounds = 11\nwarmup_requests = 500\nwarmup = "2s"\n')
    assert found[0] == "22 trials in 1 cell, about 4 min and the warm-up requests"
    typed = planned("rounds = 11\nwarmup_requests = 500\n", "--warmup", "2s")
    assert typed[0] == found[0]


def test_until_settled_says_the_first_look_and_the_most(planned):
    trials, _, power = planned("", "--until", "settled")
    first = "10 rounds: 20 trials in 1 cell, about 3 min"
    assert trials == f"{first}; at most 40: 80 trials in 1 cell, about 13 min"
    assert "decide nothing" not in power


def test_a_look_that_decides_nothing_is_named(planned):
    names = ("one", *(f"n{number}" for number in range(30)))
    power = planned("", "--until", "settled", names=names)[-1]
    assert power.startswith("40 rounds for 30 comparisons with the baseline: enough for verdicts")
    assert "; 10 rounds decide nothing, at least 12 are needed" in power
