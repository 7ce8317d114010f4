"""Where things lie: torr, the tools installed for the benches, the runs, a scratch folder."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RUNS = Path(__file__).with_name("runs")
SCRIPTS = Path(__file__).with_name("scripts")
TORR = str(Path(sys.executable).with_name("torr"))
EARLIER = os.environ.get("TORR_EARLIER")
"""The `torr` command of an earlier build, if its figures are to be compared."""
BARE = ROOT / "target/release/bare"
BUILT = ROOT / "build/tools"


@cache
def scratch() -> Path:
    """Where runs under measurement leave their files; made when asked for, gone at the end."""
    folder = tempfile.mkdtemp(prefix="torr-versus-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def program(name: str) -> str | None:
    """Return the path of a tool, or None: the pinned one first, then what the machine has."""
    if name == "torr":
        return TORR
    if name == "earlier":
        return EARLIER
    if name == "bare":
        return str(BARE) if BARE.exists() else None
    path = f"{BUILT / 'bin'}:{os.environ.get('PATH', '')}"
    return shutil.which(name, path=path)


def without(text: str) -> str:
    """Return a text without the folders of this machine."""
    text = text.replace(str(scratch()), "SCRATCH")
    return text.replace(f"{BUILT / 'bin'}/", "").replace(f"{ROOT}/", "")


def in_use(command: list[str]) -> str:
    """Return a command as a reader would type it."""
    return without(" ".join([Path(command[0]).name, *command[1:]]))
