"""The table of ends: how `torr` is made to end with each exit code, and what it says then."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.errors import ExitCode

if TYPE_CHECKING:
    from installed import Ended

SLOW = ("delay", "--delay", "20ms")
FAILING = ("faulty", "--fault", "status_503", "--share", "100%")
BRIEF = ("--requests", "60", "--warmup", "0s", "-c", "4")
WINDOW = ("-z", "300ms", "--warmup", "0s")
# A dial that failed is tried again after ten times this delay: several times in the window.
FEW_DIALS = ("-z", "1s", "--warmup", "0s", "--retry-delay", "20ms")
LONG = ("-z", "60s", "--warmup", "0s", "-c", "4")
SIDES = ("_output/torr/pair:go-net", "_output/torr/pair:go-gin")


@dataclass(frozen=True)
class End:
    """A command that ends with a code.

    {url} is the URL of `target`; without one it is a port on which nobody listens. `said` is in
    what the command writes to stderr, and `leaves` looks at its files. `descriptors` is how many
    the process may open, and a function of the module `fault` raises what torr cannot explain.
    """

    code: ExitCode
    arguments: tuple[str, ...]
    said: str = ""
    target: tuple[str, ...] | None = SLOW
    signal: int | None = None
    descriptors: int | None = None
    fault: str | None = None
    leaves: Callable[[Ended], None] = lambda _ended: None


def a_broken_slo(ended):
    assert ended.result["verdicts"][0]["word"] == "broken"


def nothing(ended):
    assert list((ended.folder / "_output/torr").iterdir()) == []


def a_limited_level(ended):
    assert ended.level["health"]["verdict"] == "generator-limited"
    assert "connect.no_descriptor" in ended.level["reasons"]
    counts = ended.level["counts"]
    ends = counts["ok"] + sum(counts["errors"].values()) + counts["in_flight"]
    assert counts["planned"] - counts["dropped"] == counts["attempted"] == ends


def an_interrupted_run(ended):
    assert ended.result["status"] == "interrupted"
    assert ended.level["counts"]["ok"] > 0


ENDS = {
    "every SLO is held": End(ExitCode.FINE, ("run", *BRIEF, "--slo", "p50 < 10m", "{url}")),
    "an SLO is broken": End(
        ExitCode.MISSED,
        ("run", *BRIEF, "--slo", "p50 < 5ms", "{url}"),
        said="SLO broken: p50 < 5ms",
        leaves=a_broken_slo,
    ),
    "an SLO is not shown": End(
        ExitCode.MISSED, ("run", *BRIEF, "--slo", "success >= 99.9%", "{url}"), said="not shown"
    ),
    "the capacity is below the least": End(
        ExitCode.MISSED,
        ("ladder", "--levels", "1,2", *WINDOW, "--min-capacity", "1M ok/s", "{url}"),
        said="--min-capacity '1M ok/s'",
    ),
    "a change is beyond its limit": End(
        ExitCode.MISSED,
        ("diff", "--fail-if", "ok/s < -5%", *SIDES),
        said="--fail-if ok/s < -5% at 500 (",
    ),
    "a change is not shown": End(
        ExitCode.MISSED,
        ("diff", "--fail-if", "ok/s < -12%", *SIDES),
        said="--fail-if not shown: ok/s < -12% at 500 (",
    ),
    "a flag is wrong": End(ExitCode.USAGE, ("run", "--no-such-flag", "{url}"), said="--no-such"),
    "a host does not resolve": End(
        ExitCode.USAGE,
        ("run", "http://no-such-host.invalid/"),
        said="no-such-host.invalid",
        leaves=nothing,
    ),
    "nobody listens": End(
        ExitCode.NOTHING_MEASURED,
        ("run", "-z", "20s", "--timeout", "500ms", "{url}"),
        said="refused",
        target=None,
    ),
    "no request succeeds": End(
        ExitCode.NOTHING_MEASURED,
        ("run", *BRIEF, "{url}"),
        said="no request succeeded",
        target=FAILING,
    ),
    "the generator has no descriptors left": End(
        ExitCode.GENERATOR_LIMITED,
        ("run", "-c", "400", *FEW_DIALS, "--processes", "1", "--strict", "{url}"),
        said="--strict: the generator was the limit",
        target=("delay", "--delay", "5ms"),
        descriptors=200,
        leaves=a_limited_level,
    ),
    "torr raises what it cannot explain": End(
        ExitCode.DEFECT,
        ("run", *BRIEF, "{url}"),
        said="ZeroDivisionError: made by a test\ntorr: this is a defect of torr",
        fault="torr.planning.plan",
    ),
    "a terminal is closed": End(
        ExitCode.HUNG_UP, ("run", *LONG, "{url}"), signal=signal.SIGHUP, leaves=an_interrupted_run
    ),
    "Ctrl-C is pressed": End(
        ExitCode.INTERRUPTED,
        ("run", *LONG, "{url}"),
        said="has the results of 1 level",
        signal=signal.SIGINT,
        leaves=an_interrupted_run,
    ),
    "the process is terminated": End(
        ExitCode.TERMINATED,
        ("run", *LONG, "{url}"),
        signal=signal.SIGTERM,
        leaves=an_interrupted_run,
    ),
}
