"""Install other tools, give each the recorded streams, and write what their own code says of them.

`PYTHONPATH=scripts python -m other_tools` writes crates/engine/tests/other_tools.json, with which
a test of the engine compares torr. It installs into build/other-tools, and needs a network and
500 MB.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any
from venv import EnvBuilder

from other_tools.recorded import STREAMS

ROOT = Path(__file__).parents[2]
PLACE = ROOT / "build" / "other-tools"
PYTHON = PLACE / "venv" / "bin" / "python"
FILE = ROOT / "crates" / "engine" / "tests" / "other_tools.json"

# By their names in `--alias`.
VERSIONS = {
    "vllm": "0.33.0",
    "aiperf": "0.13.0",
    "sglang": "0.5.23",
    "guidellm": "0.8.1",
    "inference-perf": "0.7.0",
}
# Of these, a part is read from the wheel, since the whole package needs much more.
FROM_WHEEL = ("vllm", "sglang")
# What the parts need that measure; `stubs.py` has what they only import.
NEEDED = [
    "aiofiles",
    "aiohttp",
    "click",
    "culsans",
    "cyclopts",
    "eval_type_backport",
    "faker",
    "filelock",
    "ftfy",
    "httpx[http2]",
    "jinja2",
    "jmespath",
    "loguru",
    "more-itertools",
    "msgpack",
    "msgspec",
    "numpy",
    "orjson",
    "prometheus-client",
    "protobuf",
    "psutil",
    "pydantic",
    "pydantic-settings",
    "python-dateutil",
    "pyyaml",
    "pyzmq",
    "regex",
    "requests",
    "rich",
    "ruamel.yaml",
    "setproctitle",
    "tabulate",
    "tqdm",
    "uvloop",
    "zstandard",
]


def pip(*arguments: str) -> None:
    """Run pip in the environment of the tools."""
    command = (PYTHON, "-m", "pip", "--disable-pip-version-check", "-q", *arguments)
    subprocess.run(command, check=True)


def wheel_of(tool: str) -> Path:
    """Return the wheel of a tool, which is downloaded if it is not there."""
    pattern = f"{tool.replace('-', '_')}-{VERSIONS[tool]}-*.whl"
    if not list(PLACE.glob(pattern)):
        # inference-perf asks for a newer Python than its metrics need.
        newer = ("--python-version", "3.13", "--only-binary=:all:")
        asked = newer if tool == "inference-perf" else ()
        pip("download", "--no-deps", "-d", str(PLACE), *asked, f"{tool}=={VERSIONS[tool]}")
    return next(PLACE.glob(pattern))


def install() -> None:
    """Install what is not there yet."""
    if not PYTHON.exists():
        EnvBuilder(with_pip=True).create(PLACE / "venv")
        pip("install", *NEEDED)
    for tool in VERSIONS:
        wheel = wheel_of(tool)
        if tool not in FROM_WHEEL:
            pip("install", "--no-deps", "--ignore-requires-python", str(wheel))


def values_of(tool: str) -> dict[str, Any]:
    """Return what a tool says, measured by a process of its own."""
    command = (PYTHON, "-m", "other_tools", tool, str(wheel_of(tool)))
    environment = os.environ | {"PYTHONPATH": str(ROOT / "scripts")}
    ended = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment)
    values: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return values


def measure(tool: str, wheel: str) -> None:
    """Print what a tool says of each stream, to the nanosecond."""
    of_tool = import_module(f"other_tools.of_{tool.replace('-', '_')}")
    values = of_tool.measure(wheel, STREAMS)
    rounded = {
        stream: {
            name: [round(value, 6) for value in listed] for name, listed in sorted(metrics.items())
        }
        for stream, metrics in values.items()
    }
    print(json.dumps(rounded))


def write() -> None:
    """Write the streams, and what all tools say of them."""
    install()
    tools = {
        tool: {"version": version, "values": values_of(tool)} for tool, version in VERSIONS.items()
    }
    streams = {name: asdict(stream) for name, stream in STREAMS.items()}
    text = json.dumps({"streams": streams, "tools": tools}, indent=1)
    FILE.write_text(text + "\n", encoding="utf-8")
    print(f"written: {FILE.relative_to(ROOT)}")


if len(sys.argv) > 1:
    measure(*sys.argv[1:])
else:
    write()
