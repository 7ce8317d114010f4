"""Options of the verbs that start servers: the load of a trial, cores, nodes, results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from torr.options import readers
from torr.options.cluster import ClusterOptions
from torr.options.definition import LOAD, RESULT, option, reuse_option
from torr.options.load import LoadOptions
from torr.options.result import Output, ResultOptions

if TYPE_CHECKING:
    from pathlib import Path

    from torr.messages.say import Language
    from torr.model.pin import Pin


@dataclass(frozen=True, slots=True)
class ServerTrialOptions:
    """How trials of servers are measured, and where results go."""

    group: ClassVar[str] = LOAD

    duration_ns: int | None = reuse_option(
        LoadOptions, "duration_ns", help="measure in each trial for TIME [10s]"
    )
    warmup_ns: int | None = reuse_option(
        LoadOptions, "warmup_ns", help="load each server for TIME before measuring [2s]"
    )
    pin: Pin | str = option(
        "--pin",
        readers.PIN,
        "pin generator/target to cores, e.g. 0/1-3, or off [auto]",
        default="auto",
    )
    nodes: str | None = reuse_option(ClusterOptions, "nodes")
    cluster: str | None = reuse_option(ClusterOptions, "cluster")
    allow_lost_nodes: bool = reuse_option(
        ClusterOptions, "allow_lost_nodes", help="go on without nodes that are lost between trials"
    )
    resume: Path | None = option(
        "--resume", readers.FOLDER, "continue the run in this directory", group=RESULT
    )
    name: str = reuse_option(ResultOptions, "name")
    folder: Path = reuse_option(ResultOptions, "folder")
    output: Output = reuse_option(ResultOptions, "output")
    quiet: bool = reuse_option(ResultOptions, "quiet")
    language: Language | None = reuse_option(ResultOptions, "language")
    junit: Path | None = reuse_option(ResultOptions, "junit", rare=False)
    live: bool = reuse_option(ResultOptions, "live")
    live_port: int | None = reuse_option(ResultOptions, "live_port")
    live_host: str | None = reuse_option(ResultOptions, "live_host")
    live_stay_ns: int | None = reuse_option(ResultOptions, "live_stay_ns")
    allow_not_shown: bool = reuse_option(ResultOptions, "allow_not_shown")
    strict: bool = reuse_option(
        ResultOptions, "strict", help="exit 3 if a trial failed, 4 if the generator was the limit"
    )
    note: str | None = reuse_option(ResultOptions, "note")
    tag: tuple[str, ...] = reuse_option(ResultOptions, "tag")
    no_store: bool = reuse_option(ResultOptions, "no_store")
