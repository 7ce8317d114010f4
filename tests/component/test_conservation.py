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
# Nobody sees the dropped SYNs of no_accept; the forwarder would accept in its place. It does not
# choose HTTP/2.
FAULTS = [
    fault for fault in targets.faults() if fault != "no_accept" and not fault.startswith("h2_")
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
