"""The Universal Scalability Law, fitted to a ladder and claimed only where the data carry it.

    X(N) = λN / (1 + σ(N−1) + κN(N−1))        (Gunther, Guerrilla Capacity Planning, 2007)

λ is the throughput of one user, σ the share that waits in line (contention), κ the cost of
agreeing (coherency); with κ > 0 throughput falls again past N* = √((1−σ)/κ). The fit is least
squares on ln X, so that every level has the same weight. Three parameters can fit many other
curves: therefore a fit is only claimed under conditions, and is null with a reason where one does
not hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from torr.messages.message import Message, message
from torr.results.capacity import UslFit

if TYPE_CHECKING:
    from collections.abc import Sequence

Numbers = NDArray[np.float64]

LEAST_LEVELS = 6
LEAST_PAST_PLATEAU = 2
LARGEST_RMS = 0.05
LONGEST_RUN = 3
BOOTSTRAPS = 1000
# A κ that costs less than 0.1 % at the highest level counts as none.
_NO_EFFECT = 1e-3
_NO_RESIDUAL = 1e-9


@dataclass(frozen=True)
class UslPoint:
    """One level for the fit: users, ok/s, and the rounds' coefficient of variation (fraction)."""

    users: int
    ok_per_s: float
    spread: float = 0.0


@dataclass(frozen=True)
class Fit:
    """Parameters of the law, and the residuals of ln X in the order of the levels."""

    rate: float
    sigma: float
    kappa: float
    residuals: tuple[float, ...]
    r2: float

    @property
    def rms(self) -> float:
        """Root mean square of the residuals: about the relative error of a level."""
        return float(np.sqrt(np.mean(np.square(self.residuals))))

    @property
    def peak_users(self) -> float | None:
        """N*, where throughput is highest; None without coherency cost."""
        return float(np.sqrt((1 - self.sigma) / self.kappa)) if self.kappa > 0 else None

    def throughput(self, users: float) -> float:
        """Return X(N)."""
        cost = 1 + self.sigma * (users - 1) + self.kappa * users * (users - 1)
        return self.rate * users / cost


def analyse(
    levels: Sequence[UslPoint], plateau_start: int, seed: int = 1
) -> tuple[UslFit | None, dict[str, Message]]:
    """Return the fit (or None) and the reasons of what is null in it.

    `levels` ascend and have success ≥ 99 %; `plateau_start` is the lowest level of the plateau.
    The same levels and seed give the same numbers.
    """
    obstacle = _why_not_fitted(levels, plateau_start)
    if obstacle is not None:
        return None, {"usl": obstacle}
    users = np.array([level.users for level in levels], dtype=float)
    rates = np.array([level.ok_per_s for level in levels], dtype=float)
    law = fit(users, rates)
    obstacle = _why_not_claimed(law, levels)
    if obstacle is not None:
        return None, {"usl": obstacle}
    kappas, peaks = _bootstrap(law, users, seed)
    n_star, reason = _n_star(law, kappas, users)
    usl = UslFit(
        lambda_=law.rate,
        sigma=law.sigma,
        kappa=law.kappa,
        n_star=n_star,
        r2=law.r2,
        rms=law.rms,
        kappa_interval=_interval(kappas),
        n_star_interval=None if n_star is None else _interval(peaks),
        levels=[level.users for level in levels],
    )
    return usl, ({} if reason is None else {"n_star": reason})


def fit(users: Numbers, rates: Numbers) -> Fit:
    """Fit the law by least squares on ln X with λ > 0, 0 ≤ σ ≤ 1, κ ≥ 0.

    κ is fitted as κ·M², M the largest N, and σ as it is, so that both steps have one size. The
    start comes from N/X = (1 + σ(N−1) + κN(N−1))/λ, which is linear, by non-negative least squares.
    """
    # It takes a second to import, and most ladders have too few levels to need it.
    from scipy.optimize import least_squares

    largest = float(users.max())
    solved = least_squares(
        lambda p: _log_model(p, users, largest) - np.log(rates),
        _start(users, rates, largest),
        jac=lambda p: _jacobian(p, users, largest),
        bounds=([-np.inf, 0.0, 0.0], [np.inf, 1.0, np.inf]),
        x_scale=(1.0, 0.1, 1.0),
        xtol=1e-12,
        ftol=1e-12,
        gtol=1e-12,
    )
    logarithms = np.log(rates)
    total = float(np.sum(np.square(logarithms - logarithms.mean())))
    residuals = -solved.fun
    return Fit(
        rate=float(np.exp(solved.x[0])),
        sigma=float(solved.x[1]),
        kappa=float(solved.x[2]) / largest**2,
        residuals=tuple(float(r) for r in residuals),
        r2=1 - float(np.sum(np.square(residuals))) / total if total else 0.0,
    )


def _log_model(p: Numbers, users: Numbers, largest: float) -> Numbers:
    logarithms: Numbers = p[0] + np.log(users) - np.log(_cost(p, users, largest))
    return logarithms


def _jacobian(p: Numbers, users: Numbers, largest: float) -> Numbers:
    cost = _cost(p, users, largest)
    coherency = users * (users - 1) / largest**2
    return np.column_stack([np.ones_like(users), -(users - 1) / cost, -coherency / cost])


def _cost(p: Numbers, users: Numbers, largest: float) -> Numbers:
    cost: Numbers = 1 + p[1] * (users - 1) + p[2] * users * (users - 1) / largest**2
    return cost


def _start(users: Numbers, rates: Numbers, largest: float) -> Numbers:
    from scipy.optimize import nnls

    columns = np.column_stack([np.ones_like(users), users - 1, users * (users - 1) / largest**2])
    weights = rates / users  # makes the errors relative ones
    (one, contention, coherency), _ = nnls(columns * weights[:, None], np.ones_like(users))
    one = max(one, 1e-12 * float((users / rates).max()))
    sigma = min(max(contention / one, 1e-9), 1 - 1e-9)
    return np.array([-np.log(one), sigma, max(coherency / one, 1e-9)])


def _why_not_fitted(levels: Sequence[UslPoint], plateau_start: int) -> Message | None:
    if len(levels) < LEAST_LEVELS:
        return message(
            "usl.few_levels",
            "needs {least} levels with success ≥ 99 %, there are {levels}",
            least=LEAST_LEVELS,
            levels=len(levels),
        )
    if any(level.ok_per_s <= 0 for level in levels):
        return message("usl.no_ok_answer", "a level has no ok response")
    peak = max(level.ok_per_s for level in levels)
    lowest = levels[0]
    if lowest.ok_per_s > peak / 2:
        return message(
            "usl.starts_too_late",
            "the ladder starts too late: its lowest level, {level:,}, already reaches {share:.0f} %"
            " of the peak (half of it at most is needed)",
            level=lowest.users,
            share=100 * lowest.ok_per_s / peak,
        )
    past = sum(level.users > plateau_start for level in levels)
    if past < LEAST_PAST_PLATEAU:
        return message(
            "usl.ends_too_early",
            "the ladder ends too early: {past} of the {least} levels that are needed lie"
            " above the start of the plateau at {level:,}",
            past=past,
            least=LEAST_PAST_PLATEAU,
            level=plateau_start,
        )
    return None


def _why_not_claimed(law: Fit, levels: Sequence[UslPoint]) -> Message | None:
    spreads = [level.spread for level in levels if level.spread]
    allowed = max(LARGEST_RMS, 2 * float(np.median(spreads)) if spreads else 0.0)
    if law.rms > allowed:
        return message(
            "usl.far_off",
            "the law does not fit: the levels deviate from it by {rms:.1f} % (rms), and at"
            " most {allowed:.1f} % is accepted (R² {r2:.3f})",
            rms=100 * law.rms,
            allowed=100 * allowed,
            r2=law.r2,
        )
    run = _longest_run(law.residuals)
    if run > LONGEST_RUN:
        return message(
            "usl.one_sided",
            "the law does not fit: {run} levels in a row lie on one side of it (R² {r2:.3f})",
            run=run,
            r2=law.r2,
        )
    return None


def _longest_run(residuals: Sequence[float]) -> int:
    """Return the longest run of equal signs; a residual of (numerically) nothing ends a run."""
    longest = run = last = 0
    for residual in residuals:
        sign = 0 if abs(residual) < _NO_RESIDUAL else (1 if residual > 0 else -1)
        run = run + 1 if sign and sign == last else abs(sign)
        last = sign
        longest = max(longest, run)
    return longest


def _bootstrap(law: Fit, users: Numbers, seed: int) -> tuple[Numbers, Numbers]:
    """Return κ and N* of refits to the fitted curve plus resampled residuals.

    Residuals are widened by √(n/(n−3)), which the three parameters took from them (Davison and
    Hinkley, Bootstrap Methods, 1997, §6.3).
    """
    random = np.random.default_rng(seed)
    count = len(users)
    residuals = np.array(law.residuals) * np.sqrt(count / (count - 3))
    residuals -= residuals.mean()
    curve = np.log([law.throughput(n) for n in users])
    refits = [
        fit(users, np.exp(curve + random.choice(residuals, count))) for _ in range(BOOTSTRAPS)
    ]
    kappas = np.array([refit.kappa for refit in refits])
    peaks = np.array([refit.peak_users or np.inf for refit in refits])
    return kappas, peaks


def _n_star(law: Fit, kappas: Numbers, users: Numbers) -> tuple[float | None, Message | None]:
    largest = float(users.max())
    if float(np.quantile(kappas, 0.025)) * largest**2 < _NO_EFFECT or law.peak_users is None:
        return None, message(
            "usl.no_coherency",
            "κ cannot be distinguished from 0 (bootstrap 95 % interval): no peak is claimed",
        )
    n_star = law.peak_users
    if not users.min() <= n_star <= largest:
        return None, message(
            "usl.peak_outside",
            "N* of {peak:,.0f} lies outside the measured levels, {low:,.0f} to {high:,.0f}",
            peak=n_star,
            low=float(users.min()),
            high=largest,
        )
    return n_star, None


def _interval(values: Numbers) -> tuple[float, float] | None:
    low, high = np.quantile(values, [0.025, 0.975])
    return (float(low), float(high)) if np.isfinite(high) else None
