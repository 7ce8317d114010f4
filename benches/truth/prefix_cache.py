"""What `torr compare` says of a prefix cache of llama.cpp, and of the same server twice.

llama.cpp's own server runs a model of random weights. All prompts have the same beginning, which a
server with a cache computes once. Its difference is certain, and its times are those of a model.
"""

from __future__ import annotations

import json
import statistics
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from truth.matrices import compared_in, verdict
from truth.row import Round, Value

if TYPE_CHECKING:
    from torr.results.result import RunResult

BAR = "ttft mean: with a cache faster in 3 of 3 matrices of 6 rounds; same server twice: ≤ 1 of 3"

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / "build/llama-cpp/bin/python"
SERVER = ROOT / "tests/full/llama_cpp/servers/server.py"

_MATRICES, _QUICK_MATRICES = 3, 1
_ROUNDS = 6
_METRIC = "ttft_ms.mean"
_HEAD = f"""name = "prefix-cache"
primary = "ttft mean"
rounds = {_ROUNDS}
warmup = "1s"
connections = 2
chat = "openai"
model = "any"
server = "llamacpp"
prompt_tokens = "10..20"
prefix_tokens = 400
prefix_groups = 1
output_tokens = 8
url = "http://127.0.0.1:{{port}}"
"""


def measure(seconds: int) -> Round:
    """Compare servers with trials of so many seconds, at most three."""
    if not PYTHON.exists():
        return Round({}, {"left out": f"no {PYTHON.relative_to(ROOT)}: make build/llama-cpp/.pins"})
    count = _MATRICES if seconds >= 10 else _QUICK_MATRICES
    trial_s = min(seconds, 3)
    cached = [_compared(trial_s, is_cached=True) for _ in range(count)]
    same = [_compared(trial_s, is_cached=False) for _ in range(count)]
    faster = sum(verdict(one, _METRIC).word == "better" for one in cached)
    different = sum(verdict(one, _METRIC).word in ("better", "worse") for one in same)
    ratios = [verdict(one, _METRIC).ratio or 0.0 for one in cached]
    return Round(
        {
            f"faster of {count}": Value(faster, count, 0),
            f"different of {count} of the same": Value(different, 0, 1 if count > 1 else 0),
        },
        {
            "ttft with/without": round(statistics.median(ratios), 3),
            "words": _words(cached),
            "words of the same": _words(same),
            "failed trials": sum(len(one.failures) for one in (*cached, *same)),
        },
    )


def _words(results: list[RunResult]) -> str:
    counted = Counter(verdict(one, _METRIC).word for one in results)
    return " ".join(f"{number} {word}" for word, number in counted.items())


def _compared(seconds: int, *, is_cached: bool) -> RunResult:
    """Return the comparison of a server without a cache with another one."""
    other = () if is_cached else ("--cache", "off")
    candidates = _candidate("base", "--cache", "off") + _candidate("other", *other)
    head = f'{_HEAD}baseline = "base"\nduration = "{seconds}s"\n'
    return compared_in(head + candidates)


def _candidate(name: str, *words: str) -> str:
    # A smaller model computes a prompt faster than it finds it in the cache.
    places = ("{port}", "{scratch}", "--slots", "2", "--context", "8192", "--width", "256")
    command = [str(PYTHON), str(SERVER), *places, *words]
    return f'[[candidates]]\nname = "{name}"\ncommand = {json.dumps(command)}\n'
