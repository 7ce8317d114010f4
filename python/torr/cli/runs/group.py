"""`torr runs`: the table of its commands."""

from __future__ import annotations

import click

from torr.cli.command import Verbs

VERBS = {
    "list": ("torr.cli.runs.listing:listing", "the newest kept runs, or those that you mean"),
    "show": ("torr.cli.runs.showing:show", "print what a run said"),
    "open": ("torr.cli.runs.opening:open_page", "open the page of a run in a browser"),
    "tag": ("torr.cli.runs.tagging:tag", "give runs tags and a note, or take them away"),
    "rm": ("torr.cli.runs.removing:remove", "forget runs; their files stay"),
    "export": ("torr.cli.runs.exporting:export", "write runs as directories again"),
    "import": (
        "torr.cli.runs.importing:import_files",
        "keep a run's directory, or pytest-benchmark's file",
    ),
    "ledger": ("torr.cli.runs.ledger:ledger", "the runs of a name in order: what each changed"),
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
    """Find, read and compare the runs that torr has kept (TORR_STORE says where)."""
