"""The installed `torr demo`: a ladder that finds a known capacity, and commands to try next."""

from __future__ import annotations

import json


def test_it_measures_its_target_and_names_three_commands(torr):
    ended = torr("demo", "--quick")
    assert ended.code == 0, ended.err
    assert "at most 6,400 requests/s" in ended.out
    first, *commands = ended.out.partition("Try it on your own service")[2].splitlines()
    assert first == ", here one on port 8080:"
    assert [command.split()[:2] for command in commands] == [
        ["torr", "run"],
        ["torr", "ladder"],
        ["torr", "ladder"],
    ]
    result = json.loads((ended.folder / "_output/torr/latest/result.json").read_bytes())
    assert [level["concurrency"] for level in result["levels"]] == [8, 32, 64]
    # In 300 ms the target ends 1,920 requests, and at most 128 more that it served in part before.
    assert all(0 < level["ok_per_s"] < 6_830 for level in result["levels"])


def test_it_measures_a_server_of_a_language_model(torr):
    ended = torr("demo", "llm", "--quick")
    assert ended.code == 0, ended.err
    assert "Its KV cache holds 1,024 tokens" in ended.out
    assert "$ torr ladder --levels 2,8" in ended.out
    _, *commands = ended.out.partition("Try it on your own server of a model")[2].splitlines()
    assert [command.split()[:2] for command in commands] == [
        ["torr", "run"],
        ["torr", "ladder"],
        ["torr", "run"],
        ["torr", "target"],
    ]
    (ladder,) = (ended.folder / "_output/torr").glob("demo-llm-2*/result.json")
    levels = json.loads(ladder.read_bytes())["levels"]
    assert [level["concurrency"] for level in levels] == [2, 8]
    assert all(level["stream"]["tokens_out"] > 0 for level in levels)
    result = json.loads((ended.folder / "_output/torr/latest/result.json").read_bytes())
    (level,) = result["levels"]
    assert (level["trace"]["format"], level["trace"]["rows"]) == ("bailian", 160)
    assert level["counts"]["cancelled"] > 0
    assert level["stream"]["tokens_cached"] > 0
    assert not level["counts"]["errors"]
