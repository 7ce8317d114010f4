"""Commands of light child processes: Pythons that import only what they need.

Knows no load, target or server: whoever starts a child says which call is its life.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

# Without site, so that nothing that is installed is looked at; the package is found by its folder.
CODE = "import sys; sys.path.insert(0, sys.argv[1]); {life}"


def command(call: Literal["fire", "listen"], *words: str) -> list[str]:
    """Return the command of a child that calls `call` of the compiled engine with `words`."""
    taken = ", ".join(f"sys.argv[{number}]" for number in range(2, 2 + len(words)))
    return light(f"from torr import _engine; _engine.{call}({taken})", *words)


def light(life: str, *words: str) -> list[str]:
    """Return the command of a Python with torr's package and the standard library only.

    `life` is its code, `words` are its arguments from the second on.
    """
    folder = str(Path(__file__).resolve().parents[1])
    return [sys.executable, "-I", "-S", "-c", CODE.format(life=life), folder, *words]
