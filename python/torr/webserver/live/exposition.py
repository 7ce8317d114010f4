"""Write Prometheus' text format, which `monitor/exposition.py` reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Labels = tuple[tuple[str, str], ...]

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_PARTS = ("_sum", "_count")
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


class ExportedSample(NamedTuple):
    """One number with its labels; for a summary, also its sum or count."""

    name: str
    labels: Labels
    value: float


def page(families: Mapping[str, tuple[str, str]], samples: Iterable[ExportedSample]) -> str:
    """Return the page: help, type and samples of each family that has samples.

    `families` has type and help by name. Samples of a family are adjacent, as the format requires.
    Raises KeyError for a sample without a family.
    """
    by_family: dict[str, list[ExportedSample]] = {}
    for sample in samples:
        by_family.setdefault(_family(sample.name, families), []).append(sample)
    lines = []
    for name, (kind, help_text) in families.items():
        if name in by_family:
            lines += [f"# HELP {name} {_escaped_help(help_text)}", f"# TYPE {name} {kind}"]
            lines += map(_line, by_family[name])
    return "\n".join(lines) + "\n"


def _family(name: str, families: Mapping[str, tuple[str, str]]) -> str:
    """Return the family of a sample: its name, without the suffix of a summary."""
    if name in families:
        return name
    whole = next((name.removesuffix(part) for part in _PARTS if name.endswith(part)), name)
    if whole not in families:
        raise KeyError(whole)
    return whole


def _line(sample: ExportedSample) -> str:
    labels = ",".join(f'{key}="{value.translate(_ESCAPES)}"' for key, value in sample.labels)
    return (
        f"{sample.name}{{{labels}}} {sample.value}" if labels else f"{sample.name} {sample.value}"
    )


def _escaped_help(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")
