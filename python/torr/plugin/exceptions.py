"""Lines for pytest's terminal about exceptions: each class, its count and its first traceback."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from torr.report.data.function_rounds import groups

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torr.results.result import RunResult

_RAISED = "raised."
_MAX_CLASSES = 3
_LAST_LINES = 6


def lines(result: RunResult) -> Iterator[str]:
    """Return lines about the exceptions of each function, the most frequent class first."""
    for name, levels in groups(result):
        counts: Counter[str] = Counter()
        for level in levels:
            counts.update(level.reasons)
        # The first round has the samples of all rounds.
        first = {sample.reason: sample.detail for level in levels for sample in level.samples}
        for reason, count in counts.most_common(_MAX_CLASSES):
            yield f"\n{name}: {reason.removeprefix(_RAISED)} × {count:,}, the first of them:"
            yield from (f"  {line}" for line in first.get(reason, "").splitlines()[-_LAST_LINES:])
        more = len(counts) - _MAX_CLASSES
        if more > 0:
            yield f"\n{name}: {more} class{'es' if more > 1 else ''} more"
