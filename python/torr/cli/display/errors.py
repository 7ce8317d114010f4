"""Display errors: a row per reason, with an example."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len

from torr.messages.say import changed, say
from torr.report.text.reasons import detail, meaning

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from torr.cli.screen import Screen
    from torr.results.level import ErrorSample, Level


EXAMPLE = say("for example")


def show(title: str, level: Level, out: Screen) -> None:
    """Print why attempts failed, if any did."""
    rows = list(_rows(level))
    if not rows:
        return
    table = out.columns((title, say("count"), EXAMPLE), rows, frozenset({0, 2}))
    table = table.shortened(EXAMPLE, out.width, cell_len(out.in_words(EXAMPLE)))
    out.line()
    out.table(table if any(row[-1] for row in rows) else table.without(EXAMPLE))


def _rows(level: Level) -> Iterable[tuple[str, str, str]]:
    """Yield a row per reason, and one for a class without reasons."""
    reasons = level.reasons
    for name, count in level.counts.errors.items():
        within = {r: n for r, n in reasons.items() if r.partition(".")[0] == name}
        for reason, number in (within or {name: count}).items():
            yield reason, f"{number:,}", _example(level.samples, reason)


def _example(samples: Sequence[ErrorSample], reason: str) -> str:
    """Return the first line of the first sample of a reason, otherwise what the reason means."""
    for sample in samples:
        if reason in (sample.reason, sample.error_class):
            text = detail(sample) or sample.head or sample.body
            return changed(text, lambda written: written.partition("\n")[0].strip())
    return meaning(reason)
