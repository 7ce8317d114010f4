"""A tokenizer that is trained here, in a cache of Hugging Face, so that tools need no network."""

from __future__ import annotations

import subprocess
from pathlib import Path

NAME = "bench/tokenizer"

_REVISION = "0" * 40
_PROGRAM = Path(__file__).parent / "foreign/tokenizer.py"


def offline(cache: Path, python: Path) -> dict[str, str]:
    """Return the environment in which a tool finds the tokenizer, trained by a Python that can.

    A tool that is given a path instead may look for a model of that name.
    """
    model = cache / "hub" / f"models--{NAME.replace('/', '--')}"
    snapshot = model / "snapshots" / _REVISION
    snapshot.mkdir(parents=True)
    (model / "refs").mkdir()
    (model / "refs" / "main").write_text(_REVISION)
    subprocess.run([str(python), str(_PROGRAM), str(snapshot)], check=True, capture_output=True)
    return {"HF_HOME": str(cache), "HF_HUB_OFFLINE": "1"}
