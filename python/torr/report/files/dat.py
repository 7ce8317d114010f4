"""NAME.dat: one line a level, in the format of wrktest.sh, which older scripts read.

    concurrency  ok/s  mean service time in ms  success rate in %

Of a ladder of rates the first column has arrivals per second, as a comment in the first line says.

Blank-separated, no header, the median of rounds; levels that the generator limited, that were cut
short, or whose users starved are left out.
Percent signs in the last column, comments from `#` on, and blank lines are read as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.results.position import ARRIVAL
from torr.sources.dat_file import RATES_MARK
from torr.stats.series import Series
from torr.store.atomic import replace_bytes

OF_RATES = f"{RATES_MARK} ok/s ms success\n"

if TYPE_CHECKING:
    from pathlib import Path

    from torr.results.result import RunResult


def write(result: RunResult, directory: Path) -> list[Path]:
    """Write NAME.dat of a ladder's result."""
    path = directory / f"{result.name}.dat"
    replace_bytes(path, text(Series.of(result.name, result.levels)).encode())
    return [path]


def text(series: Series) -> str:
    """Return the lines of a series; a level without an ok response has `nan` for its time."""
    lines = [
        f"{p.position} {p.ok_per_s:.2f} {_number(p.service_ms)} {_number(p.success_rate)}\n"
        for p in series.points
    ]
    if not lines:
        return "# no level that claims anything\n"
    return "".join([OF_RATES, *lines] if series.noun == ARRIVAL else lines)


def _number(value: float | None) -> str:
    return "nan" if value is None else f"{value:.3f}".rstrip("0").rstrip(".")
