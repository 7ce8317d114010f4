"""Where a target's time went, as people read it: a table, and a tree for the flame graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from torr.profile.stacks import Node, Stacks
from torr.report.cells import Table
from torr.report.say import as_json, say
from torr.report.told import told
from torr.report.wording import levels_of
from torr.stats.series import noun_of
from torr.units import show_percent

Json = dict[str, Any]
Result = Mapping[str, Any]

_MOST_ROWS = 30
_LEAST_SHARE = 0.001


def flames(result: Result) -> list[Json]:
    """Return what each flame graph is drawn from; branches below a thousandth are left out."""
    return [
        {
            "title": as_json(_title(result, profile)),
            "unit": stacks.unit,
            "tree": _node(stacks.tree(), _LEAST_SHARE * stacks.total),
        }
        for profile, stacks in _profiles(result)
    ]


def tops(result: Result) -> Iterator[tuple[str, Table]]:
    """Return a table a profile: the functions in which the most was seen, with all they called."""
    for profile, stacks in _profiles(result):
        whole = stacks.total or 1.0
        rows = tuple(
            (row.name, _share(row.flat, whole), _share(row.total, whole))
            for row in stacks.top()[:_MOST_ROWS]
        )
        columns = (say("function"), say("in itself"), say("with what it calls"))
        title = say("Functions by time, by {tool}", tool=profile["tool"])
        yield title, Table(columns, rows, frozenset({0}), frozenset({0}))


def notes(result: Result) -> list[str]:
    """Return what there is to say of each profile: what it cost, or why there is none."""
    return [
        say("{title}: {said}", title=_title(result, profile), said=_note(profile))
        for profile in result.get("profiles") or ()
    ]


def _note(profile: Result) -> str:
    if profile["failure"]:
        hint = f" ({profile['hint']})" if profile["hint"] else ""
        return say("no profile: {why}", why=told(profile["failure"] + hint))
    if profile["cost_rate"] is None:
        return say("in a trial of its own, whose cost is not known")
    return say(
        "in a trial of its own, with {cost} less ok/s", cost=show_percent(profile["cost_rate"])
    )


def _profiles(result: Result) -> Iterator[tuple[Result, Stacks]]:
    for profile in result.get("profiles") or ():
        if profile["folded"]:
            yield profile, Stacks.folded(profile["folded"], profile["unit"])


def _title(result: Result, profile: Result) -> str:
    at = levels_of([profile["concurrency"]], noun_of(result.get("levels") or ()))
    return say("Where the time went, by {tool} at {at}", tool=profile["tool"], at=at)


def _share(weight: float, whole: float) -> str:
    return show_percent(round(100 * weight / whole, 1))


def _node(node: Node, least: float) -> Json:
    below = [_node(each, least) for each in node.below if each.weight >= least]
    found: Json = {"name": node.name, "weight": node.weight}
    return {**found, "below": below} if below else found
