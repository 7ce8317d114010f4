"""Options of `torr init`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from torr.options.definition import RESULT, option, switch
from torr.options.readers import Reader
from torr.options.verbs import VerbOptions


@dataclass(frozen=True, slots=True)
class InitOptions:
    """Which operations become requests, and where the plan file goes."""

    group: ClassVar[str] = RESULT

    path: Path = option(
        "-o/--output", Reader("FILE", Path, "plan.toml"), "[plan.toml]", default="plan.toml"
    )
    all_methods: bool = switch("--all-methods", "write operations that may change data, too")
    force: bool = switch("--force", "replace a file that exists")


INIT = VerbOptions("init", (InitOptions,))
