"""Options of `torr doctor`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torr.options.definition import RESULT, reuse_option
from torr.options.result import Output, ResultOptions
from torr.options.verbs import VerbOptions


@dataclass(frozen=True, slots=True)
class DoctorOptions:
    """How findings are printed."""

    group: ClassVar[str] = RESULT

    output: Output = reuse_option(ResultOptions, "output", help="print text or json [text]")
    quiet: bool = reuse_option(ResultOptions, "quiet")


DOCTOR = VerbOptions("doctor", (DoctorOptions,))
