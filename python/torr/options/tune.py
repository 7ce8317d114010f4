"""Options of `torr tune`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torr.model.tune_effort import TuneEffort
from torr.options import readers
from torr.options.definition import LOAD, SHELL, VerbOptions, option, reuse_option, switch
from torr.options.load import LoadOptions
from torr.options.readers import Reader
from torr.options.server_trials import ServerTrialOptions


@dataclass(frozen=True, slots=True)
class TuneOptions(ServerTrialOptions):
    """How a server is tuned, and where results go; a tune file describes server and settings."""

    group: ClassVar[str] = LOAD

    plan: bool = switch(
        "--plan", "print the settings, trials and time; measure nothing", scopes=SHELL
    )
    simulate: bool = switch(
        "--simulate", "test the procedure in worlds whose best is known", scopes=SHELL
    )
    worlds: int | None = option(
        "--worlds",
        readers.COUNT,
        "with --simulate: simulate N worlds a number [300]",
        scopes=SHELL,
    )
    budget: TuneEffort | None = option(
        "--budget",
        Reader("N|TIME", TuneEffort.parse, "240"),
        "measure at most N trials, or for TIME [what the search needs]",
    )
    seed: int = reuse_option(
        LoadOptions, "seed", rare=False, help="set the seed of the order of settings [1]"
    )


TUNE = VerbOptions("tune", (TuneOptions,))
