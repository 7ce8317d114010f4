"""Convert results to pandas tables of levels or intervals, with the columns of levels.csv."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.errors import UsageError
from torr.report.files.csv import records, rows_of

if TYPE_CHECKING:
    import pandas as pd

    from torr.report.data.flat import Row
    from torr.results.result import RunResult


def frame(result: RunResult, rows: str) -> pd.DataFrame:
    """Return the table of `levels` or `intervals`; raise UsageError without pandas."""
    try:
        import pandas as pd
    except ImportError as error:
        message = f"to_pandas needs pandas: {error}"
        raise UsageError(message, "pip install 'torr[pandas]'") from error
    kinds = {"levels": rows_of, "intervals": _intervals}
    if rows not in kinds:
        raise UsageError(f"to_pandas: no rows are named {rows!r}", f"write {' or '.join(kinds)}")
    return pd.DataFrame.from_records(records(kinds[rows](result)))


def _intervals(result: RunResult) -> list[Row]:
    return [interval for level in result.levels for interval in level.intervals]
