"""Profiles as tables of functions, and as trees for the flame graphs.

Beside a baseline's profile both show which functions take more and which less of the whole. A
function that only the baseline called is not in the tree; it has a row in the table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.counts import levels_of
from torr.messages.say import Text, as_json, chain, say
from torr.profile.stacks import FunctionWeight, Node, Stacks
from torr.report.data.function_names import names
from torr.report.data.profile_pairs import ProfilePair, profile_pairs
from torr.report.tables.table import Table, TableBuilder
from torr.report.text.functions import KIND
from torr.stats.series import noun_of
from torr.units import show_percent, show_setting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.model.json import JsonObject
    from torr.results.profile import Profile
    from torr.results.result import RunResult


_MOST_ROWS = 30
_LEAST_SHARE = 0.001
_DIGITS = 6
# Recursion goes down thousands of calls; JSON, and what reads it, only so many.
_DEEPEST = 200
_NOWHERE = Node("", 0.0, [])
_LOAD = "connections"  # what the level says already


def flames(result: RunResult) -> list[JsonObject]:
    """Return what each flame graph is drawn from; branches below a thousandth are left out.

    What is called more than two hundred calls deep is one branch, `(deeper)`.
    `beside` names the baseline where it has such a profile, too; every node then has `was`, the
    share of the same calls there.
    """
    return [_flame(result, pair) for pair in profile_pairs(result)]


def top_functions(result: RunResult, most: int = _MOST_ROWS) -> Iterator[tuple[str, Table | None]]:
    """Return a table a profile: the functions in which the most was seen, with all they called.

    Beside a baseline they are those whose share differs the most.
    """
    for pair in profile_pairs(result):
        is_memory = pair.profile.kind == "memory"
        if pair.before is None:
            what = say("Functions by memory") if is_memory else say("Functions by time")
            yield _title(what, result, pair.profile), _most(pair.stacks, most)
            continue
        more = say("Where time differs")
        what = say("Where memory use differs") if is_memory else more
        title = _title(what, result, pair.profile, pair.beside)
        sides = pair.stacks.shares(), pair.before.shares()
        yield title, _differences(*sides, pair.beside or "", most)


def notes(result: RunResult) -> list[str]:
    """Return a note on each profile: its cost, or why there is none."""
    return [
        say("{title}: {said}", title=_went(result, profile), said=_note(result, profile))
        for profile in result.profiles
    ]


def colours(baseline: str) -> Text:
    """Return the key to the colours of a flame graph beside a baseline's."""
    return say("+ orange: larger share than in {name}; − blue: smaller share", name=baseline)


def _flame(result: RunResult, pair: ProfilePair) -> JsonObject:
    before = None if pair.before is None else pair.before.shares().tree(_DEEPEST)
    return {
        "title": as_json(_went(result, pair.profile)),
        "unit": pair.stacks.unit,
        "beside": pair.beside,
        "tree": _node(pair.stacks.tree(_DEEPEST), _LEAST_SHARE * pair.stacks.total, before),
    }


def _node(node: Node, least: float, before: Node | None) -> JsonObject:
    """Return a function with what it calls; `before` is the same in the baseline, in shares."""
    members: JsonObject = {"name": node.name, "weight": node.weight}
    known = {} if before is None else {child.name: child for child in before.below}
    if before is not None:
        members["was"] = round(before.weight, _DIGITS)
    below = [
        _node(child, least, None if before is None else known.get(child.name, _NOWHERE))
        for child in node.below
        if child.weight >= least
    ]
    return {**members, "below": below} if below else members


def _most(stacks: Stacks, most: int) -> Table | None:
    whole = stacks.total or 1.0
    table = TableBuilder(stacks.top()[:most])
    table.text(say("function"), lambda row: row.name, breaks=True)
    table.number(say("self"), lambda row: _share(row.flat / whole))
    table.number(say("total"), lambda row: _share(row.total / whole))
    return table.build()


def _differences(now: Stacks, before: Stacks, baseline: str, most: int) -> Table | None:
    """Return one row a function of either, in shares of the whole: the largest difference first."""
    here, there = ({row.name: row for row in stacks.top()} for stacks in (now, before))
    pairs = [(name, here.get(name), there.get(name)) for name in {**here, **there}]
    # Functions with equal differences keep their order: the larger first.
    pairs.sort(key=lambda pair: -abs(_points(*pair[1:])))
    table = TableBuilder(pairs[:most])
    table.text(say("function"), lambda pair: pair[0], breaks=True)
    table.number(say("self"), lambda pair: _share(pair[1].flat) if pair[1] else say("not seen"))
    table.number(say("total"), lambda pair: _total(pair[1]))
    table.number(say("total in {name}", name=baseline), lambda pair: _total(pair[2]))
    table.number(
        say("difference"), lambda pair: say("{points:+.1f} points", points=_points(*pair[1:]))
    )
    return table.build()


def _total(row: FunctionWeight | None) -> str:
    return _share(row.total) if row else say("not seen")


def _points(new: FunctionWeight | None, old: FunctionWeight | None) -> float:
    """Return how far apart two shares are; a function that was not seen has a share of zero."""
    difference = (new.total if new else 0.0) - (old.total if old else 0.0)
    # Adding zero makes a zero of what rounds to minus zero.
    return round(100 * difference, 1) + 0.0


def _note(result: RunResult, profile: Profile) -> str:
    """Return the outcome of a profile, and its note on the target."""
    return chain("; ", [_outcome(result, profile), profile.note or ""])


def _outcome(result: RunResult, profile: Profile) -> str:
    cost = profile.cost_rate
    if profile.failure:
        hint = f"({profile.hint})" if profile.hint else ""
        return say("no profile: {why}", why=chain(" ", [profile.failure, hint]))
    if result.kind == KIND:
        return _cost_of_function(cost)
    if cost is None:
        return say("in a separate trial; the cost of profiling is not known")
    if cost <= 0:
        return say("in a separate trial, with no fewer ok/s")
    return say("in a separate trial, with {cost} fewer ok/s", cost=show_percent(cost))


def _cost_of_function(cost: float | None) -> str:
    if cost is None:
        return say("in separate rounds; the cost of profiling is not known")
    if cost <= 0:
        return say("in separate rounds, which were no slower")
    return say("in separate rounds, with {cost} fewer operations/s", cost=show_percent(cost))


def _went(result: RunResult, profile: Profile) -> Text:
    time, memory = say("Where the time went"), say("Where the memory went")
    return _title(memory if profile.kind == "memory" else time, result, profile)


def _title(what: Text, result: RunResult, profile: Profile, beside: str | None = None) -> Text:
    """Return the title of a profile: its subject, its tool and its load."""
    is_of_function = result.kind == KIND
    who = names(result)(profile) if is_of_function else profile.candidate
    if who and beside is not None:
        what = say("{what}: {who} beside {baseline}", what=what, who=who, baseline=beside)
    elif who:
        what = say("{what} in {who}", what=what, who=who)
    if is_of_function:  # of one thread, and of no load
        return say("{what}, by {tool}", what=what, tool=profile.tool)
    at = _at(result, profile)
    return say("{what}, by {tool} at {at}", what=what, tool=profile.tool, at=at)


def _at(result: RunResult, profile: Profile) -> str:
    """Return the level, and the setting of the other factors."""
    level = levels_of([profile.concurrency], noun_of(result.levels))
    factors = {k: v for k, v in profile.factors.items() if k != _LOAD}
    return chain(", ", [level, show_setting(factors)])


def _share(share: float) -> str:
    return show_percent(round(100 * share, 1))
