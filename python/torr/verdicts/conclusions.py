"""Makes the conclusions of a result: of a run, a ladder or a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET
from msgspec.structs import asdict, replace

from torr.results.result import Conclusions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.model.condition import Condition
    from torr.results.experiment import GivenUp
    from torr.results.level import Level
    from torr.results.result import AnyResult
    from torr.verdicts.comparison import Procedure


def of_load(
    kind: str, levels: Sequence[Level], slos: Sequence[Condition], ended_by: str | None = None
) -> Conclusions:
    """Return the conclusions of a run or a ladder; `ended_by` is what ended it early."""
    from torr.verdicts import capacity
    from torr.verdicts.giving_up import after_giving_up
    from torr.verdicts.serving import serving_causes

    return Conclusions(
        ended_by=ended_by,
        verdicts=capacity.verdicts(levels, slos),
        capacity=capacity.analyse(levels, slos) if kind == "ladder" else None,
        serving=serving_causes(levels),
        after_giving_up=after_giving_up(levels) or UNSET,
    )


def of_trials(
    levels: Sequence[Level],
    baseline: str,
    procedure: Procedure,
    slos: Sequence[Condition],
    given_up: Sequence[GivenUp],
) -> Conclusions:
    """Return the conclusions of a comparison."""
    from torr.verdicts.capacity import verdicts_of_trials
    from torr.verdicts.comparison import verdicts, with_given_up

    compared = [with_given_up(each, given_up) for each in verdicts(levels, baseline, procedure)]
    return Conclusions(verdicts=[*compared, *verdicts_of_trials(levels, slos)])


def completed(result: AnyResult) -> AnyResult:
    """Return a result; a run or a ladder that was killed with the conclusions of its levels."""
    is_judged = bool(result.verdicts) or result.capacity is not None
    was_killed = result.status == "interrupted" and not is_judged and bool(result.levels)
    if not was_killed or result.kind not in ("run", "ladder"):
        return result
    from torr.model.condition import Condition

    slos = [Condition.parse(text) for text in result.experiment.slos]
    conclusions = of_load(result.kind, result.levels, slos, result.ended_by)
    return replace(result, **asdict(conclusions))
