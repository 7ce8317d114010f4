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

Output = Literal["text", "json"]

OUTPUT: Reader[Output] = one_of("FORMAT", ("text", "json"))
LANGUAGE: Reader[Language] = one_of("LANG", languages())


@dataclass(frozen=True, slots=True)
class ResultOptions:
    """Where results go, which conditions must hold, and what is monitored."""

    group: ClassVar[str] = RESULT
    scopes: ClassVar[OptionScope] = RUN_SCOPES

    name: str = option(
        "-n/--name", readers.NAME, "names the files [apiserver]", default="apiserver"
    )
    folder: Path = option(
        "-d/--dir", readers.FOLDER, "output directory [_output/torr]", default="_output/torr"
    )
    output: Output = option(
        "-o/--output",
        OUTPUT,
        "text, or json: result.json alone on stdout",
        default="text",
        scopes=TERMINAL,
    )
    quiet: bool = switch("-q/--quiet", "print the verdict only", scopes=TERMINAL)
    language: Language | None = option(
        "--lang",
        LANGUAGE,
        f"language: {' or '.join(languages())}; or TORR_LANG [en]",
        variable="TORR_LANG",
        rare=True,
        scopes=SHELL,
    )
    slos: tuple[Condition, ...] = many(
        "--slo", readers.CONDITION, "must hold (else exit 1), e.g. 'p95 < 500ms'", scopes=EVERYWHERE
    )
    abort_on: tuple[Condition, ...] = many(
        "--abort-on", readers.CONDITION, "end early (exit 1) when it holds: 'errors > 5%'"
    )
    allow_not_shown: bool = switch(
        "--allow-not-shown", "pass SLOs that are neither held nor broken", rare=True
    )
    strict: bool = switch(
        "--strict", "exit 4 if the generator was the limit", rare=True, scopes=TERMINAL
    )
    junit: Path | None = option(
        "--junit",
        readers.NEW_FILE,
        "write what passed and failed as JUnit XML",
        rare=True,
        scopes=TERMINAL,
    )
    monitor: tuple[int | Url, ...] = many(
        "--monitor",
        readers.WATCHED,
        "watch a process, a /metrics, a Prometheus (repeatable)",
        rare=True,
    )
    profile: ProfileRequest | None = option(
        "--profile", readers.PROFILED, "then profile a process, memory:PID or Go's pprof", rare=True
    )
    profile_at: int | None = option(
        "--profile-at", readers.COUNT, "with --profile: users [of the best level]", rare=True
    )
    note: str | None = option(
        "--note", readers.NOTE, "what is special about this run, e.g. 'api 1.2 CPU'", rare=True
    )
    tag: tuple[str, ...] = many(
        "--tag",
        readers.TAG,
        "a word to find it by: torr runs list --tag (repeatable)",
        rare=True,
        plural=True,
    )
    no_store: bool = switch("--no-store", "do not add the run to the store", rare=True)
    live: bool = switch("--live", "show it in a browser while it goes on", scopes=TERMINAL)
    live_port: int | None = option(
        "--live-port",
        readers.PORT,
        "of the live page; 0: any [8677, or any free one]",
        rare=True,
        scopes=TERMINAL,
    )
    live_host: str | None = option(
        "--live-host",
        readers.HOST,
        "let others see it, by the URL's token [127.0.0.1]",
        rare=True,
        scopes=TERMINAL,
    )
    live_stay_ns: int | None = option(
        "--live-stay",
        readers.DURATION,
        "serve it for this time after the end [0s]",
        rare=True,
        scopes=TERMINAL,
    )
    log: str | None = option(
        "--log", readers.PATH, "write every exchange to FILE, as CSV", only="run", rare=True
    )

    def __post_init__(self) -> None:
        """Keep each condition once, however it is written: it is judged once."""
        object.__setattr__(self, "slos", tuple(dict.fromkeys(self.slos)))
        object.__setattr__(self, "abort_on", tuple(dict.fromkeys(self.abort_on)))
