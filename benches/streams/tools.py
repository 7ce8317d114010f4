"""The tools that read streams, each started on the first core as its users start it."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
TORR = Path(sys.executable).with_name("torr")
VENVS = ROOT / "build/tools/python"


@dataclass(frozen=True)
class Shot:
    """What a tool said of a load, and what it took: times in ms, processor time in s."""

    texts: int
    streams: int
    failed: int
    ttft_mean: float | None
    ttft_p99: float | None
    cpu_s: float


Tool = Callable[[str, int, int], Shot]


def torr(url: str, users: int, seconds: int, *more: str) -> Shot:
    """One worker of torr's own."""
    with tempfile.TemporaryDirectory() as place:
        words = ["run", "--chat", "openai", "--model", "m", "--prompt", "hi", "-c", str(users)]
        more = ("--warmup", "0s", "--workers", "1", "-z", f"{seconds}s", "-d", place, *more)
        output, cpu_s = _run([str(TORR), *words, *more, "-o", "json", url])
    level = json.loads(output)["levels"][0]
    counts, stream = level["counts"], level["stream"]
    ttft = stream["ttft_ms"] or {}
    failed = sum(counts["errors"].values())
    texts = stream["events"].get("text", 0)
    return Shot(texts, counts["ok"], failed, ttft.get("mean"), ttft.get("p99"), cpu_s)


def locust(client: str) -> Tool:
    """Locust with one of its clients."""

    def fire(url: str, users: int, seconds: int) -> Shot:
        with tempfile.TemporaryDirectory() as place:
            seen = Path(place) / "seen.json"
            words = ["-f", str(HERE / "foreign/locustfile.py"), "--headless", "-u", str(users)]
            more = ["-r", str(users), "-t", f"{seconds}s", "-H", url, "--only-summary"]
            command = [str(VENVS / "locust/bin/locust"), *words, *more]
            _, cpu_s = _run(command, CLIENT=client, SEEN=str(seen))
            found = json.loads(seen.read_text())
        first = sorted(found["first"])
        mean = sum(first) / len(first) if first else None
        p99 = first[int(0.99 * len(first))] if len(first) >= 1000 else None
        return Shot(found["texts"], found["streams"], 0, mean, p99, cpu_s)

    return fire


def aiperf(url: str, users: int, seconds: int) -> Shot:
    """AIPerf, with a tokenizer that was trained here: it asks nobody else's server for one."""
    venv = VENVS / "aiperf"
    with tempfile.TemporaryDirectory() as place:
        words = [str(venv / "bin/python"), str(HERE / "foreign/tokenizer.py"), f"{place}/tokenizer"]
        subprocess.run(words, check=True, capture_output=True)
        load = ["--concurrency", str(users), "--benchmark-duration", str(seconds)]
        what = ["--model", "m", "--url", url, "--endpoint-type", "chat", "--streaming"]
        quiet = ["--ui", "none", "--artifact-dir", f"{place}/out"]
        size = ["--isl", "10", "--tokenizer", f"{place}/tokenizer"]
        command = [str(venv / "bin/aiperf"), "profile", *what, *load, *size, *quiet]
        _, cpu_s = _run(command)
        found: dict[str, Any] = json.loads(
            (Path(place) / "out/profile_export_aiperf.json").read_text()
        )
    ttft = found["time_to_first_token"]
    streams = int(found["request_count"]["avg"])
    return Shot(0, streams, 0, ttft["avg"], ttft["p99"], cpu_s)


TOOLS: dict[str, Tool] = {
    "torr": torr,
    "Locust FastHttpUser": locust("fast"),
    "Locust HttpUser": locust("requests"),
    "AIPerf": aiperf,
}


def left_out() -> dict[str, str]:
    """Tools that are not there, and why."""
    reasons = {}
    for name, place in (("Locust FastHttpUser", "locust"), ("Locust HttpUser", "locust")):
        if not (VENVS / place / "bin/locust").exists():
            reasons[name] = f"not in {(VENVS / place).relative_to(ROOT)}"
    if not (VENVS / "aiperf/bin/aiperf").exists():
        reasons["AIPerf"] = f"not in {(VENVS / 'aiperf').relative_to(ROOT)}"
    return reasons


def _run(command: Sequence[str], **environment: str) -> tuple[str, float]:
    """What a command wrote, and the processor time of it and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run(
        ["taskset", "-c", "0", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, **environment},
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)
    return ended.stdout, cpu_s
