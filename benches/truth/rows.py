"""The rows, in the order in which they are measured: short ones first, long ones alone."""

from __future__ import annotations

from truth import (
    arrivals,
    burst,
    comparing,
    frozen,
    hostile,
    latency,
    nodes,
    plans,
    prefix_cache,
    rates,
    soak,
    starting,
    streams,
    traces,
    tuning,
)
from truth.row import Row

SHORT_ROWS = [
    Row("constant 5 ms", latency.BAR, latency.known("--delay", "5ms")),
    # Of a share of 10 %, p90 would lie on the step between the modes, where it is neither.
    Row("bimodal 2 ms, 20 ms, 8 %", latency.BAR, latency.known("--bimodal", "2ms,20ms,8%")),
    Row("heavy-tailed, median 5 ms, σ 0.8", latency.BAR, latency.known("--heavy", "5ms,0.8")),
    Row("frozen for 2 s of 20 s", frozen.BAR, frozen.measure),
    Row("hostile neighbours", hostile.BAR, hostile.measure),
    *(
        Row(f"{rate:,}/s {how}", f"{arrivals.BAR}{bar}", arrivals.paced(rate, how))
        for rate, bar in ((10, ", KS ≤ 0.02"), (1000, ", KS ≤ 0.02"), (50_000, ""))
        for how in ("constant", "poisson")
    ),
    Row("2,000 requests due at once", burst.BAR, burst.measure),
    Row("three nodes", nodes.BAR, nodes.measure),
    Row(
        "streams, 200 of 20/s, some late",
        streams.BAR,
        streams.known(
            *("--ttft", "heavy:200ms,0.5", "--itl", "50ms,60ms,10%", "--tokens", "20..60"),
            connections=200,
        ),
    ),
    *(
        Row(f"trace of ten million rows, {how}", traces.BAR, traces.large(lines), is_single=True)
        for how, lines in (("burstgpt", traces.burstgpt), ("mooncake", traces.mooncake))
    ),
    Row("tune: simulated worlds", tuning.BAR, tuning.simulated, is_single=True),
    Row("tune: settings that are the same", tuning.SAME_BAR, tuning.identical, is_single=True),
    Row("ladder: rates up to 300/s", rates.BAR, rates.searched, is_single=True),
    Row("random plans", plans.BAR, plans.measure, is_single=True),
    Row("compare: a server's start and stop", starting.BAR, starting.measure, is_single=True),
    Row("compare: the same server twice", comparing.AA_BAR, comparing.same_twice, is_single=True),
    Row(
        "compare: 20 % slower",
        comparing.TWENTY_BAR,
        comparing.slower(0.20, rounds=6, seconds=5, least=10),
        is_single=True,
    ),
    Row(
        "compare: 5 % slower",
        comparing.FIVE_BAR,
        comparing.slower(0.05, rounds=10, seconds=5, least=8),
        is_single=True,
    ),
    Row(
        "compare: until settled",
        comparing.SETTLED_BAR,
        comparing.slower(0.05, 10, 5, 1, "--until", "settled", of=1),
        is_single=True,
    ),
    Row("compare: llama.cpp's cache", prefix_cache.BAR, prefix_cache.measure, is_single=True),
]


def all_rows(soak_minutes: int) -> list[Row]:
    """Return all rows; each soak lasts so many minutes."""
    soaks: dict[str, tuple[soak.Load, int]] = {
        "soak": (soak.at_half_speed, soak.SETTLED_S),
        "think times, 50,000/s": (soak.with_think_times, soak.ENGINE_SETTLED_S),
    }
    return SHORT_ROWS + [
        Row(
            name,
            soak.BAR.format(settled_s // 60),
            soak.soak(soak_minutes, load, settled_s),
            is_single=True,
        )
        for name, (load, settled_s) in soaks.items()
    ]
