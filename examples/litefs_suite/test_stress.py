"""Many threads on one cache, parser or store: how fast, and whether it stays whole."""

from __future__ import annotations

import itertools

import pytest
from litefs.cache import MemoryCache, TreeCache
from litefs.handlers import parse_form
from litefs.session import Session
from litefs.session.session import MemorySessionStore

NUMBERS = itertools.count()
SHARED = 100


def memory():
    return MemoryCache(max_size=100_000)


def tree():
    return TreeCache(clean_period=3600, expiration_time=3600)


def own_key(thread, number):
    return f"key{thread}-{number}"


def shared_key(_thread, number):
    return f"key{number % SHARED}"


def filled(make):
    def made():
        cache = make()
        for number in range(SHARED):
            cache.put(f"key{number}", number)
        return cache

    return made


def put(cache, name):
    cache.put(name, 1)


def get(cache, name):
    cache.get(name)


def turn_and_key(thread, number):
    """What is done with which key; threads are at the same key with different things."""
    return (thread + number) % 3, f"key{number % SHARED}"


def mix(cache, what):
    """A put, a get or a delete."""
    turn, name = what
    if turn == 0:
        cache.put(name, 1)
    elif turn == 1:
        cache.get(name)
    else:
        cache.delete(name)


@pytest.mark.budget(ops=">2k/s", errors="<0.1%")
def test_memory_cache_put(stress):
    stress(put, threads=10, per_thread=1_000, inputs=own_key, setup=memory)


@pytest.mark.budget(ops=">5k/s", errors="<0.1%")
def test_memory_cache_get(stress):
    stress(get, threads=10, per_thread=1_000, inputs=shared_key, setup=filled(memory))


@pytest.mark.budget(ops=">1k/s", errors="<0.1%")
def test_memory_cache_mixed(stress):
    stress(mix, threads=10, per_thread=500, inputs=turn_and_key, setup=filled(memory))


@pytest.mark.budget(ops=">250/s", errors="<0.1%")
def test_tree_cache_put(stress):
    stress(put, threads=5, per_thread=500, inputs=own_key, setup=tree)


@pytest.mark.budget(ops=">2k/s", errors="<0.1%")
def test_tree_cache_get(stress):
    stress(get, threads=10, per_thread=1_000, inputs=shared_key, setup=filled(tree))


# Threads meet by chance: what they find is found often, not always.
@pytest.mark.xfail(reason="sqlite3.IntegrityError where two put the same key", strict=False)
def test_tree_cache_mixed_stays_whole(stress):
    found = stress(mix, threads=10, per_thread=500, inputs=turn_and_key, setup=filled(tree))
    assert found.errors == {}


@pytest.mark.budget(ops=">5k/s", errors="<0.1%")
def test_forms(stress):
    stress(parse_form, threads=10, per_thread=1_000, inputs=lambda *_: f"a=1&b=2&c={next(NUMBERS)}")


@pytest.mark.xfail(reason="a few: OrderedDict mutated during iteration", strict=False)
def test_forms_never_raise(stress):
    found = stress(
        parse_form, threads=10, per_thread=5_000, inputs=lambda *_: f"a=1&c={next(NUMBERS)}"
    )
    assert found.errors == {}


@pytest.mark.budget(ops=">2k/s", errors="<0.1%")
def test_sessions_create(stress):
    def create(store):
        session = Session(store=store)
        session["user"] = "ann"
        session.save()

    stress(create, threads=10, per_thread=1_000, setup=lambda: MemorySessionStore(max_size=100_000))


@pytest.mark.budget(ops=">10k/s", errors="<0.1%")
def test_sessions_access(stress):
    def with_sessions():
        store = MemorySessionStore(max_size=SHARED)
        for number in range(SHARED):
            session = Session(f"key{number}", store=store)
            session["user"] = number
            session.save()
        return store

    def access(store, name):
        return store.get(name)["user"]

    stress(access, threads=10, per_thread=1_000, inputs=shared_key, setup=with_sessions)
