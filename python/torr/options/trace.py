"""Options of recorded requests to language models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torr.options import readers
from torr.options.definition import SET_IN_PLAN_GROUPS, STREAM, OptionScope, option


@dataclass(frozen=True, slots=True)
class TraceOptions:
    """Which recorded requests are sent, and how they are changed."""

    group: ClassVar[str] = STREAM
    scopes: ClassVar[OptionScope] = SET_IN_PLAN_GROUPS

    trace: str | None = option(
        "--trace",
        readers.FILE_OR_FOLDER,
        "send the requests of a trace, as of Mooncake",
        rare=True,
    )
    trace_format: str | None = option(
        "--trace-format", readers.NAME, "read the trace in this format [detected]", rare=True
    )
    block_tokens: int | None = option(
        "--block-tokens",
        readers.COUNT,
        "let each block of the trace have N tokens",
        rare=True,
    )
    trace_from_ns: int | None = option(
        "--trace-from", readers.DURATION, "begin at TIME of the trace [0s]", rare=True
    )
    trace_to_ns: int | None = option(
        "--trace-to", readers.SOME_DURATION, "end before TIME of the trace", rare=True
    )
    synthesis: str | None = option(
        "--synthesis",
        readers.TEXT,
        "scale the trace: prefix=x2,input=x0.5,output=x2",
        rare=True,
    )
