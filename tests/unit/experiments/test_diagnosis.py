"""What a look at a machine means: every limit that is too low has its advice, and only those."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address

import pytest

from examined import GOOD, MACHINE, on
from torr.experiments.diagnosis import connections, findings
from torr.experiments.doctor import DiagnosedTarget, Speed, Timers
from torr.procfs.listeners import ListeningSocket
from torr.procfs.machine import Machine
from torr.procfs.sockets import SocketHolder

SPEED = GOOD.speed


def listening(backlog=4096, process=None, address="127.0.0.1"):
    listener = ListeningSocket(ip_address(address), 8080, 3, backlog, 99)
    return replace(GOOD, target=DiagnosedTarget("localhost:8080", True, ((listener, process),)))


# What is too low or too much, the finding that says so, and what to try.
def at_file(file):
    return replace(GOOD, target=DiagnosedTarget("unix:/run/app.sock", True, file=file))


MINDED = {
    "late timers": (replace(GOOD, timers=Timers(0.1, 1.5)), "timers", "another machine"),
    "timers not shown": (replace(GOOD, timers=Timers(None, None)), "timers", "another machine"),
    "no core free": (replace(GOOD, speed=replace(SPEED, run_queue_rate=12)), "waiting", "taskset"),
    "steal": (replace(GOOD, speed=replace(SPEED, steal_rate=7)), "steal", "hypervisor"),
    "one core": (on(cores_allowed=1), "cores", "from another machine"),
    "quota": (on(quota=1.5), "cgroup", "--workers 1"),
    "busy": (on(load=5.0), "load before", "stop them"),
    "governor": (on(governors=("performance", "powersave")), "governor", "cpupower"),
    "clock": (on(clock="hpet"), "clock", "clocksource=tsc"),
    "descriptors": (replace(GOOD, descriptors=20_000), "descriptors", "above 19,900 connections"),
    "how to raise": (replace(GOOD, descriptors=1024), "descriptors", "LimitNOFILE="),
    "ports": (on(port_range=(60000, 60999)), "ports", "ip_local_port_range='10000 65535'"),
    "TIME-WAIT": (on(tw_reuse=0), "TIME-WAIT", "tcp_tw_reuse=1"),
    "conntrack": (on(conntrack=(262_000, 262_144)), "conntrack", "nf_conntrack_max"),
    "memory": (on(memory_available=1024**2), "memory", "stop other programs"),
    "somaxconn": (on(somaxconn=128), "somaxconn", "net.core.somaxconn=4096"),
    "SYN backlog": (on(syn_backlog=128), "SYN backlog", "tcp_max_syn_backlog=4096"),
    "no socket yet": (at_file("missing"), "target", "start the server"),
    "no socket": (at_file("other"), "target", "name the one"),
    "a hidden socket": (at_file("hidden"), "target", "a user who may"),
    "nobody": (
        replace(GOOD, target=DiagnosedTarget("localhost:1", True, ())),
        "target",
        "start the server",
    ),
    "accept queue": (
        listening(backlog=128),
        "accept queue",
        "more than 128 connections are opened at once",
    ),
    "its descriptors": (
        listening(process=SocketHolder(7, "nginx", 1024)),
        "its descriptors",
        "raise ulimit -n where it is started",
    ),
}

# What is said without a word of warning.
SAID = {
    "speed": (GOOD, "70,000 requests/s at 50 % of a core, 7.1 µs of it a request"),
    "timers": (GOOD, "0.012 ms late at p50, 0.021 ms at p99 (1,000/s for 1.5 s)"),
    "a part of the cores": (on(cores=16), "8 of 16"),
    "a quota that is no limit": (on(quota=8.0), "8 cores' worth of time"),
    "descriptors": (GOOD, "1,048,576 (soft 1,024, hard 1,048,576; torr raises it)"),
    "no limit": (on(descriptors=(1024, -1)), "hard unlimited"),
    "ports": (GOOD, "28,232 (32768–60999) to one address and port"),
    "TIME-WAIT": (
        GOOD,
        "a port is blocked for 60 s after its use, so 470 new connections/s to one address",
    ),
    "reuse": (on(tw_reuse=1), "tcp_tw_reuse 1: a port is used again after 1 s"),
    "who listens": (
        listening(process=SocketHolder(7, "nginx", 1_000_000)),
        "nginx (pid 7) listens on 127.0.0.1:8080",
    ),
    "no process": (listening(address="::1"), "a process listens on [::1]:8080"),
    "queue": (listening(), "3 of at most 4,096 wait"),
    "a socket": (
        at_file("socket"),
        "unix:/run/app.sock is a Unix socket: its listener and queue",
    ),
    "elsewhere": (
        replace(GOOD, target=DiagnosedTarget("192.0.2.1:80", False)),
        "192.0.2.1:80 is not this machine",
    ),
    "not told": (
        replace(GOOD, target=DiagnosedTarget("localhost:80", True)),
        "localhost:80: the kernel does not show which process listens",
    ),
}


@pytest.mark.parametrize("name", MINDED)
def test_what_would_spoil_a_measurement_is_a_warning_with_advice(name):
    seen, about, advice = MINDED[name]
    [warning] = [finding for finding in findings(seen) if finding.word == "warn"]
    assert warning.name == about
    assert advice in warning.advice


@pytest.mark.parametrize("name", SAID)
def test_what_is_fine_is_said(name):
    seen, says = SAID[name]
    found = findings(seen)
    assert {finding.word for finding in found} == {"ok"}
    assert any(says in finding.value for finding in found), found


def test_what_a_machine_does_not_tell_is_not_spoken_of():
    seen = replace(GOOD, machine=Machine(8, 8, (1024, 1_048_576)))
    names = [finding.name for finding in findings(seen)]
    assert names == ["one worker", "timers", "waiting", "steal", "cores", "descriptors"]


def test_a_worker_that_did_nothing_has_no_cost():
    seen = replace(GOOD, speed=Speed(0.0, 0.0, 0.0, 0.0))
    assert findings(seen)[0].value == "0 requests/s at 0 % of a core"
    assert seen.speed.per_core is None


@pytest.mark.parametrize(
    ("seen", "fitting"),
    [
        (GOOD, 28_200),
        (on(port_range=None), 1_048_400),
        (replace(GOOD, descriptors=20_000), 19_900),
        (replace(GOOD, descriptors=150), 50),
        (replace(GOOD, descriptors=50), 0),
        (listening(), 1_048_400),
        (replace(GOOD, target=DiagnosedTarget("192.0.2.1:80", False)), 28_200),
    ],
)
def test_connections_end_where_descriptors_or_ports_do(seen, fitting):
    assert connections(seen) == fitting


def test_the_good_machine_is_one():
    assert MACHINE.ports == 28_232
    assert all(finding.advice is None for finding in findings(GOOD))
