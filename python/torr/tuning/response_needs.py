"""How many responses a trial needs before its numbers can show an SLO, or be a percentile."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.messages.say import say
from torr.stats.share_interval import attempts_needed
from torr.verdicts.looks import ALPHA_OF_A_LOOK
from torr.verdicts.slo import answers_needed
from torr.verdicts.slo_excess import small_part

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from torr.messages.say import Text
    from torr.model.condition import Condition
    from torr.stats.metric import Metric

# Times of which each response has one value.
_OF_A_RESPONSE = (
    *("response", "service", "ttfb", "queue_wait"),
    *("ttfe", "ttft", "ttfo", "ttst", "tpot", "e2e", "stream_end"),
)


@dataclass(frozen=True, slots=True)
class ResponseNeed:
    """The fewest responses of a trial that can show what `label` names."""

    label: str
    responses: int


def response_needs(
    metric: Metric, slos: Sequence[Condition], rounds: int
) -> Iterator[ResponseNeed]:
    """Yield the needs of the primary metric and of SLOs, if the last look is after so many rounds.

    SLOs of a named request are left out: how many of the responses are its own is not known. A
    share of attempts is shown by the attempts of all rounds, if none fails.
    """
    kind, _, stat = metric.key.partition("_ms.")
    if metric.is_time and kind in _OF_A_RESPONSE:
        yield ResponseNeed(metric.label, answers_needed(stat))
    for slo in slos:
        if slo.name is not None:
            continue
        if slo.metric in _OF_A_RESPONSE and slo.stat is not None:
            yield ResponseNeed(slo.text or str(slo), answers_needed(slo.stat))
        elif slo.unit == "%":
            _, limit = small_part(slo, slo.limit)
            if 0 < limit < 100:
                needed = attempts_needed(limit / 100, ALPHA_OF_A_LOOK)
                yield ResponseNeed(slo.text or str(slo), math.ceil(needed / rounds))


def lacking(
    needs: Iterable[ResponseNeed], responses: float, seconds: float | None
) -> Iterator[Text]:
    """Yield a sentence for each need that so many responses of a trial do not meet.

    `seconds` is the window in which they came; None where it is not known.
    """
    for need in needs:
        if responses >= need.responses:
            continue
        values = {"label": need.label, "needed": need.responses, "responses": responses}
        if seconds is None or not responses:
            yield say(
                "{label} needs {needed:,} responses in a trial, which has about {responses:,.0f}",
                **values,
            )
            continue
        yield say(
            "{label} needs {needed:,} responses in a trial, which has about {responses:,.0f}:"
            " duration = {duration!r} would do",
            duration=f"{math.ceil(1.1 * seconds * need.responses / responses)}s",
            **values,
        )
