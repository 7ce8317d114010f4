"""AIPerf, as its users start it."""

from __future__ import annotations

from pathlib import Path

from streams import tokenizer
from streams.process import run

VENV = Path(__file__).parents[2] / "build/tools/python/aiperf"


def profile(url: str, place: Path, *words: str, timeout_s: float = 300) -> float:
    """Run `aiperf profile`; return its processor time in s. Its results are in `place`/out."""
    what = ("--model", "m", "--url", url, "--endpoint-type", "chat", "--streaming")
    # Else it counts tokens itself, which costs it time.
    counted = ("--use-server-token-count", "--tokenizer", tokenizer.NAME)
    quiet = ("--ui", "none", "--artifact-dir", str(place / "out"))
    command = [str(VENV / "bin/aiperf"), "profile", *what, *counted, *quiet, *words]
    environment = tokenizer.offline(place / "huggingface", VENV / "bin/python")
    return run(command, timeout_s, environment)[1]
