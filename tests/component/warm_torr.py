"""A process that has imported the modules of `torr`, and forks one `torr` per request.

    stdin: {"folder", "arguments", "environment", "out", "err"} ─ fork ─ torr ─ stdout: exit code

With {"parent"}, the process of this number becomes the parent of the `torr`, and the response is
the number of that. Imports are most of the processor time of a short load.
"""

from __future__ import annotations

import gc
import json
import os
import posix
import sys
import time
from contextlib import chdir, redirect_stderr, redirect_stdout
from importlib import import_module
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NoReturn
from unittest.mock import patch

from doubles import FakeEngine
from installed import TORR
from torr.cli.main import VERBS, main, torr
from torr.report.figures import theme
from warm_process import leave

if TYPE_CHECKING:
    from collections.abc import Callable

# Not the verb `locust`: importing Locust changes the whole process.
IMPORTED = (
    *(place.partition(":")[0] for place, _ in VERBS.values() if ".locust:" not in place),
    *("torr.cli.finish", "torr.cli.measure", "torr.finishing.pipeline", "torr.planning.plan"),
    *("torr.cli.terminal", "torr.experiments.context", "torr.experiments.run", "torr.engine"),
    *(
        "torr.monitor.monitor",
        "torr.report.files.html",
        "torr.report.files.markdown",
        "torr.report.files.csv",
    ),
    *(
        "torr.report.figures.ladder_figure",
        "torr.report.figures.comparison_figure",
        "torr.report.figures.diff_figure",
    ),
    *("torr.store.runs.registration", "torr.store.runs.store", "torr.store.environment"),
    *("torr.verdicts.capacity", "scipy.optimize", "matplotlib.backends.backend_agg"),
)


def serve(end: Callable[[int], NoReturn] = leave) -> None:
    """Import modules, and answer requests until stdin ends; a command calls `end` at its end."""
    for name in IMPORTED:
        import_module(name)
    theme.DPI = 50  # fewer pixels: to compute these takes longer than all else of a report
    rehearse()
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        request = json.loads(line)
        parent = request.pop("parent", None)
        child = posix.fork()
        if child == 0:
            if parent:
                leave_to(parent)
            end(call(**request, is_left=bool(parent)))
        _, status = os.waitpid(child, 0)
        if not parent:
            answer(os.waitstatus_to_exitcode(status))


def leave_to(parent: int) -> None:
    """Go on in a child process, after another process has become its parent."""
    if posix.fork():
        os._exit(0)
    while os.getppid() != parent:
        time.sleep(0.0005)


def answer(number: int) -> None:
    """Write a response."""
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


def rehearse() -> None:
    """Let a double of the engine measure, so that what is made at first use is made here.

    That is half of the processor time of a short load: the decoders of results, the parts of the
    command line, modules that a load imports at its end.
    """
    engine = FakeEngine()
    with (
        TemporaryDirectory() as folder,
        chdir(folder),
        redirect_stdout(StringIO()),
        redirect_stderr(StringIO()),
        patch("torr.engine.start", engine.start),
        patch.dict(os.environ, TORR_STORE="none"),
    ):
        for arguments in (("run",), ("ladder", "--levels", "1,2")):
            torr.main([*arguments, "http://127.0.0.1:9/"], "torr", standalone_mode=False)


def call(
    folder: str,
    arguments: list[str],
    environment: dict[str, str],
    out: str,
    err: str,
    *,
    is_left: bool,
) -> int:
    """Run `torr` with these arguments in a folder; return its exit code."""
    os.environ.clear()
    os.environ.update(environment)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    opened = [(0, os.open(os.devnull, os.O_RDONLY))]
    opened += [(stream, os.open(path, flags)) for stream, path in ((1, out), (2, err))]
    if is_left:
        answer(os.getpid())
    for stream, file in opened:
        os.dup2(file, stream)
        os.close(file)
    # Those of before take a pipe for a file, in which one may seek.
    by_line = 1 if "PYTHONUNBUFFERED" in environment else -1
    sys.stdout = os.fdopen(1, "w", by_line, encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)
    os.chdir(folder)
    Path("/proc/self/comm").write_text("torr", encoding="ascii")
    sys.argv = [str(TORR), *arguments]
    try:
        main()
    except SystemExit as ended:
        return ended.code


if __name__ == "__main__":
    # A command ends before a search for cycles could pay, and would count frozen objects first.
    gc.disable()
    serve()
