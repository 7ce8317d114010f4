"""The table of `torr tune --simulate`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.say import say
from torr.report.tables.table import Table, TableBuilder
from torr.tuning.simulation.rows import NOISES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torr.tuning.simulation.rows import SimulatedRow

_PROCEDURES = {
    "one": say("one trial each, pick the best"),
    "three": say("three trials each, pick the best"),
    "racing": say("racing by t-tests"),
    "tune": say("torr tune: halving, then fresh rounds"),
}


def simulation_table(rows: Iterable[SimulatedRow]) -> Table:
    """Return the table with a row for each procedure."""
    table = TableBuilder(rows)
    noises = "/".join(f"{100 * noise:g}" for noise in NOISES)
    table.text(say("procedure"), lambda row: _PROCEDURES[row.procedure])
    table.number(
        say("within 2 % of the best, sd {noises} %", noises=noises),
        lambda row: f"{'/'.join(f'{share:.0f}' for share in row.within)} %",
    )
    table.number(say("within 2 %, with an SLO"), lambda row: f"{row.within_slo:.0f} %")
    table.number(say("regret"), lambda row: f"{row.regret:.1f} %")
    table.number(
        say("false '≥ 3 % better' (truth 0/+2.9 %/+2.9 % with an SLO)"),
        lambda row: f"{row.null_claims:.1f}/{row.margin_claims:.1f}/{row.slo_claims:.1f} %",
    )
    table.number(say("bias of the claim"), lambda row: f"{row.bias:+.1f} %")
    table.number(say("infeasible"), lambda row: f"{row.infeasible:.1f} %")
    table.number(say("slower than the default"), lambda row: f"{row.slower:.1f} %")
    built = table.build()
    return built if built is not None else Table((), ())
