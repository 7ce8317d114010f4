"""The nodes that send loads, from torr's side: agents that connect, and engines that they start."""

from __future__ import annotations

import hmac
import importlib.util
import json
import os
import queue
import secrets
import select
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from torr import engine
from torr.cluster.nodes import alive, choose
from torr.cluster.warned_load import WarnedLoad
from torr.cluster.wire import prepare, read_first_line, send_line
from torr.errors import InterruptedRunError, NothingMeasuredError, TorrError, UsageError
from torr.messages.message import Message, message
from torr.messages.say import say

if TYPE_CHECKING:
    from collections.abc import Callable

    from torr.cluster.nodes import ClusterNode
    from torr.engine import Load
    from torr.model.plan import Plan

CONNECT_LIMIT_S = 60
"""Ray copies torr to each node and starts an agent there, which takes about two seconds."""
RAY_LIMIT_S = 20
"""Ray connects within a second or two; to an address without a cluster it tries for minutes."""
ENGINE_LIMIT_S = 20
CHECK_INTERVAL_S = 0.1
SILENCE_S: int | None = None
"""After so long without a sign of life a node is lost; None for the engine's own limit."""
FIRST_LINE_S = 5
END_LIMIT_S = 5
"""The process that holds Ray ends with its standard input, at once."""


NodeSocket = tuple[str, socket.socket]
"""A node, and a connection to a process on it."""


@dataclass(slots=True)
class ConnectedNode:
    """A node with its connection, over which it is asked for engine processes."""

    node: str
    connection: socket.socket
    facts: dict[str, Any]
    is_lost: bool = False

    @property
    def cores(self) -> int:
        """The cores that it may use."""
        return int(self.facts["machine"]["cores_allowed"])


@dataclass(slots=True)
class Cluster:
    """Nodes that wait for loads; closing it ends everything on them."""

    launcher: subprocess.Popen[str]
    listener: socket.socket
    token: str
    names: list[str]
    workers: int | None = None
    allows_losses: bool = False
    agents: dict[str, ConnectedNode] = field(default_factory=dict)
    losses: dict[str, str] = field(default_factory=dict)
    _arrivals: queue.Queue[tuple[dict[str, Any], socket.socket]] = field(
        default_factory=queue.Queue
    )
    _loads: int = 0

    @classmethod
    def connect(
        cls,
        address: str,
        wanted: str,
        workers: int | None = None,
        is_interrupted: Callable[[], bool] = bool,
        *,
        allows_losses: bool = False,
    ) -> Cluster:
        """Start an agent on each node that is `wanted` of the Ray cluster at `address`.

        Each node sends from so many `workers`; by default as many as the smallest has cores. With
        `allows_losses`, loads are sent from the nodes that are left when one is lost.

        Raises UsageError if there is no such cluster or node, NothingMeasuredError if an agent
        does not come.
        """
        with ExitStack() as undo:
            launcher = _start_launcher(address)
            undo.callback(_end, launcher)
            connected = _first_event(launcher, address, is_interrupted)
            nodes = choose(connected["nodes"], wanted, connected["address"])
            listener = socket.create_server((connected["address"], 0), backlog=1024)
            undo.callback(listener.close)
            names = [node.name for node in nodes]
            cluster = cls(launcher, listener, secrets.token_hex(32), names, workers, allows_losses)
            undo.callback(cluster.close)
            threading.Thread(target=cluster._read_events, daemon=True).start()
            threading.Thread(target=cluster._accept, daemon=True).start()
            host, port = listener.getsockname()[:2]
            order = {"host": host, "port": port, "token": cluster.token}
            order["nodes"] = [(node.name, node.id) for node in nodes]
            cluster._order(order)
            cluster._await_agents(is_interrupted)
            undo.pop_all()
        return cluster

    def start(self, plan: Plan) -> Load:
        """Start a load on all nodes, which have equal parts of it."""
        processes = 1 if plan.processes == "auto" else plan.processes
        sockets = self._start_processes("engine", processes)
        try:
            cores = {name: self.agents[name].cores for name, _ in sockets}
            workers = max(self.workers or min(cores.values()), processes)
            whole = replace(plan, workers=workers * len(cores))
            places = [(name, connection.fileno()) for name, connection in sockets]
            load = engine.start_on_nodes(whole, places, SILENCE_S)
            warnings = [*self._loss_warnings(), *([] if self.workers else _unequal(cores))]
            return WarnedLoad(load, warnings) if warnings else load
        finally:
            for _, connection in sockets:
                connection.close()

    def start_examiners(self) -> list[NodeSocket]:
        """Start a process that examines each node; return the nodes and connections to it."""
        return self._start_processes("examiner")

    def close(self) -> None:
        """End the agents, with all that they have started, and the process that holds Ray."""
        for connection in [self.listener, *(agent.connection for agent in self.agents.values())]:
            # Threads wait for it: closing it alone would not wake them.
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()
        _end(self.launcher)

    def _start_processes(
        self, program: Literal["engine", "examiner"], per_node: int = 1
    ) -> list[NodeSocket]:
        """Start processes on each node; return connections to them, in the order of the nodes."""
        self._loads += 1
        order = {"load": self._loads, "processes": per_node, "program": program}
        for agent in self._remaining():
            with suppress(OSError):
                send_line(agent.connection, order)
        return self._sockets(per_node)

    def _remaining(self) -> list[ConnectedNode]:
        """Return the nodes that are not lost; raise NothingMeasuredError if too many are."""
        left = [agent for agent in self.agents.values() if not agent.is_lost]
        lost = [agent for agent in self.agents.values() if agent.is_lost]
        if lost and not (self.allows_losses and left):
            raise NothingMeasuredError(
                say("node {name} is lost: {why}", name=lost[0].node, why=self._why(lost[0])),
                say("--allow-lost-nodes goes on with the other nodes"),
            )
        return left

    def _why(self, agent: ConnectedNode) -> str:
        return self.losses.get(agent.node, say("its connection ended"))

    def _loss_warnings(self) -> list[Message]:
        """Return a warning for each node that is lost."""
        return [
            message(
                "warning.node_lost",
                "{name} was lost before this load, which the other nodes sent",
                name=agent.node,
            )
            for agent in self.agents.values()
            if agent.is_lost
        ]

    def _sockets(self, per_node: int) -> list[NodeSocket]:
        """Return the connections of the processes that were asked for, in the order of nodes."""
        limit = time.monotonic() + ENGINE_LIMIT_S
        sockets: list[tuple[int, str, socket.socket]] = []
        with ExitStack() as undo:
            while missing := self._without([name for _, name, _ in sockets], per_node):
                if time.monotonic() > limit:
                    raise NothingMeasuredError(
                        say(
                            "no process of torr connected from {nodes} within {seconds} s",
                            nodes=", ".join(missing),
                            seconds=ENGINE_LIMIT_S,
                        )
                    )
                try:
                    hello, connection = self._arrivals.get(timeout=CHECK_INTERVAL_S)
                except queue.Empty:
                    continue
                if hello["load"] == self._loads:
                    undo.callback(connection.close)
                    sockets.append((hello["process"], hello["node"], connection))
                else:
                    connection.close()
            undo.pop_all()
        # The first processes have the larger parts, so those of a node are not beside each other.
        sockets.sort(key=lambda one: (one[0], self.names.index(one[1])))
        return [(name, connection) for _, name, connection in sockets]

    def _without(self, connected: list[str], per_node: int) -> list[str]:
        """Return the nodes that are not lost and have fewer connections than they should."""
        counts = Counter(connected)
        return [agent.node for agent in self._remaining() if counts[agent.node] < per_node]

    def _await_agents(self, is_interrupted: Callable[[], bool]) -> None:
        limit = time.monotonic() + CONNECT_LIMIT_S
        while len(self.agents) < len(self.names):
            missing = ", ".join(name for name in self.names if name not in self.agents)
            if self.losses:
                name, why = next(iter(self.losses.items()))
                raise NothingMeasuredError(
                    say("torr could not start on {name}: {why}", name=name, why=why)
                )
            _end_if(is_interrupted)
            if time.monotonic() > limit:
                raise NothingMeasuredError(
                    say(
                        "torr did not start on {nodes} within {seconds} s",
                        nodes=missing,
                        seconds=CONNECT_LIMIT_S,
                    ),
                    say("check that these nodes reach {address}", address=self._address()),
                )
            time.sleep(CHECK_INTERVAL_S / 10)

    def _address(self) -> str:
        host, port = self.listener.getsockname()[:2]
        return f"{host}:{port}"

    def _order(self, order: dict[str, Any]) -> None:
        if self.launcher.stdin is not None:
            with suppress(OSError):
                self.launcher.stdin.write(json.dumps(order) + "\n")
                self.launcher.stdin.flush()

    def _read_events(self) -> None:
        if self.launcher.stdout is None:
            return
        # `close` closes the stream while it is read, which is a ValueError.
        with suppress(ValueError), self.launcher.stdout as events:
            for line in events:
                with suppress(json.JSONDecodeError, KeyError):
                    event = json.loads(line)
                    if event["event"] == "lost":
                        self.losses[event["node"]] = event["why"]

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._greet, args=(connection,), daemon=True).start()

    def _greet(self, connection: socket.socket) -> None:
        """Read who connects; close connections without the token."""
        try:
            connection.settimeout(FIRST_LINE_S)
            hello = read_first_line(connection) or {}
            connection.settimeout(None)
            prepare(connection)
        except OSError:
            hello = {}
        token = str(hello.get("token", ""))
        is_known = hmac.compare_digest(token.encode(errors="replace"), self.token.encode())
        if not is_known or hello.get("node") not in self.names:
            connection.close()
        elif "load" in hello:
            self._arrivals.put((hello, connection))
        else:
            name = hello["node"]
            self.agents[name] = ConnectedNode(name, connection, hello.get("facts") or {})
            self._watch(self.agents[name])

    def _watch(self, agent: ConnectedNode) -> None:
        """Wait until the connection of an agent ends."""
        with suppress(OSError):
            while agent.connection.recv(1 << 10):
                pass
        agent.is_lost = True


def _unequal(cores: dict[str, int]) -> list[Message]:
    """Return a warning if nodes have more cores than their equal parts of the load use."""
    least = min(cores.values())
    more = [name for name, count in cores.items() if count > least]
    if not more:
        return []
    return [
        message(
            "warning.unequal_nodes",
            "nodes send equal parts of the load: {names} could use more cores",
            names=", ".join(more),
        )
    ]


def launcher_command(address: str) -> list[str]:
    """Return the command of the process that holds Ray."""
    return [sys.executable, "-m", "torr.cluster.launcher", address]


def nodes_of(address: str) -> list[ClusterNode]:
    """Return the nodes of the Ray cluster at an address; raise UsageError if there is none."""
    launcher = _start_launcher(address)
    try:
        connected = _first_event(launcher, address, bool)
    finally:
        _end(launcher)
    return alive(connected["nodes"], connected["address"])


def require_ray() -> None:
    """Raise UsageError if Ray is not installed."""
    if importlib.util.find_spec("ray") is None:
        raise _no_ray()


def _no_ray() -> UsageError:
    return UsageError(say("loads from several nodes need Ray"), "pip install 'torr[ray]'")


def _start_launcher(address: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        launcher_command(address),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "RAY_DISABLE_FAILURE_SIGNAL_HANDLER": "1"},
        start_new_session=True,
    )


def _end_if(is_interrupted: Callable[[], bool]) -> None:
    if is_interrupted():
        raise InterruptedRunError(say("interrupted before the load: nothing was measured"))


def _first_line(launcher: subprocess.Popen[str], is_interrupted: Callable[[], bool]) -> str:
    """Return the first line of the launcher; an empty one if it ends."""
    if launcher.stdout is None:
        return ""
    limit = time.monotonic() + RAY_LIMIT_S
    while not select.select([launcher.stdout], [], [], CHECK_INTERVAL_S)[0]:
        _end_if(is_interrupted)
        if time.monotonic() > limit:
            # It would wait for minutes; killed, its output ends.
            launcher.kill()
            return json.dumps(
                {"event": "failed", "why": say("no answer within {s} s", s=RAY_LIMIT_S)}
            )
    return launcher.stdout.readline()


def _first_event(
    launcher: subprocess.Popen[str], address: str, is_interrupted: Callable[[], bool]
) -> dict[str, Any]:
    try:
        event: dict[str, Any] = json.loads(_first_line(launcher, is_interrupted))
    except TorrError:
        # It may still try to connect, and would not notice the end of its input.
        launcher.kill()
        raise
    except ValueError:
        event = {"event": "failed", "why": say("the process that holds Ray ended")}
    if event.get("is_missing"):
        raise _no_ray()
    if event.get("is_other_version"):
        raise UsageError(
            say("the cluster runs another version of Ray or Python: {why}", why=event["why"]),
            say("use the same versions of Python and Ray on all nodes"),
        )
    if event["event"] != "connected":
        raise UsageError(
            say("no Ray cluster at {address}: {why}", address=address, why=event["why"])
        )
    return event


def _end(launcher: subprocess.Popen[str]) -> None:
    if launcher.stdin is not None:
        with suppress(OSError):
            launcher.stdin.close()
    try:
        launcher.wait(timeout=END_LIMIT_S)
    except subprocess.TimeoutExpired:
        launcher.kill()
        launcher.wait()
    if launcher.stdout is not None:
        launcher.stdout.close()
