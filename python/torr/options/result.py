"""Options of results: where they go, conditions, monitoring, notes and tags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from torr.messages.catalogue import languages
from torr.options import readers
from torr.options.definition import (
    EVERYWHERE,
    RESULT,
    RUN_SCOPES,
    SHELL,
    TERMINAL,
    OptionScope,
    many,
    many_of_several,
    option,
    switch,
)
from torr.options.readers import Reader, one_of

if TYPE_CHECKING:
    from pathlib import Path

    from torr.messages.say import Language
    from torr.model.condition import Condition
    from torr.model.profiling import ProfileRequest
    from torr.model.url import Url
    from torr.monitor.exporters import ServingPlace

Output = Literal["text", "json"]

OUTPUT: Reader[Output] = one_of("FORMAT", ("text", "json"))
LANGUAGE: Reader[Language] = one_of("LANG", languages())


@dataclass(frozen=True, slots=True)
class ResultOptions:
    """Where results go, which conditions must hold, and what is monitored."""

    group: ClassVar[str] = RESULT
    scopes: ClassVar[OptionScope] = RUN_SCOPES

    name: str = option(
        "-n/--name", readers.NAME, "name the run and its files [apiserver]", default="apiserver"
    )
    folder: Path = option(
        "-d/--dir",
        readers.FOLDER,
        "write results below this directory [_output/torr]",
        default="_output/torr",
    )
    output: Output = option(
        "-o/--output",
        OUTPUT,
        "print text, or json: only result.json [text]",
        default="text",
        scopes=TERMINAL,
    )
    quiet: bool = switch("-q/--quiet", "print the verdict only", rare=True, scopes=TERMINAL)
    language: Language | None = option(
        "--lang",
        LANGUAGE,
        f"print in {' or '.join(languages())} [TORR_LANG, else en]",
        variable="TORR_LANG",
        rare=True,
        scopes=SHELL,
    )
    slos: tuple[Condition, ...] = many_of_several(
        "--slo",
        readers.SLOS,
        "require this (else exit 1): 'p95 < 1s', mlperf:…",
        scopes=EVERYWHERE,
    )
    abort_on: tuple[Condition, ...] = many(
        "--abort-on", readers.CONDITION, "stop early (exit 1) when this holds: 'errors > 5%'"
    )
    allow_not_shown: bool = switch(
        "--allow-not-shown", "pass SLOs with the verdict 'not shown'", rare=True
    )
    strict: bool = switch(
        "--strict", "exit 4 if the generator was the limit", rare=True, scopes=TERMINAL
    )
    junit: Path | None = option(
        "--junit",
        readers.NEW_FILE,
        "write verdicts to FILE as JUnit XML",
        rare=True,
        scopes=TERMINAL,
    )
    monitor: tuple[int | Url | ServingPlace, ...] = many(
        "--monitor",
        readers.WATCHED,
        "sample a PID, URL, vllm:URL, nvml or other (repeatable)",
        rare=True,
    )
    profile: ProfileRequest | None = option(
        "--profile",
        readers.PROFILED,
        "profile afterwards: PID, memory:PID or Go's pprof URL",
        rare=True,
    )
    profile_at: int | None = option(
        "--profile-at",
        readers.COUNT,
        "with --profile: load with N users [the best level's]",
        rare=True,
    )
    note: str | None = option(
        "--note", readers.NOTE, "store a note with the run, e.g. 'api 1.2 CPU'", rare=True
    )
    tag: tuple[str, ...] = many(
        "--tag",
        readers.TAG,
        "tag the run, for torr runs list --tag (repeatable)",
        rare=True,
        plural=True,
    )
    no_store: bool = switch("--no-store", "do not add the run to the store", rare=True)
    live: bool = switch("--live", "show the run in a browser while it lasts", scopes=TERMINAL)
    live_port: int | None = option(
        "--live-port",
        readers.PORT,
        "serve --live on this port, 0: any [8677, else any]",
        rare=True,
        scopes=TERMINAL,
    )
    live_host: str | None = option(
        "--live-host",
        readers.HOST,
        "serve --live on this address [127.0.0.1]",
        rare=True,
        scopes=TERMINAL,
    )
    live_stay_ns: int | None = option(
        "--live-stay",
        readers.DURATION,
        "serve --live for TIME after the end [0s]",
        rare=True,
        scopes=TERMINAL,
    )
    log: str | None = option(
        "--log", readers.PATH, "write every exchange to FILE as CSV", only="run", rare=True
    )

    def __post_init__(self) -> None:
        """Keep each condition once, however it is written: it is judged once."""
        object.__setattr__(self, "slos", tuple(dict.fromkeys(self.slos)))
        object.__setattr__(self, "abort_on", tuple(dict.fromkeys(self.abort_on)))
