"""What `torr doctor` says, word by word."""

from __future__ import annotations

import json
from dataclasses import replace
from ipaddress import ip_address

import pytest

from examined import GOOD
from torr.experiments.diagnosis import findings
from torr.experiments.doctor import DiagnosedTarget, Speed, Timers
from torr.procfs.listeners import ListeningSocket
from torr.procfs.sockets import SocketHolder
from torr.report.text.doctor import as_json, sentence, summary

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
