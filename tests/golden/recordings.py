"""What was measured of a golden case, as record.py keeps it and the tests read it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any, TypedDict

RECORDED = Path(__file__).parent / "recorded"
# Stands for the directory of a case in what was recorded.
FOLDER = "FOLDER"


class RecordedLoad(TypedDict):
    """What the engine and the monitor said of one load."""

    intervals: list[str]
    level: str
    monitor: dict[str, Any] | None


class Recording(TypedDict):
    """A case as it was measured: its command and files, and its loads or its result."""

    command: list[str]
    target: str
    files: dict[str, str]
    loads: list[RecordedLoad]
    result: dict[str, Any] | None


def recording(name: str) -> Recording:
    """Return what was recorded of the case with this name."""
    found: Recording = json.loads(gzip.decompress((RECORDED / f"{name}.json.gz").read_bytes()))
    return found
