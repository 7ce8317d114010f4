"""The rules of fairness as they were applied: sentences for the report, made from what was done."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from torr.units import format_duration, show_count, show_setting

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from torr.experiments.matrix import Matrix
    from torr.experiments.trial import Course
    from torr.model.plan import Plan
    from torr.stats.comparison import Procedure


def rules(
    matrix: Matrix, course: Course, plan: Plan, failures: Iterable[Mapping[str, Any]] = ()
) -> Iterator[str]:
    """Every rule that held for the trials of a matrix; `plan` is the load of one of them."""
    yield (
        "The candidates of a cell ran back to back in rounds, after one round that is not counted;"
        f" their order in each round is a Williams square drawn from seed {matrix.seed}."
    )
    yield course.servers.rule
    yield "Each answer was checked before the load: status; body and type where they were given."
    yield _warmup(course, plan)
    yield _cores(course)
    if matrix.procedure.rule is not None:
        yield from _discarding(matrix.procedure)
    yield _end(failures)
    yield from _workers(course)
    yield from course.notes


def _end(failures: Iterable[Mapping[str, Any]]) -> str:
    littering = [each["candidate"] for each in failures if each["kind"] == "left_behind"]
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


def _warmup(course: Course, plan: Plan) -> str:
    before = [f"{format_duration(plan.warmup_ns)} of load"] if plan.warmup_ns else []
    if course.warmup_requests is not None:
        before.insert(0, show_count(course.warmup_requests, "request"))
    text = " and ".join(before) or "nothing"
    return f"Before each measured window came {text}, in none of the numbers."


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
