"""The files that are written from the code, for docs/ and for packages: `make reference`.

Each is a pure function of the sources; tests/unit/docs fails if the file differs from what the
function returns.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from reference import (
    exit_codes,
    faults,
    matrix_schema,
    options,
    plan_schema,
    share,
    stub,
    tune_schema,
)
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
    "docs/reference/tune.schema.json": tune_schema.text,
    "python/torr/__init__.pyi": stub.text,
    "packaging/data/share/bash-completion/completions/torr": share.bash,
    "packaging/data/share/zsh/site-functions/_torr": share.zsh,
    "packaging/data/share/fish/vendor_completions.d/torr.fish": share.fish,
    "packaging/data/share/man/man1/torr.1": share.man,
}
