"""What functions leave behind, as people read it: a table of targets and findings, and what failed.

A function that may leave so many objects is judged by their number, any other by whether its growth
goes on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torr.report.cells import Table
from torr.report.micro_names import names
from torr.report.say import Text, join, say
from torr.report.told import told

Result = Mapping[str, Any]
Leak = Mapping[str, Any]

_NOTHING = "–"
_GOES_ON = "growth that goes on"
_MOST_NAMED = 3
_MOST_TYPES = 3


def table(result: Result) -> Table | None:
    """Return one row a function that was watched for what it leaves behind."""
    name_of = names(result)
    rows = tuple((name_of(each), *_row(each)) for each in _leaks(result))
    columns = (
        *(say("function"), say("operations"), say("target"), say("objects")),
        *(say("blocks an operation"), say("bytes an operation"), say("of the process")),
        *(say("verdict"), say("growth"), say("most of them")),
    )
    return Table(columns, rows, frozenset({0, 2, 7, 8, 9}), frozenset({0})) if rows else None


def failed(result: Result) -> list[Text]:
    """Say of which functions growth goes on, and which left more than they may."""
    name_of = names(result)
    found = [each for each in _leaks(result) if not _is_met(each)]
    endless = [name_of(each) for each in found if each.get("limit") is None]
    beyond = [
        say("{name}: {growth} objects, not {limit}", name=name_of(each), **_numbers(each))
        for each in found
        if each.get("limit") is not None
    ]
    parts = []
    if endless:
        parts.append(say("growth that goes on in {names}", names=_named(endless)))
    if beyond:
        parts.append(say("more left behind than may be ({names})", names=_named(beyond)))
    return parts


def _leaks(result: Result) -> Sequence[Leak]:
    found: Sequence[Leak] = result.get("leaks") or ()
    return found


def _is_met(each: Leak) -> bool:
    """Of runs before targets were kept: as it is without one."""
    met = each.get("met")
    return bool(each["word"] != _GOES_ON if met is None else met)


def _row(each: Leak) -> tuple[str, ...]:
    limit = each.get("limit")
    most = [f"{count:+,} {kind}" for kind, count in each["types"][:_MOST_TYPES] if count > 0]
    return (
        f"{each['count']:,}",
        say("growth ends") if limit is None else say("objects ≤ {limit}", limit=f"{limit:+,}"),
        f"{each['growth']:+,}",
        f"{each['per_operation']:.2g}",
        *(_bytes(each.get(key)) for key in ("traced_per_operation", "rss_per_operation")),
        say("met") if _is_met(each) else say("missed"),
        told(each["word"]),
        ", ".join(most),
    )


def _numbers(each: Leak) -> dict[str, str]:
    return {"growth": f"{each['growth']:+,}", "limit": f"{each['limit']:+,}"}


def _named(found: Sequence[str]) -> str:
    more = len(found) - _MOST_NAMED
    return join([*found[:_MOST_NAMED], *([say("{n} more", n=more)] if more > 0 else [])])


def _bytes(an_operation: float | None) -> str:
    return _NOTHING if an_operation is None else f"{an_operation:,.1f}"
