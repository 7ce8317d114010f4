"""The ready-made sets of PromQL queries, which are files in `queries/`."""

from __future__ import annotations

from pathlib import Path

from torr import engine
from torr.errors import UsageError
from torr.messages.say import say

FOLDER = Path(__file__).with_name("queries")
SETS = ("node", "cadvisor", "postgres")


def queries_in(sets: tuple[str, ...]) -> dict[str, str]:
    """Return the queries of these sets, by name; raise UsageError for an unknown set."""
    queries: dict[str, str] = {}
    for name in sets:
        if name not in SETS:
            raise UsageError(
                say("there is no set of queries {name!r}", name=name),
                say("choose one of {sets}", sets=", ".join(SETS)),
            )
        value, _ = engine.read_toml((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
        queries |= value
    return queries
