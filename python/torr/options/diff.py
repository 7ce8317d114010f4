"""Options of `torr diff`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from torr.options import readers
from torr.options.definition import RESULT, VerbOptions, many, option, reuse_option
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
        "compare B [DIR/latest] with the newest run of this tag",
    )
    folder: Path = reuse_option(ResultOptions, "folder")
    output: Output = reuse_option(ResultOptions, "output")
    quiet: bool = reuse_option(ResultOptions, "quiet")
    language: Language | None = reuse_option(ResultOptions, "language")
    fail_if: tuple[Change, ...] = many(
        "--fail-if", readers.CHANGE, "exit 1 unless this is ruled out, e.g. 'p99 > +10%'"
    )
    allow_not_shown: bool = reuse_option(
        ResultOptions,
        "allow_not_shown",
        help="pass limits of --fail-if with the verdict 'not shown'",
    )
    junit: Path | None = reuse_option(ResultOptions, "junit", rare=False)
    note: str | None = reuse_option(ResultOptions, "note")
    tag: tuple[str, ...] = reuse_option(ResultOptions, "tag")
    no_store: bool = reuse_option(ResultOptions, "no_store")


DIFF = VerbOptions("diff", (DiffOptions,))
