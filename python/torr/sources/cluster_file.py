"""The file of `torr cluster`: the machines of a Ray cluster, and how to reach them."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from torr.errors import require
from torr.messages.say import say
from torr.procfs.listeners import addresses, is_own
from torr.sources.toml_table import read_table

if TYPE_CHECKING:
    from torr.sources.toml_table import TomlTable

PORT = 6379
LARGEST_PORT = 65_535
SSH = "ssh -o BatchMode=yes -o ConnectTimeout=10"
KEYS = ("head", "nodes", "port", "ray", "ssh")


@dataclass(frozen=True, slots=True)
class ClusterFile:
    """`head` is the address of this machine, `nodes` are the others, as ssh names them."""

    head: str
    nodes: tuple[str, ...]
    port: int
    ray: str
    ssh: tuple[str, ...]

    @property
    def address(self) -> str:
        """The address of the cluster, for `--cluster`."""
        return f"{self.head}:{self.port}"

    @property
    def own_ray(self) -> str:
        """The program `ray` of this machine: that of torr's own Python, if it has one."""
        beside = Path(sys.executable).with_name("ray")
        return str(beside) if beside.exists() else self.ray


def read_cluster_file(path: Path) -> ClusterFile:
    """Read the file; raise FileError with the line of what is wrong."""
    table = read_table(path)
    table.check_keys(KEYS)
    head = table.value("head", str) or ""
    with table.errors_at("head"):
        require(bool(head), say("head is missing"), 'head = "10.0.0.1"')
        own = [address for address in addresses(head, PORT) if is_own(address)] if head else []
        require(
            bool(own),
            say("head = {head!r}: this is no address of this machine", head=head),
            say("torr runs on the first node: write the address at which the others reach it"),
        )
    nodes = _nodes(table)
    return ClusterFile(
        head=head,
        nodes=nodes,
        port=table.count("port", LARGEST_PORT) or PORT,
        ray=table.value("ray", str) or "ray",
        ssh=tuple(shlex.split(table.value("ssh", str) or SSH)),
    )


def _nodes(table: TomlTable) -> tuple[str, ...]:
    nodes = table.values.get("nodes", [])
    with table.errors_at("nodes"):
        require(
            isinstance(nodes, list)
            and bool(nodes)
            and all(isinstance(x, str) and x for x in nodes),
            say("nodes are not a list of hosts"),
            'nodes = ["10.0.0.2", "user@host"]',
        )
        # ssh would read it as an option.
        unfit = [str(x) for x in nodes if str(x).startswith("-")]
        require(not unfit, say("{name!r} is no host", name=", ".join(unfit)))
    return tuple(map(str, nodes))
