"""Verdicts about the finalists of a tuning, from fresh rounds alone.

Each number of a setting is paired with that of another one in the same round. The champion against
the default is a family of one; the runners-up against the champion are a second family, and the
runners-up against the default a third. All have the error of a look, since there are several looks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from torr.stats import holm
from torr.stats.estimate import Estimate, paired
from torr.stats.metric import OK_PER_S, Metric
from torr.verdicts.error_rates import error_rates_apart
from torr.verdicts.judgement import DELTA, Evidence, judge
from torr.verdicts.looks import ALPHA_OF_A_LOOK
from torr.verdicts.slo_evidence import finding_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torr.messages.message import Message
    from torr.results.verdict import ConditionWord
    from torr.verdicts.judgement import Judgement
    from torr.verdicts.slo_evidence import SloEvidence, SloFinding

RATE = Metric(OK_PER_S)


@dataclass(frozen=True, slots=True)
class FreshValue:
    """What a fresh trial measured: the primary metric, and what it shows of each SLO.

    `failed` and `ended` count requests.
    """

    value: float
    slos: tuple[SloEvidence, ...] = ()
    failed: int = 0
    ended: int = 0


@dataclass(frozen=True, slots=True)
class SettingSlos:
    """The SLOs of a setting: the word of all together, and what is shown of each one."""

    word: ConditionWord
    findings: tuple[SloFinding, ...] = ()


FreshRounds = list[dict[int, FreshValue]]
"""The trials of fresh rounds, by the number of their setting."""


@dataclass(frozen=True, slots=True)
class SettingClaim:
    """A setting against another one: the word, the estimate of ln(setting / other), Holm's p.

    Between settings with an `obstacle`, the estimate shows nothing.
    """

    setting: int
    other: int
    estimate: Estimate
    p_adjusted: float
    judgement: Judgement
    more_is_better: bool = True
    obstacle: Message | None = None

    @property
    def is_beyond_margin(self) -> bool:
        """Whether it is better, by the whole interval by more than the margin: at least 3 %."""
        if self.judgement.word != "better":
            return False
        low, high = self.estimate.interval
        return low > math.log1p(DELTA) if self.more_is_better else high < math.log1p(-DELTA)

    @property
    def is_behind(self) -> bool:
        """Whether the estimate is worse than the other, shown or not."""
        centre = self.estimate.centre
        return centre != 0 and (centre < 0) == self.more_is_better

    @property
    def is_settled(self) -> bool:
        """Whether more rounds are not needed."""
        return self.judgement.word != "inconclusive"


@dataclass(frozen=True, slots=True)
class TuneVerdict:
    """The verdicts on finalists: against the default, against the champion, and on the SLOs.

    `recommended` is the first finalist whose SLOs are shown; None if there is none, or if it is
    slower than a default whose SLOs are not broken, so that the default should stay. If it is the
    champion, `tied` are runners-up whose SLOs are shown and that cannot be told apart from it.
    """

    rounds: int
    default: int | None
    finalists: tuple[int, ...]
    against_default: dict[int, SettingClaim]
    against_champion: dict[int, SettingClaim]
    slos: dict[int, SettingSlos]
    recommended: int | None
    tied: tuple[int, ...]

    @property
    def is_settled(self) -> bool:
        """Whether no more rounds are needed.

        So it is if the first finalist that does not break an SLO is shown to keep all of them, and
        its word against the default is not `inconclusive`; or if all finalists break an SLO.
        """
        leader = next((name for name in self.finalists if self.slos[name].word != "broken"), None)
        if leader is None:
            return True
        claim = self.against_default.get(leader)
        return self.slos[leader].word == "held" and (claim is None or claim.is_settled)


def judge_finalists(
    rounds: FreshRounds,
    default: int | None,
    finalists: Sequence[int],
    *,
    metric: Metric = RATE,
    alpha: float = ALPHA_OF_A_LOOK,
) -> TuneVerdict:
    """Return the verdicts of fresh rounds; `finalists` are those not out, the champion first.

    Without a default, which may be out too, there is no claim.
    """
    champion, others = finalists[:1], finalists[1:]
    pairs = [
        [(setting, other) for setting in champion for other in (default,) if other is not None],
        [(setting, other) for setting in others for other in (default,) if other is not None],
        [(setting, other) for setting in others for other in champion],
    ]
    first, rest, secondary = (_family(rounds, family, alpha, metric) for family in pairs)
    against_default = {**first, **rest}
    measured = [setting for setting in (default, *finalists) if setting is not None]
    slos = {setting: _slos_of(rounds, setting, alpha) for setting in measured}
    recommended = _recommended(finalists, against_default, slos)
    tied = tuple(
        setting
        for setting, claim in secondary.items()
        if recommended == claim.other
        and slos[setting].word == "held"
        and claim.judgement.word in ("same", "inconclusive")
        and claim.obstacle is None
    )
    return TuneVerdict(
        rounds=len(rounds),
        default=default,
        finalists=tuple(finalists),
        against_default=against_default,
        against_champion=secondary,
        slos=slos,
        recommended=recommended,
        tied=tied,
    )


def _recommended(
    finalists: Sequence[int],
    claims: Mapping[int, SettingClaim],
    slos: Mapping[int, SettingSlos],
) -> int | None:
    """Return the first finalist whose SLOs are shown; none if the default should stay.

    The finalists after it had lower scores. That one of them is not shown to be slower says little:
    the rounds end when the first one is settled.
    """
    chosen = next((setting for setting in finalists if slos[setting].word == "held"), None)
    if chosen is None or _loses(claims.get(chosen), slos):
        return None
    return chosen


def _loses(claim: SettingClaim | None, slos: Mapping[int, SettingSlos]) -> bool:
    """Return whether a setting is slower than a default that breaks no SLO.

    Where the word is inconclusive and the default keeps its SLOs, the estimate decides: without a
    reason to change, the default stays.
    """
    if claim is None or slos[claim.other].word == "broken":
        return False
    if claim.judgement.word == "worse":
        return True
    is_behind = claim.is_behind or claim.obstacle is not None
    return claim.judgement.word == "inconclusive" and is_behind and slos[claim.other].word == "held"


def _slos_of(rounds: FreshRounds, setting: int, alpha: float) -> SettingSlos:
    trials = [trials[setting].slos for trials in rounds if setting in trials]
    if not trials:
        return SettingSlos("not shown")
    findings = tuple(finding_of(evidence, alpha) for evidence in zip(*trials, strict=True))
    words = {finding.word for finding in findings}
    worst = next((word for word in ("broken", "not shown") if word in words), "held")
    return SettingSlos(cast("ConditionWord", worst), findings)


def _family(
    rounds: FreshRounds, pairs: Sequence[tuple[int, int]], alpha: float, metric: Metric
) -> dict[int, SettingClaim]:
    """Return the claims of a family of comparisons, by setting."""
    # Holm adjusts p-values; intervals that hold together have a part of the error each.
    part = alpha / max(1, len(pairs))
    estimates = [paired(*_values(rounds, *pair), part, is_share=False) for pair in pairs]
    adjusted = holm.adjusted([estimate.p for estimate in estimates])
    claims = {}
    for pair, estimate, p in zip(pairs, estimates, adjusted, strict=True):
        obstacle = _obstacle(rounds, pair) if metric.is_time else None
        evidence = Evidence(
            count=estimate.count,
            family=len(pairs),
            centre=estimate.centre,
            inner=estimate.inner,
            spread=estimate.spread,
            p_adjusted=p,
            margin=math.log1p(DELTA),
            more_is_better=metric.more_is_better,
            alpha=alpha,
            obstacle=obstacle,
        )
        setting, other = pair
        claims[setting] = SettingClaim(
            setting, other, estimate, p, judge(evidence), metric.more_is_better, obstacle
        )
    return claims


def _values(
    rounds: Sequence[Mapping[int, FreshValue]], setting: int, other: int
) -> tuple[list[float], list[float]]:
    """Return the values of the other and of the setting, of rounds that have both."""
    both = [trials for trials in rounds if setting in trials and other in trials]
    return [trials[other].value for trials in both], [trials[setting].value for trials in both]


def _obstacle(rounds: FreshRounds, pair: tuple[int, int]) -> Message | None:
    """Return the obstacle of different shares of failures, since times are of ok responses."""
    sides = [[trials[name] for trials in rounds if name in trials] for name in reversed(pair)]
    counts = [(sum(x.failed for x in side), sum(x.ended for x in side)) for side in sides]
    before, after = (100 * failed / ended if ended else None for failed, ended in counts)
    return error_rates_apart(before, after)
