"""Results as pandas tables: one row a level or a slice, names joined by dots as in levels.csv."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torr.errors import UsageError
from torr.report.csv import flat, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

Json = dict[str, Any]


def frame(result: Json, rows: str) -> pd.DataFrame:
    """The table of these rows; raises UsageError without pandas."""
    try:
        import pandas as pd
    except ImportError as error:
        message = f"to_pandas needs pandas: {error}"
        raise UsageError(message, "pip install 'torr[pandas]'") from error
    kinds = {"levels": rows_of, "slices": _slices}
    if rows not in kinds:
        raise UsageError(f"to_pandas: no rows are named {rows!r}", f"write {' or '.join(kinds)}")
    return pd.DataFrame.from_records([dict(flat(row)) for row in kinds[rows](result)])


def _slices(result: Json) -> Iterator[Json]:
    for level in result["levels"]:
        yield from level.get("slices") or ()
