"""Ready-made sets of PromQL queries, each a file beside this one."""

from __future__ import annotations

from pathlib import Path

from torr import engine
from torr.errors import UsageError

FOLDER = Path(__file__).with_name("queries")
SETS = ("node", "cadvisor", "postgres")


def queries_of(sets: tuple[str, ...]) -> dict[str, str]:
    """The queries of these sets by their names; raises UsageError for a set that there is not."""
    found: dict[str, str] = {}
    for name in sets:
        if name not in SETS:
            raise UsageError(f"there is no set of queries {name!r}", f"there is {', '.join(SETS)}")
        value, _ = engine.read_toml((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
        found |= value
    return found
