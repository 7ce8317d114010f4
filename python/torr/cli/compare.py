"""`torr compare`: is B really faster than A? Servers under comparison, from a matrix file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from torr.cli import options
from torr.cli.command import Verb
from torr.cli.live_options import live
from torr.cli.options import LOAD, RESULT, flag
from torr.errors import UsageError, require
from torr.options import readers

if TYPE_CHECKING:
    from torr.cli.matrix import Plans
    from torr.experiments.matrix import Matrix
    from torr.sources.matrix_file import MatrixFile

EXAMPLES = (
    "torr compare --plan matrix.toml",
    "torr compare matrix.toml --rounds 20",
    "torr compare matrix.toml --rounds 1 --pin off",
)


@click.command(cls=Verb, examples=EXAMPLES)
@click.argument("matrix", metavar="MATRIX", type=click.Path(path_type=Path))
@flag("--plan", is_flag=True, group=LOAD, help="say what would be measured and how long it takes")
@flag("--rounds", type=readers.COUNT, group=LOAD, help="trials of each candidate in a cell [10]")
@flag(
    "--until",
    type=click.Choice(["settled"]),
    metavar="settled",
    group=LOAD,
    help="10 rounds, then 20 and 40 where no word was found",
)
@options.duration
@flag(
    "--warmup", type=readers.DURATION, group=LOAD, help="load before each window, kept apart [2s]"
)
@flag("--seed", type=readers.SEED, default=1, group=LOAD, help="of the order of candidates [1]")
@flag(
    "--pin",
    type=readers.PIN,
    default="auto",
    group=LOAD,
    help="cores: generator/target as 0/1-3, or off [auto: apart]",
)
@flag("--resume", type=readers.FOLDER, group=RESULT, help="go on with the run in this directory")
@options.name
@options.folder
@options.output
@options.quiet
@options.lang
@options.junit
@live
@options.allowing_slos
@flag(
    "--strict",
    is_flag=True,
    group=RESULT,
    rare=True,
    help="exit 3 if a trial failed, 4 if the generator was the limit",
)
@options.profile_servers
@options.keeping
def compare(matrix: Path, **flags: Any) -> None:  # noqa: ANN401
    """Compare servers: start, check, fire at and stop each, in rounds, and judge."""
    from torr.cli.matrix import Plans
    from torr.experiments.pinning import pin_of
    from torr.planning.profile import profiles_of
    from torr.sources.matrix_file import read_matrix_file

    is_url = str(matrix).startswith(("http:", "https:", "unix:"))
    hint = "servers that run already: torr run for each, then torr diff"
    require(not is_url, "compare takes a matrix file, which says how to start servers", hint)
    file = read_matrix_file(matrix)
    pin = pin_of(flags["pin"])
    # Nobody else is on the generator's cores.
    workers = {} if pin is None else {"workers": str(len(pin.generator))}
    plans = Plans(file, {key: flags[key] for key in ("duration", "warmup")}, workers)
    if click.get_current_context().get_parameter_source("name") is ParameterSource.DEFAULT:
        flags["name"] = file.name or flags["name"]
    flags |= {
        "note": flags["note"] or file.note,
        "tag": flags["tag"] or file.tags,
        "no_store": flags["no_store"] or not file.is_stored,
    }
    asked = matrix_of(file, plans, flags)
    profiles = profiles_of(asked, flags)
    if flags["plan"]:
        from torr.cli.matrix_plan import show_plan

        show_plan(file, asked, pin, profiles)
        return
    from torr.cli.comparing import conduct

    conduct(file, asked, plans, {**flags, "pin": pin, "profiles": profiles})


def matrix_of(file: MatrixFile, plans: Plans, flags: dict[str, Any]) -> Matrix:
    """The matrix that file and flags say; every load in it can be fired."""
    from torr.experiments.matrix import Matrix
    from torr.stats.comparison import Procedure
    from torr.stats.judgement import ALPHA
    from torr.stats.looks import ALPHA_OF_A_LOOK, LOOKS

    if flags["until"] and flags["rounds"]:
        raise UsageError("--until and --rounds are both given", "leave one out")
    stages = LOOKS if flags["until"] else (flags["rounds"] or file.rounds,)
    matrix = Matrix(
        candidates=file.candidates,
        cells=file.cells(),
        stages=stages,
        plan_of=plans.of,
        seed=flags["seed"],
        baseline=file.baseline,
        procedure=Procedure(
            primary=file.primary,
            rule=file.discard_if,
            alpha=ALPHA_OF_A_LOOK if flags["until"] else ALPHA,
        ),
    )
    for candidate in file.candidates:
        for factors in matrix.cells:
            values = {"port": 1, "scratch": "/", "processes": 1, **factors}
            plans.of(candidate, factors, candidate.command.filled(values).url)
    return matrix
