"""Display the examinations of the nodes of a cluster: a row for each, then what needs attention."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from rich.cells import set_cell_size

from torr.experiments.diagnosis import node_findings
from torr.messages.say import changed, say
from torr.report.data.result_words import word_text
from torr.report.text.doctor import sentence_of_nodes, summary
from torr.units import show_ms, show_rate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.cli.screen import Screen
    from torr.experiments.doctor import NodeExamination

COLUMNS = (
    *(say("node"), say("cores"), say("requests/s a core"), say("timers p99")),
    *(say("round trip"), say("clock error"), say("warnings")),
)
LEAST = ("clock error", "round trip", "cores")
"""Columns in the order in which a narrow terminal leaves them out."""
_WORD, _NAME = 5, 16  # cells of the terminal


def show_nodes(nodes: Sequence[NodeExamination], out: Screen, *, quiet: bool) -> None:
    """Print what the nodes can generate, in a sentence, a row for each, and all warnings."""
    out.line(sentence_of_nodes(nodes), "bold")
    if quiet:
        return
    found = [(one.node, finding) for one in nodes for finding in node_findings(one)]
    warnings = [(node, finding) for node, finding in found if finding.word == "warn"]
    out.line(summary([finding for _, finding in found]))
    out.line()
    counts = [sum(name == one.node for name, _ in warnings) for one in nodes]
    rows = [_row(one, count) for one, count in zip(nodes, counts, strict=True)]
    out.table(out.columns(COLUMNS, rows).fitting(out.width, LEAST))
    if warnings:
        out.line()
    warnings.sort(key=lambda x: (x[1].name, x[1].advice))
    for (title, advice), group in groupby(warnings, key=lambda x: (x[1].name, x[1].advice)):
        name = set_cell_size(out.in_words(title), _NAME)
        values = [
            out.in_words(say("{node}: {value}", node=node, value=x.value)) for node, x in group
        ]
        out.pair(word_text("warn"), "yellow", name + "; ".join(values), _WORD)
        if advice is not None:
            out.line(changed(advice, lambda text: f"{'':<22}→ {text}"))


def _row(one: NodeExamination, warnings: int) -> tuple[str, ...]:
    per_core, late = one.examination.speed.per_core, one.examination.timers.p99_ms
    return (
        one.node,
        f"{one.examination.machine.cores_allowed}",
        "–" if per_core is None else show_rate(per_core),
        "–" if late is None else show_ms(late),
        show_ms(one.round_trip_ms),
        show_ms(one.clock_error_ms),
        f"{warnings}",
    )
