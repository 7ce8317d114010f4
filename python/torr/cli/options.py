"""The flags that commands share, defined once: the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from torr.cli.command import Flag
from torr.options import readers

if TYPE_CHECKING:
    from collections.abc import Callable

    Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

LOAD, REQUEST, CONNECTION, RESULT = "Load", "Request", "Connection", "Result"


def flag(*names: str, **settings: Any) -> Decorator:  # noqa: ANN401
    """One option of a group; it shows the name of its type, not click's."""
    kind = settings.get("type")
    if isinstance(kind, readers.Word):
        settings.setdefault("metavar", kind.name)
    return click.option(*names, cls=Flag, **settings)


def together(*decorators: Decorator) -> Decorator:
    """Several options as one decorator, shown in this order."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


urls = click.argument("urls", nargs=-1, type=readers.URL, metavar="URL")

duration = flag(
    "-z",
    "--duration",
    type=readers.SOME_DURATION,
    group=LOAD,
    help="measured window of a level [10s]",
)

pool = flag(
    "--pool", type=readers.COUNT, group=LOAD, rare=True, help="users share N connections [one each]"
)

phases = together(
    flag(
        "--think",
        type=readers.THINK,
        group=LOAD,
        rare=True,
        help="users think after each answer: 1s, 1s-3s, exp:2s",
    ),
    flag(
        "--warmup",
        type=readers.DURATION,
        group=LOAD,
        help="load before the window, kept apart [2s]",
    ),
    flag(
        "--drain",
        type=readers.DURATION,
        group=LOAD,
        rare=True,
        help="wait for open requests at the end [--timeout]",
    ),
    flag(
        "--workers",
        type=readers.WORKERS,
        group=LOAD,
        rare=True,
        help="threads [cores; half for a local target]",
    ),
    flag(
        "--processes",
        type=readers.PROCESSES,
        default="auto",
        group=LOAD,
        rare=True,
        help="share descriptors out; auto: as needed [auto]",
    ),
    flag(
        "--seed",
        type=readers.SEED,
        default=1,
        group=LOAD,
        rare=True,
        help="of everything random [1]",
    ),
)

name = flag(
    "-n",
    "--name",
    default="apiserver",
    metavar="NAME",
    group=RESULT,
    help="names the files [apiserver]",
)

folder = flag(
    "-d",
    "--dir",
    "folder",
    type=readers.FOLDER,
    default=Path("_output/torr"),
    group=RESULT,
    help="output directory [_output/torr]",
)

output = flag(
    "-o",
    "--output",
    type=click.Choice(["text", "json"]),
    default="text",
    metavar="FORMAT",
    group=RESULT,
    help="text, or json: result.json alone on stdout",
)

quiet = flag("-q", "--quiet", is_flag=True, group=RESULT, help="print the verdict only")

lang = flag(
    "--lang",
    "language",
    type=click.Choice(["en", "zh"]),
    envvar="TORR_LANG",
    metavar="LANG",
    group=RESULT,
    rare=True,
    help="say it in en or zh; or TORR_LANG [en]",
)

_JUNIT: dict[str, Any] = {
    "type": readers.NEW_FILE,
    "group": RESULT,
    "help": "write what passed and failed as JUnit XML",
}
junit = flag("--junit", **_JUNIT)
rare_junit = flag("--junit", rare=True, **_JUNIT)

_ALLOWING: dict[str, Any] = {"is_flag": True, "group": RESULT, "rare": True}
allowing_slos = flag(
    "--allow-not-shown", help="pass SLOs that are neither held nor broken", **_ALLOWING
)
allowing_limits = flag(
    "--allow-not-shown", help="pass limits of --fail-if that are not shown", **_ALLOWING
)

judging = together(
    flag(
        "--slo",
        "slos",
        type=readers.CONDITION,
        multiple=True,
        group=RESULT,
        help="must hold (else exit 1), e.g. 'p95 < 500ms'",
    ),
    flag(
        "--abort-on",
        type=readers.CONDITION,
        multiple=True,
        group=RESULT,
        help="end early (exit 1) when it holds: 'errors > 5%'",
    ),
    allowing_slos,
    flag(
        "--strict",
        is_flag=True,
        group=RESULT,
        rare=True,
        help="exit 4 if the generator was the limit",
    ),
)

monitor = flag(
    "--monitor",
    type=readers.WATCHED,
    multiple=True,
    group=RESULT,
    rare=True,
    help="watch a process, a /metrics, a Prometheus (repeatable)",
)

profile = together(
    flag(
        "--profile",
        type=readers.PROFILED,
        group=RESULT,
        rare=True,
        help="then profile a process, memory:PID or Go's pprof",
    ),
    flag(
        "--profile-at",
        type=readers.COUNT,
        group=RESULT,
        rare=True,
        help="with --profile: users [of the best level]",
    ),
)

profile_servers = together(
    flag(
        "--profile",
        type=readers.PROFILED_SERVERS,
        group=RESULT,
        rare=True,
        help="then profile each server: a trial more",
    ),
    flag(
        "--profile-at",
        type=readers.COUNT,
        group=RESULT,
        rare=True,
        help="with --profile: the cells of so many connections [the last]",
    ),
)

keeping = together(
    flag(
        "--note",
        type=readers.NOTE,
        group=RESULT,
        rare=True,
        help="what is special about this run, e.g. 'api 1.2 CPU'",
    ),
    flag(
        "--tag",
        type=readers.TAG,
        multiple=True,
        group=RESULT,
        rare=True,
        help="a word to find it by: torr runs list --tag (repeatable)",
    ),
    flag(
        "--no-store",
        is_flag=True,
        group=RESULT,
        rare=True,
        help="do not register it with the kept runs",
    ),
)

results = together(
    *(name, folder, output, quiet, lang, judging, rare_junit, monitor, profile, keeping)
)
