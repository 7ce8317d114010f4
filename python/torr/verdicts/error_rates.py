"""The obstacle of different shares of failures to a comparison of times."""

from __future__ import annotations

from torr.messages.message import Message, message
from torr.units import show_percent
from torr.verdicts.judgement import MOST_APART_POINTS

ERROR_RATES_APART = "comparison.error_rates_apart"


def error_rates_apart(before: float | None, after: float | None) -> Message | None:
    """Return why times of two sides are not compared: they are of ok responses only.

    `before` and `after` are percentages of failed requests; None where no request ended.
    """
    if before is None or after is None or abs(before - after) <= MOST_APART_POINTS:
        return None
    return message(
        "comparison.error_rates_apart",
        "error rates lie more than 1 point apart, {before} and {after}: times are of ok answers",
        before=show_percent(before),
        after=show_percent(after),
    )
