"""Notes and tables about a comparison: its verdicts in words, how and where it was made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from torr.messages.say import Text, chain, join, say
from torr.report.data import cell_names
from torr.report.data.comparison import CandidateCell, Comparison, ComparisonCell
from torr.report.data.flat import flat
from torr.report.data.result_words import word_text
from torr.report.tables.protocol_rows import protocol
from torr.report.tables.table import Table, TableBuilder
from torr.report.text import comparison_words as words
from torr.report.text.comparison_clauses import (
    DIFFER,
    REST,
    CellEntries,
    fails_more,
    to_settle,
    with_word,
)

if TYPE_CHECKING:
    from torr.results.experiment import Experiment
    from torr.results.level import Level
    from torr.results.result import RunResult
    from torr.stats.metric import Metric


_MOST_PLACES = 3


def notes(comparison: Comparison) -> Iterator[Text]:
    """Return what the verdicts say of each candidate, a sentence a metric; nothing is added."""
    for name in comparison.rivals:
        entries = comparison.of_rival(name)
        clauses = [_in(word, with_word(entries, word), comparison) for word in (*DIFFER, *REST)]
        yield say("{name}: {said}.", name=name, said=chain("; ", clauses))
        failing = [cell.words for cell, entry in entries if fails_more(cell, entry)]
        if failing:
            yield say(
                "{name} fails more than {baseline} at {places}.",
                name=name,
                baseline=comparison.baseline,
                places=cell_names.names(failing),
            )
        yield from _secondary(name, entries, comparison)
    yield from _out_of_descriptors(comparison)


def _out_of_descriptors(comparison: Comparison) -> Iterator[Text]:
    """Say which candidates had no descriptor left, which else looks like slowness and failures."""
    for name in comparison.names:
        entries = comparison.of_rival(name)
        full = [p.words for p, entry in entries if any(map(_has_none_left, entry.trials.values()))]
        if full:
            places = cell_names.names(full)
            yield say("{name} ran out of its descriptors at {places}.", name=name, places=places)


def _has_none_left(level: Level) -> bool:
    derived = level.monitor.derived if level.monitor else None
    reason = derived.limit_reason if derived else None
    return reason is not None and reason.code == "bottleneck.descriptors"


def configuration(result: RunResult) -> Table:
    """Return how the trials were made, a row a setting."""
    comparison = Comparison.of(result)
    experiment = comparison.experiment
    rows: list[tuple[str, str]] = [
        (say("baseline"), comparison.baseline),
        (say("primary metric"), word_text(comparison.primary.label)),
        *((n, chain(", ", list(map(_value, values)))) for n, values in experiment.factors.items()),
        (say("rounds"), _rounds(experiment)),
    ]
    if result.levels:
        rows.append(
            (say("measurement window of a trial"), cell_names.names(_seconds(result.levels)))
        )
    rows += protocol(result)
    if experiment.restart:
        rows.append((say("server restarted each"), word_text(experiment.restart)))
    if experiment.discard_if:
        rows.append((say("rounds discarded if"), experiment.discard_if))
    if experiment.seed is not None:
        rows.append((say("seed of the order"), str(experiment.seed)))
    return Table((say("setting"), say("value")), tuple(rows), frozenset({0, 1}))


def candidates(comparison: Comparison) -> Table | None:
    """Return what each candidate is and how it answers."""
    known, answers = comparison.experiment.candidates, comparison.experiment.answers
    if not known and not answers:
        return None
    table = TableBuilder(comparison.names)
    table.text(say("candidate"), str)
    table.text(say("command"), lambda name: _value(known.get(name, {}).get("command")))
    table.text("url", lambda name: _value(known.get(name, {}).get("url")))
    for key in dict.fromkeys(key for answer in answers.values() for key in answer):
        _answer(table, key, answers)
    return table.build()


def _answer(table: TableBuilder[str], key: str, answers: Mapping[str, Mapping[str, Any]]) -> None:
    heading = word_text(key.replace("_", " "))
    table.text(heading, lambda name: _value(answers.get(name, {}).get(key)))


def versions(comparison: Comparison) -> Table | None:
    """Return what each candidate is made of: a row a package, a column a candidate."""
    known = comparison.experiment.candidates
    versions_of = {n: known.get(n, {}).get("versions") or {} for n in comparison.names}
    packages = {package for versions in versions_of.values() for package in versions}
    table = TableBuilder(sorted(packages, key=str.lower))
    table.text(say("package"), str)
    for name, versions in versions_of.items():
        _versions(table, name, versions)
    return table.build()


def _versions(table: TableBuilder[str], name: str, versions: Mapping[str, object]) -> None:
    table.text(name, lambda package: str(versions.get(package, "–")))


def environment(result: RunResult) -> Table | None:
    """Return the machine and the versions, a row each."""
    table = TableBuilder(row for row in flat(result.environment) if row[1] not in (None, ""))
    table.text("", lambda row: row[0].replace("_", " ").replace(".", ": ", 1))
    table.text(say("value"), lambda row: _value(row[1]))
    return table.build()


def log_tails(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """Return the last lines of each failed trial's server, with the trial in words."""
    for failure in comparison.failures:
        if failure.log_tail:
            where = join([cell_names.named(name, value) for name, value in failure.factors.items()])
            trial = say("{name}, round {number}", name=failure.candidate, number=f"{failure.round}")
            yield chain(", ", [trial, where]), "\n".join(failure.log_tail)


def _in(word: str, cells: CellEntries, comparison: Comparison) -> str:
    """Return a word with its cells, or with their number."""
    if not cells:
        return ""
    printed = word_text(comparison.primary.word(word))
    clause = say("{word} {where}", word=printed, where=_where(cells, comparison))
    if word == "inconclusive":
        return chain("", [clause, to_settle(cells)])
    reasons = list(dict.fromkeys(r for cell, entry in cells if (r := cell.reason(entry))))
    if not reasons:
        return clause
    return say("{said} ({why})", said=clause, why=cell_names.names(reasons))


def _where(cells: CellEntries, comparison: Comparison) -> Text:
    """Return the cells, each with what was measured there, or their number."""
    if len(cells) == len(comparison.cells) > _MOST_PLACES:
        return say("in all {n} cells", n=len(cells))
    if len(cells) > _MOST_PLACES:
        return say("in {n} of {total} cells", n=len(cells), total=len(comparison.cells))
    return say("at {places}", places=chain(", ", [_measured(p, e) for p, e in cells]))


def _measured(cell: ComparisonCell, entry: CandidateCell) -> str:
    if cell.standing(entry) not in (*DIFFER, "same"):
        return cell.words
    verdict = cell.verdict(entry)
    values = {"ratio": words.ratio(verdict), "span": words.interval(verdict)}
    return say("{place} ({ratio}, {span})", place=cell.words, **values)


def _secondary(name: str, entries: CellEntries, comparison: Comparison) -> Iterator[Text]:
    """Say of the other metrics in how many cells they have which word."""
    metrics = dict.fromkeys(metric for _, entry in entries for metric in entry.verdicts)
    clauses = [
        say("{metric} {said}", metric=word_text(m.label), said=counts)
        for m in metrics
        if m != comparison.primary and (counts := _count(m, entries))
    ]
    if clauses:
        yield say("{name}, secondary metrics: {said}.", name=name, said=chain("; ", clauses))


def _count(metric: Metric, entries: CellEntries) -> str:
    judged: list[str | None] = [e.verdict(metric).word for p, e in entries if not p.base.is_limited]
    counts = [(word, judged.count(word)) for word in (*DIFFER, "same")]
    is_one = len(entries) == 1
    clauses = [
        word_text(metric.word(word))
        if is_one
        else say("{word} in {n}", word=word_text(metric.word(word)), n=count)
        for word, count in counts
        if count
    ]
    return chain(", ", clauses)


def _rounds(experiment: Experiment) -> str:
    stages = experiment.stages
    if len(stages) > 1:
        some = chain(", ", [str(stage) for stage in stages[:-1]])
        return say("{some} or {last}, until settled", some=some, last=stages[-1])
    return _value(experiment.rounds)


def _seconds(levels: Sequence[Level]) -> list[str]:
    shown = sorted({round(level.seconds, 1) for level in levels})
    if len(shown) > 2:
        return [say("{low:g} to {high:g} s", low=shown[0], high=shown[-1])]
    return [f"{seconds:g} s" for seconds in shown]


def _value(value: Any) -> str:  # noqa: ANN401 - JSON
    if value is None:
        return "–"
    if isinstance(value, bool):
        return say("yes") if value else say("no")
    if isinstance(value, list | tuple):
        return " ".join(map(str, value))
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {member}" for name, member in value.items())
    return str(value)
