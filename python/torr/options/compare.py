"""Options of `torr compare`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from torr.options import readers
from torr.options.definition import LOAD, RESULT, VerbOptions, option, reuse_option, switch
from torr.options.load import LoadOptions
from torr.options.readers import Reader, one_of
from torr.options.result import ResultOptions
from torr.options.server_trials import ServerTrialOptions

if TYPE_CHECKING:
    from torr.model.profiling import ProfileRequest

Until = Literal["settled"]

UNTIL: Reader[Until] = one_of("settled", ("settled",))


@dataclass(frozen=True, slots=True)
class CompareOptions(ServerTrialOptions):
    """How servers are compared, and where results go; a matrix file describes the servers."""

    group: ClassVar[str] = LOAD

    plan: bool = switch("--plan", "print the trials and their duration; measure nothing")
    rounds: int | None = option(
        "--rounds", readers.COUNT, "measure each candidate N times in each cell [10]"
    )
    until: Until | None = option(
        "--until", UNTIL, "measure inconclusive cells in 20, then 40 rounds"
    )
    seed: int = reuse_option(
        LoadOptions, "seed", rare=False, help="set the seed of the order of candidates [1]"
    )
    profile: ProfileRequest | None = option(
        "--profile",
        readers.PROFILED_SERVERS,
        "profile each server afterwards, in one more trial",
        group=RESULT,
        rare=True,
    )
    profile_at: int | None = reuse_option(
        ResultOptions,
        "profile_at",
        help="with --profile: use cells with N connections [the last]",
    )


COMPARE = VerbOptions("compare", (CompareOptions,))
