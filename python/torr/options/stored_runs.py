"""Options of the verbs about stored runs: `torr runs` and `torr serve`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from torr.options import readers
from torr.options.definition import RESULT, VerbOptions, many, option, reuse_option, switch
from torr.options.readers import Reader, one_of
from torr.options.result import OUTPUT, Output, ResultOptions
from torr.options.since import parse_since

if TYPE_CHECKING:
    from datetime import datetime

    from torr.messages.say import Language
    from torr.results.position import Position

Format = Literal["text", "markdown", "csv", "json"]

FORMAT: Reader[Format] = one_of("FORMAT", ("text", "markdown", "csv", "json"))


@dataclass(frozen=True, slots=True)
class ListOptions:
    """Which runs are listed, and in which form."""

    group: ClassVar[str] = "Which runs"

    name: str | None = option("-n/--name", readers.NAME, "select runs with this name")
    tag: tuple[str, ...] = many(
        "--tag", readers.TAG, "select runs with this tag (repeatable: with all tags)"
    )
    commit: str | None = option(
        "--commit",
        Reader("HASH", str, "1a2b3c4"),
        "select runs of a git commit, by its first digits",
    )
    since: datetime | None = option(
        "--since",
        Reader("WHEN", parse_since, "7d"),
        "select runs not older than 7d, 12h or 2026-01-31",
    )
    most: int = option("--most", readers.COUNT, "list at most N runs, the newest [20]", default=20)
    output: Output = option(
        "-o/--output", OUTPUT, "print text or json [text]", default="text", group=RESULT
    )


@dataclass(frozen=True, slots=True)
class LedgerOptions:
    """Which runs of a name are compared, and in which form that is printed."""

    group: ClassVar[str] = "Which runs"

    tag: tuple[str, ...] = reuse_option(ListOptions, "tag")
    commit: str | None = reuse_option(ListOptions, "commit")
    since: datetime | None = reuse_option(ListOptions, "since")
    at: Position | None = option(
        "--at", readers.POSITION, "show level N, users or rate [the best of each run]"
    )
    request: str | None = option("--request", readers.NAME, "show only this request [all requests]")
    baseline: str | None = option(
        "--baseline", readers.TAG, "also compare with the newest run with this tag"
    )
    output: Format = option(
        "-o/--output",
        FORMAT,
        "print text, markdown, csv or json [text]",
        default="text",
        group=RESULT,
    )
    language: Language | None = reuse_option(ResultOptions, "language")


@dataclass(frozen=True, slots=True)
class TagOptions:
    """Which tags a run loses, and its note."""

    group: ClassVar[str] = "Labels"

    remove: tuple[str, ...] = many("--remove", readers.TAG, "remove this tag (repeatable)")
    note: str | None = option("--note", readers.NOTE, "replace the note; '' removes it")


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """How imported files are stored."""

    group: ClassVar[str] = RESULT

    name: str | None = option(
        "-n/--name", readers.NAME, "name a pytest-benchmark run [name of the file]"
    )
    replace: bool = switch("--replace", "replace the stored copy of the run")


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """Where stored runs are served, and the baseline of trends."""

    group: ClassVar[str] = "Place"

    port: int | None = option(
        "--port", readers.PORT, "listen on this port, 0: any [8678, else any]"
    )
    host: str | None = option("--host", readers.HOST, "listen on this address [127.0.0.1]")
    duration_ns: int | None = option("--for", readers.SOME_DURATION, "stop after TIME [at Ctrl-C]")
    baseline: str = option(
        "--baseline",
        readers.TAG,
        "compare with the newest run with this tag [baseline]",
        default="baseline",
        group=RESULT,
    )
    language: Language | None = reuse_option(ResultOptions, "language")


LIST = VerbOptions("list", (ListOptions,))
LEDGER = VerbOptions("ledger", (LedgerOptions,))
TAG = VerbOptions("tag", (TagOptions,))
IMPORT = VerbOptions("import", (ImportOptions,))
SERVE = VerbOptions("serve", (ServeOptions,))
