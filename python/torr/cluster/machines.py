"""Start and end Ray on machines, by ssh, for those who have no cluster."""

from __future__ import annotations

import shlex
import socket
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torr.errors import NothingMeasuredError
from torr.messages.say import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.sources.cluster_file import ClusterFile

PORT_LIMIT_S = 10
COMMAND_LIMIT_S = 45
"""Ray starts within a few seconds; the command waits for 30 s."""
MOST_AT_ONCE = 32

# Ray runs in the foreground of a session of its own, so that its process id ends all of it: `ray
# stop` would end the clusters of others, too. After a restart of the machine, another process may
# have the id, so the command line is checked.
_START = """\
folder=${{XDG_STATE_HOME:-$HOME/.local/state}}/torr; mkdir -p "$folder" || exit 1
pid=$folder/ray-{port}.pid; log=$folder/ray-{port}.log
id=$(cat "$pid" 2>/dev/null)
[ -n "$id" ] && grep -qs -e --block "/proc/$id/cmdline" && {{ echo running; exit 0; }}
command -v {ray} >/dev/null || {{ echo {ray}: not found >&2; exit 127; }}
rm -f "$log"
RAY_worker_niceness=0 nohup setsid {command} >"$log" 2>&1 </dev/null &
id=$!; echo $id >"$pid"; tries=0
until grep -qs "Ray runtime started" "$log"; do
    tries=$((tries + 1))
    if [ $tries -gt 150 ] || ! kill -0 $id 2>/dev/null; then
        kill $id 2>/dev/null; tail -n 3 "$log" >&2; exit 1
    fi
    sleep 0.2
done
echo started
"""
_END = """\
pid=${{XDG_STATE_HOME:-$HOME/.local/state}}/torr/ray-{port}.pid
id=$(cat "$pid" 2>/dev/null)
[ -n "$id" ] && grep -qs -e --block "/proc/$id/cmdline" || {{ rm -f "$pid"; echo absent; exit 0; }}
kill "$id" 2>/dev/null
for _ in 1 2 3 4 5 6 7 8 9 10; do kill -0 "$id" 2>/dev/null || break; sleep 1; done
kill -9 -- "-$id" 2>/dev/null; rm -f "$pid"; echo ended
"""
_RAY = ("--block", "--disable-usage-stats", "--include-log-monitor", "false")


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply of a machine to a script: a word, or the error."""

    machine: str
    word: str = ""
    error: str = ""


def start(cluster: ClusterFile) -> list[Reply]:
    """Start Ray on this machine, then on all others at the same time.

    Raises NothingMeasuredError if this machine does not start it.
    """
    place = ("--head", "--node-ip-address", cluster.head, "--port", str(cluster.port))
    dashboard = ("--include-dashboard", "false")
    command = (cluster.own_ray, "start", *place, *dashboard, *_RAY)
    head = _run(cluster.head, ("sh", "-s"), _start_script(cluster, cluster.own_ray, command))
    if head.error:
        raise NothingMeasuredError(
            say("Ray did not start on {machine}: {why}", machine=head.machine, why=head.error)
        )
    _await_port(cluster)
    join = (cluster.ray, "start", "--address", cluster.address, *_RAY)
    return [head, *_on_nodes(cluster, _start_script(cluster, cluster.ray, join))]


def end(cluster: ClusterFile) -> list[Reply]:
    """End Ray on all machines, this one last."""
    script = _END.format(port=cluster.port)
    others = _on_nodes(cluster, script)
    return [_run(cluster.head, ("sh", "-s"), script), *others]


def _start_script(cluster: ClusterFile, ray: str, command: Sequence[str]) -> str:
    return _START.format(port=cluster.port, ray=shlex.quote(ray), command=shlex.join(command))


def _on_nodes(cluster: ClusterFile, script: str) -> list[Reply]:
    def run(node: str) -> Reply:
        return _run(node, (*cluster.ssh, node, "sh", "-s"), script)

    with ThreadPoolExecutor(MOST_AT_ONCE) as threads:
        return list(threads.map(run, cluster.nodes))


def _run(machine: str, command: Sequence[str], script: str) -> Reply:
    try:
        ended = subprocess.run(
            command,
            input=script,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=COMMAND_LIMIT_S,
            check=False,
            # Ctrl-C ends torr, not what it starts.
            start_new_session=True,
        )
    except subprocess.TimeoutExpired:
        return Reply(machine, error=say("no answer within {s} s", s=COMMAND_LIMIT_S))
    except OSError as error:
        return Reply(machine, error=str(error))
    if ended.returncode:
        why = " ".join(ended.stderr.split()) or say("exit code {code}", code=ended.returncode)
        return Reply(machine, error=why)
    return Reply(machine, ended.stdout.split()[-1] if ended.stdout.split() else "")


def _await_port(cluster: ClusterFile) -> None:
    limit = time.monotonic() + PORT_LIMIT_S
    while not _listens(cluster):
        if time.monotonic() > limit:
            raise NothingMeasuredError(
                say("Ray does not listen at {address}", address=cluster.address)
            )
        time.sleep(0.1)


def _listens(cluster: ClusterFile) -> bool:
    try:
        socket.create_connection((cluster.head, cluster.port), 1).close()
    except OSError:
        return False
    return True
