"""Options of `torr doctor`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torr.options.cluster import ClusterOptions
from torr.options.definition import RESULT, VerbOptions, reuse_option
from torr.options.result import Output, ResultOptions


@dataclass(frozen=True, slots=True)
class DoctorOptions:
    """What is examined, and how findings are printed."""

    group: ClassVar[str] = RESULT

    nodes: str | None = reuse_option(
        ClusterOptions, "nodes", help="examine N, all or HOST,… of a Ray cluster [this machine]"
    )
    cluster: str | None = reuse_option(ClusterOptions, "cluster")
    output: Output = reuse_option(ResultOptions, "output", help="print text or json [text]")
    quiet: bool = reuse_option(ResultOptions, "quiet")


DOCTOR = VerbOptions("doctor", (DoctorOptions,))
