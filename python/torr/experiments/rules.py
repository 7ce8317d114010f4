"""The rules of fairness as they were applied, as messages for the report."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from torr.messages.message import Message, message, message_count, message_list
from torr.units import format_duration, show_setting

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from torr.experiments.matrix import Matrix
    from torr.experiments.trial import ComparisonState
    from torr.model.plan import Plan
    from torr.results.result import TrialFailure


def rules(
    matrix: Matrix, state: ComparisonState, plan: Plan, failures: Iterable[TrialFailure] = ()
) -> Iterator[Message]:
    """Yield the rules of the trials of a matrix; `plan` is the load of one of them."""
    yield message(
        "rules.order",
        "The candidates of a cell ran back to back in rounds, after one round that is not counted;"
        " their order in each round is a Williams square drawn from seed {seed}.",
        seed=matrix.seed,
    )
    yield state.servers.rule
    yield message(
        "rules.answers",
        "torr checked the response of each server before the load: its status, and its"
        " body and type if they were given.",
    )
    yield from _warmups(matrix, state, plan)
    yield _cores(state)
    if matrix.procedure.rule is not None:
        yield message(
            "rules.discarding",
            "torr left out each round in which {rule} held for the trial of any candidate,"
            " and shows the verdicts with these rounds as well.",
            rule=str(matrix.procedure.rule),
        )
    yield _end(failures)
    yield from _workers(state)
    yield from state.notes


def _end(failures: Iterable[TrialFailure]) -> Message:
    not_cleaned_up = [x.candidate for x in failures if x.kind == "left_behind"]
    if not_cleaned_up:
        return message(
            "rules.left_behind",
            "The load stopped before the server; {names} left processes, listeners or"
            " files behind.",
            names=", ".join(dict.fromkeys(not_cleaned_up)),
        )
    return message(
        "rules.nothing_left",
        "The load stopped before the server, and the server left nothing behind.",
    )


def _workers(state: ComparisonState) -> Iterator[Message]:
    """Yield the candidates whose workers did not all response, with the cell and how often."""
    for (name, cell), all_ready in state.readiness.items():
        lacking = [ready for ready in all_ready if not ready.is_complete]
        if not lacking:
            continue
        starts = message_count("count.starts", len(all_ready), "{n:,} start", "{n:,} starts")
        values = {
            "name": name,
            "what": lacking[-1].sentence,
            "some": len(lacking),
            "starts": starts,
        }
        where = show_setting(json.loads(cell))
        if where:
            yield message(
                "rules.workers_in_cell",
                "{name} at {where}: {what} (this or a similar problem in {some} of {starts}).",
                where=where,
                **values,
            )
        else:
            yield message(
                "rules.workers",
                "{name}: {what} (this or a similar problem in {some} of {starts}).",
                **values,
            )


def _warmups(matrix: Matrix, state: ComparisonState, plan: Plan) -> Iterator[Message]:
    """Yield the warm-ups before the measurement windows, by candidate if they differ."""
    settings = list(map(show_setting, matrix.cells))
    cells_by_warmup: dict[Message, dict[str, list[str]]] = {}
    for candidate in matrix.candidates:
        for factors, setting in zip(matrix.cells, settings, strict=True):
            values = {"port": 1, "scratch": "/", "processes": 1, **factors}
            load = matrix.plan_of(candidate, factors, candidate.command.filled(values).url)
            places = cells_by_warmup.setdefault(_warmup(state, load), {})
            places.setdefault(candidate.name, []).append(setting)
    if len(cells_by_warmup) < 2:
        yield message(
            "rules.warmup",
            "Warm-up before each measurement window, not counted: {load}.",
            load=_warmup(state, plan),
        )
        return
    for before, places in cells_by_warmup.items():
        yield _warmup_of(before, places, settings, len(matrix.candidates))


def _warmup_of(
    load: Message, places: Mapping[str, Sequence[str]], settings: Sequence[str], candidates: int
) -> Message:
    """Return the rule of one warm-up: by cell if all candidates had it, otherwise by candidate."""
    cells = list(places.values())
    if len(cells) == candidates and all(x == cells[0] for x in cells):
        return message(
            "rules.warmup_in_cells",
            "Warm-up before each measurement window of every candidate at {cells}, not"
            " counted: {load}.",
            cells="; ".join(cells[0]),
            load=load,
        )
    whole = [name for name, own in places.items() if len(own) == len(settings)]
    some = [
        message("place.candidate_at", "{name} at {cells}", name=name, cells="; ".join(own))
        for name, own in places.items()
        if name not in whole
    ]
    return message(
        "rules.warmup_of",
        "Warm-up before each measurement window of {where}, not counted: {load}.",
        where=message_list(", ", [*whole, *some]),
        load=load,
    )


def _warmup(state: ComparisonState, plan: Plan) -> Message:
    time, count = format_duration(plan.warmup_ns), state.warmup_requests
    if count is None and not plan.warmup_ns:
        return message("rules.no_load", "no load")
    if count is None:
        return message("rules.timed_load", "{time} of load", time=time)
    requests = message_count("count.requests", count, "{n:,} request", "{n:,} requests")
    if not plan.warmup_ns:
        return requests
    return message(
        "rules.both_loads", "{requests} and {time} of load", requests=requests, time=time
    )


def _cores(state: ComparisonState) -> Message:
    if state.uses_nodes:
        return message(
            "rules.nodes",
            "Nodes of a cluster sent the load; the target could use all cores of its machine.",
        )
    if state.pin is None:
        return message("rules.shared_cores", "Generator and target shared all cores.")
    generator, target = map(_named, (state.pin.generator, state.pin.target))
    if len(state.pin.target) == 1:
        return message(
            "rules.one_core",
            "The generator ran on {generator}, the target on {target}, and neither used"
            " the cores of the other. The target has one core, so additional workers add"
            " overhead but no capacity.",
            generator=generator,
            target=target,
        )
    return message(
        "rules.cores",
        "The generator ran on {generator}, the target on {target}, and neither used"
        " the cores of the other.",
        generator=generator,
        target=target,
    )


def _named(cores: tuple[int, ...]) -> Message:
    numbers = ", ".join(map(str, cores))
    return message_count(
        "rules.named_cores", len(cores), "core {numbers}", "cores {numbers}", numbers=numbers
    )
