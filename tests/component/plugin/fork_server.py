"""A process that has imported what torr's plugin needs, and forks one pytest per request.

    stdin: {"folder", "arguments", "environment", "output"} ─ fork ─ pytest ─ stdout: exit code

Imports are nearly all of the processor time of a pytest that measures a few functions. torr.plugin
is not imported here: pytest imports plugins itself, since it rewrites their assertions.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from importlib import import_module

import pytest

from warm_process import leave

MEASURING_MODULES = (
    *("torr.cli.columns", "torr.verdicts.budget", "torr.micro.comparing", "torr.micro.leaking"),
    *("torr.micro.machine", "torr.micro.stressing", "torr.report.tables.flame_table"),
    *(
        "torr.report.tables.function_tables",
        "torr.report.tables.profiled_line_table",
        "torr.store.rundir",
    ),
)
STORE_MODULES = ("torr.store.environment", "torr.store.runs.registration", "torr.store.runs.store")
MODULES_OF_OPTIONS = {
    "--torr-save": ("torr.report.files.html", *STORE_MODULES),
    "--torr-compare": ("scipy.stats", *STORE_MODULES),
}


def main() -> None:
    """Answer requests until stdin ends."""
    for line in sys.stdin:
        request = json.loads(line)
        warm_up(request["arguments"])
        child = os.fork()
        if child == 0:
            leave(session(**request))
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def warm_up(arguments: list[str]) -> None:
    """Import what a session with these arguments needs, and measure the machine."""
    from torr.micro import machine, overhead

    of_options = (name for word in arguments for name in MODULES_OF_OPTIONS.get(word, ()))
    for name in (*MEASURING_MODULES, *of_options):
        import_module(name)
    overhead.timing_overhead()
    machine.speed()
    gc.collect()
    # Each round of a measurement collects garbage; frozen objects are left out of that.
    gc.freeze()


def session(folder: str, arguments: list[str], environment: dict[str, str], output: str) -> int:
    """Run pytest as `python -m pytest` does, and return its exit code."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    output_file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output_file, 1)
    os.dup2(output_file, 2)
    os.chdir(folder)
    os.environ.update(environment)
    sys.path.insert(0, folder)
    sys.argv = ["pytest", *arguments]
    return int(pytest.main(arguments))


if __name__ == "__main__":
    main()
