"""The runs whose results the golden tests compare: what was measured, and how it is done again."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Case:
    """One run: its command, with `{target}` for the URL of a `torr target` with these words.

    `again` says how the test repeats it from what is recorded:

    - `engine`: the command, with an engine that plays recorded intervals and levels;
    - `resume`: the same command goes on with a comparison that has all of its trials;
    - `kept`: the recorded result is shown, drawn and judged once more;
    - `diff`: the command sets recorded results side by side.
    """

    name: str
    command: tuple[str, ...]
    target: tuple[str, ...] = ("hello",)
    again: str = "engine"
    files: dict[str, str] = field(default_factory=dict)
    interrupt_at: int | None = None
    """The interval of the load at which SIGINT comes."""
    sides: tuple[str, ...] = ()
    """The cases that a diff sets side by side."""


SHORT = ("-z", "1s", "--warmup", "200ms")
LEVEL = ("-z", "500ms", "--warmup", "100ms")
KNEE = ("delay", "--delay", "5ms", "--capacity", "16")
CHAT = ("openai", "--ttft", "20ms", "--itl", "2ms", "--tokens", "20")

ASKED = '{"stream": true, "messages": [{"role": "user", "content": "What is a torr?"}]}'

MIXED = """\
name = "shop"
slo = ["list: p99 < 1s", "success >= 99%"]

[[requests]]
name = "list"
url = "{target}/items"
weight = 3

[[requests]]
name = "buy"
method = "POST"
url = "{target}/buy"
json = {{ n = 1 }}

[[groups]]
name = "readers"
requests = ["list"]
users = 4

[[groups]]
name = "buyers"
requests = ["buy"]
rate = "100"
connections = 4
"""

MATRIX = """\
baseline = "slow"
rounds = 6
duration = "200ms"
warmup = "0s"
connections = 4
url = "http://127.0.0.1:{{port}}/"
slo = ["p50 < 1s"]
{more}
[[candidates]]
name = "slow"
command = ["sh", "-c", "exec torr target delay --delay 8ms --port {{port}} --for 120s"]

[[candidates]]
name = "fast"
command = {fast}
"""
FAST = '["sh", "-c", "exec torr target delay --delay 4ms --port {{port}} --for 120s"]'
BROKEN = '["sh", "-c", "exit 2 # {{port}}"]'


def matrix(more: str = "", fast: str = FAST) -> dict[str, str]:
    """Return the matrix file of a comparison of two targets."""
    return {"matrix.toml": MATRIX.replace("{more}", more).replace("{fast}", fast)}


LOCUSTFILE = """\
from locust import FastHttpUser, constant, task


class Visitor(FastHttpUser):
    wait_time = constant(0.01)

    @task(3)
    def look(self):
        self.client.get("/")

    @task
    def fail(self):
        with self.client.get("/", name="checked", catch_response=True) as response:
            response.failure("not as expected")
"""

FUNCTIONS = """\
import json

import pytest

VALUE = {"a": list(range(50))}


@pytest.mark.budget(ops=">1/s", p99="<1s")
def test_dumps(measure):
    measure(lambda: json.dumps(VALUE))


@pytest.mark.parametrize("count", [10, 100])
def test_join(compare_functions, count):
    words = ["a"] * count
    compare_functions(join=lambda: "".join(words), add=lambda: sum(map(len, words)), n=500)


def test_leak(leaks):
    kept = []
    leaks(lambda: kept.append(bytearray(1000)))
"""

CASES = (
    Case(
        "run", ("run", "-c", "4", *SHORT, "--slo", "p99 < 5s", "--junit", "junit.xml", "{target}/")
    ),
    Case("run_json", ("run", "-c", "2", *SHORT, "-o", "json", "{target}/")),
    Case(
        "run_open_slo_broken",
        ("run", "--rate", "200", *SHORT, "--slo", "p50 < 1us", "--junit", "junit.xml", "{target}/"),
    ),
    Case(
        "run_slo_not_shown",
        ("run", "-c", "1", "--requests", "20", "--slo", "p99 < 1s", "{target}/"),
    ),
    Case(
        "run_faulty",
        ("run", "-c", "4", *SHORT, "--timeout", "300ms", "--slo", "success > 99%", "{target}/"),
        ("faulty", "--fault", "reset_in_body", "--share", "10%"),
    ),
    Case(
        "run_statuses",
        ("run", "-c", "4", *SHORT, "--expect-body", "nothing", "-q", "{target}/"),
    ),
    Case("run_dead", ("run", "-c", "2", *SHORT, "http://127.0.0.1:1/")),
    Case(
        "run_aborted",
        ("run", "-c", "4", "-z", "5s", "--warmup", "0s", "--abort-on", "ok/s > 1", "{target}/"),
    ),
    Case(
        "run_interrupted",
        ("run", "-c", "4", "-z", "5s", "--warmup", "0s", "{target}/"),
        interrupt_at=8,
    ),
    Case(
        "run_limited",
        (
            *("run", "--rate", "1M", "-c", "4", "-z", "500ms", "--warmup", "0s"),
            *("--timeout", "200ms", "--strict", "{target}/"),
        ),
    ),
    Case("run_groups", ("run", "plan.toml", *SHORT), files={"plan.toml": MIXED}),
    Case("run_stages", ("run", "--stages", "500ms:8,500ms:2", "--warmup", "0s", "{target}/")),
    Case(
        "run_chat",
        (
            *(
                "run",
                "--chat",
                "openai",
                "--model",
                "m",
                "--prompt",
                "What is a torr?",
                "-c",
                "4",
                *SHORT,
            ),
            *("--slo", "ttft p95 < 5s", "--slo", "goodput > 10%", "{target}/"),
        ),
        CHAT,
    ),
    Case(
        "run_sse_faulty",
        (
            "run",
            "--stream",
            "sse",
            "-c",
            "4",
            *SHORT,
            "--json-body",
            ASKED,
            "{target}/v1/chat/completions",
        ),
        (*CHAT, "--fault", "truncate:30%"),
    ),
    Case(
        "run_chinese", ("run", "-c", "4", *SHORT, "--lang", "zh", "--slo", "p99 < 1us", "{target}/")
    ),
    Case(
        "run_stored",
        (
            "run",
            "-c",
            "2",
            *SHORT,
            "--note",
            "a note",
            "--tag",
            "nightly",
            "-n",
            "api",
            "{target}/",
        ),
    ),
    Case(
        "ladder",
        ("ladder", "--levels", "2,4,8,16,32,64,128", *SHORT, "--slo", "p90 < 12ms", "{target}/"),
        KNEE,
    ),
    Case(
        "ladder_rounds",
        (
            *("ladder", "--levels", "4,8,16,32", "--rounds", "3", *LEVEL, "--min-capacity"),
            *("1M ok/s", "--slo", "p99 < 1s", "--junit", "junit.xml", "{target}/"),
        ),
        KNEE,
    ),
    Case("ladder_auto", ("ladder", "--levels", "auto", *LEVEL, "{target}/"), KNEE),
    Case(
        "ladder_interrupted",
        ("ladder", "--levels", "1,2,4", *LEVEL, "{target}/"),
        KNEE,
        interrupt_at=11,
    ),
    Case("compare", ("compare", "matrix.toml", "--pin", "off"), (), "resume", matrix()),
    Case(
        "compare_failing",
        ("compare", "matrix.toml", "--pin", "off", "--strict", "--junit", "junit.xml"),
        (),
        "resume",
        matrix('factors = { processes = [1, 2] }\nprimary = "p99"\n', BROKEN),
    ),
    Case(
        "compare_once",
        ("compare", "matrix.toml", "--pin", "off", "--rounds", "1"),
        (),
        "resume",
        matrix(),
    ),
    Case(
        "locust",
        (
            "locust",
            "-f",
            "locustfile.py",
            "-u",
            "4",
            "-r",
            "4",
            "-t",
            "2s",
            "-H",
            "{target}",
            "--headless",
        ),
        again="kept",
        files={"locustfile.py": LOCUSTFILE},
    ),
    Case(
        "functions",
        ("pytest", "--torr-save", "functions", "test_it.py"),
        (),
        "kept",
        {"test_it.py": FUNCTIONS},
    ),
    Case(
        "run_profiled",
        ("run", "-c", "2", "-z", "2s", "--warmup", "0s", "--profile", "{pid}", "{target}/"),
        again="kept",
    ),
    Case(
        "diff",
        ("diff", "ladder_rounds", "ladder", "--fail-if", "ok/s < 0%", "--junit", "junit.xml"),
        (),
        "diff",
        sides=("ladder_rounds", "ladder"),
    ),
    Case("diff_once", ("diff", "run", "run_faulty"), (), "diff", sides=("run", "run_faulty")),
)
