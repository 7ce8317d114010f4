"""Which nodes of a cluster send a load."""

from __future__ import annotations

import pytest

from torr.cluster.nodes import choose
from torr.errors import UsageError

OWN = "10.0.0.1"


def listed(*hosts, dead=()):
    return [
        {
            "NodeID": f"id{number}",
            "NodeManagerAddress": f"10.0.0.{number}",
            "NodeManagerHostname": host,
            "Alive": host not in dead,
        }
        for number, host in enumerate(hosts, 1)
    ]


def names(nodes, wanted):
    return [node.name for node in choose(nodes, wanted, OWN)]


def test_all_are_those_that_live_and_the_own_one_is_the_last():
    assert names(listed("a", "c", "b", "dead", dead=("dead",)), "all") == ["b", "c", "a"]


def test_a_number_takes_other_nodes_first():
    nodes = listed("a", "c", "b")
    assert [names(nodes, str(count)) for count in (1, 2, 3)] == [
        ["b"],
        ["b", "c"],
        ["b", "c", "a"],
    ]


def test_nodes_are_named_by_host_or_address_in_the_given_order():
    assert names(listed("a", "b", "c"), "c,10.0.0.1") == ["c", "a"]


def test_nodes_at_the_same_address_have_names_of_their_own():
    nodes = [{**node, "NodeManagerAddress": "10.0.0.2"} for node in listed("x", "x")]
    assert names(nodes, "2") == ["10.0.0.2-id1", "10.0.0.2-id2"]


def test_nodes_with_the_same_host_name_are_called_by_their_addresses():
    assert names(listed("a", "x", "x"), "all") == ["10.0.0.2", "10.0.0.3", "a"]


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        ("4", "the cluster has 3 nodes, not 4"),
        ("0", "the cluster has 3 nodes, not 0"),
        ("a,z", "the cluster has no node 'z'"),
        ("a,b,10.0.0.2", "--nodes names the node b twice"),
    ],
)
def test_nodes_that_are_not_there_or_named_twice_are_refused(wanted, reason):
    with pytest.raises(UsageError) as refused:
        choose(listed("a", "b", "c"), wanted, OWN)
    assert str(refused.value.message) == reason
