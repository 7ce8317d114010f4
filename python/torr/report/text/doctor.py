"""The result of `torr doctor` as a sentence and as JSON. Nothing is judged here."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from torr.experiments.diagnosis import connections, node_findings
from torr.messages.counts import counted
from torr.messages.say import say
from torr.units import show_ms, show_rate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.experiments.diagnosis import Finding
    from torr.experiments.doctor import DiagnosedTarget, Examination, NodeExamination
    from torr.procfs.listeners import ListeningSocket
    from torr.procfs.sockets import SocketHolder


def sentence(examination: Examination) -> str:
    """Return what the machine can generate, in one sentence."""
    rate = examination.speed.per_core
    if rate is None or not examination.speed.requests_per_s:
        return say(
            "The request rate of this machine could not be measured: no request was answered."
        )
    late = examination.timers.p99_ms
    timers = "" if late is None else say("; timers are {time} late at p99", time=_short(late))
    shared = (
        say("; other programs used the same cores meanwhile")
        if examination.speed.was_disturbed
        else ""
    )
    return say(
        "This machine can generate about {rate} requests/s a core over up to"
        " {connections}{timers}{shared}.",
        rate=show_rate(_about(rate)),
        connections=counted(connections(examination), "connection"),
        timers=timers,
        shared=shared,
    )


def sentence_of_nodes(nodes: Sequence[NodeExamination]) -> str:
    """Return what nodes of a cluster can generate, in one sentence."""
    rates = {one.node: one.examination.speed.per_core for one in nodes}
    known = [rate for rate in rates.values() if rate]
    if len(known) < len(rates):
        silent = ", ".join(node for node, rate in rates.items() if not rate)
        return say(
            "The request rate of {nodes} could not be measured: no request was answered.",
            nodes=silent,
        )
    least, most = (show_rate(_about(pick(known))) for pick in (min, max))
    late = [x for one in nodes if (x := one.examination.timers.p99_ms) is not None]
    timers = (
        "" if not late else say("; timers are up to {time} late at p99", time=_short(max(late)))
    )
    cores = sum(one.examination.machine.cores_allowed for one in nodes)
    return say(
        "{nodes} with {cores} can generate about {rates} requests/s a core over up to"
        " {connections}{timers}.",
        nodes=counted(len(nodes), "node"),
        cores=counted(cores, "core"),
        rates=least if least == most else say("{least} to {most}", least=least, most=most),
        connections=counted(sum(connections(x.examination) for x in nodes), "connection"),
        timers=timers,
    )


def summary(findings: Sequence[Finding]) -> str:
    """Return how many checks need attention."""
    warnings = sum(finding.word == "warn" for finding in findings)
    if not warnings:
        return say("No check found a problem.")
    return say(
        "{warnings} of {count} checks need attention:", warnings=warnings, count=len(findings)
    )


def as_json(examination: Examination, findings: Sequence[Finding]) -> dict[str, Any]:
    """Return everything that was seen and what it means."""
    keys = ("name", "value", "word", "advice")
    return {
        "verdict": sentence(examination),
        "requests_per_s_per_core": examination.speed.per_core,
        "cpu_us_per_request": examination.speed.cpu_us,
        "connections": connections(examination),
        "timers": asdict(examination.timers),
        "speed": asdict(examination.speed),
        "descriptors": examination.descriptors,
        "machine": asdict(examination.machine),
        "target": None if examination.target is None else _target(examination.target),
        "findings": [{key: getattr(finding, key) for key in keys} for finding in findings],
    }


def nodes_as_json(nodes: Sequence[NodeExamination]) -> dict[str, Any]:
    """Return everything that was seen on nodes of a cluster and what it means."""
    return {
        "verdict": sentence_of_nodes(nodes),
        "nodes": [
            {
                "node": one.node,
                "nice": one.nice,
                "round_trip_ms": one.round_trip_ms,
                "clock_error_ms": one.clock_error_ms,
                "connect": one.connect,
                **as_json(one.examination, node_findings(one)),
            }
            for one in nodes
        ],
    }


def _target(place: DiagnosedTarget) -> dict[str, Any]:
    """Return the target; `listeners` is null where the kernel does not report them."""
    known = place.listeners
    listening = None if known is None else [_listening(*each) for each in known]
    target = {"where": place.address, "is_own": place.is_own, "listeners": listening}
    return target if place.file is None else {**target, "file": place.file}


def _listening(listener: ListeningSocket, process: SocketHolder | None) -> dict[str, Any]:
    shown = {**asdict(listener), "address": str(listener.address)}
    return {**shown, "process": None if process is None else asdict(process)}


def _about(rate: float) -> float:
    """Round to two digits: a short measurement is not more exact."""
    digits = math.floor(math.log10(rate)) - 1
    return float(round(rate / 10**digits) * 10**digits)


def _short(milliseconds: float) -> str:
    return show_ms(milliseconds) if milliseconds >= 1 else f"{1000 * milliseconds:.0f} µs"
