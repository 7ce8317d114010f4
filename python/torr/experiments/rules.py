"""The rules of fairness as they were applied: sentences for the report, made from what was done."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from torr.units import format_duration, show_count, show_setting

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from torr.experiments.matrix import Matrix
    from torr.experiments.trial import Course
    from torr.model.plan import Plan
    from torr.results.result import TrialFailure
    from torr.verdicts.comparison import Procedure


def rules(
    matrix: Matrix, course: Course, plan: Plan, failures: Iterable[TrialFailure] = ()
) -> Iterator[str]:
    """Every rule that held for the trials of a matrix; `plan` is the load of one of them."""
    yield (
        "The candidates of a cell ran back to back in rounds, after one round that is not counted;"
        f" their order in each round is a Williams square drawn from seed {matrix.seed}."
    )
    yield course.servers.rule
    yield "Each answer was checked before the load: status; body and type where they were given."
    yield from _warmups(matrix, course, plan)
    yield _cores(course)
    if matrix.procedure.rule is not None:
        yield from _discarding(matrix.procedure)
    yield _end(failures)
    yield from _workers(course)
    yield from course.notes


def _end(failures: Iterable[TrialFailure]) -> str:
    littering = [each.candidate for each in failures if each.kind == "left_behind"]
    before = "The load stopped before the server did"
    if littering:
        return f"{before}; {', '.join(dict.fromkeys(littering))} left something behind."
    return f"{before}; nothing of the server was left for the next one."


def _workers(course: Course) -> Iterator[str]:
    """Whose workers did not all answer, where, and how often."""
    for (name, cell), all_ready in course.readiness.items():
        lacking = [ready for ready in all_ready if not ready.is_complete]
        if lacking:
            where = show_setting(json.loads(cell))
            often = f" (so or alike in {len(lacking)} of {show_count(len(all_ready), 'start')})"
            yield f"{name}{f' at {where}' if where else ''}: {lacking[-1].sentence}{often}."


def _warmups(matrix: Matrix, course: Course, plan: Plan) -> Iterator[str]:
    """What came before the windows; where it differed, before whose each."""
    settings = list(map(show_setting, matrix.cells))
    whose: dict[str, dict[str, list[str]]] = {}
    for candidate in matrix.candidates:
        for factors, setting in zip(matrix.cells, settings, strict=True):
            values = {"port": 1, "scratch": "/", "processes": 1, **factors}
            load = matrix.plan_of(candidate, factors, candidate.command.filled(values).url)
            places = whose.setdefault(_warmup(course, load), {})
            places.setdefault(candidate.name, []).append(setting)
    if len(whose) < 2:
        yield f"Before each measured window came {_warmup(course, plan)}, in none of the numbers."
        return
    for before, places in whose.items():
        where = _where(places, settings, len(matrix.candidates))
        yield f"Before each measured window of {where} came {before}, in none of the numbers."


def _where(places: Mapping[str, Sequence[str]], settings: Sequence[str], candidates: int) -> str:
    """Some candidates in some cells: by name where they are in all, by cell where all are there."""
    cells = list(places.values())
    if len(cells) == candidates and all(each == cells[0] for each in cells):
        return f"every candidate at {'; '.join(cells[0])}"
    whole = [name for name, own in places.items() if len(own) == len(settings)]
    some = [f"{name} at {'; '.join(own)}" for name, own in places.items() if name not in whole]
    return ", ".join([*whole, *some])


def _warmup(course: Course, plan: Plan) -> str:
    before = [f"{format_duration(plan.warmup_ns)} of load"] if plan.warmup_ns else []
    if course.warmup_requests is not None:
        before.insert(0, show_count(course.warmup_requests, "request"))
    return " and ".join(before) or "nothing"


def _cores(course: Course) -> str:
    if course.pin is None:
        return "Generator and target shared all cores."
    generator, target = course.pin.generator, course.pin.target
    sentence = (
        f"The generator ran on {_named(generator)}, the target on {_named(target)}, and neither"
        " on the other's."
    )
    if len(target) == 1:
        sentence += " With one core, several workers show what they cost, not what they bring."
    return sentence


def _named(cores: tuple[int, ...]) -> str:
    noun = "core" if len(cores) == 1 else "cores"
    return f"{noun} {', '.join(map(str, cores))}"


def _discarding(procedure: Procedure) -> Iterator[str]:
    yield (
        f"A round in which {procedure.rule} held for any trial was left out, whoever it was;"
        " verdicts with it stand beside."
    )
