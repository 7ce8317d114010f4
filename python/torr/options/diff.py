"""Options of `torr diff`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from torr.options import readers
from torr.options.definition import RESULT, many, option, same
from torr.options.readers import Reader
from torr.options.result import Output, ResultOptions

if TYPE_CHECKING:
    from pathlib import Path

    from torr.messages.say import Language
    from torr.model.change import Change


@dataclass(frozen=True, slots=True)
class DiffOptions:
    """How two runs are compared, and where the result goes."""

    group: ClassVar[str] = RESULT

    baseline: str | None = option(
        "--baseline",
        Reader("TAG", str, "main"),
        "A: newest with this tag, B's name first; B [DIR/latest]",
    )
    folder: Path = same(ResultOptions, "folder")
    output: Output = same(ResultOptions, "output")
    quiet: bool = same(ResultOptions, "quiet")
    language: Language | None = same(ResultOptions, "language")
    fail_if: tuple[Change, ...] = many(
        "--fail-if", readers.CHANGE, "must not hold (else exit 1): 'p99 > +10%', 'ok/s < -5%'"
    )
    allow_not_shown: bool = same(
        ResultOptions, "allow_not_shown", help="pass limits of --fail-if that are not shown"
    )
    junit: Path | None = same(ResultOptions, "junit", rare=False)
    note: str | None = same(ResultOptions, "note")
    tag: tuple[str, ...] = same(ResultOptions, "tag")
    no_store: bool = same(ResultOptions, "no_store")
