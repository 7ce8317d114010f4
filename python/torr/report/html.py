"""report.html: one file that needs nothing but a browser, and asks no host for anything.

On the first screen the sentence, the trust line, the chart that answers the question, the numbers;
below, folded, everything else. Charts are drawn twice, wide and for a phone; CSS shows one.
There is no script, and the page's policy forbids any. All text from outside is escaped.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

from torr.report import (
    comparison_page,
    diff,
    elements,
    health_table,
    png,
    request_tables,
    sentence,
    stream_tables,
    table,
    trust,
    verdict_table,
    watched,
)
from torr.report.comparison import Comparison
from torr.stats.series import noun_of
from torr.store.atomic import replace_bytes
from torr.units import show_levels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Result = Mapping[str, Any]
Draw = Callable[[float, float], "Figure | None"]

_PAGE = Path(__file__).with_name("page.html")
_WIDE, _NARROW, _HEIGHT = 10.0, 4.0, 6.2
_SIGNS = {"healthy": "●", "contended": "▲", "generator-limited": "■", "unknown": "○"}


def write(result: dict[str, Any], directory: Path) -> list[Path]:
    """Write report.html of a result."""
    path = directory / "report.html"
    replace_bytes(path, page(result).encode())
    return [path]


def page(result: Result) -> str:
    """Return the whole page."""
    health = trust.health(result)
    parts = {
        "title": escape(f"{result['name']} · torr {result['kind']}"),
        "name": escape(result["name"]),
        "when": escape(f"torr {result['kind']} · {trust.when(result)}"),
        "verdict": _kept_together(sentence.verdict(result)),
        "health": health,
        "sign": _SIGNS[health],
        "trust": _kept_together(trust.trust(result)),
        "chart": "".join(_charts(result)),
        "numbers": "".join(_numbers(result)),
        "details": "".join(_details(result)),
        "version": escape(str(result.get("torr", ""))),
    }
    return Template(_PAGE.read_text(encoding="utf-8")).substitute(parts)


def _kept_together(text: str) -> str:
    """Escaped text whose numbers do not part from their units, or ranges, at a line's end."""
    together = re.sub(r"(?<=[\d≥]) (?=%|ms|s\b|×|\d|connection)", "\u00a0", escape(text))
    return re.sub(r"(?<=\d)–(?=\d)", "–\u2060", together)


def _charts(result: Result) -> Iterator[str]:
    """What answers the question: of streams how their times are spread comes first."""
    from torr.report import spread_figure, stream_figure

    if len(result["levels"]) == 1 and result["kind"] in {"run", "locust"}:
        level, slos = result["levels"][0], png.conditions(dict(result))
        words = "Time until the first text, and between texts, at each percentile"
        yield _chart(lambda w, h: spread_figure.streams(level, slos, w, h), "spread", words, 3.2)
    yield _chart(main_chart(result), "main", sentence.verdict(result))
    if result["kind"] == "ladder" and result["levels"]:
        ladder = png.ladder(dict(result))
        words = "First texts, the pace of texts, tokens and goodput at each level"
        yield _chart(lambda w, _: stream_figure.panels(ladder, w), "streams", words)


def main_chart(result: Result) -> Draw:
    """The picture that answers the question of a result."""
    from torr.report import comparison_figure, diff_figure, ladder_figure, run_figure

    if result["kind"] == "diff":
        sides = diff.sides(dict(result))
        return lambda width, height: diff_figure.panels(sides, width, height)
    if result["kind"] == "compare":
        found = Comparison.of(result)
        return lambda width, _: comparison_figure.panels(found, width)
    if result["kind"] == "ladder" and result["levels"]:
        ladder = png.ladder(dict(result))
        return lambda width, height: ladder_figure.panels(ladder, width, height)
    return lambda width, height: run_figure.timeline(result["levels"], width, height)


def _chart(draw: Draw, prefix: str, label: str, height: float = _HEIGHT) -> str:
    """The chart in both widths, or nothing where there is nothing to draw."""
    sizes = {"wide": (_WIDE, height), "narrow": (_NARROW, height)}
    drawn = {name: chart(draw, size, f"{prefix}-{name}", label) for name, size in sizes.items()}
    shown = [f'<div class="{name}">{picture}</div>' for name, picture in drawn.items() if picture]
    return f"<figure>{''.join(shown)}</figure>" if shown else ""


def chart(draw: Draw, size: tuple[float, float], prefix: str, label: str) -> str:
    """One picture in SVG, or nothing where there is nothing to draw."""
    from torr.report import svg, theme

    with theme.style():
        figure = draw(*size)
        return "" if figure is None else svg.inline(figure, prefix, label)


def _numbers(result: Result) -> Iterator[str]:
    if result["kind"] == "diff":
        yield elements.titled("Verdicts", verdict_table.verdicts(result))
        yield elements.titled("Limits", verdict_table.limits(result))
        yield elements.titled("Ratios", table.ratios(result))
        return
    if result["kind"] == "compare":
        yield from comparison_page.numbers(result)
        return
    if len(result["levels"]) == 1:
        level = result["levels"][0]
        yield elements.titled("Times of ok answers", table.times(level))
        yield elements.titled("Streams", stream_tables.streams(level))
        yield elements.titled("Tokens", stream_tables.tokens(level))
        yield elements.titled("Requests", request_tables.requests(level))
        yield elements.titled("Sockets of requests", request_tables.sockets_of_requests(level))
        yield elements.titled("Streams of requests", request_tables.streams_of_requests(level))
        yield elements.titled("Throughput", table.throughput(level))
    else:
        yield elements.titled("Levels: median of rounds", table.levels(result))
        yield elements.titled("Streams: median of rounds", stream_tables.streams_of_levels(result))
    yield elements.titled("Capacity", table.capacity(result))
    yield elements.titled("Target and machine", watched.watched(result))
    if len(result["levels"]) == 1:
        yield elements.titled("SLOs", table.slos(result))


def _details(result: Result) -> Iterator[str]:
    from torr.report import run_figure, watched_figure

    if result["kind"] == "compare":
        yield from comparison_page.details(result)
    elif len(result["levels"]) > 1:
        yield elements.folded("SLOs at every level", elements.table(table.slos(result)))
        yield elements.folded(
            "Requests at every level", elements.table(request_tables.requests_of_levels(result))
        )
        streamed = request_tables.streams_of_requests_of_levels(result)
        yield elements.folded("Streams of requests at every level", elements.table(streamed))
    if result["kind"] not in {"diff", "compare"}:
        yield elements.folded("Errors", _errors(result))
        yield elements.folded("Status codes", elements.table(table.statuses(result)))
    if result["kind"] == "ladder":
        yield elements.folded(
            "Slices over time",
            _chart(
                lambda width, height: run_figure.timeline(result["levels"], width, height),
                "time",
                "Response times, rates and errors of every slice, level after level",
            ),
        )
    if result["kind"] != "diff":
        words = "CPU of the target, of torr and of every core"
        drawn = _chart(lambda width, _: watched_figure.cpu(result["levels"], width), "cpu", words)
        yield elements.folded("CPU over time", drawn)
        yield elements.folded("What endpoints told", elements.table(watched.told(result)))
    yield elements.folded("Health of the generator", _reasons(result))
    yield elements.folded("Environment", elements.as_json(result.get("environment")))
    command = shlex.join(result.get("command") or [])
    yield elements.folded(
        "The command to run it again", f'<pre class="command">{escape(command)}</pre>'
    )
    yield elements.folded("result.json (histograms of slices left out)", _raw(result))


def _errors(result: Result) -> str:
    samples = [(level, s) for level in result["levels"] for s in level.get("samples") or ()]
    found = elements.table(table.errors(result)) or "<p>No attempt failed.</p>"
    told = elements.table(request_tables.failed_events(result["levels"]))
    if told:
        found += f"<p>What the locustfile itself told of as failed is no attempt:</p>{told}"
    return found + "".join(_sample(level, sample) for level, sample in samples)


def _place(level: Result) -> str:
    return show_levels([level["concurrency"]], noun_of([level]))


def _sample(level: Result, sample: Result) -> str:
    reason = sample.get("reason") or sample.get("class")
    name = f" of {sample['name']}" if sample.get("name") else ""
    title = f"{reason}{name} at {_place(level)}"
    if sample.get("t_s") is not None:
        title += f", second {sample['t_s']:.2f}"
    answer = "\n".join(part for part in (sample.get("head"), sample.get("body")) if part)
    shown = f"<pre>{escape(answer)}</pre>" if answer else ""
    return f"<h3>{escape(title)}</h3><p>{escape(sample.get('detail') or '')}</p>{shown}"


def _reasons(result: Result) -> str:
    """Every level that is not healthy, with why."""
    items = []
    for level in result["levels"]:
        for reason in (level.get("health") or {}).get("reasons") or ():
            whose = f"{level['candidate']}, " if level.get("candidate") else ""
            where = f"{whose}{_place(level)}, round {level.get('round', 1)}"
            items.append(f"<li>{escape(f'{where}: {reason}')}</li>")
    judged = elements.table(health_table.judged(result["levels"]))
    if items:
        return f"<ul>{''.join(items)}</ul>{judged}"
    return f"<p>Healthy at every level.</p>{judged}" if result["levels"] else ""


def _raw(result: Result) -> str:
    """The whole result, one line a slice; the histograms of slices are in slices.jsonl."""
    head = {key: value for key, value in result.items() if key != "levels"}
    levels = ",\n".join(_raw_level(level) for level in result["levels"])
    return f"<pre>{escape(_with_list(head, 'levels', levels))}</pre>"


def _raw_level(level: Result) -> str:
    head = {key: value for key, value in level.items() if key != "slices"}
    # A line of its own for every number would be most of the page.
    seen = json.dumps(head.pop("monitor", None) or {})
    slices = ",\n".join(
        json.dumps({key: value for key, value in piece.items() if key != "histograms"})
        for piece in level.get("slices") or ()
    )
    return _with_list(head, "slices", slices, f',\n "monitor": {seen}')


def _with_list(head: Result, name: str, items: str, more: str = "") -> str:
    """An object's text with one more member: a list whose items are text already; `more` before."""
    text = json.dumps(head, indent=1, ensure_ascii=False).removesuffix("\n}")
    return f'{text}{more},\n "{name}": [\n{items}\n]}}'
