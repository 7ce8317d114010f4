"""Matrices of `torr compare` whose truth is known: written, run as a user would, and read."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from torr.results.result import RunResult, decoded
from truth.firing import TORR, fired, pinned

if TYPE_CHECKING:
    from torr.results.verdict import Verdict

SERVER = Path(__file__).with_name("working.py")
_PATIENCE_S = 3600
_LOOKS = 5


def compared(candidates: dict[str, int], rounds: int, seconds: float, *words: str) -> RunResult:
    """The result of comparing servers by how often each turns for a response; the first is base."""
    return compared_in(_toml(candidates, rounds, seconds), *words)


def compared_in(text: str, *words: str) -> RunResult:
    """The result of the comparison that a matrix file describes."""
    with tempfile.TemporaryDirectory(prefix="torr-truth-") as folder:
        matrix = Path(folder) / "matrix.toml"
        matrix.write_text(text)
        command = [TORR, "compare", str(matrix), "-d", folder, "-o", "json", "-q", *words]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_PATIENCE_S, check=False
        )
    if not done.stdout:
        raise RuntimeError(done.stderr)
    return decoded(done.stdout.encode(), "what torr compare printed")


def _toml(candidates: dict[str, int], rounds: int, seconds: float) -> str:
    head = (
        f'name = "known"\nbaseline = "{next(iter(candidates))}"\nrounds = {rounds}\n'
        f'duration = "{round(seconds * 1000)}ms"\nwarmup = "300ms"\nconnections = 8\n'
        'url = "http://127.0.0.1:{port}/"\nexpect = { status = 200, body = "done" }\n'
    )
    return head + "".join(
        f'[[candidates]]\nname = "{name}"\n'
        f"command = {json.dumps([sys.executable, str(SERVER), '{port}', str(turns)])}\n"
        for name, turns in candidates.items()
    )


def verdict(result: RunResult, metric: str = "ok_per_s") -> Verdict:
    """What was found of the one candidate that is not the baseline."""
    return next(one for one in result.verdicts if one.metric == metric)


def slower_by(share: float, turns: int) -> int:
    """How many turns take that share more of a request than `turns` do, by measuring near there.

    A request costs more than its turns, and what it costs besides depends on how busy the server
    is: t(more) = t(turns) + (more - turns)·slope, the slope from `turns` to half as many again.
    Both are medians of looks that alternate, since a machine's speed drifts.
    """
    beyond = turns // 2
    pairs = [(_request_s(turns), _request_s(turns + beyond)) for _ in range(_LOOKS)]
    here_s, there_s = (median(times) for times in zip(*pairs, strict=True))
    more: int = round(share * here_s * beyond / (there_s - here_s))
    return turns + more


def _request_s(turns: int) -> float:
    with serving(turns) as url:
        return 1 / float(fired(url, "-c", "8", "-z", "2s")["ok_per_s"])


@contextmanager
def serving(turns: int) -> Iterator[str]:
    """A server of its own on the second core; its URL."""
    port = free_port()
    process = pinned([sys.executable, str(SERVER), str(port), str(turns)], "1")
    try:
        answer_s(port)
        yield f"http://127.0.0.1:{port}/"
    finally:
        process.kill()
        process.communicate(timeout=20)


def answer_s(port: int, patience_s: float = 20.0) -> float:
    """Waits until somebody answers on a port; seconds."""
    began = time.monotonic()
    while time.monotonic() - began < patience_s:
        with socket.socket() as talk:
            if talk.connect_ex(("127.0.0.1", port)) == 0:
                talk.sendall(b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
                talk.recv(1)
                return time.monotonic() - began
        time.sleep(0.005)
    message = f"nobody answers on port {port}"
    raise RuntimeError(message)


def free_port() -> int:
    """A port that nobody had a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
