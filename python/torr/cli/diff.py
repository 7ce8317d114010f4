"""`torr diff`: two ladders side by side."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from torr.cli import options
from torr.cli.command import Verb

EXAMPLES = (
    "torr diff _output/torr/before.dat _output/torr/after.dat",
    "torr diff _output/torr/before-20260131-120000 _output/torr/latest",
)


@click.command(cls=Verb, examples=EXAMPLES)
@click.argument("a", metavar="A", type=click.Path(path_type=Path))
@click.argument("b", metavar="B", type=click.Path(path_type=Path))
@options.folder
@options.output
@options.quiet
def diff(a: Path, b: Path, **flags: Any) -> None:  # noqa: ANN401
    """Set ladder B beside ladder A: .dat files (wrktest's too) or run directories."""
    from torr.cli.conclude import draw, print_json
    from torr.model.secrets import redacted_command
    from torr.report.diff import compare, load
    from torr.store.environment import environment
    from torr.store.rundir import RunDirectory

    found = compare(load(a), load(b))
    head = {
        "kind": "diff",
        "command": ["torr", *redacted_command(sys.argv[1:])],
        "plan": None,
        "environment": environment(),
    }
    with RunDirectory.create(flags["folder"], found["name"], head) as directory:
        directory.close("complete", {key: found[key] for key in ("series", "verdicts")})
        result = {**found, **directory.head, "status": "complete"}
        if flags["output"] == "json":
            print_json(directory)
        else:
            from torr.cli.terminal import show

            show(result, quiet=flags["quiet"])
        paths = draw(result, directory)
        if flags["output"] == "text" and not flags["quiet"]:
            click.echo("\n" + "\n".join(f"plot    {path}" for path in paths))
