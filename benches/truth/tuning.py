"""How honest the procedure of `torr tune` is in synthetic worlds, whose best setting is known.

No server and no load: the worlds have noise, drift, outliers and an SLO near its limit
(`torr.tuning.simulation`). The unit tests have a short form of this.
"""

from __future__ import annotations

from torr.tuning.simulation.rows import NOISES, SETTINGS, TRIALS, simulated_row
from torr.tuning.simulation.runs import PROCEDURES
from truth.row import Round, Value

WORLDS = 1000
MOST_NULL_CLAIMS, MOST_MARGIN_CLAIMS, MOST_INFEASIBLE = 1.0, 5.0, 2.0
LEAST_WITHIN = 92.0
BAR = (
    f"{SETTINGS} settings, {TRIALS} trials, {WORLDS:,} worlds a number: within 2 % of the best"
    f" ≥ {LEAST_WITHIN:g} % at a noise of 4 %; false '≥ 3 % better' ≤ {MOST_NULL_CLAIMS:g} %"
    f" without a difference, ≤ {MOST_MARGIN_CLAIMS:g} % with one of 2.9 %; infeasible settings"
    f" recommended ≤ {MOST_INFEASIBLE:g} %"
)


def simulated(_seconds: int) -> Round:
    """Simulates the procedure, and the two procedures that pick the best mean."""
    row = simulated_row("tune", PROCEDURES["tune"], WORLDS)
    within = dict(zip(NOISES, row.within, strict=True))
    return Round(
        {
            "within 2 %, %": Value(within[0.04], 100, 100 - LEAST_WITHIN),
            "false, truth 0, %": Value(row.null_claims, 0, MOST_NULL_CLAIMS),
            "false, truth 2.9 %, %": Value(row.margin_claims, 0, MOST_MARGIN_CLAIMS),
            "infeasible, %": Value(row.infeasible, 0, MOST_INFEASIBLE),
        },
        {
            "within 2 % with an SLO, %": round(row.within_slo, 1),
            "regret, %": round(row.regret, 2),
            "bias of the claim, %": round(row.bias, 2),
            "within 2 % at a noise of 2 %, %": round(within[0.02], 1),
            "within 2 % at a noise of 8 %, %": round(within[0.08], 1),
        },
    )
