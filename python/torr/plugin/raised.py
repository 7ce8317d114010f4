"""What operations raised, for pytest's terminal: a class with its count, and its first traceback.

A number in a table says that something is wrong, and not what.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from torr.report.data.function_rounds import groups

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torr.results.level import Level
    from torr.results.result import RunResult

_RAISED = "raised."
_MOST_CLASSES = 3
_LAST_LINES = 6


def lines(result: RunResult) -> Iterator[str]:
    """Return what each function raised, the most frequent first; nothing where nothing was."""
    for name, levels in groups(result):
        counts = _counts(levels)
        first = _first(levels)
        for reason, count in counts.most_common(_MOST_CLASSES):
            yield f"\n{name}: {reason.removeprefix(_RAISED)} × {count:,}, the first of them:"
            yield from (f"  {line}" for line in first.get(reason, "").splitlines()[-_LAST_LINES:])
        more = len(counts) - _MOST_CLASSES
        if more > 0:
            yield f"\n{name}: {more} class{'es' if more > 1 else ''} more"


def _counts(levels: Sequence[Level]) -> Counter[str]:
    found: Counter[str] = Counter()
    for level in levels:
        found.update(level.reasons)
    return found


def _first(levels: Sequence[Level]) -> dict[str, str]:
    """The first traceback of each reason; the first round has those of all."""
    return {sample.reason or "": sample.detail for level in levels for sample in level.samples}
