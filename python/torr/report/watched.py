"""What was watched, as a table: target, generator and machine at each level, and what told of it.

Numbers are those of the measured window, the median where there are several rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import mean, median
from typing import Any

from torr.report.cells import Table, usable
from torr.report.say import chain, say
from torr.report.told import told as retold
from torr.report.wording import heading
from torr.stats.series import Level, by_concurrency, noun_of
from torr.units import show_percent, show_rate, show_size

Result = Mapping[str, Any]

_LIMITS = {"both": say("target and generator"), None: "–"}


def watched(result: Result) -> Table | None:
    """Return one row a level: CPU of the target, of torr and of the cores, and the limit."""
    rows = tuple(_row(at, usable(rounds)) for at, rounds in _known(result["levels"]).items())
    if not rows:
        return None
    columns = (
        heading(noun_of(result["levels"])),
        say("target CPU"),
        say("CPU a request"),
        say("requests/CPU-s"),
        say("target RSS"),
        say("torr CPU"),
        say("busiest core"),
        say("limit"),
        say("because"),
    )
    return Table(columns, rows, frozenset({7, 8}))


def told(result: Result) -> Table | None:
    """Return one row a series of each endpoint: its mean and its most over all levels."""
    found: dict[tuple[str, ...], list[float]] = {}
    for level in result["levels"]:
        for endpoint in (level.get("monitor") or {}).get("endpoints") or ():
            for series in endpoint.get("series") or ():
                key = (_name(series), series["kind"], endpoint["url"])
                found.setdefault(key, []).extend(v for v in series["values"] if v is not None)
    rows = tuple(
        (
            name,
            say("a second") if kind == "counter" else "",
            _value(mean(values)),
            _value(max(values)),
        )
        for (name, kind, _), values in found.items()
        if values
    )
    words = frozenset({0, 1})
    columns = (say("series"), "", say("mean"), say("most"))
    return Table(columns, rows, words, frozenset({0})) if rows else None


def _kind(kind: str) -> str:
    return say("a second") if kind == "counter" else ""


def facts(level: Level) -> dict[str, str]:
    """Return what a terminal has room for: a line on the target, and one on the limit."""
    derived = _derived(level)
    if derived.get("target_cpu_rate") is None:
        return {}
    words: list[str] = [say("{share} of a core", share=show_percent(derived["target_cpu_rate"]))]
    if derived.get("target_cpu_us_per_request") is not None:
        words.append(say("{time} a request", time=_micro(derived["target_cpu_us_per_request"])))
    words.append(say("{size} resident", size=show_size(derived.get("target_rss_max_bytes"))))
    limit = say("{side}: {why}", side=_limit(derived), why=retold(str(derived["limit_reason"])))
    return {say("target"): chain(" · ", words), say("limit"): limit}


def _known(levels: Sequence[Level]) -> dict[int, list[Level]]:
    """The rounds of each level that were watched."""
    return {
        at: known
        for at, rounds in by_concurrency(levels).items()
        if (known := [level for level in rounds if _derived(level)])
    }


def _row(at: int, rounds: Sequence[Level]) -> tuple[str, ...]:
    found = [_derived(level) for level in rounds]
    return (
        f"{at:,}",
        *(_middle(found, name, show) for name, show in _SHOWN.items()),
        show_percent(median(max(each.get("core_busy_rate") or [0.0]) for each in found)),
        chain(", ", list(dict.fromkeys(_limit(each) for each in found))),
        chain("; ", list(dict.fromkeys(_why(each) for each in found))),
    )


def _middle(
    found: Sequence[Mapping[str, Any]], name: str, show: Callable[[float | None], str]
) -> str:
    known = [each[name] for each in found if each.get(name) is not None]
    return show(median(known) if known else None)


def _derived(level: Level) -> Mapping[str, Any]:
    return (level.get("monitor") or {}).get("derived") or {}


def _limit(derived: Mapping[str, Any]) -> str:
    word: str | None = derived.get("limit")
    return _LIMITS.get(word) or retold(str(word))


def _why(derived: Mapping[str, Any]) -> str:
    return retold(str(derived.get("limit_reason") or ""))


def _micro(microseconds: float | None) -> str:
    return "–" if microseconds is None else f"{show_rate(microseconds)} µs"


_SHOWN: dict[str, Callable[[float | None], str]] = {
    "target_cpu_rate": show_percent,
    "target_cpu_us_per_request": _micro,
    "requests_per_cpu_s": show_rate,
    "target_rss_max_bytes": show_size,
    "generator_cpu_rate": show_percent,
}


def _name(series: Mapping[str, Any]) -> str:
    labels = ", ".join(f"{key}={value}" for key, value in (series.get("labels") or {}).items())
    return f"{series['name']} {labels}".strip()


def _value(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:,.4g}"


def series_of(level: Level, *names: str) -> Iterator[float | None]:
    """Return one series of a level's monitor by its keys: `target`, `cpu_rate`."""
    found: Any = level.get("monitor") or {}
    for name in names:
        found = (found or {}).get(name)
    yield from found or ()
