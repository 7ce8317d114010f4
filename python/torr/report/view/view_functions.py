"""The chart of functions under load: a row a budget; without budgets a row a function.

Positions are natural logarithms: of how much of a budget is used, so that 0 is the limit and what
lies left of it is met, or of operations a second. Of times and errors the measured number over the
limit is used, of rates the limit over the measured one, and of success the failures over those that
are allowed. The axis reaches a thousand times beyond a limit; rounds beyond stand at its edge.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from statistics import median
from typing import TYPE_CHECKING

from torr.messages.say import as_json
from torr.report.data.axis import WIDEST, Axis, Limits, limits, padded
from torr.report.data.function_names import key_of, names
from torr.report.data.function_rounds import groups
from torr.report.text.functions import KIND, shown, word_of
from torr.stats.metric import OK_PER_S, Metric
from torr.units import format_rate, show_rate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from typing_extensions import Self

    from torr.model.json import JsonObject
    from torr.results.level import Level
    from torr.results.result import RunResult
    from torr.results.verdict import Verdict


_MOST_ROWS = 40
_ORDER = ("broken", "not shown", "held")
_LEAST_SPAN = math.log(10)


@dataclass(frozen=True)
class FunctionRoundPoint:
    """One round of a function: where its number stands, and the number itself."""

    number: int
    at: float
    text: str


@dataclass(frozen=True)
class BudgetRow:
    """A budget, or a function without one: then `budget` and `standing` are empty."""

    name: str
    budget: str
    standing: str
    word: str
    amount: str
    centre: float | None
    interval: tuple[float, float] | None
    rounds: tuple[FunctionRoundPoint, ...]

    @property
    def positions(self) -> list[float]:
        """Where its estimate stands, and the ends of its interval."""
        return [at for at in (self.centre, *(self.interval or ())) if at is not None]


@dataclass(frozen=True)
class FunctionChart(Axis):
    """All rows on one axis; `left_out` rows have no room."""

    rows: tuple[BudgetRow, ...]
    is_of_budgets: bool
    left_out: int

    @classmethod
    def of(cls, result: RunResult) -> Self | None:
        """Return the chart of a result; None where there is nothing to draw."""
        budgets = result.budgets
        rows = _of_budgets(result) if budgets else _of_functions(result)
        ends = (_limits_of_budgets if budgets else _limits_of_rates)(rows)
        if ends is None:
            return None
        drawn = tuple(rows[:_MOST_ROWS])
        return cls(ends, drawn, bool(budgets), len(rows) - len(drawn))

    def marks(self) -> list[tuple[float, str]]:
        """Return every tick on the axis with its words, those first that matter most."""
        low, high = self.limits
        powers = range(math.floor(low / math.log(10)), math.ceil(high / math.log(10)) + 1)
        values = [10.0**power for power in sorted(powers, key=abs)]
        values += [times * value for times in (5, 2) for value in values]
        return [(math.log(v), self._written(v)) for v in values if low <= math.log(v) <= high]

    def _written(self, value: float) -> str:
        # A product of powers is not the number that it means: 0.2 is 0.20000000000000001.
        rounded = float(f"{value:.3g}")
        return f"{rounded:g} ×" if self.is_of_budgets else format_rate(rounded)


def functions(result: RunResult) -> JsonObject | None:
    """Return every budget, or every function where there is none; None where nothing is drawn.

    `marks` are ticks of the axis in the order in which room is to be found for them.
    """
    chart = FunctionChart.of(result) if result.kind == KIND else None
    if chart is None:
        return None
    return {
        "is_of_budgets": chart.is_of_budgets,
        "limits": chart.limits,
        "marks": chart.marks(),
        "left_out": chart.left_out,
        "rows": [_as_json(row, chart) for row in chart.rows],
    }


def _as_json(row: BudgetRow, axis: Axis) -> JsonObject:
    return {
        **asdict(row),
        "word": as_json(row.word),
        "centre": None if row.centre is None else axis.shown(row.centre),
        "interval": row.interval and list(map(axis.shown, row.interval)),
        "rounds": [axis.point(point.number, point.at, point.text) for point in row.rounds],
    }


def _of_budgets(result: RunResult) -> list[BudgetRow]:
    """Return a row a budget: those that are missed first, and of each word the fullest."""
    known: dict[tuple[str, str], list[Level]] = {}
    for _, levels in groups(result):
        known.setdefault(key_of(levels[0]), []).extend(levels)
    name_of = names(result)
    rows = [
        _budget(name_of(budget), budget, known.get(key_of(budget), ())) for budget in result.budgets
    ]
    return sorted(rows, key=lambda row: (_ORDER.index(row.standing), -_place(row.centre)))


def _place(centre: float | None) -> float:
    return -math.inf if centre is None else centre


def _budget(name: str, budget: Verdict, levels: Sequence[Level]) -> BudgetRow:
    metric, use = Metric(budget.metric), _use_of(budget)
    show = shown(budget.metric)
    ends = sorted(use(end) for end in budget.interval or () if end is not None)
    return BudgetRow(
        name=name,
        budget=budget.condition or "",
        standing=budget.word or "",
        word=word_of(budget),
        amount="–" if budget.value is None else _times(use(budget.value)),
        centre=None if budget.value is None else _log(use(budget.value)),
        interval=(_log(ends[0]), _log(ends[1])) if len(ends) == 2 else None,
        rounds=tuple(
            FunctionRoundPoint(level.round, _log(use(value)), f"{metric.label} {show(value)}")
            for level in levels
            if (value := metric.read(level)) is not None
        ),
    )


def _use_of(budget: Verdict) -> Callable[[float], float]:
    """Return how much of a budget a number uses: 1 is the limit, and less is better."""
    is_success = budget.metric == "success_rate"
    wants_little = ("<" in (budget.condition or "")) != is_success
    limit = budget.limit or 0.0
    limit = 100 - limit if is_success else limit

    def use(value: float) -> float:
        found = 100 - value if is_success else value
        above, below = (found, limit) if wants_little else (limit, found)
        if above == below:
            return 1.0
        return above / below if below else math.inf

    return use


def _of_functions(result: RunResult) -> list[BudgetRow]:
    metric = Metric(OK_PER_S)
    return [
        _function(name, [(x.round, v) for x in levels if (v := metric.read(x)) is not None])
        for name, levels in groups(result)
    ]


def _function(name: str, rounds: Sequence[tuple[int, float]]) -> BudgetRow:
    middle = median(value for _, value in rounds) if rounds else None
    return BudgetRow(
        name=name,
        budget="",
        standing="",
        word="",
        amount=show_rate(middle),
        centre=None if middle is None else _log(middle),
        interval=None,
        rounds=tuple(FunctionRoundPoint(number, _log(v), show_rate(v)) for number, v in rounds),
    )


def _limits_of_budgets(rows: Sequence[BudgetRow]) -> Limits | None:
    """Return an axis that holds the limit, estimates and intervals."""
    if not any(row.centre is not None or row.rounds for row in rows):
        return None
    certain = [at for row in rows for at in row.positions if math.isfinite(at)]
    needed = [*certain, -math.log(2), math.log(2)]
    return limits(needed, _rounds(rows), bounds=(-WIDEST, WIDEST))


def _limits_of_rates(rows: Sequence[BudgetRow]) -> Limits | None:
    """Return an axis of a power of ten at least, so that a small spread looks small."""
    positions = [at for at in _rounds(rows) if math.isfinite(at)]
    if not positions:
        return None
    low, high = min(positions), max(positions)
    more = max(0.0, _LEAST_SPAN - (high - low)) / 2
    return padded(low - more, high + more)


def _rounds(rows: Sequence[BudgetRow]) -> list[float]:
    return [point.at for row in rows for point in row.rounds]


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf


def _times(use: float) -> str:
    if not math.isfinite(use):
        return "–"
    return "<0.001 ×" if 0 < use < 0.001 else f"{float(f'{use:.2g}'):g} ×"
