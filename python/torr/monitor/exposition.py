"""Read Prometheus' text exposition format.

    # TYPE http_requests_total counter
    http_requests_total{method="get",code="200"} 1027 1395066363000

Counters, gauges, and the sums and counts of histograms and summaries are read; buckets, quantiles,
timestamps and exemplars are not. Invalid lines are skipped.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Kind = Literal["counter", "gauge"]
Labels = tuple[tuple[str, str], ...]

_LINE = re.compile(r'([A-Za-z_:][\w:]*)(?:\{((?:[^"}]|"(?:[^"\\]|\\.)*")*)\})?[ \t]+([^ \t]+)')
_LABEL = re.compile(r'([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"')
_ESCAPES = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}
_PARTS = ("_total", "_sum", "_count")


@dataclass(frozen=True, slots=True)
class ScrapedSample:
    """One number of a page; NaN is None."""

    name: str
    labels: Labels
    kind: Kind
    value: float | None

    @property
    def key(self) -> tuple[str, Labels]:
        """Return the identity of its series across pages."""
        return self.name, self.labels


@dataclass(slots=True)
class ExpositionReader:
    """Reads pages of one endpoint, only the names that fit one of the patterns (`process_*`)."""

    patterns: Sequence[str]
    _ranks: dict[str, int | None] = field(default_factory=dict)

    def samples(self, text: str) -> list[ScrapedSample]:
        """Return the matching samples, in the order of the patterns, then of the page."""
        ranked = sorted(self._matching(text), key=lambda pair: pair[0])
        return [sample for _, sample in ranked]

    def _matching(self, text: str) -> Iterator[tuple[int, ScrapedSample]]:
        kinds: dict[str, str] = {}
        for line in text.splitlines():
            if line.startswith("#"):
                words = line.split(None, 3)
                if words[1:2] == ["TYPE"] and len(words) == 4:
                    kinds[words[2]] = words[3].strip()
                continue
            rank = self._rank(re.split(r"[{ \t]", line, maxsplit=1)[0])
            sample = None if rank is None else _sample(line, kinds)
            if rank is not None and sample is not None:
                yield rank, sample

    def _rank(self, name: str) -> int | None:
        """Return the index of the first pattern that a name fits; cached, since names recur."""
        if name not in self._ranks:
            fitting = (n for n, pattern in enumerate(self.patterns) if fnmatchcase(name, pattern))
            self._ranks[name] = next(fitting, None)
        return self._ranks[name]


def is_exposition(text: str) -> bool:
    """Return whether a page has a valid line with a number."""
    lines = (line for line in text.splitlines() if line and not line.startswith("#"))
    return any(_sample(line, {}) is not None for line in lines)


def _sample(line: str, kinds: dict[str, str]) -> ScrapedSample | None:
    match = _LINE.match(line)
    if match is None:
        return None
    name, labels, number = match.groups()
    kind = _kind(name, kinds)
    pairs = tuple(sorted((key, _unescaped(text)) for key, text in _LABEL.findall(labels or "")))
    if kind is None or any(key == "quantile" for key, _ in pairs):
        return None
    try:
        value = float(number)
    except ValueError:
        return None
    return ScrapedSample(name, pairs, kind, value if math.isfinite(value) else None)


def _kind(name: str, kinds: dict[str, str]) -> Kind | None:
    """Return the kind by the TYPE line, or else by the end of the name; None for buckets."""
    declared = kinds.get(name)
    if declared in ("counter", "gauge"):
        return "counter" if declared == "counter" else "gauge"
    if name.endswith("_bucket"):
        return None
    return "counter" if name.endswith(_PARTS) else "gauge"


def _unescaped(text: str) -> str:
    return re.sub(r"\\.", lambda match: _ESCAPES.get(match[0], match[0]), text)
