"""How a light child process starts: a Python that imports nothing but the compiled engine.

Knows no load and no target: whoever starts a child says which call of the engine is its life.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

# Without site, so that nothing that is installed is looked at; the package is found by its folder.
CODE = "import sys; sys.path.insert(0, sys.argv[1]); from torr import _engine; _engine.{call}"


def command(call: Literal["fire", "listen"], *words: str) -> list[str]:
    """The words that start a child which calls `call` of the compiled engine with `words`."""
    taken = ", ".join(f"sys.argv[{number}]" for number in range(2, 2 + len(words)))
    code = CODE.format(call=f"{call}({taken})")
    folder = str(Path(__file__).resolve().parents[1])
    return [sys.executable, "-I", "-S", "-c", code, folder, *words]
