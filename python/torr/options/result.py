"""Options of results: where they go, what must hold, what is watched, what is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from torr.options import readers
from torr.options.definition import (
    EVERYWHERE,
    OF_A_RUN,
    RESULT,
    SHELL,
    TERMINAL,
    many,
    option,
    switch,
)
from torr.options.readers import Reader, one_of

if TYPE_CHECKING:
    from pathlib import Path

    from torr.model.condition import Condition
    from torr.model.profiling import Asked
    from torr.model.url import Url

Output = Literal["text", "json"]
Language = Literal["en", "zh"]

OUTPUT: Reader[Output] = one_of("FORMAT", ("text", "json"))
LANGUAGE: Reader[Language] = one_of("LANG", ("en", "zh"))


@dataclass(frozen=True, slots=True)
class ResultOptions:
    """What becomes of what is measured."""

    group: ClassVar[str] = RESULT

    name: str = option(
        *("-n", "--name"),
        reader=readers.NAME,
        default="apiserver",
        fronts=OF_A_RUN,
        help="names the files [apiserver]",
    )
    folder: Path = option(
        *("-d", "--dir"),
        reader=readers.FOLDER,
        default="_output/torr",
        fronts=OF_A_RUN,
        help="output directory [_output/torr]",
    )
    output: Output = option(
        *("-o", "--output"),
        reader=OUTPUT,
        default="text",
        fronts=TERMINAL,
        help="text, or json: result.json alone on stdout",
    )
    quiet: bool = switch(*("-q", "--quiet"), fronts=TERMINAL, help="print the verdict only")
    language: Language | None = option(
        "--lang",
        reader=LANGUAGE,
        variable="TORR_LANG",
        rare=True,
        fronts=SHELL,
        help="say it in en or zh; or TORR_LANG [en]",
    )
    slos: tuple[Condition, ...] = many(
        "--slo",
        reader=readers.CONDITION,
        fronts=EVERYWHERE,
        help="must hold (else exit 1), e.g. 'p95 < 500ms'",
    )
    abort_on: tuple[Condition, ...] = many(
        "--abort-on",
        reader=readers.CONDITION,
        fronts=OF_A_RUN,
        help="end early (exit 1) when it holds: 'errors > 5%'",
    )
    allow_not_shown: bool = switch(
        "--allow-not-shown",
        rare=True,
        fronts=OF_A_RUN,
        help="pass SLOs that are neither held nor broken",
    )
    strict: bool = switch(
        "--strict", rare=True, fronts=TERMINAL, help="exit 4 if the generator was the limit"
    )
    junit: Path | None = option(
        "--junit",
        reader=readers.NEW_FILE,
        rare=True,
        fronts=TERMINAL,
        help="write what passed and failed as JUnit XML",
    )
    monitor: tuple[int | Url, ...] = many(
        "--monitor",
        reader=readers.WATCHED,
        rare=True,
        fronts=OF_A_RUN,
        help="watch a process, a /metrics, a Prometheus (repeatable)",
    )
    profile: Asked | None = option(
        "--profile",
        reader=readers.PROFILED,
        rare=True,
        fronts=OF_A_RUN,
        help="then profile a process, memory:PID or Go's pprof",
    )
    profile_at: int | None = option(
        "--profile-at",
        reader=readers.COUNT,
        rare=True,
        fronts=OF_A_RUN,
        help="with --profile: users [of the best level]",
    )
    note: str | None = option(
        "--note",
        reader=readers.NOTE,
        rare=True,
        fronts=OF_A_RUN,
        help="what is special about this run, e.g. 'api 1.2 CPU'",
    )
    tag: tuple[str, ...] = many(
        "--tag",
        reader=readers.TAG,
        rare=True,
        plural=True,
        fronts=OF_A_RUN,
        help="a word to find it by: torr runs list --tag (repeatable)",
    )
    no_store: bool = switch(
        "--no-store",
        rare=True,
        fronts=OF_A_RUN,
        help="do not register it with the kept runs",
    )
    live: bool = switch(
        "--live",
        fronts=TERMINAL,
        help="show it in a browser while it goes on",
    )
    live_port: int | None = option(
        "--live-port",
        reader=readers.PORT,
        rare=True,
        fronts=TERMINAL,
        help="of the live page; 0: any [8677, or any free one]",
    )
    live_host: str | None = option(
        "--live-host",
        reader=readers.HOST,
        rare=True,
        fronts=TERMINAL,
        help="let others see it, by the URL's token [127.0.0.1]",
    )
    live_stay_ns: int | None = option(
        "--live-stay",
        reader=readers.DURATION,
        rare=True,
        fronts=TERMINAL,
        help="keep it for so long after the end [0s]",
    )
    log: str | None = option(
        "--log",
        reader=readers.PATH,
        only="run",
        rare=True,
        fronts=OF_A_RUN,
        help="write every exchange to FILE, as CSV",
    )
