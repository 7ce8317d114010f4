"""The sides of a diff as people name them: a path, a kept run by its id, or a tag's newest run.

    12                    the kept run 12
    12:gin,processes=4    one candidate of it, at one setting of its factors

What exists as a path is a path.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from torr.errors import UsageError
from torr.store.rundir import LATEST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.verdicts.diff_side import Side

_ID = re.compile(r"(\d{1,9})(?::(.*))?")
_KINDS = ("run", "ladder", "compare", "locust")


def sides_of(given: Sequence[str], baseline: str | None, folder: Path) -> tuple[Side, Side]:
    """Return baseline and candidate; raises UsageError.

    Two that are given, or one beside the tag of the baseline; without that one it is the newest run
    under `folder`. A baseline of another name is said on stderr.
    """
    if baseline is None:
        if len(given) != 2:
            raise UsageError(
                "a diff has two sides", "torr diff A B, or torr diff --baseline TAG [B]"
            )
        return side_of(given[0]), side_of(given[1])
    if len(given) > 1:
        raise UsageError("--baseline and two sides are given", "leave A out")
    after = side_of(given[0]) if given else side_of(str(folder / LATEST))
    before = _tagged(baseline, after.run_name or after.name)
    if before.run is not None and before.run == after.run:
        raise UsageError(
            f"--baseline {baseline}: its newest run is the other side itself",
            "give the baseline's tag to an older run: torr runs tag ID TAG",
        )
    return before, after


def side_of(text: str) -> Side:
    """Return what a word of the command line names."""
    from torr.planning.diff_sides import load
    from torr.verdicts.diff_side import of_result

    found = _ID.fullmatch(text)
    if found is None or Path(text).exists():
        return load(Path(text))
    from torr.store.runs.store import open_store

    with open_store() as store:
        result = store.result(int(found[1]))
    return of_result(result, found[2].split(",") if found[2] else [], Path(found[1]))


def _tagged(text: str, name: str) -> Side:
    """The newest kept run of a name with a tag, or of any name; behind a colon stands a candidate.

    A tag such as `baseline` is given to runs of many names.
    """
    from torr.store.runs.store import Filter, open_store
    from torr.verdicts.diff_side import of_result

    tag, _, asked = text.partition(":")
    wanted = Filter(tags=(tag,), kinds=_KINDS)
    with open_store() as store:
        own = store.find(replace(wanted, name=name), most=1)
        found = own or store.find(wanted, most=1)
        if not found:
            raise UsageError(
                f"--baseline {tag}: no kept run has this tag", f"torr runs tag ID {tag}"
            )
        result = store.result(found[0].id)
    if not own:
        other = f"run {found[0].id} of {found[0].name}"
        click.echo(f"note: --baseline {tag}: no run of {name} has it; it is {other}", err=True)
    return of_result(result, asked.split(",") if asked else [], Path(f"{found[0].id}"))
