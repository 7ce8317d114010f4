"""Options of `torr compare`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from torr.options import readers
from torr.options.definition import LOAD, RESULT, option, same, switch
from torr.options.load import LoadOptions
from torr.options.readers import Reader, one_of
from torr.options.result import Output, ResultOptions

if TYPE_CHECKING:
    from pathlib import Path

    from torr.messages.say import Language
    from torr.model.pin import Pin
    from torr.model.profiling import ProfileRequest

Until = Literal["settled"]

UNTIL: Reader[Until] = one_of("settled", ("settled",))


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """How servers are compared, and where results go; a matrix file describes the servers."""

    group: ClassVar[str] = LOAD

    plan: bool = switch("--plan", "say what would be measured and how long it takes")
    rounds: int | None = option(
        "--rounds", readers.COUNT, "trials of each candidate in a cell [10]"
    )
    until: Until | None = option("--until", UNTIL, "10 rounds, then 20 and 40 where inconclusive")
    duration_ns: int | None = same(LoadOptions, "duration_ns")
    warmup_ns: int | None = same(
        LoadOptions, "warmup_ns", help="load before each window, kept apart [2s]"
    )
    seed: int = same(LoadOptions, "seed", rare=False, help="of the order of candidates [1]")
    pin: Pin | str = option(
        "--pin",
        readers.PIN,
        "cores: generator/target as 0/1-3, or off [auto: apart]",
        default="auto",
    )
    resume: Path | None = option(
        "--resume", readers.FOLDER, "go on with the run in this directory", group=RESULT
    )
    name: str = same(ResultOptions, "name")
    folder: Path = same(ResultOptions, "folder")
    output: Output = same(ResultOptions, "output")
    quiet: bool = same(ResultOptions, "quiet")
    language: Language | None = same(ResultOptions, "language")
    junit: Path | None = same(ResultOptions, "junit", rare=False)
    live: bool = same(ResultOptions, "live")
    live_port: int | None = same(ResultOptions, "live_port")
    live_host: str | None = same(ResultOptions, "live_host")
    live_stay_ns: int | None = same(ResultOptions, "live_stay_ns")
    allow_not_shown: bool = same(ResultOptions, "allow_not_shown")
    strict: bool = same(
        ResultOptions, "strict", help="exit 3 if a trial failed, 4 if the generator was the limit"
    )
    profile: ProfileRequest | None = option(
        "--profile",
        readers.PROFILED_SERVERS,
        "then profile each server: a trial more",
        group=RESULT,
        rare=True,
    )
    profile_at: int | None = same(
        ResultOptions,
        "profile_at",
        help="with --profile: the cells of so many connections [the last]",
    )
    note: str | None = same(ResultOptions, "note")
    tag: tuple[str, ...] = same(ResultOptions, "tag")
    no_store: bool = same(ResultOptions, "no_store")
