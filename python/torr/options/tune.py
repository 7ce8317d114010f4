"""Options of `torr tune`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from torr.model.tune_effort import TuneEffort
from torr.options import readers
from torr.options.definition import LOAD, option, reuse_option, switch
from torr.options.load import LoadOptions
from torr.options.readers import Reader
from torr.options.result import ResultOptions
from torr.options.verbs import VerbOptions

if TYPE_CHECKING:
    from torr.messages.say import Language


@dataclass(frozen=True, slots=True)
class TuneOptions:
    """How a server is tuned; a tune file describes the server and its settings."""

    group: ClassVar[str] = LOAD

    plan: bool = switch("--plan", "print the settings, trials and time; measure nothing")
    simulate: bool = switch("--simulate", "test the procedure in worlds whose best is known")
    worlds: int | None = option(
        "--worlds", readers.COUNT, "with --simulate: simulate N worlds a number [300]"
    )
    budget: TuneEffort | None = option(
        "--budget",
        Reader("N|TIME", TuneEffort.parse, "240"),
        "measure at most N trials, or for TIME [what the search needs]",
    )
    duration_ns: int | None = reuse_option(
        LoadOptions, "duration_ns", help="measure in each trial for TIME [10s]"
    )
    warmup_ns: int | None = reuse_option(
        LoadOptions, "warmup_ns", help="load each server for TIME before measuring [2s]"
    )
    seed: int = reuse_option(
        LoadOptions, "seed", rare=False, help="set the seed of the order of settings [1]"
    )
    language: Language | None = reuse_option(ResultOptions, "language")


TUNE = VerbOptions("tune", (TuneOptions,))
