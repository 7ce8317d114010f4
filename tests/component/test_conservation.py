"""Whatever a target does, and over TLS too, counts balance and are the target's own."""

from __future__ import annotations

import pytest

from authority import Authority
from documents import ROOT
from forwarder import Forwarder
from reference.faults import ENDS
from torr import targets

# What ends in a timeout takes its time: fewer of those.
HANGING = {"slow_loris", "slow_head", "length_too_long", "endless_body", "endless_line", "hang"}
REUSED = "read.closed_on_reuse"
# Nobody sees the dropped SYNs of no_accept; the forwarder would accept in its place.
FAULTS = [
    fault
    for fault in targets.faults()
    if fault != "no_accept" and not fault.startswith(("h2_", "grpc_", "ws_"))
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
    assert seen["faults"][fault] > 0 or is_silent  # of six requests, none may meet it
    if streams == 1 and ENDS[fault] != "ok":
        # Nothing but the fault ends a request that is alone on its connection.
        assert set(reasons) <= {ENDS[fault]}
        assert seen["faults"][fault] == failed + resent
    elif ENDS[fault] == "ok":
        # A request can meet one end of a connection after the other.
        assert set(reasons) <= {"read.unprocessed"}


def chosen(prefix, quick, without=()):
    """Return the faults of a protocol, each with 1 and with 4 exchanges at once; few are quick."""
    faults = [fault for fault in targets.faults() if fault.startswith(prefix)]
    pairs = [(fault, streams) for fault in faults for streams in (1, 4) if fault not in without]
    return [pytest.param(*pair, marks=() if pair in quick else pytest.mark.full) for pair in pairs]


ECHO = ROOT / "crates/targets/proto/echo.proto"
# More than a window of HTTP/2 has that was not enlarged.
CALL = ("--grpc", "torr.Echo/Unary", "--proto", ECHO, "-b", f'{{"text": "{"x" * 100_000}"}}')


@pytest.mark.parametrize(
    ("fault", "streams"),
    chosen("grpc_", {("grpc_early_status", 4)}),
)
def test_counts_of_calls_over_tls_are_the_targets_own(torr, target, authority, fault, streams):
    faulty = target("faulty", "--fault", fault, "--share", "50%")
    few, patience = (6, "5s") if ENDS[fault].startswith("timeout.") else (60, "30s")
    flags = ("--requests", few, "--warmup", "0s", "-c", 4, "--timeout", patience)
    pair = (authority.folder / "forwarder.pem", authority.folder / "forwarder.key")
    trust = ("--streams", streams, "--cacert", authority.certificate)
    with Forwarder(faulty.url, *pair, protocols=("h2",)) as forwarder:
        ended = torr("run", *flags, *trust, *CALL, forwarder.url)
    level, seen = ended.level, faulty.stop()
    counts, failed = level["counts"], seen["faults"][fault]
    assert counts["attempted"] == seen["requests"] == few == counts["ok"] + failed, level["reasons"]
    assert 0 < failed < few
    assert level["reasons"] == {ENDS[fault]: failed}
    # A call without a valid status is of the class of statuses, too.
    answered = seen["answered"] - counts["ok"]
    assert answered in (0, counts["errors"].get("status", 0))


# Connections are opened before messages wait for them, so that some fail without one.
HANDSHAKES = {"ws_refused", "ws_no_handshake", "ws_bad_accept", "ws_extension"}


# The flood stops the forwarder, as those of HTTP/2 do.
@pytest.mark.parametrize(
    ("fault", "streams"),
    chosen("ws_", {("ws_close", 1)}, without={"ws_pings"}),
)
def test_counts_of_messages_over_tls_are_the_targets_own(torr, target, authority, fault, streams):
    faulty = target("faulty", "--fault", fault, "--share", "50%" if streams == 1 else "20%")
    few, patience = (6, "5s") if ENDS[fault].startswith("timeout.") else (60, "30s")
    flags = ("--requests", few, "--warmup", "0s", "-c", 4, "--timeout", patience)
    flags += ("--streams", streams, "-b", '{"id": "{{seq}}"}')
    pair = (authority.folder / "forwarder.pem", authority.folder / "forwarder.key")
    with Forwarder(faulty.url, *pair) as forwarder:
        url = forwarder.url.replace("https:", "wss:")
        ended = torr("run", *flags, "--cacert", authority.certificate, url)
    level, seen = ended.level, faulty.stop()
    counts, reasons = level["counts"], level["reasons"]
    failed = sum(counts["errors"].values())
    assert counts["planned"] == counts["attempted"] == few == counts["ok"] + failed
    # An answer may come after its timeout, or after a Close frame.
    assert counts["ok"] <= seen["answered"] <= few
    assert seen["requests"] <= few
    if ENDS[fault] == "ok":
        assert reasons == {}
    elif streams == 1:
        assert set(reasons) <= {ENDS[fault]}
        met = seen["faults"][fault]
        assert failed <= met if fault in HANDSHAKES else failed == met
