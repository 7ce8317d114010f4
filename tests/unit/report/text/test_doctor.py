"""What `torr doctor` says, word by word."""

from __future__ import annotations

import json
from dataclasses import replace
from ipaddress import ip_address

import pytest

from examined import GOOD
from torr.experiments.diagnosis import findings
from torr.experiments.doctor import DiagnosedTarget, NodeExamination, Speed, Timers
from torr.procfs.listeners import ListeningSocket
from torr.procfs.sockets import SocketHolder
from torr.report.text.doctor import (
    as_json,
    nodes_as_json,
    sentence,
    sentence_of_nodes,
    summary,
)

CAN = "This machine can generate about 140,000 requests/s a core over up to 28,200 connections"


@pytest.mark.parametrize(
    ("seen", "says"),
    [
        (GOOD, f"{CAN}; timers are 21 µs late at p99."),
        (replace(GOOD, timers=Timers(0.1, 1.5)), f"{CAN}; timers are 1.50 ms late at p99."),
        (replace(GOOD, timers=Timers(0.1, None)), f"{CAN}."),
        (
            replace(GOOD, speed=Speed(70_000, 50.0, 12.0, 0.0)),
            f"{CAN}; timers are 21 µs late at p99; other programs used the same cores meanwhile.",
        ),
        (
            replace(GOOD, speed=Speed(0.0, 0.0, 0.0, 0.0)),
            "The request rate of this machine could not be measured: no request was answered.",
        ),
    ],
)
def test_the_sentence_says_only_what_was_measured(seen, says):
    assert sentence(seen) == says


def node(name, **changed):
    return NodeExamination(name, replace(GOOD, **changed), 0, 0.2, 0.05)


@pytest.mark.parametrize(
    ("nodes", "says"),
    [
        (
            [node("a"), node("b", timers=Timers(0.1, 1.5))],
            (
                "2 nodes with 16 cores can generate about 140,000 requests/s a core over up to"
                " 56,400 connections; timers are up to 1.50 ms late at p99."
            ),
        ),
        (
            [node("a"), node("b", speed=Speed(30_000, 50.0, 1.0, 0.0))],
            (
                "2 nodes with 16 cores can generate about 60,000 to 140,000 requests/s a core over"
                " up to 56,400 connections; timers are up to 21 µs late at p99."
            ),
        ),
        (
            [node("a"), node("b", speed=Speed(0.0, 0.0, 0.0, 0.0))],
            "The request rate of b could not be measured: no request was answered.",
        ),
    ],
)
def test_the_sentence_of_nodes_has_the_slowest_and_the_fastest(nodes, says):
    assert sentence_of_nodes(nodes) == says


def test_json_has_each_node_with_its_network():
    late = replace(node("b"), nice=15, clock_error_ms=1.5, connect="Connection refused")
    found = json.loads(json.dumps(nodes_as_json([node("a"), late])))
    assert [x["node"] for x in found["nodes"]] == ["a", "b"]
    words = [{f["name"]: f["word"] for f in x["findings"]} for x in found["nodes"]]
    names = ("nice value", "round trip", "clock error", "target")
    assert [words[0].get(name) for name in names] == ["ok", "ok", "ok", None]
    assert [words[1].get(name) for name in names] == ["warn", "ok", "warn", "warn"]


def test_the_summary_counts_the_warnings():
    assert summary(findings(GOOD)) == "No check found a problem."
    late = findings(replace(GOOD, timers=Timers(1.0, 2.0)))
    assert summary(late) == f"1 of {len(late)} checks need attention:"


def test_json_has_everything_that_was_seen():
    listener = ListeningSocket(ip_address("::1"), 80, 0, 128, 5)
    place = DiagnosedTarget(
        "localhost:80", True, ((listener, SocketHolder(7, "nginx", 1024)), (listener, None))
    )
    seen = replace(GOOD, target=place)
    found = json.loads(json.dumps(as_json(seen, findings(seen))))
    assert found["verdict"].startswith("This machine can generate")
    assert found["requests_per_s_per_core"] == 140_000
    assert found["connections"] == 1_048_400
    assert found["machine"]["port_range"] == [32768, 60999]
    assert found["timers"] == {"p50_ms": 0.012, "p99_ms": 0.021}
    assert found["target"]["listeners"][0]["address"] == "::1"
    assert found["target"]["listeners"][0]["process"]["name"] == "nginx"
    assert found["target"]["listeners"][1]["process"] is None
    words = {finding["name"]: finding["word"] for finding in found["findings"]}
    assert words["accept queue"] == "warn"
    assert words["timers"] == "ok"


def test_json_of_no_target_says_so():
    assert as_json(GOOD, findings(GOOD))["target"] is None


def test_json_of_a_unix_socket_says_what_stands_there():
    seen = replace(GOOD, target=DiagnosedTarget("unix:/run/app.sock", True, file="missing"))
    found = as_json(seen, findings(seen))["target"]
    assert (found["where"], found["listeners"]) == ("unix:/run/app.sock", None)
    assert found["file"] == "missing"
