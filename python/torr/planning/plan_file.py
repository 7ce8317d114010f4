"""User groups of a plan file; its other keys are options (`file_keys`)."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from torr.errors import UsageError, require
from torr.messages.say import say
from torr.model.pace import has_stages
from torr.model.plan import Group
from torr.model.shares import dealt_to_each
from torr.model.source import Source
from torr.model.url import Url
from torr.options.definition import OptionScope, first_given, options_of
from torr.options.readers import URL
from torr.options.trace import TraceOptions
from torr.planning.chat import ONLY_CHAT
from torr.planning.conditions import check_at_lines
from torr.planning.groups import PlannedLoad
from torr.planning.grpc import GrpcPlanner, check_calls
from torr.planning.pace import DEFAULT_USERS, Timing, timing_of
from torr.planning.requests import check_streams, request_of, with_limits, with_options
from torr.planning.websocket import check_websocket
from torr.sources.entry import errors_at
from torr.sources.group_entry import GroupEntry
from torr.sources.plan_file import PlanFile, read_plan_file
from torr.sources.rows import columns_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from torr.model.pace import Pace
    from torr.model.request import Request
    from torr.options.load import LoadOptions
    from torr.options.measure import MeasureOptions

CHAT_KEYS = (*ONLY_CHAT, "turns", "prompt_order")
KEYS_OF_CALLS = (
    *("proto", "descriptor_set", "reflection", "proto_path", "grpc_gzip"),
    *("message_interval", "send_together"),
)
OF_ITS_RATES = ("rate_per_s", "arrivals", "max_in_flight")
"""Options of the rates of a ladder, which no file has."""
TRACE_HINT = say("write url, chat and model in place of [[requests]] and [[groups]]")
CHATS_HINT = say("write the requests of the chat into the file, and the prompts into a data file")

HINTS = {
    **dict.fromkeys(CHAT_KEYS, CHATS_HINT),
    **{option.key: TRACE_HINT for option in options_of(TraceOptions)},
}
"""What to do instead of options that describe requests, by their keys."""


def plan_file_of(urls: Sequence[str]) -> PlanFile:
    """Return the plan file that is the first of the URLs; raise FileError."""
    require(
        len(urls) <= 2, say("a plan file and several URLs are given"), say("give one URL, or none")
    )
    return read_plan_file(Path(urls[0]))


def url_of(file: PlanFile, urls: Sequence[str]) -> tuple[str, ...]:
    """Return the URL of a file of a chat, if there is one: that behind the file, or its own."""
    if len(urls) > 1 or file.url is None:
        return tuple(urls[1:])
    with errors_at(file.path, file.lines.get("url", 1)):
        return (URL.read(file.url),)


def load_of_file(file: PlanFile, options: MeasureOptions) -> PlannedLoad:
    """Return the load of a plan file; raise FileError."""
    urls = options.urls
    _refuse_beside(options)
    base = Url.parse(urls[1], messages=True) if len(urls) > 1 else _base(file)
    calls = GrpcPlanner(options)
    requests = {
        entry.name: with_limits(
            with_options(request_of(entry, base, options, calls), options), options.result.slos
        )
        for entry in file.requests
    }
    with _named(file, "alias", "from", "tokenizer", "idle_timeout"):
        check_streams(tuple(requests.values()), options.stream)
    with _named(file, *KEYS_OF_CALLS):
        check_calls(tuple(requests.values()), options.grpc)
    check_websocket(tuple(requests.values()), options)
    entries = file.groups or (GroupEntry(1, "default", tuple(requests), weight=1),)
    if options.ladder is not None:
        _check_ladder(file, entries)
    is_of_rates = options.ladder is not None and options.ladder.rates is not None
    timings = (_at_rate if is_of_rates else _timings)(file, entries, options)
    groups = [
        _group(file, entry, timing.pace, requests, options.load)
        for entry, timing in zip(entries, timings, strict=True)
    ]
    sent = [request for group in groups for request in group.source.requests]
    check_at_lines(file, options.result, sent)
    # Stages decide how long the whole load lasts.
    first = next((timing for timing in timings if has_stages(timing.pace)), timings[0])
    return PlannedLoad(tuple(groups), first.stop, first.warmup_ns, tuple(_unsent(file, entries)))


def _refuse_beside(options: MeasureOptions) -> None:
    """Refuse options that a plan file has keys for."""
    parts = (options.load, options.request, options.stream, options.trace, options.grpc)
    for part in parts:
        for option in options_of(type(part)):
            if options.ladder is not None and option.field in OF_ITS_RATES:
                continue
            if OptionScope.BESIDE_PLAN not in option.scopes and first_given(part, option.field):
                hint = HINTS.get(option.key, say("write it into the file"))
                raise UsageError(
                    say("{long} and a plan file are both given", long=option.long), hint
                )


def _unsent(file: PlanFile, entries: Sequence[GroupEntry]) -> Iterator[str]:
    """Yield a note for each request that is in no group."""
    sent = {name for entry in entries for name in entry.requests}
    for request in file.requests:
        if request.name not in sent:
            yield f"{file.path}:{request.line}: {request.name!r} is in no group, not sent"


def _named(file: PlanFile, *keys: str) -> AbstractContextManager[None]:
    """Name the line of the first of these keys, if the file has one, in errors raised inside."""
    line = next((file.lines.get(key, 1) for key in keys if key in file.flags), None)
    return nullcontext() if line is None else errors_at(file.path, line)


def _base(file: PlanFile) -> Url | None:
    if file.url is None:
        return None
    with errors_at(file.path, file.lines.get("url", 1)):
        return Url.parse(file.url, messages=True)


def _check_ladder(file: PlanFile, entries: Sequence[GroupEntry]) -> None:
    """Refuse groups that the levels of a ladder do not scale."""
    for entry in entries:
        with errors_at(file.path, entry.line):
            kind = "a group of arrivals" if entry.rate is not None else "users in stages"
            require(
                entry.is_steady,
                say(
                    "{name!r} is {kind}: a ladder's levels are steady users",
                    name=entry.name,
                    kind=kind,
                ),
                say("measure it by torr run, or leave the group out"),
            )


def _timings(
    file: PlanFile, entries: Sequence[GroupEntry], options: MeasureOptions
) -> list[Timing]:
    """Return the timing of each group, whose keys override the options."""
    steady = [entry for entry in entries if entry.is_steady]
    counts = iter(_users(file, steady, options.load.connections))
    timings: list[Timing] = []
    staged: Timing | None = None
    for entry in entries:
        with errors_at(file.path, entry.line):
            load = _load_of(entry, options.load, next(counts) if entry.is_steady else None)
            timing = timing_of(load, options.connection, entry.spawn_rate)
            if has_stages(timing.pace):
                require(
                    staged is None or staged.stop == timing.stop,
                    say("the stages of all groups do not last equally long"),
                    say("add a stage to the shorter ones, such as 1m:0"),
                )
                staged = timing
            timings.append(timing)
    return timings


def _at_rate(
    file: PlanFile, entries: Sequence[GroupEntry], options: MeasureOptions
) -> list[Timing]:
    """Return the timing of each group at a rate of a ladder, divided as users would be."""
    whole = timing_of(options.load, options.connection)
    with errors_at(file.path, entries[0].line):
        paces = whole.pace.parts(list(map(_share, entries)))
    return [replace(whole, pace=pace) for pace in paces]


def _share(entry: GroupEntry) -> int:
    return entry.users or entry.weight or 1


def _load_of(entry: GroupEntry, load: LoadOptions, users: int | None) -> LoadOptions:
    """Return the options of the load for one group; connections of the file are users."""
    is_open = entry.rate is not None
    return replace(
        load,
        connections=entry.connections if is_open else users or entry.users,
        rate_per_s=entry.rate,
        arrivals=entry.arrivals,
        max_in_flight=entry.max_in_flight,
        stages=entry.stages or None,
    )


def _users(file: PlanFile, entries: Sequence[GroupEntry], wanted_users: int | None) -> list[int]:
    """Return the users of each steady group: its own number, or its share by weight."""
    if not entries:
        hint = say("set `connections` in the open-loop group")
        require(wanted_users is None, say("-c: the file has no group with users"), hint)
        return []
    weights = [entry.weight or 0 for entry in entries]
    counted = [entry.users or 0 for entry in entries]
    if not any(weights):
        if wanted_users is None or wanted_users == sum(counted):
            return counted
        return _dealt(file, wanted_users, entries, counted)
    for entry in entries:
        with errors_at(file.path, entry.line):
            fits = bool(entry.users) == bool(entries[0].users)
            require(
                fits,
                say("some groups have users, others a weight"),
                say("give users to all groups, or a weight to all groups"),
            )
    return _dealt(file, wanted_users or max(DEFAULT_USERS, len(entries)), entries, weights)


def _dealt(
    file: PlanFile, users: int, entries: Sequence[GroupEntry], shares: Sequence[int]
) -> list[int]:
    with errors_at(file.path, entries[0].line):
        return list(dealt_to_each(users, shares, "user", "-c", "groups"))


def _group(
    file: PlanFile, entry: GroupEntry, pace: Pace, requests: dict[str, Request], load: LoadOptions
) -> Group:
    with errors_at(file.path, entry.line):
        chosen = tuple(requests[name] for name in entry.requests)
        endpoints = {request.endpoint for request in chosen}
        is_message = chosen[0].is_message
        require(
            len(endpoints) == 1 or not is_message,
            say("the messages of {name!r} have different URLs or headers", name=entry.name),
            say("they belong to the connection: write a group for each of them"),
        )
        require(
            len(endpoints) == 1,
            say("the requests of {name!r} go to several servers", name=entry.name),
            say("a user keeps one connection: write a group for each server"),
        )
        source = Source(chosen, "steps" if entry.steps else "turn", entry.weights)
        source.check_names(None if entry.data is None else columns_of(Path(entry.data)))
        return Group(
            pace=pace,
            source=source,
            name=entry.name,
            # The time to think of the file is for users alone.
            think=(entry.think or load.think) if entry.rate is None else None,
            cancel=load.cancel,
            data=entry.data if source.uses_rows else None,
            share=_share(entry),
        )
