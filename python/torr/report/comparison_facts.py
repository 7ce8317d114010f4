"""What stands around a comparison's numbers: notes from its verdicts, how and where it was made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from torr.report import comparison_words as words
from torr.report import csv
from torr.report.cells import Table
from torr.report.comparison import Comparison, Entry, Place
from torr.report.comparison_clauses import DIFFER, REST, fails_more, to_settle, with_word
from torr.report.say import join

if TYPE_CHECKING:
    from torr.stats.metric import Metric

Result = Mapping[str, Any]

_MOST_PLACES = 3


def notes(found: Comparison) -> Iterator[str]:
    """Return what the verdicts say of each candidate, a sentence a metric; nothing is added."""
    for name in found.rivals:
        seen = found.of_rival(name)
        said = [_in(word, with_word(seen, word), found) for word in (*DIFFER, *REST)]
        yield f"{name}: {'; '.join(each for each in said if each)}."
        failing = [place.words for place, entry in seen if fails_more(place, entry)]
        if failing:
            yield f"{name} fails more than {found.baseline} at {words.names(failing)}."
        yield from _secondary(name, seen, found)


def configuration(result: Result) -> Table:
    """Return how the trials were made, a row a setting."""
    found = Comparison.of(result)
    experiment = found.experiment
    factors = experiment.get("factors") or {}
    rows = [("baseline", found.baseline), ("primary metric", found.primary.label)]
    rows += [(name, ", ".join(map(_value, values))) for name, values in factors.items()]
    rows += [("rounds", _rounds(experiment))]
    levels = result.get("levels") or []
    rows += [("measured in each trial", words.names(_seconds(levels)))] if levels else []
    for key, label in (("restart", "server restarted each"), ("discard_if", "rounds discarded if")):
        rows += [(label, str(experiment[key]))] if experiment.get(key) else []
    if experiment.get("seed") is not None:
        rows.append(("seed of the order", str(experiment["seed"])))
    return Table(("setting", "value"), tuple(rows), frozenset({0, 1}))


def candidates(found: Comparison) -> Table | None:
    """Return what each candidate is and how it answers."""
    known: Mapping[str, Any] = found.experiment.get("candidates") or {}
    answers: Mapping[str, Any] = found.experiment.get("answers") or {}
    if not known and not answers:
        return None
    keys = list(dict.fromkeys(key for answer in answers.values() for key in answer or ()))
    rows = tuple(
        (
            name,
            _value((known.get(name) or {}).get("command")),
            _value((known.get(name) or {}).get("url")),
            *(_value((answers.get(name) or {}).get(key)) for key in keys),
        )
        for name in found.names
    )
    columns = ("candidate", "command", "url", *(key.replace("_", " ") for key in keys))
    return Table(columns, rows, frozenset(range(len(columns))))


def rules(found: Comparison) -> Sequence[str]:
    """Return the rules of fairness as they were applied, a sentence each."""
    return [str(rule) for rule in found.experiment.get("rules") or ()]


def differences(found: Comparison) -> Sequence[str]:
    """Return how the candidates' answers differ, a sentence each."""
    return [str(text) for text in found.experiment.get("differences") or ()]


def environment(result: Result) -> Table | None:
    """Return the machine and the versions, a row each."""
    rows = [
        (key.replace("_", " ").replace(".", ": ", 1), _value(value))
        for key, value in csv.flat(result.get("environment") or {})
        if value not in (None, "")
    ]
    return Table(("", "value"), tuple(rows), frozenset({0, 1})) if rows else None


def log_tails(found: Comparison) -> Iterator[tuple[str, str]]:
    """Return the last lines of each failed trial's server, with the trial in words."""
    for failure in found.failures:
        lines = failure.get("log_tail") or ()
        if lines:
            factors = failure.get("factors") or {}
            where = join([words.named(name, value) for name, value in factors.items()])
            trial = f"{failure.get('candidate')}, round {failure.get('round', '–')}"
            yield f"{trial}{f', {where}' if where else ''}", "\n".join(map(str, lines))


def _in(word: str, cells: Sequence[tuple[Place, Entry]], found: Comparison) -> str:
    """A word with its places, or with how many they are."""
    if not cells:
        return ""
    printed = found.primary.word(word)
    if len(cells) == len(found.places) > _MOST_PLACES:
        where = f"in all {len(cells)} cells"
    elif len(cells) > _MOST_PLACES:
        where = f"in {len(cells)} of {len(found.places)} cells"
    else:
        where = "at " + "; ".join(f"{p.words}{_measure(p, e)}" for p, e in cells)
        where = where.replace("; ", ", ")
    if word == "inconclusive":
        return f"{printed} {where}{to_settle(cells)}"
    reasons = list(dict.fromkeys(r for place, entry in cells if (r := place.reason(entry))))
    why = f" ({words.names(reasons)})" if reasons else ""
    return f"{printed} {where}{why}"


def _measure(place: Place, entry: Entry) -> str:
    if place.standing(entry) not in (*DIFFER, "same"):
        return ""
    verdict = place.verdict(entry) or {}
    return f" ({words.ratio(verdict)}, {words.interval(verdict)})"


def _secondary(name: str, seen: Sequence[tuple[Place, Entry]], found: Comparison) -> Iterator[str]:
    """What the other metrics say: in how many cells which word, where a word was found."""
    metrics = dict.fromkeys(metric for _, entry in seen for metric in entry.verdicts)
    each = [
        f"{m.label} {counts}" for m in metrics if m != found.primary and (counts := _count(m, seen))
    ]
    if each:
        yield f"{name}, secondary metrics: {'; '.join(each)}."


def _count(metric: Metric, seen: Sequence[tuple[Place, Entry]]) -> str:
    judged = [(e.verdicts.get(metric) or {}).get("word") for p, e in seen if not p.base.is_limited]
    counts = [(word, judged.count(word)) for word in (*DIFFER, "same")]
    is_one = len(seen) == 1
    told = [
        metric.word(word) if is_one else f"{metric.word(word)} in {count}"
        for word, count in counts
        if count
    ]
    return ", ".join(told)


def _rounds(experiment: Mapping[str, Any]) -> str:
    stages: Sequence[int] = experiment.get("stages") or ()
    if len(stages) > 1:
        return f"{', '.join(map(str, stages[:-1]))} or {stages[-1]}, until settled"
    return _value(experiment.get("rounds"))


def _seconds(levels: Sequence[Mapping[str, Any]]) -> list[str]:
    windows = {round(float(level.get("seconds") or 0), 1) for level in levels}
    shown = sorted(windows)
    if len(shown) > 2:
        return [f"{shown[0]:g} to {shown[-1]:g} s"]
    return [f"{seconds:g} s" for seconds in shown]


def _value(value: Any) -> str:  # noqa: ANN401 - JSON
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return " ".join(map(str, value))
    return str(value)
