"""`torr compare`: is B really faster than A? Servers under comparison, from a matrix file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from torr.cli.command import Verb
from torr.cli.flags import flags_of
from torr.cli.streams import show_notes
from torr.errors import UsageError, require
from torr.options.compare import CompareOptions
from torr.options.definition import made
from torr.options.verbs import COMPARE

if TYPE_CHECKING:
    from torr.experiments.matrix import Matrix
    from torr.planning.matrix import Plans
    from torr.sources.matrix_file import MatrixFile

EXAMPLES = (
    "torr compare --plan matrix.toml",
    "torr compare matrix.toml --rounds 20",
    "torr compare matrix.toml --rounds 1 --pin off",
)


@click.command(cls=Verb, examples=EXAMPLES)
@click.argument("matrix", metavar="MATRIX", type=click.Path(path_type=Path))
@flags_of(COMPARE)
def compare(matrix: Path, **flags: Any) -> None:  # noqa: ANN401
    """Compare servers: start, check, fire at and stop each, in rounds, and judge."""
    from torr.experiments.pinning import pin_of
    from torr.planning.matrix import Plans
    from torr.planning.profile import profiles_of
    from torr.sources.matrix_file import read_matrix_file

    is_url = str(matrix).startswith(("http:", "https:", "unix:"))
    hint = "servers that run already: torr run for each, then torr diff"
    require(not is_url, "compare takes a matrix file, which says how to start servers", hint)
    file = read_matrix_file(matrix)
    options = _with_file(made(CompareOptions, flags), file)
    pin = pin_of(options.pin)
    # Nobody else is on the generator's cores.
    workers = {} if pin is None else {"workers": len(pin.generator)}
    typed = {"duration_ns": options.duration_ns, "warmup_ns": options.warmup_ns}
    plans = Plans(file, typed, workers)
    asked = matrix_of(file, plans, options)
    show_notes(plans.notes)
    profiles = profiles_of(asked, options)
    if options.plan:
        from torr.cli.matrix_plan import show_plan

        show_plan(file, asked, pin, profiles)
        return
    from torr.cli.comparing import Comparing, conduct

    conduct(Comparing(file, asked, plans.slos(file.candidates[0]), pin, profiles, options))


def _with_file(options: CompareOptions, file: MatrixFile) -> CompareOptions:
    """The options; what the file says holds where nothing was typed."""
    source = click.get_current_context().get_parameter_source("name")
    name = file.name if source is ParameterSource.DEFAULT else None
    return replace(
        options,
        name=name or options.name,
        note=options.note or file.note,
        tag=options.tag or file.tags,
        no_store=options.no_store or not file.is_stored,
    )


def matrix_of(file: MatrixFile, plans: Plans, options: CompareOptions) -> Matrix:
    """The matrix that file and options say; every load in it can be fired."""
    from torr.experiments.matrix import Matrix
    from torr.stats.estimate import ALPHA
    from torr.verdicts.comparison import Procedure
    from torr.verdicts.looks import ALPHA_OF_A_LOOK, LOOKS

    if options.until and options.rounds:
        raise UsageError("--until and --rounds are both given", "leave one out")
    stages = LOOKS if options.until else (options.rounds or file.rounds,)
    matrix = Matrix(
        candidates=file.candidates,
        cells=file.cells(),
        stages=stages,
        plan_of=plans.of,
        seed=options.seed,
        baseline=file.baseline,
        procedure=Procedure(
            primary=file.primary,
            rule=file.discard_if,
            alpha=ALPHA_OF_A_LOOK if options.until else ALPHA,
        ),
    )
    for candidate in file.candidates:
        for factors in matrix.cells:
            values = {"port": 1, "scratch": "/", "processes": 1, **factors}
            plans.of(candidate, factors, candidate.command.filled(values).url)
    return matrix
