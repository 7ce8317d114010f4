"""Prometheus' text format, written: the other side of what `monitor/exposition.py` reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Labels = tuple[tuple[str, str], ...]

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_PARTS = ("_sum", "_count")
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


class ExportedSample(NamedTuple):
    """One number with its labels; of a summary it may be the sum or the count."""

    name: str
    labels: Labels
    value: float


def page(families: Mapping[str, tuple[str, str]], samples: Iterable[ExportedSample]) -> str:
    """The page: each family that has samples, behind its help and its type.

    `families` has the type and the help by name; the samples of one stand together, as the format
    wants it. Raises KeyError for a sample of no family.
    """
    found: dict[str, list[ExportedSample]] = {}
    for sample in samples:
        found.setdefault(_family(sample.name, families), []).append(sample)
    lines = []
    for name, (kind, says) in families.items():
        if name in found:
            lines += [f"# HELP {name} {_escaped_help(says)}", f"# TYPE {name} {kind}"]
            lines += map(_line, found[name])
    return "\n".join(lines) + "\n"


def _family(name: str, families: Mapping[str, tuple[str, str]]) -> str:
    """The family of a sample: its name, or without the part that is of a summary."""
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
