"""What ten thousand operations leave behind."""

from __future__ import annotations

import itertools

from litefs.cache import MemoryCache, TreeCache
from litefs.handlers import parse_form
from litefs.session import Session
from litefs.session.session import MemorySessionStore

NUMBERS = itertools.count()


def test_memory_cache(leaks):
    cache = MemoryCache(max_size=1_000)
    found = leaks(lambda name: cache.put(name, [name]), inputs=str, max_growth=5_000)
    assert found.word == "growth that ends"


def test_tree_cache(leaks):
    cache = TreeCache(clean_period=3600, expiration_time=3600)
    leaks(lambda name: cache.put(name, name), inputs=str, max_growth=15_000)


def test_forms(leaks):
    leaks(lambda: parse_form(f"a=1&b=2&c={next(NUMBERS)}"), max_growth=15_000)


def test_sessions_that_are_dropped(leaks):
    store = MemorySessionStore(max_size=500)

    def create():
        session = Session(store=store)
        session["user"] = "ann"
        session.save()

    found = leaks(create)
    assert found.word == "growth that ends"
