"""What LiteFS gets wrong whatever the load: each is expected to fail until it is mended there."""

from __future__ import annotations

import pytest
from litefs.cache import TreeCache
from litefs.handlers import parse_form


def tree():
    return TreeCache(clean_period=3600, expiration_time=3600)


@pytest.mark.xfail(reason="parse_form hands the dict in its cache to every caller", strict=True)
def test_each_caller_gets_its_own_form():
    first = parse_form("mine=1")
    first["yours"] = "2"
    assert parse_form("mine=1") == {"mine": "1"}


@pytest.mark.xfail(reason="delete compares by LIKE, to which _ is any character", strict=True)
def test_a_delete_takes_its_own_keys():
    cache = tree()
    cache.put("x_y", 1)
    cache.put("xzy/1", 2)
    cache.delete("x_y")
    assert cache.get("xzy/1") == 2


@pytest.mark.xfail(reason="a get that finds an expired key leaves its row behind", strict=True)
def test_a_key_that_expired_can_be_put_again():
    cache = tree()
    cache.put("key", 1, expiration=-1)
    assert cache.get("key") is None
    cache.put("key", 2)
    assert cache.get("key") == 2
