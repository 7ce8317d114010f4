"""Tables of a tuning: the finalists, what the search saw, settings that are out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.say import Text, chain, say
from torr.report.data.result_words import word_text
from torr.report.data.tuning import Tuning
from torr.report.tables.protocol_rows import protocol
from torr.report.tables.table import Table, TableBuilder
from torr.report.text import comparison_words as words
from torr.report.text.tuning_sentence import bound
from torr.report.text.verdict_words import coverage
from torr.tuning.measured import CPU, MEMORY
from torr.units import show_value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from torr.messages.message import Message
    from torr.report.data.tuning import SearchedSetting
    from torr.results.result import RunResult
    from torr.results.tuning import TunedSetting
    from torr.results.verdict import Verdict
    from torr.stats.metric import Metric

_COSTS = (("cpu_us_per_request", CPU), ("memory_bytes", MEMORY))


def of_finalists(tuning: Tuning) -> Table | None:
    """Return a row for each setting of the fresh rounds, the recommended one first."""
    table = TableBuilder(tuning.rows)
    claims = [claim for row in table.items if (claim := row.against_default) is not None]
    table.text(say("setting"), lambda row: tuning.name(row.setting), breaks=True)
    table.text(say("place"), lambda row: _place(row, tuning))
    table.number(word_text(tuning.metric.label), lambda row: words.value(tuning.metric, row.value))
    table.number(say("ratio"), lambda row: _of(row.against_default, words.ratio))
    table.number(coverage(claims), lambda row: _of(row.against_default, words.interval))
    table.text(say("verdict"), lambda row: _word(row.against_default, tuning))
    if any(row.slos for row in table.items):
        table.text("SLO", lambda row: word_text(row.slo or ""))
        for number, slo in enumerate(next(row.slos for row in table.items if row.slos)):
            _add_slo(table, slo.condition or "", number)
    for name, metric in _COSTS:
        if any(getattr(row, name) is not None for row in table.items):
            _add_cost(table, name, metric)
    table.number("n", lambda row: f"{row.rounds}")
    return table.build()


def of_search(tuning: Tuning) -> Table | None:
    """Return a row for each setting that the search measured; its numbers are no claims."""
    table = TableBuilder(tuning.searched)
    reasons = tuning.reasons
    table.text(say("setting"), lambda row: row.name, breaks=True)
    table.number(
        say("{metric} in the first round", metric=word_text(tuning.metric.label)),
        lambda row: words.value(tuning.metric, row.first),
    )
    table.number(say("last step"), lambda row: f"{row.stage or '–'}")
    table.number(say("rounds"), lambda row: f"{row.rounds}")
    table.text(say("note"), lambda row: _note(row, tuning, reasons))
    return table.build()


def of_settings_out(tuning: Tuning) -> Table | None:
    """Return the settings that are out, with the kind of their failure and the last reason."""
    table = TableBuilder(tuning.outcome.out)
    table.text(say("setting"), lambda out: tuning.name(out.setting), breaks=True)
    table.text(say("what"), lambda out: word_text(out.problem.replace("_", " ")))
    table.text(say("why"), lambda out: out.why or "")
    return table.build()


def of_untried(tuning: Tuning) -> Table | None:
    """Return the settings that did not enter the search."""
    table = TableBuilder(tuning.outcome.untried_settings)
    table.text(say("setting"), tuning.name, breaks=True)
    return table.build()


def _place(row: TunedSetting, tuning: Tuning) -> Text:
    """Return whether a setting is recommended, or what else it is."""
    outcome, role = tuning.outcome, tuning.place(row.setting)
    if row.setting == outcome.recommended:
        return chain(", ", [role, say("recommended")])
    if row.setting in outcome.tied:
        return chain(", ", [role, say("not told apart")])
    return role


def _of(verdict: Verdict | None, write: Callable[[Verdict], str]) -> str:
    return "–" if verdict is None else write(verdict)


def _word(verdict: Verdict | None, tuning: Tuning) -> str:
    return "" if verdict is None else word_text(tuning.metric.word(verdict.word or ""))


def _add_slo(table: TableBuilder[TunedSetting], name: str, number: int) -> None:
    def cell(row: TunedSetting) -> str:
        return bound(row.slos[number]) if number < len(row.slos) else "–"

    table.number(name, cell)


def _add_cost(table: TableBuilder[TunedSetting], name: str, metric: Metric) -> None:
    table.number(word_text(metric.label), lambda row: words.value(metric, getattr(row, name)))


def _note(row: SearchedSetting, tuning: Tuning, reasons: Mapping[int, Message | str]) -> str:
    if row.setting in tuning.outcome.finalists:
        return say("finalist {n}", n=tuning.outcome.finalists.index(row.setting) + 1)
    return say("out: {why}", why=reasons[row.setting]) if row.setting in reasons else ""


def configuration(result: RunResult) -> Table:
    """Return how the trials were made, a row a setting."""
    tuning, experiment = Tuning.of(result), result.experiment
    server = next(iter(experiment.candidates.values()), {})
    looks = chain(", ", [f"{look}" for look in experiment.stages])
    rows: list[tuple[str, str]] = [
        (say("command of the default"), str(server.get("command", ""))),
        (say("default"), tuning.name(tuning.default)),
        *(
            (each.name, chain(", ", list(map(show_value, each.values))))
            for each in tuning.parameters
        ),
        (say("primary metric"), word_text(tuning.metric.label)),
        (say("trials of the search"), f"{experiment.search or 0:,}"),
        (say("fresh rounds before an interim analysis"), looks),
    ]
    if experiment.budget is not None:
        rows.append((say("budget"), experiment.budget))
    if experiment.seed is not None:
        rows.append((say("seed of the order"), str(experiment.seed)))
    rows += protocol(result)
    return Table((say("setting"), say("value")), tuple(rows), frozenset({0, 1}))
