"""The example of mixed users against a server of its kind: rows are what the server counted."""

from __future__ import annotations

import csv
from collections import Counter

import pytest

from documents import ROOT
from torr.errors import ExitCode

PLAN = ROOT / "examples/dify.toml"
AT_ONCE = ("--connections-per-second", "1k", "--drain", "5s")


def test_rows_of_the_example_are_what_the_target_counted(torr, target, tmp_path):
    running = target("dify", "--tokens", "4", "--ttft", "20ms", "--itl", "1ms")
    load = ("-c", "50", "-z", "300ms", "--log", "log.csv", "--allow-not-shown", *AT_ONCE)
    ended = torr("run", PLAN, running.url, *load)
    # The SLOs of the example are those of a quiet machine.
    assert ended.code in {ExitCode.FINE, ExitCode.MISSED}, ended.err
    calls = running.stop()["calls"]
    with (tmp_path / "log.csv").open() as file:
        rows = list(csv.DictReader(file))
    names = {"chat": "simple", "agent": "complex", "retrieve": "retrieval"}
    sent = Counter(row["name"] for row in rows)
    assert sent == {names[call]: count for call, count in calls.items()}
    assert min(sent.values()) > 0
    steps = {step["name"]: step for step in ended.level["requests"]}
    measured = Counter(row["name"] for row in rows if row["phase"] == "measure")
    counted = {name: step["counts"]["attempted"] for name, step in steps.items()}
    assert counted == {name: measured[name] for name in steps}
    # Every response that streams has four tokens; what is looked up does not stream.
    for name in ("simple", "complex"):
        assert steps[name]["stream"]["tokens_out"] == 4 * steps[name]["counts"]["ok"]
    assert steps["retrieval"]["stream"] is None


@pytest.mark.full
def test_levels_scale_both_groups_of_the_example(torr, target):
    running = target("dify", "--tokens", "2")
    quick = ("--levels", "5,10", "-z", "1s", "--rounds", "1", *AT_ONCE)
    ended = torr("ladder", PLAN, running.url, *quick)
    levels = ended.result["levels"]
    assert [level["concurrency"] for level in levels] == [5, 10]
    # Four of five users chat, one looks things up.
    calls = running.stop()["calls"]
    assert calls["chat"] + calls["agent"] > calls["retrieve"] > 0
    sides = [side for level in levels for side in (level, level["warmup"])]
    assert sum(side["counts"]["attempted"] for side in sides) == sum(calls.values())
