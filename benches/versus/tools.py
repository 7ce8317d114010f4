"""The tools under comparison: how each is called, and who reads what it says."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from versus import reading
from versus.load import Load
from versus.places import BUILT, EARLIER, ROOT, SCRIPTS, TORR, program, scratch

if TYPE_CHECKING:
    from versus.reading import Said

Command = Callable[[Load], list[str]]

PROTO = ROOT / "crates/targets/proto/echo.proto"
CALL = "torr.Echo/Unary"
MESSAGE = '{"text": "hello"}'
# The same message as protocol buffers, behind the prefix of gRPC.
FRAMED = b"\0\0\0\0\x07\n\x05hello"


@dataclass(frozen=True)
class Tool:
    """One contestant; `then` is run uncounted, for tools that only speak afterwards."""

    name: str
    command: Command
    read: Callable[[str], Said]
    program: str
    needs: tuple[str, ...] = ()
    stdin: Callable[[Load], str] | None = None
    then: Command | None = None

    def absent(self) -> str | None:
        """Return why it cannot take part, or None."""
        if program(self.program) is None:
            return _left_out().get(self.program, "not installed: scripts/bench-tools.sh")
        missing = [flag for flag in self.needs if flag not in _flags()]
        return f"torr has no {', '.join(missing)} yet" if missing else None


def torr(*more: str, at: str = TORR) -> Command:
    """Return how torr is called: a second of warm-up, one worker."""

    def command(load: Load) -> list[str]:
        pace = ["--rate", str(load.rate), "--warmup", "0s"] if load.rate else ["--warmup", "1s"]
        # The others check no certificate either.
        trust = ["-k"] if load.secure else []
        http = [] if load.is_websocket else ["--http", "2" if load.secure else "2c"]
        http += ["--streams", str(load.streams)]
        http += ["--coalesce", load.coalesce] if load.coalesce else []
        users = load.connections * max(load.streams, 1)
        call = ["--grpc", CALL, "--proto", str(PROTO), "-b", MESSAGE] if load.grpc else []
        call += ["-b", "hello"] if load.is_websocket else []
        return [
            *(at, "run", load.url, "-c", str(users), "-z", f"{load.seconds}s"),
            *(
                *pace,
                *trust,
                *(http if load.streams else []),
                *call,
                *more,
                "--workers",
                "1",
                "-o",
                "json",
                "-d",
                str(scratch()),
            ),
        ]

    return command


def wrk(*more: str) -> Command:
    """Return how wrk is called: one thread; what follows `--` goes to its script."""

    def command(load: Load) -> list[str]:
        size = ["-t1", f"-c{load.connections}", f"-d{load.seconds}s", "--latency"]
        at = more.index("--") if "--" in more else len(more)
        return ["wrk", *size, *more[:at], load.url, *more[at:]]

    return command


def _bare(load: Load) -> list[str]:
    pace = ["hello"] if load.is_websocket else [str(load.rate)] if load.rate else []
    return ["bare", load.place, load.path, str(load.connections), str(load.seconds), *pace]


def _oha(load: Load) -> list[str]:
    pace = ["-q", str(load.rate), "--latency-correction"] if load.rate else []
    trust = ["--insecure"] if load.secure else []
    length = ["-c", str(load.connections), "-z", f"{load.seconds}s"]
    return ["oha", "--no-tui", "--output-format", "json", *length, *pace, *trust, load.url]


def _bombardier(load: Load) -> list[str]:
    trust = ["--insecure"] if load.secure else []
    length = ["-c", str(load.connections), "-d", f"{load.seconds}s"]
    return ["bombardier", *length, *trust, "--print", "result", "--format", "json", load.url]


def _k6(load: Load) -> list[str]:
    told = {"URL": load.url, "USERS": load.connections, "SECONDS": load.seconds}
    told |= {"RATE": load.rate} if load.rate else {}
    told |= {"STREAMS": load.streams} if load.is_websocket else {}
    words = [word for key, value in told.items() for word in ("-e", f"{key}={value}")]
    # It would open a port and report to its makers.
    quiet = ["--quiet", "--address", "", "--no-usage-report", "--log-output", "stderr"]
    script = "websocket.js" if load.is_websocket else "load.js"
    return ["k6", "run", *quiet, *words, str(SCRIPTS / script)]


def _vegeta(load: Load) -> list[str]:
    size = str(load.connections)
    pace = [f"-rate={load.rate}/1s"] if load.rate else ["-rate=0", f"-max-workers={size}"]
    trust = ["-insecure"] if load.secure else []
    length = [f"-duration={load.seconds}s", f"-workers={size}", f"-max-connections={size}"]
    return ["vegeta", "attack", *pace, *length, *trust, f"-output={scratch() / 'vegeta.bin'}"]


def _vegeta_report(_: Load) -> list[str]:
    return ["vegeta", "report", "-type=json", str(scratch() / "vegeta.bin")]


def _hey(load: Load) -> list[str]:
    return ["hey", "-z", f"{load.seconds}s", "-c", str(load.connections), load.url]


def _ab(load: Load) -> list[str]:
    # The time limit sets a number of its own, which must come after it to be another.
    length = ["-t", str(load.seconds), "-n", "5000000"]
    return ["ab", "-q", "-k", "-c", str(load.connections), *length, load.url]


def _h2load(load: Load) -> list[str]:
    length = ["-c", str(load.connections), "-D", str(load.seconds)]
    http = ["-m", str(load.streams)] if load.streams else ["--h1"]
    if load.grpc:
        body = scratch() / "message.bin"
        body.write_bytes(FRAMED)
        fields = ("te: trailers", "content-type: application/grpc")
        call = [word for field in fields for word in ("-H", field)]
        http += ["-d", str(body), *call]
        return ["h2load", *http, "-t", "1", *length, f"{load.url}/{CALL}"]
    return ["h2load", *http, "-t", "1", *length, load.url]


def _ghz(load: Load) -> list[str]:
    workers = ["--connections", str(load.connections)]
    workers += ["--concurrency", str(load.connections * load.streams)]
    call = ["--insecure", "--proto", str(PROTO), "--call", CALL, "-d", MESSAGE]
    return ["ghz", *call, *workers, "-z", f"{load.seconds}s", "-O", "json", load.place]


ALL = {
    tool.name: tool
    for tool in (
        Tool("torr", torr(), reading.torr, "torr"),
        *(
            [Tool("earlier", torr(at=EARLIER), reading.torr, "earlier")]
            if EARLIER is not None
            else []
        ),
        Tool("bare", _bare, reading.bare, "bare"),
        Tool("wrk", wrk(), reading.wrk, "wrk"),
        Tool("ab", _ab, reading.ab, "ab"),
        Tool("h2load", _h2load, reading.h2load, "h2load"),
        Tool("oha", _oha, reading.oha, "oha"),
        Tool("bombardier", _bombardier, reading.bombardier, "bombardier"),
        Tool(
            "vegeta", _vegeta, reading.vegeta, "vegeta",
            stdin=lambda load: f"GET {load.url}\n", then=_vegeta_report,
        ),
        Tool("hey", _hey, reading.hey, "hey"),
        Tool("k6", _k6, reading.k6, "k6"),
        Tool("ghz", _ghz, reading.ghz, "ghz"),
    )
}  # fmt: skip
# These cost several times as much: a shorter shot tells as well.
FAR = ("oha", "bombardier", "vegeta", "hey", "k6")


def versions() -> dict[str, str]:
    """Return the version of every tool that is here."""
    found = {}
    for name in ALL:
        pinned = BUILT / "versions" / name
        if program(name) is None or name == "bare":
            continue
        found[name] = pinned.read_text().strip() if pinned.exists() else _says(name)
    return found


def left_out() -> dict[str, str]:
    """Return the tools that cannot take part, and why."""
    return {name: reason for name, tool in ALL.items() if (reason := tool.absent())}


def _says(name: str) -> str:
    flag = {"wrk": "-v", "ab": "-V"}.get(name, "--version")
    path = program(name) or name
    done = subprocess.run([path, flag], check=False, capture_output=True, text=True)
    first = (done.stdout + done.stderr).splitlines()[0]
    return first.split(" Copyright")[0].replace("This is ApacheBench, Version ", "").strip(" <$>")


@cache
def _flags() -> str:
    done = subprocess.run([TORR, "run", "--help-all"], check=True, capture_output=True, text=True)
    return done.stdout


def _left_out() -> dict[str, str]:
    path = BUILT / "left-out"
    lines = path.read_text().splitlines() if path.exists() else []
    return {line.split()[0]: line for line in lines}
