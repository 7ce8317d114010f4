"""A bench's rows as a table that people read, with the whole of it as JSON beside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_MET = {True: "yes", False: "**no**", None: "not shown"}


def keep(found: dict[str, Any], path: Path, noun: str) -> None:
    """Writes a run down, for programs and for people; the noun says what a row is."""
    path.write_text(json.dumps(found, indent=1))
    head = f"| {noun} | bar | met | found |\n| --- | --- | --- | --- |\n"
    path.with_suffix(".md").write_text(head + "".join(f"{line(row)}\n" for row in found["rows"]))


def line(row: dict[str, Any]) -> str:
    """One row of the table; one that is neither within its bar nor beyond it says why."""
    return f"| {row['name']} | {row['bar']} | {_MET[row['within']]} | {row['note']} |"
