"""Tables of a result as plain text cells, for the page and the summary alike.

Each function reads result.json's content and returns a Table, or None where there is nothing to
show. Cells carry their unit in the column's name; numbers are rounded for people, exact ones are in
result.json and levels.csv.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from torr.report import diff
from torr.report.cells import TIME_STATS, Table, cell, is_bound, usable
from torr.report.claims import rate_of
from torr.report.comparison_slos import interval_of
from torr.report.say import Text, chain, say
from torr.report.told import told
from torr.report.wording import heading
from torr.stats.series import (
    Level,
    Series,
    by_concurrency,
    is_cut,
    is_of_locust,
    is_starved,
    noun_of,
    verdict_of,
)
from torr.units import show_ms, show_percent, show_rate, show_size

_TIMES = ("response", "service", "ttfb", "wait", "connect", "tls", "lag")


def levels(result: Mapping[str, Any]) -> Table | None:
    """Return one row a level of concurrency, the median of its rounds."""
    if not result["levels"]:
        return None
    series = Series.of("", result["levels"])
    points = {point.concurrency: point for point in series.shown}
    rows = []
    for concurrency, rounds in by_concurrency(result["levels"]).items():
        point = points[concurrency]
        claiming = usable(rounds)
        spread = "–" if point.spread is None else f"{100 * point.spread:.1f} %"
        rows.append(
            (
                f"{concurrency:,}",
                f"{'≥ ' if point.at_least else ''}{show_rate(point.ok_per_s)}",
                spread,
                show_ms(point.service_ms),
                *(_middle(claiming, stat) for stat in ("p50", "p95", "p99")),
                show_percent(point.success_rate),
                _health(rounds),
            )
        )
    columns = (heading(series.noun), "ok/s", say("spread"), say("mean TTLB"), "p50", "p95", "p99")
    return Table((*columns, say("success"), say("health")), tuple(rows), frozenset({8}))


def times(level: Level) -> Table | None:
    """Return the percentiles of one level: one row a kind of time."""
    rows = []
    for name in _TIMES:
        stats = (level.get("latency") or {}).get(f"{name}_ms")
        if stats:
            rows.append((name, f"{stats.get('n', 0):,}", *(cell(stats, s) for s in TIME_STATS)))
    columns = (say("time"), "n", *(stat.replace("_", ".") for stat in TIME_STATS))
    return Table(columns, tuple(rows)) if rows else None


def throughput(level: Level) -> Table:
    """Return what one level sent and received, one row a number."""
    counts = level.get("counts") or {}
    at_least = "≥ " if verdict_of(level) == "contended" else ""
    connections = level.get("connections") or {}
    opened = {"open": connections.get("open_max", 0), "asked": connections.get("asked", 0)}
    rows = [
        (say("ok requests/s"), f"{at_least}{show_rate(level['ok_per_s'])}"),
        (say("attempted"), f"{counts.get('attempted', 0):,}"),
        ("ok", f"{counts.get('ok', 0):,}"),
        (say("errors"), f"{sum((counts.get('errors') or {}).values()):,}"),
        (say("success"), show_percent(level.get("success_rate"))),
        (say("in flight at the end"), f"{counts.get('in_flight', 0):,}"),
        (say("dropped"), f"{counts.get('dropped', 0):,}"),
        (say("measured window"), f"{level.get('seconds') or 0:g} s"),
        (say("open connections"), say("{open:,} of {asked:,}", **opened)),
        (say("received"), show_size(level.get("bytes_in"))),
        (say("sent"), show_size(level.get("bytes_out"))),
    ]
    # Nobody asks for connections where users make their own, and some are nobody's to count.
    is_unknown = is_of_locust(level) and not connections.get("opened")
    kept = [row for row in rows if not (is_unknown and row[0] == "open connections")]
    return Table(("", say("measured")), tuple(kept))


def capacity(result: Mapping[str, Any]) -> Table | None:
    """Return peak, knee, capacity under SLO and scalability, or why each is not claimed."""
    found = result.get("capacity")
    if not found:
        return None
    reasons = found.get("reasons") or {}
    rows = [
        (say("peak"), *_claim(found.get("peak"), reasons.get("peak"), _peak)),
        (say("knee"), *_claim(found.get("knee"), reasons.get("knee"), _knee)),
        (say("capacity under SLO"), *_claim(found.get("slo"), reasons.get("slo"), _slo)),
        (say("USL fit"), *_claim(found.get("usl"), reasons.get("usl"), _usl)),
    ]
    if found.get("usl"):
        rows.append((say("USL peak N*"), *_n_star(found["usl"], reasons.get("n_star"))))
    return Table(("", say("at"), say("what it says")), tuple(rows), frozenset({0, 2}))


def slos(result: Mapping[str, Any]) -> Table | None:
    """Return one row a level and SLO."""
    found = [verdict for verdict in result.get("verdicts") or () if verdict.get("condition")]
    rows = tuple(
        (
            f"{v['concurrency']:,}",
            v["condition"],
            _with_unit(v["value"], v["unit"]),
            interval_of(v) or "–",
            told(v["word"]),
            told(v["reason"] or ""),
        )
        for v in found
    )
    words = frozenset({1, 4, 5})
    columns = (
        *(heading(noun_of(result["levels"])), "SLO", say("value")),
        *(say("{share} interval", share="90 %"), say("word"), say("reason")),
    )
    return Table(columns, rows, words) if rows else None


def errors(result: Mapping[str, Any]) -> Table | None:
    """Return one row a level and class of errors, with its reasons."""
    rows = []
    for level in result["levels"]:
        counts = level.get("counts") or {}
        found = {name: n for name, n in (counts.get("errors") or {}).items() if n}
        ended = counts.get("ok", 0) + sum(found.values())
        for name, n in sorted(found.items(), key=lambda item: -item[1]):
            rows.append(
                (
                    f"{level['concurrency']:,}",
                    name,
                    f"{n:,}",
                    show_percent(100 * n / ended),
                    _reasons(level, name),
                )
            )
    columns = (say("class"), say("count"), say("of attempts"), say("reasons"))
    names = (heading(noun_of(result["levels"])), *columns)
    return Table(names, tuple(rows), frozenset({1, 4})) if rows else None


def statuses(result: Mapping[str, Any]) -> Table | None:
    """Return the count of each status code, one row a level."""
    codes = sorted({code for level in result["levels"] for code in level.get("statuses") or ()})
    rows = tuple(
        (
            f"{level['concurrency']:,}",
            f"{level.get('round', 1)}",
            *(f"{(level.get('statuses') or {}).get(code, 0):,}" for code in codes),
        )
        for level in result["levels"]
    )
    columns = (heading(noun_of(result["levels"])), say("round"), *codes)
    return Table(columns, rows, frozenset()) if codes else None


def ratios(result: Mapping[str, Any]) -> Table | None:
    """Return one row a common level of a diff: both values and their ratio, bounds marked."""
    grouped: dict[int, dict[str, Mapping[str, Any]]] = {}
    for verdict in result.get("verdicts") or ():
        grouped.setdefault(verdict["concurrency"], {})[verdict["metric"]] = verdict
    if not grouped:
        return None
    a, b = (side["name"] for side in result["series"])
    # A .dat knows no p95: columns without any value are left out.
    has_p95 = any("response_ms.p95" in found for found in grouped.values())
    rows = []
    for concurrency, found in grouped.items():
        rate, share = (found.get(key) or {} for key in ("ok_per_s", "success_rate"))
        rows.append(
            (
                f"{concurrency:,}",
                *diff.show_sides(rate),
                diff.show_ratio(rate),
                *_times_of(found.get("service_ms.mean") or {}),
                *(_times_of(found.get("response_ms.p95") or {}) if has_p95 else ()),
                f"{show_percent(share.get('baseline_value'))} / {show_percent(share.get('value'))}",
                spreads(rate),
            )
        )
    times = ("TTLB", "p95") if has_p95 else ("TTLB",)
    columns: list[str] = [heading("connection")]
    for name in ("ok/s", *times):
        columns += [f"{name} {a}", f"{name} {b}", say("ratio")]
    return Table((*columns, say("success"), say("spread of ok/s")), tuple(rows), frozenset())


def spreads(verdict: Mapping[str, Any]) -> str:
    """Return the spread of both sides of a diff, as percent: `1.2 % / 3.0 %`."""
    each = verdict.get("spreads") or ()
    return " / ".join("–" if s is None else f"{100 * s:.1f} %" for s in each) or "–"


def _times_of(time: Mapping[str, Any]) -> tuple[str, str, str]:
    """Both sides' times and their ratio."""
    values = (time.get("baseline_value"), time.get("value"))
    return show_ms(values[0]), show_ms(values[1]), diff.show_ratio(time)


def _middle(rounds: Sequence[Level], stat: str) -> str:
    """The median of a response time over rounds; `≥` when one of them is a lower bound."""
    known = [stats for stats in map(_response, rounds) if stats.get(stat) is not None]
    if not known:
        return "–"
    at_least = any(is_bound(stats, stat) for stats in known)
    dropped = any((level.get("counts") or {}).get("dropped") for level in rounds)
    text = show_ms(median(stats[stat] for stats in known))
    return f"≥ {text}" if at_least or dropped else text


def _response(level: Level) -> Mapping[str, Any]:
    return (level.get("latency") or {}).get("response_ms") or {}


def _health(rounds: Sequence[Level]) -> str:
    words = dict.fromkeys(verdict_of(level) for level in rounds)
    more = {say("cut short"): is_cut, say("users starved"): is_starved}
    also = [word for word, says in more.items() if any(map(says, rounds))]
    return chain(", ", [*map(told, words), *also])


def _claim(found: Any, reason: str | None, write: Any) -> tuple[str, str]:  # noqa: ANN401 - JSON
    if found is None:
        return "–", _not_claimed(reason)
    at, text = write(found)
    return at, text


def _not_claimed(reason: str | None) -> Text:
    return say("not claimed: {why}", why=told(reason)) if reason else say("not claimed")


def _peak(peak: Mapping[str, Any]) -> tuple[str, str]:
    plateau = chain(", ", [f"{level:,}" for level in peak["plateau"]])
    near = say("within 5 % of it at {levels}", levels=plateau)
    return f"{peak['concurrency']:,}", chain("; ", [rate_of(peak), near])


def _knee(knee: Mapping[str, Any]) -> tuple[str, str]:
    said = {"rate": rate_of(knee), "time": show_ms(knee["service_ms"])}
    text = say("{rate} in {time} on average: the best trade of both", **said)
    return f"{knee['concurrency']:,}", text


def _slo(slo: Mapping[str, Any]) -> tuple[str, str]:
    beyond = slo["beyond"]
    conditions = chain(", ", slo["conditions"])
    held = say("{rate} with {conditions}", rate=rate_of(slo), conditions=conditions)
    end = say("no higher level shows where it ends") if beyond is None else _beyond(beyond)
    return f"{slo['concurrency']:,}", chain("; ", [held, end])


def _beyond(beyond: Mapping[str, Any]) -> Text:
    """The first level that did not hold it."""
    value = _with_unit(beyond["value"], beyond["unit"])
    if beyond["value"] is None:
        value = told(beyond["reason"] or value)
    said = {"condition": beyond["condition"], "word": told(beyond["word"]), "value": value}
    at = f"{beyond['concurrency']:,}"
    return say("at {level} {condition} is {word} ({value})", level=at, **said)


def _usl(usl: Mapping[str, Any]) -> tuple[str, str]:
    parts = f"λ {usl['lambda']:,.4g}/s, σ {usl['sigma']:.4g}, κ {usl['kappa']:.3g}"
    return "", f"{parts}; R² {usl['r2']:.4f}, rms {100 * usl['rms']:.1f} %"


def _n_star(usl: Mapping[str, Any], reason: str | None) -> tuple[str, str]:
    if usl["n_star"] is None:
        return "–", _not_claimed(reason)
    interval = usl.get("n_star_interval")
    text = say("throughput falls past it")
    if interval:
        span = say("{low:,.0f} to {high:,.0f}", low=interval[0], high=interval[1])
        text = say("{text} (95 % interval {span})", text=text, span=span)
    return f"{usl['n_star']:,.0f}", text


def _reasons(level: Level, name: str) -> str:
    found = {r: n for r, n in (level.get("reasons") or {}).items() if r.startswith(f"{name}.")}
    ordered = sorted(found.items(), key=lambda item: -item[1])
    return ", ".join(f"{reason} {n:,}" for reason, n in ordered)


def _with_unit(value: float | None, unit: str) -> str:
    if unit == "ms":
        return show_ms(value)
    if unit == "%":
        return show_percent(value)
    return "–" if value is None else f"{show_rate(value)}{unit}"
