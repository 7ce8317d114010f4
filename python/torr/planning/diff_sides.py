"""Reading a side of a diff from a file.

runs/before-…               a run directory, or its result.json
runs/latest:gin             the trials of one candidate
runs/latest:gin,delay=50ms  those at one setting of its other factors
before.dat                  medians only
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from torr.errors import UsageError
from torr.messages.say import say
from torr.model.outside_file import MOST_RESULT_BYTES, read_bounded
from torr.results.result import decoded
from torr.sources import dat_file
from torr.store.level_lines import recover
from torr.verdicts.diff_side import RunReference, Side, of_result


def load(path: Path) -> Side:
    """Read one side; raises UsageError that says what is wrong with it."""
    reference = _reference(path)
    path = recover(Path(reference.run))
    if path.suffix != ".json":
        if reference != RunReference(reference.run):
            raise UsageError(
                say("{path} has no candidates", path=path),
                say("a .dat file has one series of levels"),
            )
        return Side(dat_file.read(path))
    try:
        text = read_bounded(path, MOST_RESULT_BYTES)
    except OSError as error:
        hint = say(
            "give a .dat file, a run directory such as _output/torr/latest or its result.json, or"
            " the id of a stored run"
        )
        raise UsageError(
            say("{path} cannot be read: {error}", path=path, error=error.strerror or error), hint
        ) from error
    return of_result(decoded(text, str(path)), replace(reference, run=str(path)))


def _reference(path: Path) -> RunReference:
    """Return the path and its selection behind a colon; a file may have a colon in its name."""
    name, colon, selection = str(path).rpartition(":")
    if not colon or path.exists() or not Path(name).exists():
        return RunReference(str(path))
    return RunReference.of(name, selection)
