"""Requests that are all due at once: their scheduling lag, beside when the kernel saw them arrive.

The generator sends them one after another, so the last is late by the time that all take: its own
queueing, which must count as its lag. A packet socket on the loopback interface is the witness.
"""

from __future__ import annotations

import csv
import math
import socket
import struct
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from truth.firing import fired, health_of, target
from truth.row import Round, Value

BAR = "lag p99 within 5 % of the packets'"

_REQUESTS = 2000
_DUE_S = 1.001  # Times in whole seconds would be spread over a second.
_ETHERTYPE_IPV4 = 0x0800
_SO_TIMESTAMPNS = 35
_RECEIVE_BUFFER_BYTES = 64 << 20


def measure(_seconds: int) -> Round:
    """Fire all requests at one time; compare the lag with the packets of their first bytes."""
    with tempfile.TemporaryDirectory(prefix="torr-truth-") as place:
        times, log = Path(place) / "times", Path(place) / "log.csv"
        times.write_text(f"{_DUE_S}\n" * _REQUESTS)
        words = ("--replay", str(times), "-c", str(_REQUESTS), "--log", str(log))
        with target("hello") as (url, _), captured(int(url.rpartition(":")[2])) as packets:
            level = fired(url, *words)
        with log.open(newline="") as lines:
            intended = {int(row["intended_ns"]) for row in csv.DictReader(lines)}
    (due_ns,) = intended
    late_ms = sorted((sent_ns - due_ns) / 1e6 for sent_ns in packets)
    known = {
        name: late_ms[math.ceil(p * _REQUESTS) - 1] for name, p in (("p50", 0.5), ("p99", 0.99))
    }
    lag = level["latency"]["scheduling_lag_ms"]
    values = {f"lag {name} ms": Value(lag[name], ms, 0.05 * ms) for name, ms in known.items()}
    values["packets"] = Value(len(packets), _REQUESTS, 0)
    return Round(values, health_of(level))


@contextmanager
def captured(port: int) -> Iterator[list[int]]:
    """Record when each segment with data arrived at a port, in monotonic ns: one per request."""
    packets: list[int] = []
    is_over = threading.Event()
    kind = socket.ntohs(_ETHERTYPE_IPV4)
    with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, kind) as witness:
        witness.bind(("lo", _ETHERTYPE_IPV4))
        witness.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        witness.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER_BYTES)
        witness.settimeout(0.2)
        thread = threading.Thread(target=_record, args=(witness, port, packets, is_over))
        thread.start()
        try:
            yield packets
        finally:
            is_over.set()
            thread.join()


def _record(
    witness: socket.socket, port: int, packets: list[int], is_over: threading.Event
) -> None:
    ahead_ns = time.clock_gettime_ns(time.CLOCK_REALTIME) - time.monotonic_ns()
    while True:
        try:
            packet, ancillary, _, _ = witness.recvmsg(96, 64)
        except TimeoutError:
            if is_over.is_set():
                return
            continue
        if packet[9] != socket.IPPROTO_TCP:
            continue
        head = 4 * (packet[0] & 15)
        (destination,) = struct.unpack_from("!H", packet, head + 2)
        data = struct.unpack_from("!H", packet, 2)[0] - head - 4 * (packet[head + 12] >> 4)
        if destination == port and data > 0:
            seconds, nanoseconds = struct.unpack("qq", ancillary[0][2])
            packets.append(seconds * 1_000_000_000 + nanoseconds - ahead_ns)
