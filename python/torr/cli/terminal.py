"""What a person reads when a run has ended: the verdict, how far to trust it, then the numbers.

Plain lines where the output is no terminal or NO_COLOR is set; never wider than 80 columns then.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from torr.cli import comparison
from torr.cli.columns import GAP, Columns, cut
from torr.model.condition import Condition
from torr.report import sentence, trust, verdict_table, watched
from torr.report.diff import show_ratio
from torr.report.reasons import meaning
from torr.report.request_tables import requests, streams_of_requests
from torr.report.stream_tables import streams_of_levels
from torr.report.streaming import stream_facts, stream_times
from torr.report.table import spreads
from torr.stats.series import Series, is_mixed, noun_of
from torr.units import show_levels, show_ms, show_percent, show_rate, show_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from torr.report.cells import Table

Json = dict[str, Any]

STATS = ("mean", "p50", "p90", "p95", "p99", "p99_9", "max")
# Response and service time are one row when no shown statistic differs by more than this.
SAME = 0.05
# What leaves room for six numbers within 80 columns.
WIDEST_NAME = 24
# What a narrow terminal can do without: the first goes first.
LEAST_STATS = ("p90", "mean", "p50", "p99.9")
LEAST_OF_REQUESTS = ("p50", "attempts")
LEAST_OF_MEDIANS = ("spread", "mean")
# First texts stand last here: they are what streams are asked for.
LEAST_OF_STREAMS = ("tpot mean", "goodput", "tokens/s", "ttft mean", "ttfe mean")
# What result.json and the page have; a terminal has no room for both sides' numbers.
NOT_OF_VERDICTS = ("spread", "p")
LEAST_OF_VERDICTS = ("n", "more")
WHY = "why"
# A shorter piece of a reason says nothing.
LEAST_WHY = 30
EXAMPLE = "for example"
SPREADS = "spread of ok/s"
COLOURS = {"healthy": "green", "contended": "yellow", "generator-limited": "red"}
WORD_COLOURS = {"held": "green", "broken": "red", "not shown": "yellow"}


def show(result: Json, *, quiet: bool = False, console: Console | None = None) -> None:
    """Print a run, a ladder, a diff or a comparison."""
    out = console or Console(highlight=False, soft_wrap=True)
    out.print(Text(sentence.verdict(result), "bold"))
    if quiet:
        return
    if not sentence.is_measured(result):
        out.print(Text(trust.trust(result)))
        return
    out.print(Text(trust.trust(result), COLOURS.get(trust.health(result), "")))
    known = {"ladder": _show_ladder, "diff": _show_diff, "compare": comparison.show}
    known.get(result["kind"], _show_run)(result, out)


def _show_run(result: Json, out: Console) -> None:
    level = result["levels"][0]
    out.print()
    _show_times(level, out)
    _show_requests(level, out)
    out.print()
    _lines(
        out,
        {
            "throughput": _throughput(level),
            "attempts": _attempts(level),
            "statuses": _counted(level["statuses"]),
            **stream_facts(level),
            "health": _health(level),
            **watched.facts(level),
        },
    )
    _show_errors("errors", level, out)
    _show_slos(result["verdicts"], out)


def _show_ladder(result: Json, out: Console) -> None:
    out.print()
    if max((level["round"] for level in result["levels"]), default=1) > 1:
        _show_medians(result, out)
        out.print()
    _show_streams(result, out)
    _lines(out, _capacity(result))
    worst = [level for level in result["levels"] if level["counts"]["errors"]]
    if worst:
        level = max(worst, key=lambda x: sum(x["counts"]["errors"].values()))
        _show_errors(f"errors at {level['concurrency']:,}", level, out)


def _show_diff(result: Json, out: Console) -> None:
    names = {
        "ok_per_s": "ok/s",
        "service_ms.mean": "mean time",
        "response_ms.p95": "p95",
        "success_rate": "success",
    }
    rows: dict[int, dict[str, Json]] = {}
    for verdict in result["verdicts"]:
        rows.setdefault(verdict["concurrency"], {})[verdict["metric"]] = verdict
    # A .dat knows no p95: a column without any value is left out.
    metrics = [m for m in names if any(_change(found.get(m)) != "–" for found in rows.values())]
    columns = ("connections", *(names[metric] for metric in metrics), SPREADS)
    cells = tuple(
        (f"{at:,}", *(_change(found.get(m)) for m in metrics), spreads(found.get("ok_per_s") or {}))
        for at, found in rows.items()
    )
    table = Columns(columns, cells).fitting(out.width, (SPREADS,))
    out.print()
    print_table(out, table if _is_known(row[-1] for row in cells) else table.without(SPREADS))
    _show_verdicts(verdict_table.verdicts(result), out)


def _show_verdicts(content: Table | None, out: Console) -> None:
    """A row for each comparison that has a word; why it has it is cut where there is no room."""
    if content is None:
        return
    at = content.columns.index("change")
    whole = Columns(content.columns, content.rows, content.words)
    for name in (*content.columns[at - 2 : at], *NOT_OF_VERDICTS):
        whole = whole.without(name)
    room = out.width - whole.without(WHY).width - GAP
    rows = tuple((*row, cut(why, room)) for *row, why in whole.rows)
    shown = replace(whole, rows=rows) if room >= LEAST_WHY else whole.without(WHY)
    out.print()
    print_table(out, shown.fitting(out.width, LEAST_OF_VERDICTS))


def _is_known(cells: Iterable[str]) -> bool:
    """Whether one of them has a number."""
    return any(any(map(str.isdigit, cell)) for cell in cells)


def _change(verdict: Json | None) -> str:
    if verdict is None:
        return "–"
    if verdict["ratio"] is not None:
        return show_ratio(verdict, "x")
    return f"{verdict['difference']:+.2f} points" if verdict.get("difference") is not None else "–"


def _show_times(level: Json, out: Console) -> None:
    latency = level["latency"]
    known = [(name, stats) for name, stats in _time_rows(latency) if stats]
    known += [(name, stats) for name, stats in stream_times(level) if name != "ttfb"]
    rows = tuple((name, *(_time(stats, stat) for stat in STATS)) for name, stats in known)
    if rows:
        names = ("", *(stat.replace("_", ".") for stat in STATS))
        print_table(out, Columns(names, rows).fitting(out.width, LEAST_STATS))


def _show_requests(level: Json, out: Console) -> None:
    """A row for each request, where there are several."""
    found = {LEAST_OF_REQUESTS: requests(level), LEAST_OF_STREAMS: streams_of_requests(level)}
    for least, table in found.items():
        if table is not None:
            rows = tuple((cut(name, WIDEST_NAME), *cells) for name, *cells in table.rows)
            out.print()
            print_table(out, Columns(table.columns, rows).fitting(out.width, least))


def _time_rows(latency: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any] | None]]:
    response, service = latency.get("response_ms"), latency.get("service_ms")
    rows = [("response", response), ("service", service)]
    if response and service and not _differ(response, service):
        rows = [("response", response)]
    dialled = [(name, latency.get(f"{name.lower()}_ms")) for name in ("connect", "TLS")]
    return [*rows, ("ttfb", latency.get("ttfb_ms")), *dialled]


def _differ(one: Json, other: Json) -> bool:
    pairs = ((one.get(stat), other.get(stat)) for stat in STATS)
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    return any(abs(a - b) > SAME * max(a, b) for a, b in known) or bool(one.get("at_least"))


def _time(stats: Mapping[str, Any], stat: str) -> str:
    is_bound = stats.get(stat) is not None and stat in stats.get("at_least", ())
    return ("≥ " if is_bound else "") + show_ms(stats.get(stat))


def _throughput(level: Json) -> str:
    seconds = level["seconds"] or 1
    asked = f"{show_rate(level['rate'])}/s asked for"
    words = [f"{show_rate(level['ok_per_s'])} ok/s"]
    if is_mixed(level):
        words.append(f"arrivals: {asked}")
    elif level["rate"] is not None:
        words = [f"{words[0]} of {asked}"]
    words.append(f"{show_rate(level['attempted_per_s'])} attempted/s")
    words.append(f"{show_size(level['bytes_in'] / seconds)}/s in")
    return " · ".join(words)


def _attempts(level: Json) -> str:
    counts = level["counts"]
    words = [f"{counts['attempted']:,}", f"success {show_percent(level['success_rate'])}"]
    words += [
        f"{counts[key]:,} {key.replace('_', ' ')}"
        for key in ("dropped", "in_flight")
        if counts[key]
    ]
    return " · ".join(words)


def _health(level: Json) -> str:
    health = level["health"]
    return ": ".join([health["verdict"], "; ".join(health["reasons"])]).removesuffix(": ")


def _counted(counts: Mapping[str, int]) -> str:
    return " · ".join(f"{name} × {count:,}" for name, count in counts.items()) or "none"


def _show_errors(title: str, level: Json, out: Console) -> None:
    rows = list(_error_rows(level))
    if not rows:
        return
    table = Columns((title, "count", EXAMPLE), tuple(rows), frozenset({0, 2}))
    room = max(len(EXAMPLE), out.width - table.without(EXAMPLE).width - GAP)
    table = replace(table, rows=tuple((*row, cut(example, room)) for *row, example in rows))
    out.print()
    print_table(out, table if any(row[-1] for row in rows) else table.without(EXAMPLE))


def _error_rows(level: Json) -> Iterable[tuple[str, str, str]]:
    """A row a reason; a class without reasons has one of its own."""
    reasons: dict[str, int] = level["reasons"]
    for name, count in level["counts"]["errors"].items():
        within = {r: n for r, n in reasons.items() if r.partition(".")[0] == name}
        for reason, number in (within or {name: count}).items():
            yield reason, f"{number:,}", _sample(level["samples"], reason)


def _sample(samples: Sequence[Json], reason: str) -> str:
    """The first kept answer of a reason in a line, or else what the reason means."""
    same = (sample for sample in samples if reason in (sample.get("reason"), sample["class"]))
    for sample in same:
        text = sample.get("detail") or sample.get("head") or sample.get("body") or ""
        return str(text).partition("\n")[0].strip()
    return meaning(reason)


def _show_slos(verdicts: Sequence[Json], out: Console) -> None:
    if not verdicts:
        return
    out.print()
    for verdict in verdicts:
        condition = Condition.parse(verdict["condition"])
        seen = "" if verdict["value"] is None else f", seen {condition.show(verdict['value'])}"
        reason = f" ({verdict['reason']})" if verdict["reason"] else ""
        out.print(
            Text(f"{verdict['word']:<10}", WORD_COLOURS[verdict["word"]]),
            Text(f"{condition}{seen}{reason}"),
        )


def _show_medians(result: Json, out: Console) -> None:
    series = Series.of(result["name"], result["levels"])
    names = ("median of rounds", "ok/s", "mean", "p95", "success", "spread")
    rows = tuple(
        (
            f"{point.concurrency:,}",
            show_rate(point.ok_per_s),
            show_ms(point.service_ms),
            show_ms(point.p95_ms),
            show_percent(point.success_rate),
            show_percent(100 * point.spread) if point.spread is not None else "–",
        )
        for point in series.points
    )
    print_table(out, Columns(names, rows).fitting(out.width, LEAST_OF_MEDIANS))


def _show_streams(result: Json, out: Console) -> None:
    """A row for each level whose answers are streams."""
    found = streams_of_levels(result)
    if found is not None:
        print_table(out, Columns(found.columns, found.rows).fitting(out.width, LEAST_OF_STREAMS))
        out.print()


def _capacity(result: Json) -> dict[str, str]:
    """Peak, knee, capacity and USL in a line each, a null with its reason."""
    capacity = result["capacity"]
    why = capacity.get("reasons", {})
    noun = noun_of(result["levels"])
    lines = {
        "peak": _peak(capacity["peak"], noun),
        "knee": _at(capacity["knee"], noun),
        "under SLO": _at(capacity["slo"], noun),
        "USL": _usl(capacity["usl"], why.get("n_star")),
    }
    reasons = {"peak": "peak", "knee": "knee", "under SLO": "slo", "USL": "usl"}
    found = {name: line or f"– ({why.get(reasons[name])})" for name, line in lines.items()}
    limited = [x for x in result["levels"] if x["health"]["verdict"] == "generator-limited"]
    if limited:
        where = ", ".join(f"{n:,}" for n in dict.fromkeys(x["concurrency"] for x in limited))
        found["no claim"] = f"{where}: limited by the generator"
    series = Series.of("", result["levels"])
    for name, points in (("cut short", series.cut), ("starved", series.starved)):
        if points:
            found[name] = f"{', '.join(f'{p.concurrency:,}' for p in points)}: claims nothing"
    return found


def _peak(peak: Json | None, noun: str) -> str | None:
    if peak is None:
        return None
    return f"{_rate(peak)}, within 5 % of it at {show_levels(peak['plateau'], noun)}"


def _at(claim: Json | None, noun: str) -> str | None:
    if claim is None:
        return None
    time = f", {show_ms(claim['service_ms'])} on average" if "service_ms" in claim else ""
    return f"{show_levels([claim['concurrency']], noun)}, {_rate(claim)}{time}"


def _usl(usl: Json | None, why_no_peak: str | None) -> str | None:
    if usl is None:
        return None
    n_star = usl["n_star"]
    peak = f"N* {n_star:,.0f}" if n_star else f"no N* ({why_no_peak})"
    law = f"λ {usl['lambda']:.4g}, σ {usl['sigma']:.3g}, κ {usl['kappa']:.3g}"
    return f"{law}, {peak}, R² {usl['r2']:.3f}"


def _rate(claim: Json) -> str:
    return f"{'≥ ' if claim.get('at_least') else ''}{show_rate(claim['ok_per_s'])} ok/s"


def _lines(out: Console, lines: Mapping[str, str]) -> None:
    for name, line in lines.items():
        out.print(Text(f"{name:<11}", "dim"), Text(line))


def print_table(out: Console, table: Columns) -> None:
    """Print a table, its names dimmed."""
    for number, line in enumerate(table.lines()):
        out.print(Text(line, "" if number else "dim"))
