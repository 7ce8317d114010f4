"""A Ray cluster of three namespaces, and the installed torr on its first node."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from ray_nodes import Nodes


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Return a cluster that the tests of a module share."""
    with ExitStack() as stack:
        yield Nodes(stack, tmp_path_factory.mktemp("nodes"))


@pytest.fixture
def own_cluster(tmp_path):
    """Return a cluster that this test may break."""
    with ExitStack() as stack:
        yield Nodes(stack, tmp_path)


@pytest.fixture
def machines(tmp_path):
    """Return machines without Ray, which a cluster file reaches."""
    with ExitStack() as stack:
        yield Nodes(stack, tmp_path, has_ray=False)
