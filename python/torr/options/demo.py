"""Options of `torr demo`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from torr.options.definition import LOAD, RESULT, VerbOptions, reuse_option, switch
from torr.options.readers import one_of
from torr.options.result import ResultOptions

if TYPE_CHECKING:
    from torr.messages.say import Language

SUBJECT = one_of("http|llm", ("http", "llm"))
"""The kind of the target."""


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """How long the demonstration lasts, and where its result goes."""

    group: ClassVar[str] = RESULT

    quick: bool = switch("--quick", "measure three short levels only", group=LOAD)
    folder: Path = reuse_option(ResultOptions, "folder")
    language: Language | None = reuse_option(ResultOptions, "language")
    live: bool = reuse_option(ResultOptions, "live")
    live_port: int | None = reuse_option(ResultOptions, "live_port")


DEMO = VerbOptions("demo", (DemoOptions,))
