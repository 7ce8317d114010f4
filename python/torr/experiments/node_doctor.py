"""The examination of the nodes of a cluster, from torr's side."""

from __future__ import annotations

import statistics
import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from torr import engine, self_test
from torr.cluster.wire import read_line, send_line
from torr.errors import NothingMeasuredError
from torr.experiments.doctor import Examination, NodeExamination, speed_of, timers_of
from torr.messages.counts import counted
from torr.messages.say import say
from torr.procfs.machine import Machine

if TYPE_CHECKING:
    import socket
    from typing import BinaryIO

    from torr.cluster.cluster import Cluster
    from torr.messages.say import Text
    from torr.self_test import Report

ROUND_TRIPS = 20
LIMIT_S = 30
"""The loads of an examination take about four seconds."""
MOST_ANSWER_BYTES = 1 << 24
"""An answer contains two levels."""
MS = 1e6  # ns


@dataclass(frozen=True, slots=True)
class Examiner:
    """The process that examines a node, with the connection to it."""

    node: str
    connection: socket.socket
    reader: BinaryIO

    def order(self, **order: Any) -> None:  # noqa: ANN401
        """Send an order; `answer` returns its answer."""
        try:
            send_line(self.connection, order)
        except OSError as error:
            raise self._lost() from error

    def answer(self) -> dict[str, Any]:
        """Return the next answer; raise NothingMeasuredError if none comes."""
        try:
            answer = read_line(self.reader, MOST_ANSWER_BYTES)
        except TimeoutError as error:
            raise self._lost(say("no answer within {s} s", s=LIMIT_S)) from error
        except OSError as error:
            raise self._lost() from error
        if answer is None:
            raise self._lost()
        return answer

    def ask(self, **order: Any) -> dict[str, Any]:  # noqa: ANN401
        """Send an order and return its answer."""
        self.order(**order)
        return self.answer()

    def _lost(self, why: Text | None = None) -> NothingMeasuredError:
        why = why or say("its connection ended")
        return NothingMeasuredError(say("node {name} is lost: {why}", name=self.node, why=why))


def examine(
    cluster: Cluster, target: tuple[str, int] | None, report: Report
) -> list[NodeExamination]:
    """Examine all nodes, and the network between them, this machine and a target.

    No request goes to the target. Raises NothingMeasuredError if a node is lost meanwhile.
    """
    with ExitStack() as stack:
        examiners = []
        for node, connection in cluster.start_examiners():
            stack.enter_context(connection)
            connection.settimeout(LIMIT_S)
            reader = stack.enter_context(connection.makefile("rb"))
            examiners.append(Examiner(node, connection, reader))
        report(say("measuring the network to {nodes}", nodes=counted(len(examiners), "node")))
        trips = [_round_trips_ns(one) for one in examiners]
        connects = _connects(examiners, target)
        report(say("measuring what one worker of each node sends, and how punctual timers are"))
        for one in examiners:
            one.order(do="measure", window_ns=self_test.WINDOW_NS)
        examinations = [_examination(one.answer()) for one in examiners]
    return [
        NodeExamination(
            node=one.node,
            examination=examination,
            nice=int(cluster.agents[one.node].facts["nice"]),
            round_trip_ms=statistics.median(of_node) / MS,
            # The other clock was read at some time within the round trip.
            clock_error_ms=min(of_node) / 2 / MS,
            connect=connect,
        )
        for one, examination, of_node, connect in zip(
            examiners, examinations, trips, connects, strict=True
        )
    ]


def _round_trips_ns(examiner: Examiner) -> list[int]:
    trips_ns = []
    for _ in range(ROUND_TRIPS):
        begin = time.monotonic_ns()
        examiner.ask(do="echo")
        trips_ns.append(time.monotonic_ns() - begin)
    return trips_ns


def _connects(
    examiners: list[Examiner], target: tuple[str, int] | None
) -> list[float | str | None]:
    """Return how long each node takes to connect to the target, or why it cannot."""
    if target is None:
        return [None] * len(examiners)
    for one in examiners:
        one.order(do="connect", host=target[0], port=target[1])
    answers = [one.answer() for one in examiners]
    return [
        str(answer["error"]) if "error" in answer else float(answer["ms"]) for answer in answers
    ]


def _examination(answer: dict[str, Any]) -> Examination:
    return Examination(
        machine=msgspec.convert(answer["machine"], Machine),
        speed=speed_of(engine.decoded_level(answer["speed"])),
        timers=timers_of(engine.decoded_level(answer["timers"])),
        descriptors=int(answer["descriptors"]),
    )
