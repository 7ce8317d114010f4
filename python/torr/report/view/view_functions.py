"""The page's chart of functions: rows, every round a dot, on one axis.

Positions are those of `function_rows`, kept within the axis.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from torr.messages.say import as_json
from torr.report.text.functions import KIND
from torr.report.view.function_rows import BudgetRow, FunctionRoundPoint, Picture

if TYPE_CHECKING:
    from torr.model.json import JsonObject
    from torr.results.result import RunResult


def functions(result: RunResult) -> JsonObject | None:
    """Return every budget, or every function where there is none; None where nothing is drawn.

    `marks` are ticks of the axis in the order in which room is to be found for them.
    """
    found = Picture.of(result) if result.kind == KIND else None
    if found is None:
        return None
    return {
        "is_of_budgets": found.is_of_budgets,
        "limits": found.limits,
        "marks": found.marks(),
        "left_out": found.left_out,
        "rows": [_row(row, found) for row in found.rows],
    }


def _row(row: BudgetRow, found: Picture) -> JsonObject:
    return {
        "name": row.name,
        "budget": row.budget,
        "standing": row.standing,
        "word": as_json(row.word),
        "amount": row.amount,
        "centre": None if row.centre is None else found.shown(row.centre),
        "interval": None if row.interval is None else [found.shown(end) for end in row.interval],
        "rounds": [_round(each, found) for each in row.rounds],
    }


def _round(each: FunctionRoundPoint, found: Picture) -> JsonObject:
    shown = found.shown(each.at)
    beyond = 0 if shown == each.at else math.copysign(1, each.at - shown)
    return {"round": each.number, "at": shown, "beyond": int(beyond), "text": each.text}
