"""How many events a core reads, what each costs, and whether the times of streams are true.

    python benches/streams/run.py [--rounds 3] [--only speed,open,ttft,trace,late,cost] [--quick]

Client on the first core, target on the second. `make streams` installs the other tools first; one
that is not there is named as left out. The run is kept beside this file, unless it was quick: then
it only shows that everything works.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from common.host import describe, stamp
from common.store import keep_none
from streams import bias, cost, late, tools
from streams.shown import Lines, spread, table
from streams.tools import TOOLS, Shot
from truth.firing import target

Part = Callable[[argparse.Namespace], tuple[Lines, bool]]


def main() -> int:
    """Measures and keeps; 0 if the bars hold."""
    options = parse()
    keep_none()
    parts: dict[str, Part] = {
        "speed": speed,
        "open": opened,
        "ttft": first_texts,
        "trace": bias.replayed,
        "late": late.many_open,
        "cost": cost.per_text,
    }
    chosen = options.only.split(",") if options.only else list(parts)
    versions = ", ".join(f"{name} {version}" for name, version in tools.versions().items())
    head = [f"# Streams, {stamp()}", "", f"{describe()}", "", f"Beside torr: {versions}.", ""]
    left_out = [f"Left out: {name}, {why}." for name, why in tools.left_out().items()]
    path = Path(__file__).parent / "runs" / f"{stamp()}.md"
    lines, holds = list[str](), True
    for name in chosen:
        found, held = measured(parts[name], name, options)
        lines += [*found, ""]
        holds &= held
        print("\n".join(found), flush=True)
        if not options.quick:
            path.write_text("\n".join([*head, *lines, *left_out]).rstrip() + "\n")
    print("\n".join(left_out if options.quick else [*left_out, f"kept: {path}"]))
    return 0 if holds else 1


def measured(part: Part, name: str, options: argparse.Namespace) -> tuple[Lines, bool]:
    """What a part found; one that fails leaves the others to be measured."""
    try:
        return part(options)
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        return [f"## {name}: failed", "", f"{error}"], False


def speed(options: argparse.Namespace) -> tuple[Lines, bool]:
    """Texts a second on one core, and for each second of processor time: four texts a write."""
    words = ("--tokens", "400", "--events-per-write", "4")
    names = [name for name in available() if name != "AIPerf"]
    shots = rounds(names, options, words, users=16)
    rows = []
    for name in names:
        each = [shot.texts / options.seconds for shot in shots[name]]
        per_cpu = [shot.texts / shot.cpu_s for shot in shots[name]]
        rows.append((name, *spread(each, ",.0f"), *spread(per_cpu, ",.0f")))
    torr = statistics.median(shot.texts / options.seconds for shot in shots["torr"])
    ratio = None
    if "Locust FastHttpUser" in shots:
        pairs = zip(shots["torr"], shots["Locust FastHttpUser"], strict=True)
        ratio = statistics.median((a.texts / a.cpu_s) / (b.texts / b.cpu_s) for a, b in pairs)
    found = table(
        "speed: 16 streams of 400 texts, as fast as they come, four texts a write",
        ("tool", "texts/s", "lowest … highest", "texts a second of CPU", "lowest … highest"),
        rows,
    )
    found.append(f"\ntorr reads {torr:,.0f} texts/s on one core (bar: 250,000).")
    if ratio is not None:
        found.append(f"For its CPU {ratio:,.0f} times those of FastHttpUser (bar: 2).")
    return found, torr >= 250_000 and (ratio is None or ratio >= 2)


def opened(_options: argparse.Namespace) -> tuple[Lines, bool]:
    """Streams open at once, none of which may fail."""
    rows, holds = [], True
    for users, itl, tokens, rate in ((10_000, "333ms", 30, 3), (1_500, "50ms", 200, 20)):
        with target("openai", "--tokens", str(tokens), "--ttft", "300ms", "--itl", itl) as (url, _):
            shot = tools.torr(url, users, 20, "--warmup", "5s")
        holds &= shot.failed == 0 and shot.streams > 0
        rows.append(
            (
                f"{users:,} at {rate}/s",
                f"{shot.streams:,}",
                f"{shot.failed:,}",
                f"{shot.texts / 20:,.0f}",
                f"{100 * shot.cpu_s / 25:.0f} %",
            )
        )
    columns = ("streams open at once", "ended ok", "failed", "texts/s", "client's core")
    return table("open: many slow streams (bar: no failure)", columns, rows), holds


def first_texts(options: argparse.Namespace) -> tuple[Lines, bool]:
    """What each tool says of the first texts, beside what the target logged."""
    rows, holds = [], True
    for name in available():
        errors, tails, cpu, texts = [], [], [], 0
        for _ in range(options.rounds):
            with tempfile.TemporaryDirectory() as place:
                log = Path(place) / "truth.csv"
                words = ("--ttft", "100ms", "--itl", "10ms", "--tokens", "50", "--log", str(log))
                with target("openai", *words) as (url, _):
                    shot = TOOLS[name](url, 50, options.seconds)
                exact = sorted(taken(log))
            cpu.append(100 * shot.cpu_s / options.seconds)
            texts = max(texts, shot.streams)
            if shot.ttft_mean is not None:
                errors.append(shot.ttft_mean - statistics.fmean(exact))
            if shot.ttft_p99 is not None:
                tails.append(shot.ttft_p99 - exact[int(0.99 * len(exact))])
        if name == "torr":
            holds = abs(statistics.median(errors)) <= 0.5
        shown = [*spread(errors, "+.2f"), *spread(tails, "+.2f"), *spread(cpu, ".0f")]
        rows.append((name, f"{texts:,}", *shown))
    columns = ("tool", "streams", "mean error, ms", "lowest … highest", "p99 error, ms")
    more = ("lowest … highest", "client's core, %", "lowest … highest")
    title = "ttft: 50 streams at once, first text after 100 ms, then one every 10 ms (bar: 0.5 ms)"
    return table(title, (*columns, *more), rows), holds


def taken(log: Path) -> Iterator[float]:
    """How long each first text took the target, from the request that it read, in ms."""
    received: dict[str, int] = {}
    with log.open(newline="") as lines:
        for row in csv.DictReader(lines):
            if row["event"] == "received":
                received[row["stream"]] = int(row["sent_ns"])
            elif row["event"] == "text" and row["stream"] in received:
                yield (int(row["sent_ns"]) - received.pop(row["stream"])) / 1e6


def rounds(
    names: Sequence[str], options: argparse.Namespace, words: Sequence[str], users: int
) -> dict[str, list[Shot]]:
    """Shots of each tool, in turn."""
    shots: dict[str, list[Shot]] = {name: [] for name in names}
    for _ in range(options.rounds):
        for name in names:
            with target("openai", *words) as (url, _):
                shots[name].append(TOOLS[name](url, users, options.seconds))
    return shots


def available() -> list[str]:
    """The tools that are there."""
    return [name for name in TOOLS if name not in tools.left_out()]


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=8, help="of a measurement of speed and ttft")
    parser.add_argument("--only", help="parts: speed, open, ttft, trace, late, cost")
    parser.add_argument("--requests", type=int, default=1000, help="of the trace")
    parser.add_argument("--rate", type=float, default=5.0, help="of the trace, per second")
    parser.add_argument("--streams", type=int, default=5000, help="open at once in `late`")
    parser.add_argument("--quick", action="store_true", help="one small round, which is not kept")
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.requests, options.streams = 1, 50, 500
    return options


if __name__ == "__main__":
    sys.exit(main())
