"""What a tool says that it did, read from its output; pure text in, numbers out.

A tool that says something else than expected is an error: a figure is never guessed.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Said:
    """Requests, seconds, requests that failed; processor time where the tool measures its own."""

    requests: int
    seconds: float
    failed: int = 0
    cpu_s: float | None = None


class UnreadableError(ValueError):
    """The output does not say what it should."""

    def __init__(self, tool: str, output: str) -> None:
        super().__init__(f"{tool} said something else:\n{output[-2000:]}")


def torr(output: str) -> Said:
    """The measured window; its processor time is that of the whole process, Python included."""
    level = json.loads(output)["levels"][0]
    requests = round(level["attempted_per_s"] * level["seconds"])
    failed = sum(level["counts"]["errors"].values())
    return Said(requests, level["seconds"], failed, level["generator"]["cpu_s"])


def bare(output: str) -> Said:
    """The window after its warm-up."""
    found = json.loads(output)
    return Said(found["requests"], found["seconds"], 0, found["cpu_s"])


def wrk(output: str) -> Said:
    """The line of totals; failures have lines of their own, if there are any."""
    total = _number("wrk", r"(\d+) requests in [\d.]+(?:ms|s|m)", output)
    seconds = re.search(r"requests in ([\d.]+)(ms|s|m)", output)
    if not seconds:
        raise UnreadableError("wrk", output)
    unit = {"ms": 0.001, "s": 1.0, "m": 60.0}[seconds[2]]
    status = re.search(r"Non-2xx or 3xx responses: (\d+)", output)
    failed = int(status[1]) if status else 0
    sockets = re.search(
        r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", output
    )
    failed += sum(map(int, sockets.groups())) if sockets else 0
    return Said(int(total), float(seconds[1]) * unit, failed)


def oha(output: str) -> Said:
    """Its JSON; what was open at the deadline is no failure."""
    found = _json("oha", output)
    answered = {int(status): count for status, count in found["statusCodeDistribution"].items()}
    broken = {
        what: count for what, count in found["errorDistribution"].items() if "deadline" not in what
    }
    failed = sum(count for status, count in answered.items() if not 200 <= status < 400)
    seconds = found["summary"]["total"]
    return Said(sum(answered.values()), seconds, failed + sum(broken.values()))


def bombardier(output: str) -> Said:
    """Its JSON."""
    found = _json("bombardier", output)["result"]
    good = found["req2xx"] + found["req3xx"]
    failed = found["req1xx"] + found["req4xx"] + found["req5xx"] + found["others"]
    return Said(good + failed, found["timeTakenSeconds"], failed)


def k6(output: str) -> Said:
    """The line that our script ends with."""
    found = _json("k6", output)
    return Said(found["requests"], found["seconds"], found["failed"])


def vegeta(output: str) -> Said:
    """The report of its results, as JSON; times are nanoseconds."""
    found = _json("vegeta", output)
    good = sum(count for status, count in found["status_codes"].items() if 200 <= int(status) < 400)
    return Said(found["requests"], found["duration"] / 1e9, found["requests"] - good)


def hey(output: str) -> Said:
    """The table of status codes and that of errors."""
    seconds = _number("hey", r"Total:\s+([\d.]+) secs", output)
    answers = re.findall(r"\[(\d{3})\]\s+(\d+) responses", output)
    answered = {int(status): int(count) for status, count in answers}
    if not answered:
        raise UnreadableError("hey", output)
    _, _, errors = output.partition("Error distribution:")
    failed = sum(int(count) for count in re.findall(r"^\s+\[(\d+)\]\s", errors, re.MULTILINE))
    failed += sum(count for status, count in answered.items() if not 200 <= status < 400)
    return Said(sum(answered.values()), float(seconds), failed)


def ab(output: str) -> Said:
    """The lines of its summary; a failure by length is one, too."""
    requests = _number("ab", r"Complete requests:\s+(\d+)", output)
    seconds = _number("ab", r"Time taken for tests:\s+([\d.]+) seconds", output)
    failed = _number("ab", r"Failed requests:\s+(\d+)", output)
    status = re.search(r"Non-2xx responses:\s+(\d+)", output)
    return Said(int(requests), float(seconds), int(failed) + (int(status[1]) if status else 0))


def h2load(output: str) -> Said:
    """The line of requests; the time is that of the whole run."""
    time = re.search(r"finished in ([\d.]+)(us|ms|s|m)", output)
    found = re.search(
        r"requests: \d+ total, \d+ started, (\d+) done, (\d+) succeeded, \d+ failed",
        output,
    )
    if not time or not found:
        raise UnreadableError("h2load", output)
    unit = {"us": 1e-6, "ms": 0.001, "s": 1.0, "m": 60.0}[time[2]]
    done, succeeded = int(found[1]), int(found[2])
    return Said(done, float(time[1]) * unit, done - succeeded)


def ghz(output: str) -> Said:
    """The report as JSON; calls that its end cut off count as unavailable or cancelled."""
    said = _json("ghz", output)
    ok = said["statusCodeDistribution"].get("OK", 0)
    return Said(said["count"], said["total"] / 1e9, said["count"] - ok)


def _number(tool: str, pattern: str, output: str) -> str:
    found = re.search(pattern, output)
    if not found:
        raise UnreadableError(tool, output)
    return found[1]


def _json(tool: str, output: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(output)
    except json.JSONDecodeError as error:
        raise UnreadableError(tool, output) from error
    return found
