"""What a type checker and an import see of torr."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import torr

PYTHON = Path(torr.__file__).parents[1]

GOOD = """
import torr
from torr.errors import UsageError

def watch(piece: torr.Interval) -> None:
    print(piece.t_s, piece.ok_per_s, piece.counts.ok)

result = torr.run("http://127.0.0.1:9/", connections=200, duration="10s", warmup=0.5,
                  headers={"x": "1"}, json_body={"n": 1}, keepalive=False, slo=["p95 < 1s"],
                  rate=5000, arrivals="poisson", progress=watch)
p99: float | None = result.latency.service.p99
ok: int = result.counts.ok
rate: float | None = result.success_rate
words: str = result.verdict + result.trust + result.health
passed: bool = result.passed
if result.peak is not None:
    at: int = result.peak.concurrency
for level in torr.ladder("http://127.0.0.1:9/", levels=[1, 2], rounds=3).levels:
    print(level.concurrency, level.latency.response.p95, level.health.verdict)
answer: torr.Answer = torr.once("http://127.0.0.1:9/", body=b"x", timeout=1)
status: int = answer.status
loaded: torr.Result = torr.load("_output/torr/latest")
try:
    torr.run("nowhere")
except UsageError as error:
    print(error.message, error.hint, torr.__version__)
with torr.targets.listening(torr.targets.Hello()) as target:
    print(target.url)
"""

# A line that a checker must refuse, and what it calls the fault.
BAD = {
    'torr.run("u", conections=5)': "call-arg",
    'torr.run("u", connections="five")': "arg-type",
    'torr.run("u", arrivals="sometimes")': "arg-type",
    'torr.ladder("u", rate=5)': "call-arg",
    'torr.run("u").latency.service_ms.p99': "union-attr",
    'torr.run("u").latency.sevice': "attr-defined",
    'torr.run("u", progress=lambda piece: piece.nothing)': "attr-defined",
    "torr.walk()": "attr-defined",
}


def checked(tmp_path, source):
    script = tmp_path / "script.py"
    script.write_text(source)
    command = [sys.executable, "-m", "mypy", "--strict", "--python-version", "3.10"]
    environment = {**os.environ, "MYPYPATH": str(PYTHON)}
    return subprocess.run(
        [*command, "--cache-dir", str(tmp_path / "cache"), script.name],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.full
def test_a_users_script_passes_a_strict_checker_which_finds_mistakes(tmp_path):
    wrong = "\n".join(f"def f{number}() -> None:\n    {line}" for number, line in enumerate(BAD))
    done = checked(tmp_path, GOOD + wrong)
    lines = (GOOD + wrong).splitlines()
    errors = [line for line in done.stdout.splitlines() if ": error: " in line]
    found = {
        lines[int(error.split(":")[1]) - 1].strip(): error.rpartition("[")[2].rstrip("]")
        for error in errors
        if error.startswith("script.py")
    }
    assert found == BAD, done.stdout


def test_the_stub_has_the_names_of_the_package():
    stub = (Path(torr.__file__).parent / "__init__.pyi").read_text()
    for name in torr._DOORS | dict.fromkeys(torr._ROOMS):
        assert f" as {name}\n" in stub or f"def {name}(\n" in stub, name
        assert getattr(torr, name)
        assert name in dir(torr)
    assert (Path(torr.__file__).parent / "py.typed").exists()


def test_a_name_that_torr_has_not_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'torr' has no attribute 'walk'"):
        _ = torr.walk


def test_a_call_loads_nothing_heavy_before_its_load():
    code = textwrap.dedent("""
        import sys, torr
        from torr import engine
        heavy = ("numpy", "scipy", "matplotlib", "rich", "pandas", "sqlalchemy",
                 "click")
        def start(plan):
            print(*[name for name in heavy if name in sys.modules], "loaded")
            raise SystemExit
        engine.start = start
        torr.run("http://127.0.0.1:9/", connections=2)
    """)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(PYTHON), *sys.path])}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment
    )
    assert done.stdout == "loaded\n", done.stderr
