"""Agents and engines on nodes, without Ray: the nodes are processes of this machine."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from candidates import GOOD
from installed import TORR, children_of, wait_until
from torr import engine
from torr.cli.main import torr as command_line
from torr.cluster import cluster as clusters
from torr.cluster import wire
from torr.cluster.cluster import Cluster
from torr.errors import InterruptedRunError, NothingMeasuredError, UsageError
from torr.experiments.node_doctor import examine
from torr.model.plan import Closed, Count, Duration, Group, Open, Plan
from torr.model.request import Request
from torr.model.source import Source
from torr.targets import Hello, listening

LAUNCHER = Path(__file__).parents[1] / "local_launcher.py"
MS = 1_000_000
NODES = ("a", "b", "c")
BY_HEALTH = ("healthy", "contended", "generator-limited")


@pytest.fixture
def connect(monkeypatch):
    """Connect to a cluster of three nodes, which are processes of this machine."""

    def command(_address):
        return [sys.executable, str(LAUNCHER), ",".join(NODES)]

    monkeypatch.setattr(clusters, "launcher_command", command)
    # A busy machine may let none of them run for some seconds.
    monkeypatch.setattr(clusters, "SILENCE_S", 60)
    monkeypatch.setattr(wire, "SILENCE_S", 60)
    opened = []

    def connected(wanted="all", workers=1, **more):
        opened.append(Cluster.connect("here:1", wanted, workers, **more))
        return opened[-1]

    yield connected
    for cluster in opened:
        cluster.close()


@pytest.fixture
def hello():
    with listening(Hello()) as target:
        yield target


def plan(target, pace):
    source = Source.of(Request(target.url))
    return Plan(groups=(Group(pace=pace, source=source),), stop=Duration(200 * MS), warmup_ns=0)


def level_of(load):
    for _ in engine.intervals(load):
        pass
    return engine.level(load)


@pytest.mark.parametrize("pace", [Closed(6), Open(300, connections=6)], ids=["closed", "rate"])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_nodes_count_as_one(connect, hello, pace, count):
    cluster = connect(str(count))
    load = cluster.start(plan(hello, pace))
    intervals = list(engine.intervals(load))
    level = engine.level(load)
    assert level.counts.attempted == hello.counts()["requests"]
    assert sum(node.attempted for node in level.generator.nodes) == level.counts.attempted
    assert sum(node.ok for node in level.generator.nodes) == level.counts.ok
    for interval in intervals:
        assert [node.name for node in interval.nodes] == list(NODES[:count])
        assert sum(node.attempted for node in interval.nodes) == interval.counts.attempted
        rate = sum(node.ok_per_s for node in interval.nodes)
        assert rate == pytest.approx(interval.ok_per_s)
    assert [node.name for node in level.generator.nodes] == list(NODES[:count])
    assert level.generator.processes == count
    assert level.warnings == []


def test_each_node_sends_from_several_processes(connect, hello):
    whole = replace(plan(hello, Closed(12)), processes=2)
    level = level_of(connect("2").start(whole))
    assert level.counts.attempted == hello.counts()["requests"]
    assert hello.counts()["connections"] == 12
    assert [(node.name, node.processes) for node in level.generator.nodes] == [("a", 2), ("b", 2)]
    assert (level.generator.processes, level.generator.workers) == (4, 4)


def test_nodes_have_equal_parts_of_uneven_numbers_of_workers_and_users(connect, hello):
    uneven = replace(plan(hello, Closed(6)), processes=2, stop=Count(600))
    level = level_of(connect("2", workers=3).start(uneven))
    assert level.generator.workers == 6
    # The first of two processes has two workers, of each node.
    assert [node.attempted for node in level.generator.nodes] == [300, 300]
    assert hello.counts()["requests"] == 600
    few = level_of(connect("3").start(replace(plan(hello, Closed(3)), processes=2)))
    assert [(node.name, node.processes) for node in few.generator.nodes] == [
        ("a", 1), ("b", 1), ("c", 1)
    ]  # fmt: skip


def test_each_node_is_judged(connect, hello):
    level = level_of(connect().start(plan(hello, Closed(3))))
    nodes = level.generator.nodes
    worst = max((node.verdict for node in nodes), key=BY_HEALTH.index)
    assert BY_HEALTH.index(level.health.verdict) >= BY_HEALTH.index(worst)
    assert all(node.steal_rate is not None and node.steal_rate >= 0 for node in nodes)
    named = [reason for reason in level.health.reasons if reason.code == "health.on_nodes"]
    assert bool(named) == any(node.reasons for node in nodes)


def test_a_cluster_sends_one_load_after_the_other(connect, hello):
    cluster = connect()
    levels = [level_of(cluster.start(plan(hello, Closed(3)))) for _ in range(3)]
    assert sum(level.counts.attempted for level in levels) == hello.counts()["requests"]


def test_a_node_that_is_lost_before_a_load_ends_the_run_with_its_name(connect, hello):
    cluster = connect()
    # The process that stands for Ray has started the agents in the order of their names.
    os.kill(sorted(children_of(cluster.launcher.pid))[1], signal.SIGKILL)
    wait_until(lambda: cluster.agents["b"].is_lost)
    with pytest.raises(NothingMeasuredError) as lost:
        cluster.start(plan(hello, Closed(3)))
    assert str(lost.value.message).startswith("node b is lost: ")


def test_other_nodes_go_on_if_that_is_allowed(connect, hello):
    cluster = connect(allows_losses=True)
    os.kill(sorted(children_of(cluster.launcher.pid))[1], signal.SIGKILL)
    wait_until(lambda: cluster.agents["b"].is_lost)
    level = level_of(cluster.start(plan(hello, Closed(3))))
    assert level.counts.attempted == hello.counts()["requests"]
    assert [node.name for node in level.generator.nodes] == ["a", "c"]
    assert [warning.code for warning in level.warnings] == ["warning.node_lost"]
    assert level.warnings[0].startswith("b was lost before this load")
    for agent in children_of(cluster.launcher.pid):
        os.kill(agent, signal.SIGKILL)
    wait_until(lambda: all(agent.is_lost for agent in cluster.agents.values()))
    with pytest.raises(NothingMeasuredError):
        cluster.start(plan(hello, Closed(3)))


def test_unequal_nodes_have_equal_parts_with_a_warning(connect, hello):
    cluster = connect(workers=None)
    cluster.agents["a"].facts["machine"]["cores_allowed"] = 1
    cluster.agents["b"].facts["machine"]["cores_allowed"] = 2
    cluster.agents["c"].facts["machine"]["cores_allowed"] = 1
    level = level_of(cluster.start(plan(hello, Closed(3))))
    assert level.generator.workers == 3
    assert level.warnings == ["nodes send equal parts of the load: b could use more cores"]


@pytest.mark.usefixtures("connect")
def test_the_trials_of_a_comparison_are_sent_by_the_nodes(matrix, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = matrix({"one": GOOD, "two": GOOD})
    flags = ["--nodes", "2", "--cluster", "here:1", "--rounds", "1", "-q"]
    ended = CliRunner().invoke(command_line, ["compare", str(file), *flags])
    assert ended.exit_code == 0, ended.output
    result = json.loads(Path("_output/torr/latest/result.json").read_text())
    sent_by = [[node["name"] for node in x["generator"]["nodes"]] for x in result["levels"]]
    assert sent_by == [["a", "b"]] * 2
    assert "pin" not in result["experiment"]
    assert "rules.nodes" in [rule["code"] for rule in result["experiment"]["rules"]]


@pytest.mark.usefixtures("connect")
def test_the_rows_of_a_trace_are_sent_once_by_several_nodes(target, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    running = target("openai")
    rows = [{"timestamp": n, "input_length": 4, "output_length": 1} for n in range(30)]
    Path("trace.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    flags = ["--nodes", "2", "--cluster", "here:1", "-q", "--chat", "openai", "--model", "m"]
    ended = CliRunner().invoke(
        command_line, ["run", *flags, "--trace", "trace.jsonl", "--drain", "10s", running.url]
    )
    assert ended.exit_code == 0, ended.output
    level = json.loads(Path("_output/torr/latest/result.json").read_text())["levels"][0]
    sent_by = {node["name"]: node["attempted"] for node in level["generator"]["nodes"]}
    assert sorted(sent_by) == ["a", "b"]
    assert sum(sent_by.values()) == level["counts"]["ok"] == running.stop()["calls"]["chat"] == 30
    assert level["trace"]["rows"] == 30


@pytest.mark.full
@pytest.mark.usefixtures("connect")
def test_the_trials_of_a_tuning_are_sent_by_the_nodes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("tune.toml").write_text(f"""\
command = [
    "{TORR}", "target", "delay", "--port", "{{port}}", "--delay", "{{delay}}", "--for", "60s",
]
url = "http://127.0.0.1:{{port}}/"
connections = 2
requests = 10
warmup = "0s"
budget = 34
[settings]
delay = ["9ms", "1ms", "30ms"]
[default]
delay = "9ms"
""")
    flags = ["--nodes", "2", "--cluster", "here:1", "-q"]
    ended = CliRunner().invoke(command_line, ["tune", "tune.toml", *flags])
    assert ended.exit_code == 0, ended.output
    result = json.loads(Path("_output/torr/latest/result.json").read_text())
    assert result["tuning"]["finalists"] == [1, 2]
    assert {level["place"]["phase"] for level in result["levels"]} == {"search", "fresh"}
    sent_by = {tuple(n["name"] for n in x["generator"]["nodes"]) for x in result["levels"]}
    assert sent_by == {("a", "b")}
    assert "pin" not in result["experiment"]


@pytest.mark.usefixtures("connect")
def test_doctor_examines_each_node_and_its_way_to_the_target(hello, monkeypatch):
    monkeypatch.setattr("torr.self_test.WINDOW_NS", 100 * MS)
    flags = ["--nodes", "2", "--cluster", "here:1", "-o", "json"]
    ended = CliRunner().invoke(command_line, ["doctor", hello.url, *flags])
    assert ended.exit_code == 0, ended.output
    nodes = json.loads(ended.stdout)["nodes"]
    assert [node["node"] for node in nodes] == ["a", "b"]
    for node in nodes:
        assert node["machine"]["cores_allowed"] >= 1
        assert 0 < node["clock_error_ms"] <= node["round_trip_ms"] / 2
        assert node["connect"] > 0
    assert (hello.counts()["connections"], hello.counts()["requests"]) == (2, 0)


@pytest.mark.usefixtures("connect")
def test_the_table_of_doctor_has_a_row_per_node(monkeypatch):
    monkeypatch.setattr("torr.self_test.WINDOW_NS", 100 * MS)
    with socket.create_server(("127.0.0.1", 0)) as bound:
        closed = f"http://127.0.0.1:{bound.getsockname()[1]}/"
    flags = ["--nodes", "a,b", "--cluster", "here:1"]
    ended = CliRunner().invoke(command_line, ["doctor", closed, *flags])
    assert ended.exit_code == 0, ended.output
    begins = [line.split()[0] for line in ended.stdout.splitlines() if line.strip()]
    table = begins.index("node")
    assert begins[table : table + 3] == ["node", "a", "b"]
    assert "a: no connection: Connection refused; b: no connection" in ended.stdout


def test_doctor_names_a_node_that_is_lost(connect):
    cluster = connect("2")

    def lose(step):
        if step.startswith("measuring what"):
            for child in children_of(cluster.launcher.pid)[:1]:
                for process in children_of(child):
                    os.kill(process, signal.SIGKILL)

    with pytest.raises(NothingMeasuredError, match=r"node [ab] is lost: its connection ended"):
        examine(cluster, None, lose)


def test_closing_a_cluster_ends_all_agents(connect):
    cluster = connect()
    agents = children_of(cluster.launcher.pid)
    assert len(agents) == 3
    cluster.close()
    wait_until(lambda: not any(Path(f"/proc/{agent}").exists() for agent in agents))


def test_a_connection_without_the_token_is_closed(connect):
    cluster = connect("1")
    for hello in (
        {"node": "a"},
        {"token": "é", "node": "a"},
        {"token": "\ud800", "node": "a"},
        {"token": cluster.token, "node": "z"},
    ):
        with socket.create_connection(cluster.listener.getsockname()) as stranger:
            stranger.sendall(json.dumps(hello).encode() + b"\n")
            assert stranger.recv(1) == b""
    assert list(cluster.agents) == ["a"]


def test_a_cluster_that_does_not_answer_is_given_up(monkeypatch):
    monkeypatch.setattr(clusters, "RAY_LIMIT_S", 0)
    silent = [sys.executable, "-c", "import time; time.sleep(60)"]
    monkeypatch.setattr(clusters, "launcher_command", lambda _: silent)
    with pytest.raises(UsageError) as refused:
        Cluster.connect("here:1", "all")
    assert str(refused.value.message) == "no Ray cluster at here:1: no answer within 0 s"


def test_an_interrupt_ends_the_wait_for_a_cluster(monkeypatch):
    silent = [sys.executable, "-c", "import time; time.sleep(60)"]
    monkeypatch.setattr(clusters, "launcher_command", lambda _: silent)
    with pytest.raises(InterruptedRunError):
        Cluster.connect("here:1", "all", is_interrupted=lambda: True)


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        ({"event": "failed", "why": "refused"}, "no Ray cluster at here:1: refused"),
        ({"event": "failed", "why": "", "is_missing": True}, "loads from several nodes need Ray"),
        (
            {"event": "failed", "why": "here 3.10, there 3.11", "is_other_version": True},
            "the cluster runs another version of Ray or Python: here 3.10, there 3.11",
        ),
        (None, "no Ray cluster at here:1: the process that holds Ray ended"),
    ],
)
def test_a_cluster_that_is_not_there_is_refused(monkeypatch, event, reason):
    code = "" if event is None else f"print({json.dumps(event)!r})"
    monkeypatch.setattr(clusters, "launcher_command", lambda _: [sys.executable, "-c", code])
    with pytest.raises(UsageError) as refused:
        Cluster.connect("here:1", "all")
    assert str(refused.value.message) == reason
