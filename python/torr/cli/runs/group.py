"""`torr runs`: the table of its commands."""

from __future__ import annotations

import click

from torr.cli.command import Verbs

VERBS = {
    "list": (
        "torr.cli.runs.listing:listing",
        "list the newest runs of the store, or selected ones",
    ),
    "show": ("torr.cli.runs.showing:show", "print the result of a run"),
    "open": ("torr.cli.runs.opening:open_page", "open the page of a run in a browser"),
    "tag": ("torr.cli.runs.tagging:tag", "add or remove tags of runs, and change notes"),
    "rm": ("torr.cli.runs.removing:remove", "remove runs from the store; their files stay"),
    "export": ("torr.cli.runs.exporting:export", "write runs as directories again"),
    "import": (
        "torr.cli.runs.importing:import_files",
        "add run directories, or files of pytest-benchmark",
    ),
    "ledger": ("torr.cli.runs.ledger:ledger", "list what each run of a name changed"),
}


@click.group(
    cls=Verbs,
    verbs=VERBS,
    examples=(
        "torr runs list --name api --since 7d",
        "torr runs tag 12 baseline",
        "torr diff --baseline baseline 15",
        "torr runs ledger api",
    ),
)
def runs() -> None:
    """Find, read and compare the runs of the store (at TORR_STORE)."""
