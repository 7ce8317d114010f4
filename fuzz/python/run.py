"""Run one target of targets.py under libFuzzer, with libFuzzer's own arguments.

python fuzz/python/run.py TARGET [-runs=N] [CORPUS …]
"""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["torr"]):
    from targets import TARGETS


def main() -> None:
    """Run the target of the command line; libFuzzer ends the process."""
    name = sys.argv.pop(1)
    atheris.Setup(sys.argv, TARGETS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
