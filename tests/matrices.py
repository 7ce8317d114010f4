"""Reads the matrix files of the studies."""

from __future__ import annotations

from pathlib import Path

from torr.engine import read_toml

STUDIES = Path(__file__).parents[1] / "studies"
SCRIPT = STUDIES.parent / "scripts/study.sh"
NAMES = ("healthz", "litefs", "proxy")
_OF_MATRIX = {"candidates", "factors", "baseline", "rounds", "duration", "warmup", "name"}


def read(study, name):
    matrix, _ = read_toml((STUDIES / study / name).read_text())
    return matrix


def names(study):
    return sorted(path.name for path in (STUDIES / study).glob("*.toml"))


def candidates(matrix):
    """Return the candidates of a matrix, with the keys at its top that apply to all of them."""
    defaults = {key: value for key, value in matrix.items() if key not in _OF_MATRIX}
    return [{**defaults, **candidate} for candidate in matrix["candidates"]]
