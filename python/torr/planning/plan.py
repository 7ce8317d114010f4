"""A Plan from options: its parts in order, and the defaults that depend on several parts."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from torr.errors import UsageError, require
from torr.messages.say import say
from torr.model.pace import is_closed
from torr.model.plan import Plan
from torr.planning.conditions import check_abort_conditions, check_conditions, check_measured
from torr.planning.groups import PlannedLoad, groups_of
from torr.planning.pace import timing_of
from torr.planning.requests import request_mix_of
from torr.planning.transport import transport_of
from torr.procfs.machine import allowed_cores
from torr.sources.names import is_plan_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.model.plan import Group
    from torr.model.url import Url
    from torr.options.measure import MeasureOptions
    from torr.planning.pace import Timing


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan, and notes for its user about requests of files that are not sent."""

    plan: Plan
    notes: tuple[str, ...] = ()


def plan_of(options: MeasureOptions) -> Planned:
    """Return the plan of options; raise UsageError that names the flag."""
    load = _load(options)
    requests = [request for group in load.groups for request in group.source.requests]
    check_conditions(options.result.slos, requests)
    check_abort_conditions(options.result.abort_on, requests)
    transport = transport_of(options.connection, requests)
    conditions = (*options.result.slos, *options.result.abort_on)
    check_measured(conditions, requests, transport.http)
    drain_ns = options.load.drain_ns
    urls = [request.parsed_url for request in requests]
    plan = Plan(
        groups=load.groups,
        stop=load.stop,
        transport=transport,
        warmup_ns=load.warmup_ns,
        drain_ns=max(request.timeout_ns for request in requests) if drain_ns is None else drain_ns,
        retry_delay_ns=options.connection.retry_delay_ns,
        workers=options.load.workers or default_workers(urls, allowed_cores()),
        processes=options.load.processes,
        seed=options.load.seed,
        spin=_spin(load.groups, spins=options.load.spin),
        log=_log(options.result.log),
    )
    return Planned(plan, (*load.notes, *_notes_about_nodes(urls, options.cluster.nodes)))


def _notes_about_nodes(urls: Sequence[Url], nodes: str | None) -> tuple[str, ...]:
    """Return a note about targets that each node looks for on itself, which is rarely meant."""
    return tuple(
        say(
            "with --nodes, {host} is each node itself: name the target as the nodes reach it",
            host=host,
        )
        for host in dict.fromkeys(url.host for url in urls if nodes and url.is_loopback)
    )


def _load(options: MeasureOptions) -> PlannedLoad:
    """Return groups and stop, of a plan file or of the options."""
    if options.urls and is_plan_file(options.urls[0]):
        from torr.planning.plan_file import load_of_file, plan_file_of, url_of

        file = plan_file_of(options.urls)
        if not file.is_of_chat:
            return load_of_file(file, options)
        options = replace(options, urls=url_of(file, options.urls))
    timing = _timing(options)
    mix = request_mix_of(options)
    groups = groups_of(mix, timing.pace, options)
    return PlannedLoad(groups, timing.stop, timing.warmup_ns, mix.notes)


def _timing(options: MeasureOptions) -> Timing:
    """Return pace and stop, of a trace or of the options."""
    file = options.trace.trace
    if file is None:
        return timing_of(options.load, options.connection)
    from torr.planning.trace import trace_timing

    return trace_timing(options, file)


def default_workers(urls: Sequence[Url], cores: int) -> int:
    """Return one worker per core; half of the cores, at least one, when a target shares them."""
    return max(1, cores // 2) if any(url.is_loopback for url in urls) else cores


def _spin(groups: Sequence[Group], *, spins: bool) -> bool:
    is_open = any(not is_closed(group.pace) for group in groups)
    requests = [request for group in groups for request in group.source.requests]
    require(
        is_open or not spins or all(request.stream for request in requests),
        say("--spin needs an open loop or streams: other users send when they have a response"),
        say("add --rate 1k"),
    )
    return spins


def _log(text: str | None) -> str | None:
    """Return the path of the log after checking that it can be written."""
    if text is None:
        return None
    path = Path(text)
    if path.is_dir():
        raise UsageError(say("--log {text}: is a directory", text=text), say("name a file"))
    if not path.parent.is_dir():
        raise UsageError(
            say("--log {text}: {parent} does not exist", text=text, parent=path.parent),
            say("create it first"),
        )
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UsageError(
            say("--log {text}: cannot be written", text=text), say("choose another file")
        )
    return text
