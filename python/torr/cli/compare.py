"""`torr compare`: compare servers that a matrix file describes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from torr.cli.command import Verb
from torr.cli.flags import flags_of, is_given
from torr.cli.streams import echo, show_notes
from torr.errors import require
from torr.messages.say import say
from torr.options.compare import COMPARE, CompareOptions
from torr.options.definition import build_options

EXAMPLES = (
    "torr compare --plan matrix.toml",
    "torr compare matrix.toml --rounds 20",
    "torr compare matrix.toml --rounds 1 --pin off",
)


@click.command(cls=Verb, examples=EXAMPLES)
@click.argument("matrix", metavar="MATRIX", type=click.Path(path_type=Path))
@flags_of(COMPARE)
def compare(matrix: Path, **flags: Any) -> None:  # noqa: ANN401
    """Start, check, measure and stop servers in rounds, and judge which is faster."""
    from torr.planning.comparison import ComparisonPlan
    from torr.planning.matrix import with_file
    from torr.sources.matrix_file import read_matrix_file

    is_url = str(matrix).startswith(("http:", "https:", "unix:"))
    hint = say("for servers that run already: use torr run for each, then torr diff")
    require(not is_url, say("compare takes a matrix file, which says how to start servers"), hint)
    file = read_matrix_file(matrix)
    options = with_file(build_options(CompareOptions, flags), file, is_named=is_given("name"))
    comparison = ComparisonPlan.of(file, options)
    if options.plan:
        from torr.planning.comparison_preview import preview

        show_notes(comparison.notes)
        for line in preview(comparison):
            echo(line)
        return
    from torr.cli.measure import measure

    measure(comparison.prepare(sys.argv[1:]), options)
