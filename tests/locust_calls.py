"""How tests call `torr locust`, and what they see of it from outside."""

from __future__ import annotations

from pathlib import Path

FILES = Path(__file__).parent / "locust_run"


def command(name, target, *arguments):
    """The arguments of a test of a locustfile there, without a page."""
    file = FILES / f"{name}.py"
    return ["locust", "-f", file, "--headless", "-H", target.url, *arguments]


def slices_of(folder):
    """How many slices were kept there so far."""
    return sum(len(path.read_bytes().splitlines()) for path in folder.rglob("slices.jsonl"))
