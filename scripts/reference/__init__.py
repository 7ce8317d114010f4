"""The pages of docs/ that are written from the code: `make reference`.

Each page is a pure function of the sources; tests/unit/docs fails when the file in docs/ is not
what the function returns.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from reference import exit_codes, faults, matrix_schema, options, plan_schema, stub
from torr.results import result

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]

PAGES: dict[str, Callable[[], str]] = {
    "docs/faults.md": faults.page,
    "docs/reference/options.md": options.page,
    "docs/reference/exit-codes.md": exit_codes.page,
    "docs/reference/result.schema.json": result.schema_text,
    "docs/reference/plan.schema.json": plan_schema.text,
    "docs/reference/matrix.schema.json": matrix_schema.text,
    "python/torr/__init__.pyi": stub.text,
}
