"""Commands of minimal Python child processes, which import torr's package and the standard library.

The caller chooses the code or the function of the engine that the child runs.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

# Without site, so that no installed package is searched; torr's package is found by its folder.
CODE = "import sys; sys.path.insert(0, sys.argv[1]); {code}"


def command(function: Literal["fire", "listen"], *arguments: str) -> list[str]:
    """Return the command of a child that calls a function of the compiled engine."""
    parameters = ", ".join(f"sys.argv[{number}]" for number in range(2, 2 + len(arguments)))
    return minimal_python(f"from torr import _engine; _engine.{function}({parameters})", *arguments)


def minimal_python(code: str, *arguments: str) -> list[str]:
    """Return the command of a Python that runs some code; its arguments start at `sys.argv[2]`."""
    folder = str(Path(__file__).resolve().parents[1])
    return [sys.executable, "-I", "-S", "-c", CODE.format(code=code), folder, *arguments]
