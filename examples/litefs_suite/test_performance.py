"""One thread: caches, form parsing and sessions, with the budgets that LiteFS set itself."""

from __future__ import annotations

import itertools

import pytest
from litefs.cache import MemoryCache, TreeCache
from litefs.handlers import parse_form
from litefs.session import Session
from litefs.session.session import MemorySessionStore

MANY = 10_000
NUMBERS = itertools.count()


def memory(size=2 * MANY):
    return MemoryCache(max_size=size)


def tree():
    return TreeCache(clean_period=3600, expiration_time=3600)


def filled(make):
    """Makes a cache that has every key of a round."""

    def made():
        cache = make()
        for number in range(MANY):
            cache.put(f"key{number}", number)
        return cache

    return made


def key(number):
    return f"key{number}"


def put(cache, name):
    cache.put(name, 1)


def get(cache, name):
    cache.get(name)


def delete(cache, name):
    cache.delete(name)


@pytest.mark.budget(ops=">10k/s", p50="<0.1ms", p99="<1ms")
def test_memory_cache_put(measure):
    measure(put, n=MANY, inputs=key, setup=memory)


@pytest.mark.budget(ops=">20k/s", p50="<0.05ms", p99="<0.5ms")
def test_memory_cache_get(measure):
    measure(get, n=MANY, inputs=key, setup=filled(memory))


@pytest.mark.budget(ops=">10k/s", p50="<0.1ms", p99="<1ms")
def test_memory_cache_delete(measure):
    measure(delete, n=MANY, inputs=key, setup=filled(memory))


@pytest.mark.budget(ops=">10k/s")
def test_memory_cache_put_that_evicts(measure):
    caches = []

    def small():
        caches.append(memory(1_000))
        return caches[-1]

    measure(put, n=MANY, inputs=key, setup=small)
    assert {len(cache) for cache in caches} == {1_000}


@pytest.mark.budget(ops=">5k/s", p50="<0.2ms", p99="<2ms")
def test_tree_cache_put(measure):
    measure(put, n=MANY, inputs=key, setup=tree)


@pytest.mark.budget(ops=">10k/s", p50="<0.1ms", p99="<1ms")
def test_tree_cache_get(measure):
    measure(get, n=MANY, inputs=key, setup=filled(tree))


# A thousand of the ten thousand keys that are there, in as few rounds as say anything: each delete
# takes a millisecond or more while the table is full, and all of them would take a minute.
@pytest.mark.xfail(reason="TreeCache.delete looks through every row of its table", strict=False)
@pytest.mark.budget(ops=">2k/s", p50="<0.5ms", p99="<5ms")
def test_tree_cache_delete(measure):
    measure(delete, n=1_000, rounds=6, inputs=key, setup=filled(tree))


# Every form is another one: of the same twice LiteFS would find the second in its cache.


@pytest.mark.budget(ops=">10k/s", p50="<0.1ms", p99="<1ms")
def test_form_of_three_fields(measure):
    measure(parse_form, n=MANY, inputs=lambda _: f"name=ann&age={next(NUMBERS)}&city=Paris")


@pytest.mark.budget(ops=">5k/s", p50="<0.2ms", p99="<2ms")
def test_form_of_arrays_and_dicts(measure):
    fields = "tags[]=a&tags[]=b&user[name]=ann&user[mail]=a%40b.c"
    measure(parse_form, n=MANY, inputs=lambda _: f"{fields}&id={next(NUMBERS)}")


@pytest.mark.budget(ops=">200/s", p50="<5ms", p99="<50ms")
def test_form_of_a_hundred_fields(measure):
    fields = "&".join(f"field{n}=value{n}" for n in range(99))
    measure(parse_form, n=1_000, inputs=lambda _: f"{fields}&id={next(NUMBERS)}")


@pytest.mark.budget(ops=">10k/s", p50="<0.1ms", p99="<1ms")
def test_session_create(measure):
    def create(store):
        session = Session(store=store)
        session["user"] = "ann"
        session.save()

    measure(create, n=MANY, setup=lambda: MemorySessionStore(max_size=2 * MANY))


@pytest.mark.budget(ops=">100k/s", p50="<0.01ms", p99="<0.1ms")
def test_session_access(measure):
    def with_session():
        store = MemorySessionStore(max_size=10)
        session = Session("known", store=store)
        session["user"] = "ann"
        session.save()
        return store

    def access(store):
        return store.get("known")["user"]

    measure(access, n=MANY, setup=with_session)
