"""Loads from the nodes of a real Ray cluster count as one load."""

from __future__ import annotations

import csv
import json

import pytest

from installed import wait_until

# The answers of a chat model: 20 tokens, 1 ms apart.
CHAT = ("dify", "--ttft", "5ms", "--itl", "1ms", "--tokens", "20")
LOADS = {
    "closed": (("hello",), ("-c", "6")),
    "rate": (("hello",), ("--rate", "300", "-c", "9")),
    "stream": (CHAT, ("-c", "6", "--chat", "dify", "--prompt", "hello")),
}
SHORT = ("-z", "500ms", "--warmup", "0s", "--no-store")


def clocks_of(level):
    """Return the clocks of the nodes that have another clock than torr."""
    nodes = level["generator"]["nodes"]
    return {node["name"]: node["clock"] for node in nodes if node["clock"] is not None}


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("load", list(LOADS))
def test_nodes_count_as_one_and_the_target_agrees(cluster, tmp_path, load, count):
    server, flags = LOADS[load]
    target = cluster.target(*server)
    ended = cluster.torr(tmp_path, "run", "--nodes", str(count), *flags, *SHORT, target.url)
    assert ended.code == 0, ended.err
    counts = target.stop()
    level = ended.level
    assert level["counts"]["attempted"] == counts["requests"]
    assert level["counts"]["ok"] > 0
    assert level["counts"]["errors"] == {}
    nodes = level["generator"]["nodes"]
    # The first node coordinates, so that it is the last to be chosen.
    assert [node["name"] for node in nodes] == ["node1", "node2", "node0"][:count]
    assert level["generator"]["processes"] == count
    if load == "rate":
        assert level["counts"]["planned"] == 150


def test_the_clocks_of_nodes_are_known_within_the_stated_error(cluster, tmp_path):
    target = cluster.target("hello")
    ended = cluster.torr(tmp_path, "run", "--nodes", "all", "-c", "3", *SHORT, target.url)
    target.stop()
    clocks = clocks_of(ended.level)
    assert list(clocks) == ["node1", "node2"]
    for name, clock in clocks.items():
        truth_ms = 1_000 * cluster.skew_s(name)
        assert abs(clock["offset_ms"] - truth_ms) <= clock["error_ms"], name
    intervals = (tmp_path / "_output/torr/latest/intervals.jsonl").read_text().splitlines()
    places = [json.loads(line)["t_s"] for line in intervals]
    assert all(-1 < place < 2 for place in places)


def test_the_log_has_the_exchanges_of_all_nodes_in_the_order_of_their_ends(cluster, tmp_path):
    target = cluster.target("hello")
    flags = ("--nodes", "all", "--rate", "300", "-c", "9", "--log", "log.csv")
    ended = cluster.torr(tmp_path, "run", *flags, *SHORT, target.url)
    assert ended.code == 0, ended.err
    target.stop()
    rows = list(csv.DictReader((tmp_path / "log.csv").read_text().splitlines()))
    assert len(rows) == ended.level["counts"]["attempted"] == 150
    ends = [int(row["last_byte_ns"]) for row in rows]
    assert ends == sorted(ends)
    # Without the offsets of the clocks: every 3.3 ms one of the nodes sends.
    due = sorted(int(row["intended_ns"]) for row in rows)
    error_ns = 1e6 * max(clock["error_ms"] for clock in clocks_of(ended.level).values())
    places = [due[0] + number * 1e9 / 300 for number in range(150)]
    assert due == pytest.approx(places, abs=2 * error_ns + 1)


def test_a_ladder_is_climbed_by_all_nodes(cluster, tmp_path):
    target = cluster.target("hello")
    flags = ("--levels", "3,6", "--nodes", "node1,node2", *SHORT)
    ended = cluster.torr(tmp_path, "ladder", *flags, target.url)
    assert ended.code == 0, ended.err
    target.stop()
    assert [level["generator"]["processes"] for level in ended.result["levels"]] == [2, 2]


def test_nothing_is_left_on_the_nodes(cluster, tmp_path):
    target = cluster.target("hello")
    assert cluster.torr(tmp_path, "run", "--nodes", "all", *SHORT, target.url).code == 0
    target.stop()
    wait_until(lambda: cluster.engines() == [])


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [("4", "the cluster has 3 nodes, not 4"), ("node1,other", "the cluster has no node 'other'")],
)
def test_nodes_that_do_not_exist_are_refused(cluster, tmp_path, nodes, reason):
    ended = cluster.torr(tmp_path, "run", "--nodes", nodes, "http://127.0.0.1:9/")
    assert (ended.code, reason in ended.err) == (2, True)


def test_a_node_that_is_lost_is_named_and_the_others_go_on(own_cluster, tmp_path):
    target = own_cluster.target("hello")
    flags = ("--nodes", "all", "-c", "6", "-z", "8s", "--warmup", "0s", "--no-store")
    run = own_cluster.start(tmp_path, "run", *flags, target.url)
    own_cluster.wait_for_load(3)
    own_cluster.kill(2)
    ended = own_cluster.end(run, tmp_path)
    level = ended.level
    losses = {node["name"]: node["lost_processes"] for node in level["generator"]["nodes"]}
    assert losses == {"node1": 0, "node2": 1, "node0": 0}
    assert any("on node2" in warning["text"] for warning in level["warnings"])
    assert level["health"]["verdict"] == "generator-limited"
    assert target.stop()["requests"] >= level["counts"]["attempted"]


def test_a_load_ends_when_torr_is_killed(own_cluster, tmp_path):
    target = own_cluster.target("hello")
    flags = ("--nodes", "all", "-c", "3", "-z", "10m", "--warmup", "0s", "--no-store")
    run = own_cluster.start(tmp_path, "run", *flags, target.url)
    own_cluster.wait_for_load(3)
    own_cluster.kill_all_of(run)
    wait_until(lambda: own_cluster.engines() == [])
    target.stop()
