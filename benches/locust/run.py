"""What the users of a locustfile cost under Locust itself and under torr.

    python benches/locust/run.py [--rounds 5] [--seconds 4] [--only plain,listener,paced]

Client on the first core, target on the second; variants in turn, round by round. Both have the same
Locust, the newest. The run is kept beside this file.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from common.host import describe, stamp
from common.store import keep_none
from truth.firing import target

HERE = Path(__file__).resolve().parent
BIN = Path(sys.executable).parent
# A run that has not ended by itself then is of no use.
MOST_S = 120
STOCK, TORR = "Locust", "torr"

Shot = dict[str, float]
Figure = Callable[[Shot], float]
Lines = list[str]


@dataclass(frozen=True)
class Variant:
    """Who fires, and with what kind of users."""

    name: str
    tool: str
    users: str
    listens: bool = False


@dataclass(frozen=True)
class Work:
    """What is fired at, by how many users, what is read of it, and what must hold."""

    title: str
    serves: Sequence[str]
    users: int
    rate: int
    variants: Sequence[Variant]
    figure: Figure
    unit: str
    form: str
    bars: Callable[[dict[str, float]], list[tuple[str, bool]]]


def main() -> int:
    """Measures and keeps; 0 if the bars hold."""
    options = parse()
    keep_none()
    chosen = options.only.split(",") if options.only else list(WORKS)
    lines, holds = [f"# Locustfiles, {stamp()}", "", f"{describe()}", ""], True
    for name in chosen:
        found, held = measured(WORKS[name], options)
        lines += [*found, ""]
        holds &= held
        print("\n".join(found), flush=True)
    path = HERE / "runs" / f"{stamp()}.md"
    path.write_text("\n".join(lines).rstrip() + "\n")
    print(f"kept: {path}")
    return 0 if holds else 1


def measured(work: Work, options: argparse.Namespace) -> tuple[Lines, bool]:
    """The table of one work, and whether its bars hold."""
    shots: dict[str, list[float]] = {variant.name: [] for variant in work.variants}
    failures = 0.0
    with target(*work.serves, seconds=3600) as (url, _):
        for _ in range(options.rounds):
            for variant in work.variants:
                shot = fired(variant, work, url, options.seconds)
                shots[variant.name].append(work.figure(shot))
                failures += shot["failures"]
    medians = {name: statistics.median(each) for name, each in shots.items()}
    lines = [f"## {work.title}", "", f"| client | {work.unit} | lowest … highest |"]
    lines += ["| --- | ---: | ---: |"]
    for name, each in shots.items():
        middle, low, high = (format(x, work.form) for x in (medians[name], min(each), max(each)))
        lines.append(f"| {name} | {middle} | {low} … {high} |")
    verdicts = work.bars(medians)
    lines += ["", *(f"- {text}: {'yes' if held else 'NO'}" for text, held in verdicts)]
    lines += [f"- {failures:.0f} requests failed"]
    return lines, all(held for _, held in verdicts) and failures == 0


def fired(variant: Variant, work: Work, url: str, seconds: int) -> Shot:
    """One run of Locust on the first core."""
    command = [str(BIN / "torr"), "locust"] if variant.tool == TORR else [str(BIN / "locust")]
    words = ["-f", str(HERE / "users.py"), "-H", url, "--headless", "--only-summary"]
    words += ["-u", str(work.users), "-r", str(work.rate), "-t", f"{MOST_S}s"]
    environment = {**os.environ, "USERS": variant.users, "LISTENS": str(int(variant.listens))}
    with tempfile.TemporaryDirectory(prefix="torr-locust-") as place:
        done = subprocess.run(
            ["taskset", "-c", "0", *command, *words],
            env={**environment, "TORR_OUT": place, "SECONDS": str(seconds)},
            capture_output=True,
            text=True,
            timeout=MOST_S + 60,
            check=False,
        )
    found: list[Any] = [json.loads(x) for x in done.stderr.splitlines() if x.startswith("{")]
    if not found:
        raise SystemExit(f"{variant.name}: no figures\n{done.stderr[-2000:]}")
    shot: Shot = found[-1]
    return shot


def per_cpu(shot: Shot) -> float:
    """Requests for each second of processor time."""
    return shot["requests"] / shot["cpu_s"]


def at_least(one: str, other: str, times: float) -> Callable[[dict[str, float]], tuple[str, bool]]:
    """A bar: so many times the other."""

    def judge(medians: dict[str, float]) -> tuple[str, bool]:
        ratio = medians[one] / medians[other]
        return f"{one} is {ratio:.1f} × {other} (bar: {times:g})", ratio >= times

    return judge


def bars(*each: Callable[[dict[str, float]], tuple[str, bool]]) -> Any:  # noqa: ANN401
    """Several of them."""
    return lambda medians: [judge(medians) for judge in each]


def share(medians: dict[str, float]) -> tuple[str, bool]:
    """The bar of many users with a pace."""
    found = medians["torr HttpUser"]
    return f"torr takes {found:.1f} % of a core (bar: 12)", found <= 12


def third(medians: dict[str, float]) -> tuple[str, bool]:
    """The bar of streams."""
    ratio = medians["torr HttpUser"] / medians["Locust HttpUser"]
    return f"an event costs {ratio:.2f} of Locust's (bar: 0.33)", ratio <= 1 / 3


def no_more(medians: dict[str, float]) -> tuple[str, bool]:
    """The bar of memory."""
    ours, theirs = medians["torr HttpUser"], medians["Locust HttpUser"]
    return f"an idle user takes {ours:.1f} kB, Locust's {theirs:.1f} (bar: no more)", ours <= theirs


def pair(users: str, *, listens: bool = False) -> tuple[Variant, Variant]:
    """The same users under both."""
    return (
        Variant("Locust HttpUser", STOCK, users, listens),
        Variant("torr HttpUser", TORR, users, listens),
    )


WORKS = {
    "plain": Work(
        "100 users, no wait, a small GET",
        ("hello",),
        100,
        100,
        (
            *pair("plain"),
            Variant("Locust FastHttpUser", STOCK, "fast"),
            Variant("torr FastHttpUser", TORR, "fast"),
        ),
        per_cpu,
        "requests a second of CPU",
        ",.0f",
        bars(
            at_least("torr HttpUser", "Locust HttpUser", 20),
            at_least("torr HttpUser", "Locust FastHttpUser", 6),
        ),
    ),
    "listener": Work(
        "the same with a listener of requests",
        ("hello",),
        100,
        100,
        pair("plain", listens=True),
        per_cpu,
        "requests a second of CPU",
        ",.0f",
        bars(at_least("torr HttpUser", "Locust HttpUser", 12)),
    ),
    "paced": Work(
        "5,000 users, 2,500 requests a second asked for",
        ("hello",),
        5000,
        500,
        (*pair("paced"),),
        lambda shot: 100 * shot["cpu_s"] / shot["seconds"],
        "% of a core",
        ".1f",
        bars(share),
    ),
    "stream": Work(
        "20 users who read streams by iter_lines, 10 ms between events",
        ("openai", "--itl", "10ms", "--tokens", "100"),
        20,
        20,
        pair("reader"),
        lambda shot: 1e6 * shot["cpu_s"] / shot["events"],
        "µs of CPU an event",
        ".1f",
        bars(third),
    ),
    "streams": Work(
        "100 users who do the same",
        ("openai", "--itl", "10ms", "--tokens", "100"),
        100,
        100,
        pair("reader"),
        lambda shot: 1e6 * shot["cpu_s"] / shot["events"],
        "µs of CPU an event",
        ".1f",
        bars(third),
    ),
    "idle": Work(
        "2,000 users after one request each",
        ("hello",),
        2000,
        500,
        pair("idle"),
        lambda shot: shot["bytes"] / 2000 / 1000,
        "kB a user",
        ".1f",
        bars(no_more),
    ),
}


def parse() -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--only", default="", help=",".join(WORKS))
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
