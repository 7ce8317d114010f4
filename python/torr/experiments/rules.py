"""The rules of fairness as they were applied: sentences for the report, made from what was done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.units import format_duration, show_count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.experiments.matrix import Matrix
    from torr.experiments.trial import Course
    from torr.model.plan import Plan
    from torr.stats.comparison import Procedure


def rules(matrix: Matrix, course: Course, plan: Plan) -> Iterator[str]:
    """Every rule that held for the trials of a matrix; `plan` is the load of one of them."""
    yield (
        "The candidates of a cell ran back to back in rounds, after one round that is not counted;"
        f" their order in each round is a Williams square drawn from seed {matrix.seed}."
    )
    yield (
        "Each trial started its server afresh, on a port and with a folder for temporary files of"
        " its own, and waited until it was healthy and its workers answered."
    )
    yield "Each answer was checked before the load: status; body and type where they were given."
    yield _warmup(course, plan)
    yield _cores(course)
    if matrix.procedure.rule is not None:
        yield from _discarding(matrix.procedure)
    yield "The load stopped before the server did; nothing of the server was left for the next one."
    yield from course.readiness.values()


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
