"""The matrices of the studies, as their files say them."""

from __future__ import annotations

from pathlib import Path

from torr.engine import read_toml

STUDIES = Path(__file__).parents[1] / "studies"
SCRIPT = STUDIES.parent / "scripts/study.sh"
NAMES = ("healthz", "litefs", "proxy")
_OF_MATRIX = {"candidates", "factors", "baseline", "rounds", "duration", "warmup", "name"}


def read(study, name):
    found, _ = read_toml((STUDIES / study / name).read_text())
    return found


def names(study):
    return sorted(path.name for path in (STUDIES / study).glob("*.toml"))


def candidates(matrix):
    """Each with the keys that stand at the top for all of them."""
    defaults = {key: value for key, value in matrix.items() if key not in _OF_MATRIX}
    return [{**defaults, **each} for each in matrix["candidates"]]
