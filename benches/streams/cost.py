"""What a text costs a client: processor time of all its processes, by the slope of two loads.

Each tool reads the same load twice: few streams, and many. The difference of the processor times
over the difference of the texts is what a text costs, without the tool's start and its end. A
text's share of its request is in it. The target's log says how many texts there were.
"""

from __future__ import annotations

import statistics
import tempfile
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

from streams import tokenizer, tools
from streams.aiperf import profile
from streams.joined import target_log
from streams.process import run
from streams.shown import Lines, spread, table
from truth.firing import target

BAR = 4.0
"""torr's processor time may be the cheapest other tool's over this."""

CONCURRENCY, TOKENS = 50, 200
_TARGET = ("--tokens", str(TOKENS), "--ttft", "20ms", "--itl", "10ms")
_FEW, _MANY = 100, 800
_PATIENCE_S = 400

Fire = Callable[[str, Path, int], float]
"""Sends so many requests to a URL, with a place for files; returns the processor time in s."""


def torr(url: str, place: Path, requests: int) -> float:
    """One worker of torr."""
    what = ("--chat", "openai", "--model", "m", "--prompt", "hi", "--max-tokens", str(TOKENS))
    how = ("-c", str(CONCURRENCY), "--requests", str(requests), "--warmup", "0s")
    kept = ("--workers", "1", "-q", "-d", str(place))
    return run([str(tools.TORR), "run", *what, *how, *kept, url], _PATIENCE_S)[1]


def aiperf(url: str, place: Path, requests: int) -> float:
    """AIPerf."""
    load = ("--concurrency", str(CONCURRENCY), "--request-count", str(requests))
    return profile(url, place, *load, "--isl", "10", "--osl", str(TOKENS), timeout_s=_PATIENCE_S)


def guidellm(url: str, place: Path, requests: int) -> float:
    """GuideLLM."""
    venv = tools.VENVS / "guidellm"
    words = (
        *("--backend", f"kind=openai_http,target={url},model=m"),
        *("--profile", f"kind=concurrent,streams={CONCURRENCY}"),
        *("--constraint", f"kind=max_requests,count={requests}"),
        *("--data", f"kind=synthetic_text,prompt_tokens=10,output_tokens={TOKENS}"),
        *("--tokenizer", f"kind=hf_auto,model={tokenizer.NAME}"),
        *("--output", f"kind=json,path={place}/benchmarks.json", "--disable-console"),
    )
    environment = tokenizer.offline(place / "huggingface", venv / "bin/python")
    return run([str(venv / "bin/guidellm"), "run", *words], _PATIENCE_S, environment)[1]


def vllm_client(url: str, _place: Path, requests: int) -> float:
    """The client of `vllm bench serve`."""
    python = tools.VENVS / "vllm-client/bin/python"
    program = tools.HERE / "foreign/vllm_client.py"
    words = (str(requests), str(CONCURRENCY), str(TOKENS))
    return run([str(python), str(program), url, *words], _PATIENCE_S)[1]


CLIENTS: dict[str, Fire] = {
    "torr": torr,
    "AIPerf": aiperf,
    "GuideLLM": guidellm,
    "vLLM's client": vllm_client,
}


def per_text(options: Namespace) -> tuple[Lines, bool]:
    """Measure the cost of a text to each tool in turn."""
    few, many = (50, 100) if options.quick else (_FEW, _MANY)
    names = [name for name in CLIENTS if name not in tools.left_out()]
    costs: dict[str, list[float]] = {name: [] for name in names}
    for number in range(options.rounds):
        for name in names if number % 2 == 0 else reversed(names):
            costs[name].append(_slope_us(CLIENTS[name], few, many))
    ratios = {
        name: statistics.median(b / a for a, b in zip(costs["torr"], costs[name], strict=True))
        for name in names
    }
    rows = [(name, *spread(costs[name], ".2f"), format(ratios[name], ".1f")) for name in names]
    title = (
        f"cost: {CONCURRENCY} streams at once of {TOKENS} texts, one every 10 ms "
        f"(bar: the cheapest other tool costs at least {BAR:g} times as much as torr)"
    )
    columns = ("tool", "µs of processor time a text", "lowest … highest", "times torr")
    others = [ratio for name, ratio in ratios.items() if name != "torr"]
    return table(title, columns, rows), not others or min(others) >= BAR


def _slope_us(fire: Fire, few: int, many: int) -> float:
    """Return the processor time of a text in µs."""
    (few_s, few_texts), (many_s, many_texts) = (_fired(fire, count) for count in (few, many))
    return 1e6 * (many_s - few_s) / (many_texts - few_texts)


def _fired(fire: Fire, requests: int) -> tuple[float, int]:
    """Return the processor time of a tool, and how many texts the target sent."""
    with tempfile.TemporaryDirectory(prefix="torr-cost-") as folder:
        place = Path(folder)
        words = ("openai", *_TARGET, "--log", str(place / "truth.csv"))
        with target(*words, seconds=_PATIENCE_S) as (url, _):
            cpu_s = fire(url, place, requests)
        log = target_log(place / "truth.csv")
    if len(log.streams) != requests or log.texts != requests * TOKENS:
        message = f"{requests} requests became {len(log.streams)} streams of {log.texts:,} texts"
        raise RuntimeError(message)
    return cpu_s, log.texts
