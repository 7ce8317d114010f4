"""`torr runs import`: what other tools measured, as kept runs."""

from __future__ import annotations

import json
from pathlib import Path

import click

from torr.cli.command import Verb
from torr.cli.options import flag
from torr.cli.runs import choosing

EXAMPLES = ("torr runs import benchmarks.json --name cache",)


@click.command("import", cls=Verb, examples=EXAMPLES)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE")
@flag("-n", "--name", metavar="NAME", group=choosing.RESULT, help="of the runs [that of the file]")
def import_files(files: tuple[Path, ...], name: str | None) -> None:
    """Keep JSON files of pytest-benchmark as runs, each once."""
    from torr.sources import benchmark_file
    from torr.store.kept.store import open_store

    results = [benchmark_file.read(path, name) for path in files]
    with open_store() as store:
        for path, result in zip(files, results, strict=True):
            run_id = store.register(json.dumps(result).encode())
            click.echo(f"run {run_id}  {path}")
