"""Options of loads from several nodes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from torr.errors import UsageError
from torr.messages.say import say
from torr.options.definition import LOAD, RUN_SCOPES, OptionScope, option, switch
from torr.options.readers import Reader

_WANTED = re.compile(r"[^\s,]+(,[^\s,]+)*")


def _nodes(text: str) -> str:
    if not _WANTED.fullmatch(text):
        raise UsageError(
            say("{text!r} does not name nodes", text=text),
            say("give a number, `all`, or names with commas: --nodes a,b"),
        )
    return text


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """The nodes of a Ray cluster that send the load."""

    group: ClassVar[str] = LOAD
    scopes: ClassVar[OptionScope] = RUN_SCOPES

    nodes: str | None = option(
        "--nodes",
        Reader("NODES", _nodes, "3"),
        "send from Ray nodes: N, all or HOST,… [this machine]",
        rare=True,
    )
    cluster: str | None = option(
        "--cluster",
        Reader("HOST:PORT", str, "10.0.0.1:6379"),
        "set the address of the Ray cluster [RAY_ADDRESS]",
        rare=True,
    )
    allow_lost_nodes: bool = switch(
        "--allow-lost-nodes", "go on without nodes that are lost between levels", rare=True
    )
