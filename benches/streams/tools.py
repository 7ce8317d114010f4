"""The tools that read streams, each started on the first core as its users start it."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streams.aiperf import profile
from streams.process import run

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
        output, cpu_s = run([str(TORR), *words, *more, "-o", "json", url])
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
            environment = {"CLIENT": client, "SEEN": str(seen)}
            # Its status is 1 if a request failed.
            _, cpu_s = run(command, environment=environment, may_fail=True)
            found = json.loads(seen.read_text())
        if not found["texts"]:
            message = f"Locust read no text in {seconds} s"
            raise RuntimeError(message)
        first = sorted(found["first"])
        mean = sum(first) / len(first) if first else None
        p99 = first[int(0.99 * len(first))] if len(first) >= 1000 else None
        return Shot(found["texts"], found["streams"], 0, mean, p99, cpu_s)

    return fire


def aiperf(url: str, users: int, seconds: int) -> Shot:
    """AIPerf with short prompts."""
    load = ("--concurrency", str(users), "--benchmark-duration", str(seconds), "--isl", "10")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        cpu_s = profile(url, place, *load)
        text = (place / "out/profile_export_aiperf.json").read_text()
        found: dict[str, Any] = json.loads(text)
    ttft = found["time_to_first_token"]
    streams = int(found["request_count"]["avg"])
    return Shot(0, streams, 0, ttft["avg"], ttft["p99"], cpu_s)


TOOLS: dict[str, Tool] = {
    "torr": torr,
    "Locust FastHttpUser": locust("fast"),
    "Locust HttpUser": locust("requests"),
    "AIPerf": aiperf,
}


NEEDED = {
    "Locust FastHttpUser": VENVS / "locust/bin/locust",
    "Locust HttpUser": VENVS / "locust/bin/locust",
    "AIPerf": VENVS / "aiperf/bin/aiperf",
    "GuideLLM": VENVS / "guidellm/bin/guidellm",
    "vLLM's client": VENVS / "vllm-client/endpoint_request_func.py",
}
"""The file without which a tool is left out."""


def left_out() -> dict[str, str]:
    """Tools that are not there, and why."""
    return {
        name: f"no {path.relative_to(ROOT)}" for name, path in NEEDED.items() if not path.exists()
    }


def versions() -> dict[str, str]:
    """The versions of the tools that are there."""
    packages = {"Locust": "locust", "AIPerf": "aiperf", "GuideLLM": "guidellm"}
    found = {
        name: path.name.removesuffix(".dist-info").partition("-")[2]
        for name, package in packages.items()
        for path in VENVS.glob(f"{package}/lib/python*/site-packages/{package}-*.dist-info")
    }
    of_vllm = VENVS / "vllm-client/version"
    return found | ({"vLLM's client": of_vllm.read_text().strip()} if of_vllm.exists() else {})
