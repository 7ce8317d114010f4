"""What stands around a comparison's numbers: notes from its verdicts, how and where it was made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from torr.messages.say import Text, chain, join, say
from torr.report.data import cell_names
from torr.report.data.comparison import CandidateCell, Comparison, ComparisonCell
from torr.report.data.flat import flat
from torr.report.data.result_words import word_text
from torr.report.tables.cells import Table
from torr.report.text import comparison_words as words
from torr.report.text.comparison_clauses import DIFFER, REST, fails_more, to_settle, with_word

if TYPE_CHECKING:
    from torr.results.experiment import Experiment
    from torr.results.level import Level
    from torr.results.result import RunResult
    from torr.stats.metric import Metric


_MOST_PLACES = 3


def notes(found: Comparison) -> Iterator[Text]:
    """Return what the verdicts say of each candidate, a sentence a metric; nothing is added."""
    for name in found.rivals:
        seen = found.of_rival(name)
        said = [_in(word, with_word(seen, word), found) for word in (*DIFFER, *REST)]
        yield say("{name}: {said}.", name=name, said=chain("; ", said))
        failing = [place.words for place, entry in seen if fails_more(place, entry)]
        if failing:
            who = {"name": name, "baseline": found.baseline, "places": cell_names.names(failing)}
            yield say("{name} fails more than {baseline} at {places}.", **who)
        yield from _secondary(name, seen, found)
    yield from _out_of_descriptors(found)


def _out_of_descriptors(found: Comparison) -> Iterator[Text]:
    """Say which candidates had no descriptor left, which else looks like slowness and failures."""
    for name in found.names:
        seen = [(p, entry) for p in found.places for entry in p.entries if entry.name == name]
        full = [p.words for p, entry in seen if any(map(_has_none_left, entry.trials.values()))]
        if full:
            places = cell_names.names(full)
            yield say("{name} ran out of its descriptors at {places}.", name=name, places=places)


def _has_none_left(level: Level) -> bool:
    derived = level.monitor.derived if level.monitor else None
    reason = derived.limit_reason if derived else None
    return reason is not None and reason.code == "bottleneck.descriptors"


def configuration(result: RunResult) -> Table:
    """Return how the trials were made, a row a setting."""
    found = Comparison.of(result)
    experiment = found.experiment
    rows: list[tuple[str, str]] = [
        (say("baseline"), found.baseline),
        (say("primary metric"), word_text(found.primary.label)),
    ]
    rows += [
        (name, chain(", ", [_value(v) for v in values]))
        for name, values in experiment.factors.items()
    ]
    rows += [(say("rounds"), _rounds(experiment))]
    if result.levels:
        rows.append((say("measured in each trial"), cell_names.names(_seconds(result.levels))))
    if experiment.restart:
        rows.append((say("server restarted each"), word_text(experiment.restart)))
    if experiment.discard_if:
        rows.append((say("rounds discarded if"), experiment.discard_if))
    if experiment.seed is not None:
        rows.append((say("seed of the order"), str(experiment.seed)))
    return Table((say("setting"), say("value")), tuple(rows), frozenset({0, 1}))


def candidates(found: Comparison) -> Table | None:
    """Return what each candidate is and how it answers."""
    known, answers = found.experiment.candidates, found.experiment.answers
    if not known and not answers:
        return None
    keys = list(dict.fromkeys(key for answer in answers.values() for key in answer))
    rows = tuple(
        (
            name,
            _value(known.get(name, {}).get("command")),
            _value(known.get(name, {}).get("url")),
            *(_value(answers.get(name, {}).get(key)) for key in keys),
        )
        for name in found.names
    )
    named = (word_text(key.replace("_", " ")) for key in keys)
    columns = (say("candidate"), say("command"), "url", *named)
    return Table(columns, rows, frozenset(range(len(columns))))


def versions(found: Comparison) -> Table | None:
    """Return what each candidate is made of: a row a package, a column a candidate."""
    known = found.experiment.candidates
    each = {name: known.get(name, {}).get("versions") or {} for name in found.names}
    packages = sorted({package for has in each.values() for package in has}, key=str.lower)
    if not packages:
        return None
    rows = tuple((p, *(str(has.get(p, "–")) for has in each.values())) for p in packages)
    return Table((say("package"), *each), rows, frozenset(range(len(each) + 1)))


def rules(found: Comparison) -> Sequence[str]:
    """Return the rules of fairness as they were applied, a sentence each."""
    return found.experiment.rules


def differences(found: Comparison) -> Sequence[str]:
    """Return how the candidates' answers differ, a sentence each."""
    return found.experiment.differences


def environment(result: RunResult) -> Table | None:
    """Return the machine and the versions, a row each."""
    rows = [
        (key.replace("_", " ").replace(".", ": ", 1), _value(value))
        for key, value in flat(result.environment)
        if value not in (None, "")
    ]
    return Table(("", say("value")), tuple(rows), frozenset({0, 1})) if rows else None


def log_tails(found: Comparison) -> Iterator[tuple[str, str]]:
    """Return the last lines of each failed trial's server, with the trial in words."""
    for failure in found.failures:
        if failure.log_tail:
            where = join([cell_names.named(name, value) for name, value in failure.factors.items()])
            trial = say("{name}, round {number}", name=failure.candidate, number=f"{failure.round}")
            yield chain(", ", [trial, where]), "\n".join(failure.log_tail)


def _in(word: str, cells: Sequence[tuple[ComparisonCell, CandidateCell]], found: Comparison) -> str:
    """A word with its places, or with how many they are."""
    if not cells:
        return ""
    printed = word_text(found.primary.word(word))
    said = say("{word} {where}", word=printed, where=_where(cells, found))
    if word == "inconclusive":
        return chain("", [said, to_settle(cells)])
    reasons = list(dict.fromkeys(r for place, entry in cells if (r := place.reason(entry))))
    if not reasons:
        return said
    return say("{said} ({why})", said=said, why=cell_names.names(reasons))


def _where(cells: Sequence[tuple[ComparisonCell, CandidateCell]], found: Comparison) -> Text:
    """The places, each with what was measured there, or how many they are."""
    if len(cells) == len(found.places) > _MOST_PLACES:
        return say("in all {n} cells", n=len(cells))
    if len(cells) > _MOST_PLACES:
        return say("in {n} of {total} cells", n=len(cells), total=len(found.places))
    return say("at {places}", places=chain(", ", [_measured(p, e) for p, e in cells]))


def _measured(place: ComparisonCell, entry: CandidateCell) -> str:
    if place.standing(entry) not in (*DIFFER, "same"):
        return place.words
    verdict = place.verdict(entry)
    said = {"ratio": words.ratio(verdict), "span": words.interval(verdict)}
    return say("{place} ({ratio}, {span})", place=place.words, **said)


def _secondary(
    name: str, seen: Sequence[tuple[ComparisonCell, CandidateCell]], found: Comparison
) -> Iterator[Text]:
    """What the other metrics say: in how many cells which word, where a word was found."""
    metrics = dict.fromkeys(metric for _, entry in seen for metric in entry.verdicts)
    each = [
        say("{metric} {said}", metric=word_text(m.label), said=counts)
        for m in metrics
        if m != found.primary and (counts := _count(m, seen))
    ]
    if each:
        yield say("{name}, secondary metrics: {said}.", name=name, said=chain("; ", each))


def _count(metric: Metric, seen: Sequence[tuple[ComparisonCell, CandidateCell]]) -> str:
    judged: list[str | None] = [e.verdict(metric).word for p, e in seen if not p.base.is_limited]
    counts = [(word, judged.count(word)) for word in (*DIFFER, "same")]
    is_one = len(seen) == 1
    each = [
        word_text(metric.word(word))
        if is_one
        else say("{word} in {n}", word=word_text(metric.word(word)), n=count)
        for word, count in counts
        if count
    ]
    return chain(", ", each)


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
        return "; ".join(f"{name}: {each}" for name, each in value.items())
    return str(value)
