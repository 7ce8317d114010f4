"""Options of `torr init`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from torr.options.definition import RESULT, VerbOptions, option, switch
from torr.options.readers import Reader


@dataclass(frozen=True, slots=True)
class InitOptions:
    """Which operations become requests, and where the plan file goes."""

    group: ClassVar[str] = RESULT

    path: Path = option(
        "-o/--output",
        Reader("FILE", Path, "plan.toml"),
        "write the plan to FILE [plan.toml]",
        default="plan.toml",
    )
    all_methods: bool = switch("--all-methods", "include operations that may change data")
    force: bool = switch("--force", "overwrite an existing file")


INIT = VerbOptions("init", (InitOptions,))
