"""`torr runs import`: add runs and results of pytest-benchmark to the store."""

from __future__ import annotations

from pathlib import Path

import click

from torr.cli.command import Verb
from torr.cli.flags import flags_of
from torr.cli.streams import echo
from torr.errors import ResultError, UsageError, require
from torr.messages.say import chain, say
from torr.model.json_input import parse_json
from torr.model.outside_file import MOST_RESULT_BYTES, read_bounded
from torr.model.printable import printable
from torr.options.stored_runs import IMPORT
from torr.store.level_lines import recover

EXAMPLES = (
    "torr runs import _output/torr/latest",
    "torr runs import benchmarks.json --name cache",
)
HINT = say("give a run directory (it has a result.json), or a JSON file of pytest-benchmark")


@click.command("import", cls=Verb, examples=EXAMPLES)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE")
@flags_of(IMPORT)
def import_files(files: tuple[Path, ...], name: str | None, replace: bool) -> None:
    """Add run directories, or JSON files of pytest-benchmark, that the store lacks."""
    from torr.store.runs.store import open_store

    results = [_read(path, name) for path in files]
    failed: list[ResultError] = []
    with open_store(create=True) as store:
        for path, (text, directory) in zip(files, results, strict=True):
            shown = printable(click.format_filename(path))
            try:
                run_id, change = store.add(text, directory, may_replace=replace)
            except ResultError as error:
                why = say("{shown}: {message}", shown=shown, message=error.message)
                failed.append(ResultError(why, error.hint))
            else:
                echo(say("run {id}  {path}  ({change})", id=run_id, path=shown, change=change))
    if failed:
        raise ResultError(chain("; ", [error.message for error in failed]), failed[0].hint)


def _read(path: Path, name: str | None) -> tuple[bytes, Path | None]:
    """Return the text of a result, from torr or pytest-benchmark, and the run's directory."""
    from torr.results.result import decoded, encoded
    from torr.sources import benchmark_file
    from torr.verdicts.conclusions import completed

    file = recover(path)
    try:
        text = read_bounded(file, MOST_RESULT_BYTES)
    except OSError as error:
        raise UsageError(
            say("{file} cannot be read: {error}", file=file, error=error.strerror or error), HINT
        ) from error
    if file is path and _is_of_benchmarks(text):
        text = encoded(benchmark_file.read(path, name))
        return encoded(decoded(text, str(file))), None
    result = decoded(text, str(file))
    require(
        name is None,
        say("-n/--name {name}: {path} is a run, which has a name already", name=name, path=path),
        say("leave -n out"),
    )
    return encoded(completed(result)), file.parent.resolve()


def _is_of_benchmarks(text: bytes) -> bool:
    """Return whether a text is JSON of another program than torr."""
    try:
        value = parse_json(text)
    except ValueError:
        return False
    return isinstance(value, dict) and "schema" not in value
