"""How honest `torr tune` is: in synthetic worlds, and with settings that are the same.

The worlds have noise, drift, outliers and an SLO near its limit (`torr.tuning.simulation`); the
unit tests have a short form of this. The settings that are the same differ in a variable that the
server does not read.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from torr.model.settings import settings_of
from torr.results.result import RunResult, decoded
from torr.tuning.simulation.rows import NOISES, PROCEDURES, SETTINGS, TRIALS, simulated_row
from truth.firing import TORR
from truth.row import Round, Value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.results.verdict import Verdict

WORLDS = 1000
MOST_NULL_CLAIMS, MOST_MARGIN_CLAIMS, MOST_INFEASIBLE = 1.0, 5.0, 2.0
MOST_SLOWER = 2.0
LEAST_WITHIN = 92.0
BAR = (
    f"{SETTINGS} settings, {TRIALS} trials, {WORLDS:,} worlds a number: without an SLO within 2 %"
    f" of the best ≥ {LEAST_WITHIN:g} % at a noise of 4 %; false '≥ 3 % better'"
    f" ≤ {MOST_NULL_CLAIMS:g} % without a difference, ≤ {MOST_MARGIN_CLAIMS:g} % with one of 2.9 %,"
    f" also near the limit of an SLO; infeasible settings recommended ≤ {MOST_INFEASIBLE:g} %;"
    f" settings recommended where all are 5 % slower than the default ≤ {MOST_SLOWER:g} %"
)


def simulated(_seconds: int) -> Round:
    """Simulates the procedure."""
    row = simulated_row("tune", PROCEDURES["tune"], WORLDS)
    within = dict(zip(NOISES, row.within, strict=True))
    return Round(
        {
            "within 2 %, %": Value(within[0.04], 100, 100 - LEAST_WITHIN),
            "false, truth 0, %": Value(row.null_claims, 0, MOST_NULL_CLAIMS),
            "false, truth 2.9 %, %": Value(row.margin_claims, 0, MOST_MARGIN_CLAIMS),
            "false, truth 2.9 %, with an SLO, %": Value(row.slo_claims, 0, MOST_MARGIN_CLAIMS),
            "infeasible, %": Value(row.infeasible, 0, MOST_INFEASIBLE),
            "slower, %": Value(row.slower, 0, MOST_SLOWER),
        },
        {
            "within 2 % with an SLO, %": round(row.within_slo, 1),
            "regret, %": round(row.regret, 2),
            "bias of the claim, %": round(row.bias, 2),
            "within 2 % at a noise of 2 %, %": round(within[0.02], 1),
            "within 2 % at a noise of 8 %, %": round(within[0.08], 1),
        },
    )


TUNINGS = 10
SAME_BAR = (
    f"{TUNINGS} tunings of 100 trials of 24 settings, of which the three fastest are the same: none"
    " of these is claimed to be better or worse than another, in as many comparisons or more as"
    " there are tunings"
)
_PATIENCE_S = 3600
_SERVER = ["target", "delay", "--port", "{port}", "--delay", "{delay}", "--capacity", "{capacity}"]
_COMMAND = [str(TORR), *_SERVER]
_FILE = f"""\
name = "same"
command = {json.dumps(_COMMAND)}
url = "http://127.0.0.1:{{port}}/"
connections = 16
duration = "500ms"
warmup = "100ms"
budget = 100
[settings]
label = {{ values = ["a", "b", "c"], env = "LABEL" }}
delay = ["4ms", "5ms", "6ms", "8ms"]
capacity = [8, 16]
[default]
label = "b"
delay = "4ms"
capacity = 16
"""


def identical(_seconds: int) -> Round:
    """Tunes a server whose three fastest settings are the same, and counts claims among them."""
    results = [_tuned(seed) for seed in range(1, TUNINGS + 1)]
    claims = [claim for result in results for claim in _among_the_same(result)]
    false = sum(claim.word in ("better", "worse") for claim in claims)
    return Round(
        {
            "false claims": Value(false, 0, 0),
            # Without comparisons there could be no false claim.
            "comparisons, of those needed": Value(min(len(claims), TUNINGS), TUNINGS, 0),
        },
        {
            "comparisons among them": len(claims),
            "same": sum(claim.word == "same" for claim in claims),
            "keep the default": sum(not x.tuning or x.tuning.recommended is None for x in results),
        },
    )


def _tuned(seed: int) -> RunResult:
    with tempfile.TemporaryDirectory(prefix="torr-truth-") as folder:
        file = Path(folder) / "tune.toml"
        file.write_text(_FILE)
        words = ("-d", folder, "-o", "json", "-q", "--no-store", "--seed", str(seed))
        done = subprocess.run(
            [TORR, "tune", str(file), *words],
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
        )
    if not done.stdout:
        raise RuntimeError(done.stderr)
    return decoded(done.stdout.encode(), "what torr tune printed")


def _among_the_same(result: RunResult) -> Iterator[Verdict]:
    """Yield the comparisons of settings that differ in their label alone."""
    settings = settings_of(result.experiment.parameters)
    outcome = result.tuning
    if not outcome or not outcome.measured:
        return

    def work(number: int) -> tuple[object, ...]:
        return tuple(value for name, value in settings[number].items() if name != "label")

    champion = outcome.measured[0].setting
    for row in outcome.measured:
        default = result.experiment.default or 0
        pairs = ((row.against_default, default), (row.against_champion, champion))
        for claim, other in pairs:
            if claim is not None and work(row.setting) == work(other):
                yield claim
