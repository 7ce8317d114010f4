"""Tables of a comparison: the cells, what failed there, and what a rule took out.

A table of cells is for one setting of the factors other than the load, as for one number of
workers: a row a level of load and candidate, with ratios to the baseline. Numbers are medians over
rounds; those that a verdict is not about have no word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.say import chain, say
from torr.report.data import cell_names
from torr.report.data.result_words import word_text
from torr.report.data.wording import heading
from torr.report.tables.cells import Table
from torr.report.text import comparison_words as words
from torr.report.text.verdict_words import coverage
from torr.stats.metric import METRICS, OK_PER_S, Metric
from torr.stats.series import variation
from torr.units import show_percent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from torr.report.data.comparison import CandidateCell, Comparison, ComparisonCell
    from torr.results.base import Factors
    from torr.results.verdict import Verdict

Row = tuple[str, ...]

_LOADS = ("connections", "users", "rate")
_BESIDE = tuple(map(Metric, (OK_PER_S, "response_ms.p50", "response_ms.p99")))
_MONITORED = tuple(metric for metric in METRICS if metric.key.startswith("target_"))


def of_cells(found: Comparison) -> Iterator[tuple[str, Table]]:
    """Return a table, with its title, for each setting of the factors that are not the load."""
    groups: dict[str, list[ComparisonCell]] = {}
    for place in found.places:
        groups.setdefault(_setting(place, found), []).append(place)
    for title, places in groups.items():
        yield title or say("Trials: medians of rounds"), _of_places(places, found)


def coverage_at(places: Iterable[ComparisonCell]) -> str:
    """Return how surely the intervals of these cells hold their ratio."""
    entries = (entry for place in places for entry in place.entries)
    return coverage(verdict for entry in entries for verdict in entry.verdicts.values())


def of_place(place: ComparisonCell) -> Table:
    """Return one cell in short: a row a candidate."""
    primary = place.primary
    share = coverage_at([place])
    names = (say("candidate"), word_text(primary.label), say("ratio"), share, say("verdict"), "p99")
    columns = (*names, say("errors"), "n")
    rows = tuple((entry.name, *_short(place, entry)) for entry in place.entries)
    return Table(columns, rows, frozenset({0, 4}))


def of_words(found: Comparison) -> Table | None:
    """Return in how many cells each candidate has which word; None for a single cell."""
    if len(found.places) < 2:
        return None
    shown = ("better", "worse", "same", "inconclusive", "no verdict", "failed")
    rows = []
    for name in found.rivals:
        standings = [place.standing(entry) for place, entry in found.of_rival(name)]
        rows.append((name, *(str(standings.count(word) or "–") for word in shown)))
    cells = say("cells of {n}", n=len(found.places))
    columns = (cells, *(word_text(found.primary.word(word)) for word in shown))
    return Table(columns, tuple(rows)) if rows else None


def of_failures(found: Comparison) -> Table | None:
    """Return every trial that came to nothing."""
    words_of = {_key(place.factors): place.words for place in found.places}
    rows = tuple(
        (
            failure.candidate,
            words_of.get(_key(failure.factors), ""),
            f"{failure.round}",
            word_text(failure.kind.replace("_", " ")),
            chain("; ", [failure.text, failure.hint or ""]),
        )
        for failure in found.failures
    )
    columns = (say("candidate"), say("cell"), say("round"), say("what"), say("why"))
    return Table(columns, rows, frozenset({0, 1, 3, 4})) if rows else None


def of_errors(found: Comparison) -> Table | None:
    """Return the errors of each candidate in each cell, all trials together, by their reason."""
    rows = []
    for place in found.places:
        for entry in place.entries:
            counts: dict[str, int] = {}
            for level in entry.trials.values():
                for reason, count in (level.reasons or level.counts.errors).items():
                    counts[reason] = counts.get(reason, 0) + count
            attempts = sum(level.counts.ended for level in entry.trials.values())
            for reason, count in sorted(counts.items(), key=lambda item: -item[1]):
                share = show_percent(100 * count / attempts) if attempts else "–"
                rows.append((place.words, entry.name, reason, f"{count:,}", share))
    columns = (say("cell"), say("candidate"), say("reason"), say("count"), say("of attempts"))
    return Table(columns, tuple(rows), frozenset({0, 1, 2})) if rows else None


def of_discarded(found: Comparison) -> Table | None:
    """Return what each verdict of the primary metric is without the discarded rounds, and with."""
    rows = []
    for place in found.places:
        for entry in place.rivals:
            verdict = place.verdict(entry)
            gone = verdict.discarded
            if gone:
                rounds = chain(", ", [str(number) for number in gone.rounds])
                who = chain(", ", [f"{name} {count}" for name, count in gone.because_of.items()])
                each = (_with_word(place, verdict), _with_word(place, verdict.with_discarded))
                rows.append((place.words, entry.name, rounds, who, *each))
    whose = (say("cell"), say("candidate"), say("rounds discarded"), say("because of"))
    columns = (*whose, say("without them"), say("with them"))
    return Table(columns, tuple(rows), frozenset(range(6))) if rows else None


def _setting(place: ComparisonCell, found: Comparison) -> str:
    """The factors of a cell that are not its load, in words."""
    order = [*found.experiment.factors, *place.factors]
    names = [name for name in dict.fromkeys(order) if name in place.factors]
    return chain(", ", [cell_names.named(n, place.factors[n]) for n in names if n not in _LOADS])


def _of_places(places: Sequence[ComparisonCell], found: Comparison) -> Table:
    primary = found.primary
    beside = [m for m in _BESIDE if m != primary and _is_known(m, places)]
    more = [m for m in _MONITORED if _is_known(m, places)]
    load = say("rate") if places[0].rate is not None else heading("connection")
    columns: list[str] = [
        load,
        say("candidate"),
        word_text(primary.label),
        say("spread"),
        say("ratio"),
    ]
    columns += [coverage_at(places), "n", say("verdict"), say("errors")]
    for metric in (*beside, *more):
        columns += [word_text(metric.label), say("ratio")]
    rows = [_row(place, entry, [*beside, *more]) for place in places for entry in place.entries]
    words_at = {1, 7}
    if any(row[-1] for row in rows):
        columns.append(say("limit"))
        words_at.add(len(columns) - 1)
    shown = tuple(row[: len(columns)] for row in rows)
    return Table(tuple(columns), shown, frozenset(words_at))


def _row(place: ComparisonCell, entry: CandidateCell, metrics: Sequence[Metric]) -> Row:
    verdict = place.verdict(entry)
    load = place.rate if place.rate is not None else place.concurrency
    spread = variation(list(entry.values(place.primary).values()))
    beside = [cell for metric in metrics for cell in _with_ratio(entry, metric)]
    return (
        "–" if load is None else f"{load:,g}",
        entry.name,
        _middle(entry, place.primary),
        "–" if spread is None else f"{100 * spread:.1f} %",
        words.ratio(verdict),
        words.interval(verdict),
        f"{entry.count(verdict)}",
        word_text(place.printed(entry)),
        show_percent(entry.error_rate),
        *beside,
        _limit(entry),
    )


def _limit(entry: CandidateCell) -> str:
    """Which side was the limit, as most trials were seen; nothing where none was watched."""
    monitors = (level.monitor for level in entry.trials.values())
    derived = (monitor.derived for monitor in monitors if monitor)
    seen = [found.limit for found in derived if found and found.limit]
    return word_text(max(seen, key=seen.count, default=""))


def _short(place: ComparisonCell, entry: CandidateCell) -> Row:
    verdict = place.verdict(entry)
    return (
        _middle(entry, place.primary),
        words.ratio(verdict),
        words.interval(verdict),
        word_text(place.printed(entry)),
        _middle(entry, Metric("response_ms.p99")),
        show_percent(entry.error_rate),
        f"{entry.count(verdict)}",
    )


def _middle(entry: CandidateCell, metric: Metric) -> str:
    text = words.value(metric, entry.middle(metric))
    is_bound = any(map(metric.is_lower_bound, entry.trials.values()))
    return f"≥ {text}" if is_bound and text != "–" else text


def _with_ratio(entry: CandidateCell, metric: Metric) -> tuple[str, str]:
    return _middle(entry, metric), words.ratio(entry.verdict(metric))


def _is_known(metric: Metric, places: Sequence[ComparisonCell]) -> bool:
    return any(entry.values(metric) for place in places for entry in place.entries)


def _with_word(place: ComparisonCell, verdict: Verdict) -> str:
    word = word_text(place.primary.word(verdict.word or "none"))
    seen = say("{ratio} ({span})", ratio=words.ratio(verdict), span=words.interval(verdict))
    return say("{word}, {seen}, n = {n}", word=word, seen=seen, n=str(verdict.n))


def _key(factors: Factors) -> str:
    return repr(sorted(factors.items()))
