"""Whatever a target does, and over TLS too, counts balance and are the target's own."""

from __future__ import annotations

import pytest

from authority import Authority
from forwarder import Forwarder
from reference.faults import ENDS
from torr import targets

# What ends in a timeout takes its time: fewer of those.
HANGING = {"slow_loris", "slow_head", "length_too_long", "endless_body", "endless_line", "hang"}
REUSED = "read.closed_on_reuse"
# Nobody sees the dropped SYNs of no_accept; the forwarder would accept in its place. WebSocket has
# tests of its own.
FAULTS = [
    fault
    for fault in targets.faults()
    if fault != "no_accept" and not fault.startswith(("h2_", "ws_"))
]


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    made = Authority(tmp_path_factory.mktemp("authority"))
    made.sign("forwarder")
    return made


# One of each class of error is of the quick tier, over one process or over several.
QUICK = {
    ("reset_in_body", 3),
    ("garbage", 1),
    ("closed_in_head", 1),
    ("status_503", 3),
    ("hang", 1),
}
EACH = [(fault, processes) for fault in FAULTS for processes in (1, 3)]


@pytest.mark.parametrize(
    ("fault", "processes"),
    [
        *sorted(QUICK),
        *(pytest.param(*pair, marks=pytest.mark.full) for pair in EACH if pair not in QUICK),
    ],
)
def test_counts_over_tls_are_the_targets_own(torr, target, authority, fault, processes):
    faulty = target("faulty", "--fault", fault, "--share", "50%")
    few, patience = (6, "10s") if fault in HANGING else (60, "30s")
    flags = ("--requests", few, "--warmup", "0s", "-c", 6, "--timeout", patience)
    pair = (authority.folder / "forwarder.pem", authority.folder / "forwarder.key")
    trust = ("--processes", processes, "--cacert", authority.certificate)
    with Forwarder(faulty.url, *pair) as forwarder:
        ended = torr("run", *flags, *trust, forwarder.url)
    counts, seen = ended.level["counts"], faulty.stop()
    failed = sum(counts["errors"].values())
    assert counts["planned"] == counts["attempted"] == few == counts["ok"] + failed
    # The forwarder passes a close on a little late: what met it never reached the target.
    lost = ended.level["reasons"].get(REUSED, 0) if fault == "close_after" else 0
    assert seen["requests"] == few - lost, ended.level["reasons"]
    assert seen["answered"] == counts["ok"] + counts["errors"].get("status", 0)
    assert 0 < seen["faults"][fault] < few
    assert failed - lost == (0 if ENDS[fault] == "ok" else seen["faults"][fault])


# A target that sends without end and does not read stops the forwarder in both directions.
FLOODS = {"h2_pings", "h2_settings"}
HTTP2_FAULTS = [
    fault for fault in targets.faults() if fault.startswith("h2_") and fault not in FLOODS
]
QUICK_HTTP2 = {("h2_reset", 1), ("h2_goaway", 4)}


@pytest.mark.parametrize(
    ("fault", "streams"),
    [
        *sorted(QUICK_HTTP2),
        *(
            pytest.param(fault, streams, marks=pytest.mark.full)
            for fault in HTTP2_FAULTS
            for streams in (1, 4)
            if (fault, streams) not in QUICK_HTTP2
        ),
    ],
)
def test_counts_over_http2_and_tls_are_the_targets_own(torr, target, authority, fault, streams):
    faulty = target("faulty", "--fault", fault, "--share", "50%" if streams == 1 else "20%")
    is_silent = ENDS[fault].startswith("timeout.")
    few, patience = (6, "5s") if is_silent else (60, "30s")
    flags = ("--requests", few, "--warmup", "0s", "-c", 4, "--timeout", patience)
    # More than a window of HTTP/2 has that was not enlarged.
    flags += ("--http", "2", "--streams", streams, "-b", "x" * 100_000)
    pair = (authority.folder / "forwarder.pem", authority.folder / "forwarder.key")
    with Forwarder(faulty.url, *pair, protocols=("h2",)) as forwarder:
        ended = torr("run", *flags, "--cacert", authority.certificate, forwarder.url)
    level, seen = ended.level, faulty.stop()
    counts, resent, reasons = level["counts"], level.get("resent", 0), level["reasons"]
    failed = sum(counts["errors"].values())
    assert counts["planned"] == counts["attempted"] == few == counts["ok"] + failed
    # A response may come after its timeout.
    late = seen["answered"] - counts["ok"]
    assert 0 <= late <= counts["errors"].get("timeout", 0), reasons
    assert seen["requests"] <= few + resent
    if streams == 1 and ENDS[fault] != "ok":
        # Nothing but the fault ends a request that is alone on its connection.
        assert set(reasons) <= {ENDS[fault]}
        assert seen["faults"][fault] == failed + resent
    elif ENDS[fault] == "ok":
        # A request can meet one end of a connection after the other.
        assert set(reasons) <= {"read.unprocessed"}
