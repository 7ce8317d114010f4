"""What a person reads when a run has ended: the verdict, how far to trust it, then the numbers.

Plain lines where the output is no terminal or NO_COLOR is set; never wider than 80 columns then.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console

from torr.cli import comparison, functions
from torr.cli.columns import GAP, cut
from torr.cli.screen import Screen
from torr.model.condition import Condition
from torr.report import flames, sentence, trust, verdict_table, watched
from torr.report.diff import show_ratio
from torr.report.reasons import meaning
from torr.report.request_tables import requests, streams_of_requests
from torr.report.say import Text, chain, say
from torr.report.stream_tables import streams_of_levels
from torr.report.streaming import stream_facts, stream_times
from torr.report.table import spreads
from torr.report.told import told
from torr.report.wording import heading, levels_of
from torr.stats.series import Series, is_mixed, noun_of
from torr.units import show_ms, show_percent, show_rate, show_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from torr.report.cells import Table
    from torr.report.say import Language

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
EXAMPLE = say("for example")
SPREADS = say("spread of ok/s")
WORD = 10  # the longest word of an SLO, and a space
COLOURS = {"healthy": "green", "contended": "yellow", "generator-limited": "red"}
WORD_COLOURS = {"held": "green", "broken": "red", "not shown": "yellow"}


def show(
    result: Json,
    *,
    quiet: bool = False,
    console: Console | None = None,
    language: Language | None = None,
) -> None:
    """Print a run, a ladder, a diff or a comparison."""
    out = Screen(console or Console(highlight=False, soft_wrap=True), language or "en")
    out.line(sentence.verdict(result), "bold")
    if quiet:
        return
    if not sentence.is_measured(result):
        out.line(trust.trust(result))
        return
    out.line(trust.trust(result), COLOURS.get(trust.health(result), ""))
    known = {
        "ladder": _show_ladder,
        "diff": _show_diff,
        "compare": comparison.show,
        "micro": functions.show,
    }
    known.get(result["kind"], _show_run)(result, out)
    for note in flames.notes(result):
        out.line(note)


def _show_run(result: Json, out: Screen) -> None:
    level = result["levels"][0]
    out.line()
    _show_times(level, out)
    _show_requests(level, out)
    out.line()
    out.pairs(
        {
            say("throughput"): _throughput(level),
            say("attempts"): _attempts(level),
            say("statuses"): _counted(level["statuses"]),
            **stream_facts(level),
            say("health"): _health(level),
            **watched.facts(level),
        }
    )
    _show_errors(say("errors"), level, out)
    _show_slos(result["verdicts"], out)


def _show_ladder(result: Json, out: Screen) -> None:
    out.line()
    if max((level["round"] for level in result["levels"]), default=1) > 1:
        _show_medians(result, out)
        out.line()
    _show_streams(result, out)
    out.pairs(_capacity(result))
    worst = [level for level in result["levels"] if level["counts"]["errors"]]
    if worst:
        level = max(worst, key=lambda x: sum(x["counts"]["errors"].values()))
        _show_errors(say("errors at {level:,}", level=level["concurrency"]), level, out)


def _show_diff(result: Json, out: Screen) -> None:
    names = {
        "ok_per_s": "ok/s",
        "service_ms.mean": say("mean time"),
        "response_ms.p95": "p95",
        "success_rate": say("success"),
    }
    rows: dict[int, dict[str, Json]] = {}
    for verdict in result["verdicts"]:
        rows.setdefault(verdict["concurrency"], {})[verdict["metric"]] = verdict
    # A .dat knows no p95: a column without any value is left out.
    metrics = [m for m in names if any(_change(found.get(m)) != "–" for found in rows.values())]
    columns = (heading("connection"), *(names[metric] for metric in metrics), SPREADS)
    cells = tuple(
        (f"{at:,}", *(_change(found.get(m)) for m in metrics), spreads(found.get("ok_per_s") or {}))
        for at, found in rows.items()
    )
    table = out.columns(columns, cells).fitting(out.width, (SPREADS,))
    out.line()
    out.table(table if _is_known(row[-1] for row in cells) else table.without(SPREADS))
    _show_verdicts(verdict_table.verdicts(result), out)


def _show_verdicts(content: Table | None, out: Screen) -> None:
    """A row for each comparison that has a word; why it has it is cut where there is no room."""
    if content is None:
        return
    at = content.columns.index("change")
    whole = out.columns(content.columns, content.rows, content.words)
    for name in (*content.columns[at - 2 : at], *NOT_OF_VERDICTS):
        whole = whole.without(name)
    room = out.width - whole.without(WHY).width - GAP
    rows = tuple((*row, cut(out.in_words(why), room)) for *row, why in whole.rows)
    shown = replace(whole, rows=rows) if room >= LEAST_WHY else whole.without(WHY)
    out.line()
    out.table(shown.fitting(out.width, LEAST_OF_VERDICTS))


def _is_known(cells: Iterable[str]) -> bool:
    """Whether one of them has a number."""
    return any(any(map(str.isdigit, cell)) for cell in cells)


def _change(verdict: Json | None) -> str:
    if verdict is None:
        return "–"
    if verdict["ratio"] is not None:
        return show_ratio(verdict, "x")
    difference = verdict.get("difference")
    return "–" if difference is None else say("{points:+.2f} points", points=difference)


def _show_times(level: Json, out: Screen) -> None:
    latency = level["latency"]
    known = [(name, stats) for name, stats in _time_rows(latency) if stats]
    known += [(name, stats) for name, stats in stream_times(level) if name != "ttfb"]
    rows = tuple((name, *(_time(stats, stat) for stat in STATS)) for name, stats in known)
    if rows:
        names = ("", *(stat.replace("_", ".") for stat in STATS))
        out.table(out.columns(names, rows).fitting(out.width, LEAST_STATS))


def _show_requests(level: Json, out: Screen) -> None:
    """A row for each request, where there are several."""
    found = {LEAST_OF_REQUESTS: requests(level), LEAST_OF_STREAMS: streams_of_requests(level)}
    for least, table in found.items():
        if table is not None:
            rows = [(cut(out.in_words(n), WIDEST_NAME), *cells) for n, *cells in table.rows]
            out.line()
            out.table(out.columns(table.columns, rows).fitting(out.width, least))


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
    asked = say("{rate}/s asked for", rate=show_rate(level["rate"]))
    words: list[str] = [say("{rate} ok/s", rate=show_rate(level["ok_per_s"]))]
    if is_mixed(level):
        words.append(say("arrivals: {asked}", asked=asked))
    elif level["rate"] is not None:
        words = [say("{rate} of {asked}", rate=words[0], asked=asked)]
    words.append(say("{rate} attempted/s", rate=show_rate(level["attempted_per_s"])))
    words.append(say("{size}/s in", size=show_size(level["bytes_in"] / seconds)))
    return chain(" · ", words)


def _attempts(level: Json) -> str:
    counts = level["counts"]
    success = say("success {share}", share=show_percent(level["success_rate"]))
    words = [f"{counts['attempted']:,}", success]
    if counts["dropped"]:
        words.append(say("{n:,} dropped", n=counts["dropped"]))
    if counts["in_flight"]:
        words.append(say("{n:,} in flight", n=counts["in_flight"]))
    return chain(" · ", words)


def _health(level: Json) -> str:
    health = level["health"]
    word, reasons = told(health["verdict"]), chain("; ", list(map(told, health["reasons"])))
    return say("{side}: {why}", side=word, why=reasons) if reasons else word


def _counted(counts: Mapping[str, int]) -> str:
    return " · ".join(f"{name} × {count:,}" for name, count in counts.items()) or say("none")


def _show_errors(title: str, level: Json, out: Screen) -> None:
    rows = list(_error_rows(level))
    if not rows:
        return
    table = out.columns((title, say("count"), EXAMPLE), rows, frozenset({0, 2}))
    room = max(cell_len(out.in_words(EXAMPLE)), out.width - table.without(EXAMPLE).width - GAP)
    shown = tuple((*row, cut(out.in_words(example), room)) for *row, example in rows)
    table = replace(table, rows=shown)
    out.line()
    out.table(table if any(row[-1] for row in rows) else table.without(EXAMPLE))


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


def _show_slos(verdicts: Sequence[Json], out: Screen) -> None:
    if not verdicts:
        return
    out.line()
    for verdict in verdicts:
        colour = WORD_COLOURS[verdict["word"]]
        out.pair(told(verdict["word"]), colour, _worth(verdict), WORD)


def _worth(verdict: Json) -> str:
    """A condition with what was seen of it, and why it has its word."""
    condition = Condition.parse(verdict["condition"])
    said: str = str(condition)
    if verdict["value"] is not None:
        seen = condition.show(verdict["value"])
        said = say("{condition}, seen {value}", condition=said, value=seen)
    if not verdict["reason"]:
        return said
    return say("{said} ({why})", said=said, why=told(verdict["reason"]))


def _show_medians(result: Json, out: Screen) -> None:
    series = Series.of(result["name"], result["levels"])
    names = (
        say("median of rounds"),
        "ok/s",
        say("mean"),
        "p95",
        say("success"),
        say("spread"),
    )
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
    out.table(out.columns(names, rows).fitting(out.width, LEAST_OF_MEDIANS))


def _show_streams(result: Json, out: Screen) -> None:
    """A row for each level whose answers are streams."""
    found = streams_of_levels(result)
    if found is not None:
        out.table(out.columns(found.columns, found.rows).fitting(out.width, LEAST_OF_STREAMS))
        out.line()


def _capacity(result: Json) -> dict[str, str]:
    """Peak, knee, capacity and USL in a line each, a null with its reason."""
    capacity = result["capacity"]
    why = capacity.get("reasons", {})
    noun = noun_of(result["levels"])
    found = {
        say("peak"): _peak(capacity["peak"], noun) or _none(why.get("peak")),
        say("knee"): _at(capacity["knee"], noun) or _none(why.get("knee")),
        say("under SLO"): _at(capacity["slo"], noun) or _none(why.get("slo")),
        "USL": _usl(capacity["usl"], why.get("n_star")) or _none(why.get("usl")),
    }
    limited = [x for x in result["levels"] if x["health"]["verdict"] == "generator-limited"]
    if limited:
        where = _listed(dict.fromkeys(level["concurrency"] for level in limited))
        found[say("no claim")] = say("{levels}: limited by the generator", levels=where)
    series = Series.of("", result["levels"])
    for name, points in ((say("cut short"), series.cut), (say("starved"), series.starved)):
        if points:
            where = _listed(point.concurrency for point in points)
            found[name] = say("{levels}: claims nothing", levels=where)
    return found


def _none(reason: str | None) -> Text:
    return say("– ({why})", why=told(str(reason)))


def _listed(levels: Iterable[int]) -> Text:
    return chain(", ", [f"{level:,}" for level in levels])


def _peak(peak: Json | None, noun: str) -> str | None:
    if peak is None:
        return None
    near = say("within 5 % of it at {levels}", levels=levels_of(peak["plateau"], noun))
    return say("{rate}, {near}", rate=_rate(peak), near=near)


def _at(claim: Json | None, noun: str) -> str | None:
    if claim is None:
        return None
    said = say("{place}, {rate}", place=levels_of([claim["concurrency"]], noun), rate=_rate(claim))
    if "service_ms" not in claim:
        return said
    return say("{said}, {time} on average", said=said, time=show_ms(claim["service_ms"]))


def _usl(usl: Json | None, why_no_peak: str | None) -> str | None:
    if usl is None:
        return None
    n_star = usl["n_star"]
    peak: str = f"N* {n_star:,.0f}" if n_star else say("no N* ({why})", why=told(str(why_no_peak)))
    law = f"λ {usl['lambda']:.4g}, σ {usl['sigma']:.3g}, κ {usl['kappa']:.3g}"
    return say("{law}, {peak}, R² {r2:.3f}", law=law, peak=peak, r2=usl["r2"])


def _rate(claim: Json) -> Text:
    bound = "≥ " if claim.get("at_least") else ""
    return say("{rate} ok/s", rate=f"{bound}{show_rate(claim['ok_per_s'])}")
