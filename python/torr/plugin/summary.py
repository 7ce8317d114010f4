"""What pytest's terminal says of measured functions: budgets first, then every number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torr.micro import machine, overhead
from torr.plugin.taking import Found
from torr.stats.series import variation
from torr.units import show_ms, show_percent, show_rate, show_setting

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torr.plugin.session import Entry, Session

BUDGETS = ("budget of", "target", "measured", "90 % interval", "verdict")
FUNCTIONS = ("function", "threads", "rounds", "ops/s", "spread", "p50", "p99", "errors")

_TIMES = "_ms."


def write(session: Session, reporter: Any) -> None:  # noqa: ANN401 - pytest's terminal
    """Write the section of a session that measured anything."""
    if not session.entries and not session.said:
        return
    reporter.section("torr: functions under load")
    speed, cost = machine.speed(), overhead.measured()
    reporter.write_line(
        f"machine speed {speed.median:.2f} ({speed.least:.2f}–{speed.most:.2f}); taken off every"
        f" time: {cost.clock_ns:.0f} ns for the clock, {cost.turn_ns:.1f} ns a turn in batches"
    )
    _write_table(reporter, BUDGETS, [_budget(e, v) for e in session.entries for v in e.verdicts])
    _write_table(reporter, FUNCTIONS, [_function(e) for e in session.entries if e.levels])
    lines = [*_of_leaks(session), *_of_comparisons(session), *_of_limits(session), *session.said]
    for line in lines:
        reporter.write_line(line)


def _of_leaks(session: Session) -> Iterator[str]:
    for entry in session.entries:
        if entry.leaks is not None:
            found = entry.leaks
            yield (
                f"{_name(entry)}: {found.word}, {found.growth:+,} objects after"
                f" {found.count:,} operations"
            )


def _of_comparisons(session: Session) -> Iterator[str]:
    """The primary metric alone: the others are in what is kept."""
    for nodeid, compared in session.compared:
        for verdict in compared.verdicts:
            if verdict["family"] == "primary":
                yield f"{nodeid}: {_verdict(verdict)}"
    for verdict in session.against:
        if verdict["family"] == "primary":
            yield _verdict(verdict)


def _of_limits(session: Session) -> Iterator[str]:
    told = {"failed": "it surely did", "passed": "it surely did not"}
    for limit in session.limits:
        word = told.get(limit["word"], f"cannot be told: {limit['reason']}")
        yield f"{limit['candidate']}: {limit['condition']}: {word}"


def budget_line(entry: Entry, verdict: dict[str, Any]) -> str:
    """Return one broken budget in a line."""
    name, target, measured, interval, _ = _budget(entry, verdict)
    return f"{name}: {target}, measured {measured} ({interval}, {verdict['n']} rounds)"


def _budget(entry: Entry, verdict: dict[str, Any]) -> tuple[str, ...]:
    show = _shown(verdict["metric"])
    low, high = verdict["interval"] or (None, None)
    interval = "–" if low is None else f"{show(low)} – {show(high)}"
    target = verdict["text"]
    if verdict["scaled_by"] is not None:
        target += f" × machine = {show(verdict['limit'])}"
    word = {"held": "met", "broken": "missed"}.get(verdict["word"], "cannot be told")
    if verdict["reason"]:
        word += f": {verdict['reason']}"
    return _name(entry), target, show(verdict["value"]), interval, word


def _function(entry: Entry) -> tuple[str, ...]:
    found = Found(entry.levels, {})
    spread = variation([level["ok_per_s"] for level in entry.levels])
    errors = sum(level["counts"]["attempted"] - level["counts"]["ok"] for level in entry.levels)
    return (
        _name(entry),
        f"{entry.levels[0]['concurrency']}",
        f"{len(entry.levels)}",
        show_rate(found.ops_per_s),
        "–" if spread is None else f"{100 * spread:.1f} %",
        show_ms(found.p50_ms),
        show_ms(found.p99_ms),
        f"{errors:,}",
    )


def _verdict(verdict: dict[str, Any]) -> str:
    from torr.report.diff import show_ratio

    word = {"better": "faster", "worse": "slower"}.get(verdict["word"], verdict["word"])
    low, high = verdict["interval"] or (None, None)
    within = "" if low is None or high is None else f" ({low:.2f}–{high:.2f})"
    why = f": {verdict['reason']}" if verdict["reason"] else ""
    return (
        f"{verdict['candidate']} is {word} beside {verdict['baseline']}, ops/s"
        f" {show_ratio(verdict)}{within}{why}"
    )


def _shown(metric: str) -> Any:  # noqa: ANN401 - one of three functions
    if _TIMES in metric:
        return show_ms
    return show_rate if metric.endswith("_per_s") else show_percent


def _name(entry: Entry) -> str:
    short = entry.name.rpartition("/")[2]
    return f"{short} {show_setting(entry.parameters)}" if entry.parameters else short


def _write_table(
    reporter: Any,  # noqa: ANN401 - pytest's terminal
    head: tuple[str, ...],
    rows: Sequence[tuple[str, ...]],
) -> None:
    """Write rows below their heads, text to the left and numbers to the right; none of none."""
    if not rows:
        return
    reporter.write_line("")
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, *rows):
        first, *rest = zip(row, widths, strict=True)
        cells = [first[0].ljust(first[1]), *(text.rjust(width) for text, width in rest[:-1])]
        reporter.write_line("  ".join([*cells, rest[-1][0]]))
    reporter.write_line("")
