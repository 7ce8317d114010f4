"""`torr diff`: two runs side by side, with verdicts where there are trials of both."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from torr.cli.command import Verb
from torr.cli.flags import flags_of
from torr.options.verbs import DIFF

if TYPE_CHECKING:
    from pathlib import Path

    from torr.results.result import RunResult

EXAMPLES = (
    "torr diff _output/torr/before.dat _output/torr/after.dat",
    "torr diff _output/torr/before-20260131-120000 _output/torr/latest",
    "torr diff 12 15",
    "torr diff --baseline main --fail-if 'ok/s < -5%'",
)


@click.command(cls=Verb, examples=EXAMPLES)
@click.argument("sides", nargs=-1, metavar="A B")
@flags_of(DIFF)
def diff(sides: tuple[str, ...], **flags: Any) -> None:  # noqa: ANN401
    """Set run B beside A: directories, kept runs, candidates (RUN:NAME), .dat files."""
    from msgspec.structs import replace

    from torr.cli.conclude import draw, is_text, print_paths, show_result, write_junit
    from torr.cli.finish import Steps, finish
    from torr.cli.gate import gate
    from torr.cli.keeping import registered
    from torr.cli.sides import sides_of
    from torr.model.label import labels_of
    from torr.model.secrets import redacted_command
    from torr.report.tables.sides import set_beside
    from torr.results.result import Conclusions
    from torr.store.environment import environment
    from torr.store.rundir import RunDirectory

    a, b = sides_of(sides, flags["baseline"], flags["folder"])
    found = set_beside(a, b, flags["fail_if"])
    head = {
        "kind": "diff",
        "command": ["torr", *redacted_command(sys.argv[1:])],
        "plan": None,
        **labels_of(flags["note"], flags["tag"]),
        "experiment": {"allow_not_shown": flags["allow_not_shown"]},
        "environment": environment(),
    }
    with RunDirectory.create(flags["folder"], found.name, head) as directory:

        def judge() -> RunResult:
            directory.profiles = found.profiles
            conclusions = Conclusions(
                series=found.series, verdicts=found.verdicts, fail_if=found.fail_if
            )
            directory.close("complete", conclusions)
            return replace(found, **directory.head)

        def show(result: RunResult, plots: list[Path], run: int | None) -> None:
            show_result(result, directory, flags)
            if is_text(flags):
                print_paths(directory, (), run)
                click.echo("\n".join(f"plot    {click.format_filename(name)}" for name in plots))

        finish(
            Steps(
                judge=judge,
                write_junit=lambda result: write_junit(result, flags),
                draw=lambda result: draw(result, directory, flags["language"]),
                register=lambda: registered(directory, is_asked=not flags["no_store"]),
                show=show,
                end=lambda result: gate(result, flags),
            )
        )
