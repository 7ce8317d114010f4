"""Nodes that are namespaces: networks, processes, files and clocks of their own.

The first node coordinates; the others' clocks are ahead of its by known offsets.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from itertools import cycle
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING

from documents import ROOT
from installed import Ended, Target, wait_until, words_of
from machine import STATE

if TYPE_CHECKING:
    from contextlib import ExitStack

BIN = ROOT / "build/ray/bin"
MACHINE = Path(__file__).with_name("machine.py")
MAIN = "import sys; from torr.cli.main import main; sys.exit(main())"
SKEWS_S = (0, 1_000, 5_000_000)
START_LIMIT_S = 60
RAY_PORT = 6379
LETTERS = cycle(ascii_lowercase)
RAY = [
    str(BIN / "ray"),
    "start",
    "--block",
    "--disable-usage-stats",
    "--include-log-monitor=false",
    "--object-store-memory=80000000",
    "--num-cpus=2",
]


def run(*command):
    """Run a command; raise if it fails."""
    subprocess.run(command, check=True, capture_output=True)


class Nodes:
    """Three network namespaces that a bridge joins, with a node of a Ray cluster in each.

    Without Ray, they run scripts as machines do that ssh can reach.
    """

    def __init__(self, stack: ExitStack, folder: Path, *, has_ray: bool = True) -> None:
        self.stack, self.folder, self.has_ray = stack, folder, has_ray
        # Several of them may exist at the same time.
        self.tag = f"torr{os.getpid() % 10_000}{next(LETTERS)}"
        self.processes: list[subprocess.Popen[bytes]] = []
        self.bridge = f"{self.tag}b"
        run("ip", "link", "add", self.bridge, "type", "bridge")
        stack.callback(run, "ip", "link", "delete", self.bridge)
        run("ip", "link", "set", self.bridge, "up")
        for number, skew_s in enumerate(SKEWS_S):
            self._add(number, skew_s)

    def address(self, number: int) -> str:
        """Return the address of a node."""
        return f"10.79.0.{number + 1}"

    def namespace(self, number: int) -> str:
        """Return the name of a node's network namespace."""
        return f"{self.tag}n{number}"

    def link(self, number: int) -> str:
        """Return the name of a node's link to the others."""
        return f"{self.tag}v{number}"

    def _add(self, number: int, skew_s: int) -> None:
        name, link = self.namespace(number), self.link(number)
        run("ip", "netns", "add", name)
        self.stack.callback(run, "ip", "netns", "delete", name)
        run("ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", name)
        self.stack.callback(run, "ip", "link", "delete", link)
        run("ip", "link", "set", link, "master", self.bridge, "up")
        address = self.address(number)
        run("ip", "-n", name, "address", "add", f"{address}/24", "dev", "eth0")
        for device in ("eth0", "lo"):
            run("ip", "-n", name, "link", "set", device, "up")
        first = ["--head", f"--port={RAY_PORT}", "--include-dashboard=false"]
        join = first if number == 0 else [f"--address={self.address(0)}:{RAY_PORT}"]
        ray = [*RAY, *join, f"--node-ip-address={address}"]
        words = ray if self.has_ray else [str(BIN / "python"), str(MACHINE), "serve", address]
        # "$@": the words of the command follow as arguments. The machine outlives Ray.
        script = f"hostname node{number}; mount -t tmpfs none /dev/shm; mkdir -p /tmp/ray; "
        script += 'mount -t tmpfs none /tmp/ray; "$@"; exec sleep infinity'
        namespaces = [
            "--pid",
            "--fork",
            "--kill-child",
            "--mount",
            "--mount-proc",
            "--uts",
            "--time",
        ]
        log = self.stack.enter_context((self.folder / f"node{number}.log").open("wb"))
        process = subprocess.Popen(
            ["ip", "netns", "exec", name, "unshare", *namespaces, f"--monotonic={skew_s}",
             f"--boottime={skew_s}", "sh", "-c", script, "sh", *words],
            stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
        self.processes.append(process)
        self.stack.callback(self.kill, number)
        self._wait_for_node(number)

    def _wait_for_node(self, number: int) -> None:
        limit = time.monotonic() + START_LIMIT_S
        log = self.folder / f"node{number}.log"
        sign = b"Ray runtime started" if self.has_ray else b"listening"
        while sign not in log.read_bytes():
            assert time.monotonic() < limit, log.read_text()
            assert self.processes[number].poll() is None, log.read_text()
            time.sleep(0.1)

    def kill(self, number: int) -> None:
        """End a node with all its processes."""
        process = self.processes[number]
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def skew_s(self, name: str) -> int:
        """Return by how much the clock of a node is ahead of the first one's."""
        return SKEWS_S[int(name.removeprefix("node"))]

    def target(self, *words: str) -> Target:
        """Start a target in the network of the first node."""
        enter = ["ip", "netns", "exec", self.namespace(0)]
        command = [BIN / "python", "-c", MAIN, "target", *words, "--host", self.address(0)]
        process = subprocess.Popen(
            [*enter, *command], stdout=subprocess.PIPE, text=True, env=environment()
        )
        self.stack.callback(kill, process)
        port = process.stdout.readline().rsplit(":", 1)[1].strip()
        return Target(f"http://{self.address(0)}:{port}/", process)

    def torr(self, folder: Path, *words: str) -> Ended:
        """Run torr on the first node to its end."""
        return self.end(self.start(folder, *words), folder)

    def start(self, folder: Path, *words: str) -> subprocess.Popen[str]:
        """Start torr on the first node, in all its namespaces."""
        # `unshare` itself is in the old PID namespace; its child is the first process of the new.
        outside = self.processes[0].pid
        inside = Path(f"/proc/{outside}/task/{outside}/children").read_text().split()[0]
        enter = ["nsenter", f"--target={inside}", "--net", "--mount", "--uts", "--pid", "--time"]
        command = [BIN / "python", "-c", MAIN, *words]
        own = {"RAY_ADDRESS": f"{self.address(0)}:{RAY_PORT}"} if self.has_ray else STATE
        process = subprocess.Popen(
            [*enter, f"--wd={folder}", *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**environment(), **own},
        )
        self.stack.callback(kill, process)
        return process

    def end(self, process: subprocess.Popen[str], folder: Path) -> Ended:
        """Wait for the end of torr."""
        out, err = process.communicate(timeout=120)
        return Ended(process.returncode, out, err, folder)

    def engines(self) -> list[int]:
        """Return the engine processes on all nodes."""
        every = range(len(SKEWS_S))
        return [one for number in every for one in self.processes_on(number, "_engine.fire")]

    def processes_on(self, number: int, word: str) -> list[int]:
        """Return the processes of a node with a word in their commands."""
        every = (int(path.name) for path in Path("/proc").glob("[0-9]*"))
        with_word = (one for one in every if any(word in part for part in words_of(one)))
        return [one for one in with_word if self._is_on(number, one)]

    def wait_for_load(self, count: int) -> None:
        """Wait until engines on so many nodes have sent for some time."""
        wait_until(lambda: [cpu_s(one) > 0.1 for one in self.engines()] == [True] * count)

    def _is_on(self, number: int, process: int) -> bool:
        node = Path(f"/run/netns/{self.namespace(number)}").stat().st_ino
        try:
            return Path(f"/proc/{process}/ns/net").stat().st_ino == node
        except FileNotFoundError:
            return False

    def kill_all_of(self, process: subprocess.Popen[str]) -> None:
        """Kill torr itself, which is the child of the program that entered the namespaces."""
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        for child in children:
            os.kill(int(child), signal.SIGKILL)
        process.communicate(timeout=60)


def kill(process: subprocess.Popen[str]) -> None:
    """Kill a process, and close what is open to it."""
    process.kill()
    with process:
        pass


def cpu_s(number: int) -> float:
    """Return the processor time of a process; 0 if it is gone."""
    try:
        fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def environment() -> dict[str, str]:
    """Return the environment of torr: of this checkout, without a store."""
    return {**os.environ, "PYTHONPATH": str(ROOT / "python"), "TORR_STORE": "none"}
