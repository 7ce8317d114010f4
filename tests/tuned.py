"""A result of `torr tune` whose rates are known: the procedure runs on doubles of levels."""

from __future__ import annotations

from random import Random

from msgspec import structs

from doubles import Truth, measured_level
from torr.model.condition import Condition
from torr.model.settings import TunedParameter, settings_of
from torr.results.experiment import Experiment
from torr.results.result import RunResult, TrialFailure
from torr.results.tuning import SettingUse
from torr.stats.metric import Metric
from torr.tuning.budget import TuneBudget
from torr.tuning.measured import TrialReader
from torr.tuning.outcome import outcome_of
from torr.tuning.procedure import TuneProcedure

PARAMETERS = [
    TunedParameter("workers", (1, 2, 4)),
    TunedParameter("gc", (True, False)),
    TunedParameter("pool", (8, 16), {"workers": (4,)}),
]
SETTINGS = settings_of(PARAMETERS)
DEFAULT = 0
# 250, 350, … ok/s, by the number of the setting; the second one does not start.
BROKEN = 1
SLO = Condition.parse("p95 < 20ms")


def rate_of(setting: int) -> float:
    return 250.0 + 100.0 * setting


def tuned(slos=(SLO,), looks=(10, 20), until=None):
    """Return a result, complete or with so many trials."""
    reader = TrialReader(Metric("ok_per_s"), tuple(slos))
    levels, failures = [], []

    def measure(place):
        if until is not None and len(levels) >= until:
            raise StopIteration
        labels = {"candidate": "api", "factors": SETTINGS[place.setting], "round": place.round}
        if place.setting == BROKEN:
            failures.append(
                TrialFailure(**labels, place=place, kind="not_ready", text="not healthy in 30 s")
            )
            return reader.trials([], failures[-1:])[place]
        noise = Random(f"{place}").gauss(1.0, 0.01)
        level = measured_level(16, Truth(ok_per_s=rate_of(place.setting) * noise), **labels)
        levels.append(structs.replace(level, place=place))
        return reader.of_level(levels[-1], place)

    procedure = TuneProcedure(DEFAULT, TuneBudget(len(SETTINGS), 40, looks))
    try:
        procedure.run(measure)
    except (StopIteration, RuntimeError):
        assert until is not None
    trials = reader.trials(levels, failures)
    outcome = outcome_of(procedure.replay(trials), trials, SETTINGS, reader.metric, slos)
    if outcome.recommended is not None:
        outcome.use = SettingUse(
            command="serve --port '{port}' --workers 4",
            env={"GC": "off"},
            files={"api.conf": "pool 16\n"},
            before=["./configure 16"],
        )
    return RunResult(
        schema_=2,
        torr="0.1.0",
        kind="tune",
        name="api",
        started="2026-01-01T00:00:00Z",
        ended="2026-01-01T01:00:00Z",
        status="complete" if until is None else "interrupted",
        command=["torr", "tune", "tune.toml"],
        experiment=Experiment(
            parameters=PARAMETERS,
            default=DEFAULT,
            primary="ok_per_s",
            slos=list(map(str, slos)),
            search=40,
            stages=list(looks),
            seed=1,
        ),
        levels=levels,
        failures=failures,
        tuning=outcome,
    )
