"""Which nodes of a cluster send the load."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from torr.errors import UsageError
from torr.messages.counts import counted
from torr.messages.say import say

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True, slots=True)
class ClusterNode:
    """A node of a Ray cluster, called by its host name, or by its address if several have it.

    Several nodes at one address have a part of Ray's identifier in their names.
    """

    name: str
    id: str
    address: str
    host: str
    cores: float = 0.0


def choose(listed: Iterable[dict[str, Any]], wanted: str, own_address: str) -> list[ClusterNode]:
    """Return the nodes that send the load: `all`, a number of them, or host names and addresses.

    Of a number of nodes, the one with `own_address` is the last to be chosen, since it coordinates.
    """
    nodes = alive(listed, own_address)
    if wanted == "all":
        return nodes
    if wanted.isdecimal():
        count = int(wanted)
        if not 1 <= count <= len(nodes):
            raise UsageError(
                say("the cluster has {nodes}, not {n}", nodes=counted(len(nodes), "node"), n=count),
                say("give --nodes 1 to {most}, or --nodes all", most=len(nodes)),
            )
        return nodes[:count]
    chosen = [_named(name, nodes) for name in wanted.split(",")]
    twice = [node.name for node, count in Counter(chosen).items() if count > 1]
    if twice:
        raise UsageError(say("--nodes names the node {name} twice", name=twice[0]))
    return chosen


def alive(listed: Iterable[dict[str, Any]], own_address: str) -> list[ClusterNode]:
    """Return the nodes of a cluster, that with `own_address` last."""
    found = []
    for entry in listed:
        if entry.get("Alive"):
            address = entry["NodeManagerAddress"]
            host = str(entry.get("NodeManagerHostname") or address)
            cores = float(entry.get("Resources", {}).get("CPU", 0))
            found.append(ClusterNode(host, entry["NodeID"], address, host, cores))
    found.sort(key=lambda node: (node.address == own_address, node.host, node.address))
    hosts = Counter(node.host for node in found)
    addresses = Counter(node.address for node in found)
    return [replace(node, name=_name(node, hosts, addresses)) for node in found]


def _name(node: ClusterNode, hosts: Counter[str], addresses: Counter[str]) -> str:
    """Return a name that no other node has."""
    if hosts[node.host] == 1:
        return node.host
    if addresses[node.address] == 1:
        return node.address
    return f"{node.address}-{node.id[:8]}"


def _named(name: str, nodes: Sequence[ClusterNode]) -> ClusterNode:
    for node in nodes:
        if name in (node.name, node.address, node.host):
            return node
    known = ", ".join(node.name for node in nodes)
    raise UsageError(
        say("the cluster has no node {name!r}", name=name), say("choose from {known}", known=known)
    )
