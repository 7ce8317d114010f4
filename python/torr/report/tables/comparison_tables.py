"""Tables of a comparison: the cells, what failed there, and what a rule took out.

A table of cells is for one setting of the factors other than the load, as for one number of
workers: a row a level of load and candidate, with ratios to the baseline. Numbers are medians over
rounds; a metric without a verdict has no word.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from torr.messages.say import chain, say
from torr.report.data import cell_names
from torr.report.data.result_words import word_text
from torr.report.data.wording import heading
from torr.report.tables.table import Table, TableBuilder, bounded, show_spread
from torr.report.text import comparison_words as words
from torr.report.text.verdict_words import coverage
from torr.results.position import TRACE
from torr.stats.metric import METRICS, OF_STREAMS, OK_PER_S, Metric
from torr.stats.series import variation
from torr.units import show_percent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from torr.report.data.comparison import CandidateCell, Comparison, ComparisonCell
    from torr.results.base import Factors
    from torr.results.verdict import Verdict

    _Row = tuple[ComparisonCell, CandidateCell]

_LOADS = ("connections", "users", "rate")
_BESIDE = (*map(Metric, (OK_PER_S, "response_ms.p50", "response_ms.p99")), *OF_STREAMS)
_MONITORED = tuple(metric for metric in METRICS if metric.key.startswith("target_"))


def of_cells(comparison: Comparison) -> Iterator[tuple[str, Table | None]]:
    """Return a table, with its title, for each setting of the factors that are not the load."""
    groups: dict[str, list[ComparisonCell]] = {}
    for cell in comparison.cells:
        groups.setdefault(_setting(cell, comparison), []).append(cell)
    for title, cells in groups.items():
        yield title or say("Trials: medians of rounds"), _of_setting(cells, comparison.primary)


def coverage_at(cells: Iterable[ComparisonCell]) -> str:
    """Return how surely the intervals of these cells hold their ratio."""
    entries = (entry for cell in cells for entry in cell.entries)
    return coverage(verdict for entry in entries for verdict in entry.verdicts.values())


def of_cell(cell: ComparisonCell) -> Table | None:
    """Return one cell in short: a row a candidate."""
    table = TableBuilder((cell, entry) for entry in cell.entries)
    table.text(say("candidate"), _candidate)
    table.number(word_text(cell.primary.label), lambda row: _median(row[1], cell.primary))
    table.number(say("ratio"), lambda row: words.ratio(cell.verdict(row[1])))
    table.number(coverage_at([cell]), lambda row: words.interval(cell.verdict(row[1])))
    table.text(say("verdict"), _word)
    table.number("p99", lambda row: _median(row[1], Metric("response_ms.p99")))
    table.number(say("errors"), lambda row: show_percent(row[1].error_rate))
    table.number("n", _rounds)
    return table.build()


def of_words(comparison: Comparison) -> Table | None:
    """Return in how many cells each candidate has which word; None for a single cell."""
    if len(comparison.cells) < 2:
        return None
    table = TableBuilder(
        (name, [cell.standing(entry) for cell, entry in comparison.of_rival(name)])
        for name in comparison.rivals
    )
    table.text(say("cells of {n}", n=len(comparison.cells)), lambda row: row[0])
    for word in ("better", "worse", "same", "inconclusive", "no verdict", "failed"):
        _count(table, word, word_text(comparison.primary.word(word)))
    return table.build()


def of_failures(comparison: Comparison) -> Table | None:
    """Return every trial that failed."""
    words_of = {_key(cell.factors): cell.words for cell in comparison.cells}
    table = TableBuilder(comparison.failures)
    table.text(say("candidate"), lambda failure: failure.candidate)
    table.text(say("cell"), lambda failure: words_of.get(_key(failure.factors), ""))
    table.number(say("round"), lambda failure: f"{failure.round}")
    table.text(say("what"), lambda failure: word_text(failure.kind.replace("_", " ")))
    table.text(say("why"), lambda failure: chain("; ", [failure.text, failure.hint or ""]))
    return table.build()


def of_errors(comparison: Comparison) -> Table | None:
    """Return the errors of each candidate in each cell, all trials together, by their reason."""
    table = TableBuilder(
        (cell, entry, reason, count)
        for cell in comparison.cells
        for entry in cell.entries
        for reason, count in _reasons(entry).most_common()
    )
    table.text(say("cell"), lambda row: row[0].words)
    table.text(say("candidate"), lambda row: row[1].name)
    table.text(say("reason"), lambda row: row[2])
    table.number(say("count"), lambda row: f"{row[3]:,}")
    table.number(say("of attempts"), lambda row: _share_of_attempts(row[3], row[1]))
    return table.build()


def of_discarded(comparison: Comparison) -> Table | None:
    """Return what each verdict of the primary metric is without the discarded rounds, and with."""
    table = TableBuilder(
        (cell, verdict, discarded)
        for cell in comparison.cells
        for verdict in map(cell.verdict, cell.rivals)
        if (discarded := verdict.discarded)
    )
    table.text(say("cell"), lambda row: row[0].words)
    table.text(say("candidate"), lambda row: row[1].candidate or "")
    table.text(say("rounds discarded"), lambda row: chain(", ", list(map(str, row[2].rounds))))
    table.text(
        say("because of"),
        lambda row: chain(", ", [f"{name} {n}" for name, n in row[2].because_of.items()]),
    )
    table.text(say("without them"), lambda row: _with_word(row[0], row[1]))
    table.text(say("with them"), lambda row: _with_word(row[0], row[1].with_discarded))
    return table.build()


def _setting(cell: ComparisonCell, comparison: Comparison) -> str:
    """Return the factors of a cell that are not its load, in words."""
    order = [*comparison.experiment.factors, *cell.factors]
    names = [name for name in dict.fromkeys(order) if name in cell.factors]
    return chain(", ", [cell_names.named(n, cell.factors[n]) for n in names if n not in _LOADS])


def _of_setting(cells: Sequence[ComparisonCell], primary: Metric) -> Table | None:
    table = TableBuilder((cell, entry) for cell in cells for entry in cell.entries)
    # The times of a trace are no number.
    if cells[0].noun != TRACE:
        table.number(say("rate") if cells[0].rate is not None else heading(cells[0].noun), _load)
    table.text(say("candidate"), _candidate)
    table.number(word_text(primary.label), lambda row: _median(row[1], primary))
    table.number(say("spread"), _spread)
    table.number(say("ratio"), lambda row: words.ratio(row[0].verdict(row[1])))
    table.number(coverage_at(cells), lambda row: words.interval(row[0].verdict(row[1])))
    table.number("n", _rounds)
    table.text(say("verdict"), _word)
    table.number(say("errors"), lambda row: show_percent(row[1].error_rate))
    for metric in (*(metric for metric in _BESIDE if metric != primary), *_MONITORED):
        if _is_known(metric, cells):
            _with_ratio(table, metric)
    if any(map(_limit, table.items)):
        table.text(say("limit"), _limit)
    return table.build()


def _candidate(row: _Row) -> str:
    return row[1].name


def _load(row: _Row) -> str:
    cell = row[0]
    load = cell.rate if cell.rate is not None else cell.concurrency
    return "–" if load is None else f"{load:,g}"


def _spread(row: _Row) -> str:
    cell, entry = row
    return show_spread(variation(list(entry.values(cell.primary).values())))


def _word(row: _Row) -> str:
    cell, entry = row
    return word_text(cell.printed(entry))


def _rounds(row: _Row) -> str:
    cell, entry = row
    return f"{entry.count(cell.verdict(entry))}"


def _limit(row: _Row) -> str:
    """Return the side that was the limit in most trials; nothing where none was monitored."""
    monitors = (level.monitor for level in row[1].trials.values())
    usages = (monitor.derived for monitor in monitors if monitor)
    limits = [usage.limit for usage in usages if usage and usage.limit]
    return word_text(max(limits, key=limits.count, default=""))


def _median(entry: CandidateCell, metric: Metric) -> str:
    text = words.value(metric, entry.median(metric))
    return bounded(text, at_least=any(map(metric.is_lower_bound, entry.trials.values())))


def _with_ratio(table: TableBuilder[_Row], metric: Metric) -> None:
    """Add the columns of a metric and its ratio."""
    table.number(word_text(metric.label), lambda row: _median(row[1], metric))
    table.number(say("ratio"), lambda row: words.ratio(row[1].verdict(metric)))


def _count(table: TableBuilder[tuple[str, list[str]]], word: str, heading: str) -> None:
    """Add a column with the number of cells that have a word."""
    table.number(heading, lambda row: str(row[1].count(word) or "–"))


def _reasons(entry: CandidateCell) -> Counter[str]:
    counts: Counter[str] = Counter()
    for level in entry.trials.values():
        counts.update(level.reasons or level.counts.errors)
    return counts


def _share_of_attempts(count: int, entry: CandidateCell) -> str:
    attempts = sum(level.counts.ended for level in entry.trials.values())
    return show_percent(100 * count / attempts if attempts else None)


def _is_known(metric: Metric, cells: Sequence[ComparisonCell]) -> bool:
    return any(entry.values(metric) for cell in cells for entry in cell.entries)


def _with_word(cell: ComparisonCell, verdict: Verdict) -> str:
    word = word_text(cell.primary.word(verdict.word or "none"))
    seen = say("{ratio} ({span})", ratio=words.ratio(verdict), span=words.interval(verdict))
    return say("{word}, {seen}, n = {n}", word=word, seen=seen, n=str(verdict.n))


def _key(factors: Factors) -> str:
    return repr(sorted(factors.items()))
