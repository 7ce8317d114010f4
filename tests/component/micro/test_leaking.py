"""Growth that ends, growth that goes on, and none."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest

from micro.clean import CLEAN
from micro.leaky import LEAKY
from torr.errors import UsageError
from torr.micro.leaking import leaks
from torr.results.functions import LeakTable

kept = []


class Node:
    def __init__(self):
        self.other = None


def every_tenth(number):
    if number % 10 == 0:
        kept.append(Node())


def text_every_tenth(number):
    if number % 10 == 0:
        kept.append(f"{number} is kept")


def test_one_object_left_by_ten_operations_is_found():
    kept.clear()
    found = leaks(every_tenth, inputs=int)
    assert found.word == "growth that goes on"
    assert found.growth == pytest.approx(1_000, abs=50)
    assert 0.1 <= found.per_operation <= 0.4
    assert found.traced_per_operation >= 1.6
    assert found.types == [(f"{Node.__module__}.Node", 1_000)]
    assert any("test_leaking.py" in place for place, _ in found.locations)


def test_texts_are_found_too_which_the_collector_does_not_know():
    kept.clear()
    found = leaks(text_every_tenth, inputs=int)
    assert found.word == "growth that goes on"
    assert abs(found.growth) < 50


@pytest.mark.parametrize("name", LEAKY)
def test_each_kind_of_leak_is_found(name):
    assert leaks(LEAKY[name], inputs=int).word == "growth that goes on"


def test_async_functions_are_awaited():
    kept.clear()

    async def operation(number):
        await asyncio.sleep(0)
        kept.append([number])

    assert leaks(operation, 1_000, inputs=int).word == "growth that goes on"
    assert len(kept) == 1_000 + 10

    async def outer():
        return leaks(operation, 1_000, inputs=int)

    # In a thread of its own: a browser's driver may have a loop running in this one.
    with ThreadPoolExecutor(1) as threads:
        found = threads.submit(lambda: asyncio.run(outer())).result()
    assert found.word == "growth that goes on"

    async def clean():
        await asyncio.sleep(0)

    assert leaks(clean, 1_000).word == "no growth"


async def forgotten(_number):
    pass


def generates():
    yield


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: forgotten(1), "returned a coroutine, which is never awaited"),
        (generates, "generates is a generator function"),
    ],
)
def test_what_runs_nothing_is_refused(call, message):
    with pytest.raises(UsageError, match=message):
        leaks(call)


@pytest.mark.parametrize("there", [0, 5_000, 10_101])
def test_a_list_that_grows_in_place_is_found_though_it_held_something(there):
    room = [None] * there
    assert leaks(lambda: room.append(None)).word == "growth that goes on"


def test_growth_that_stops_late_is_growth_that_ends():
    room = []

    def fill(number):
        if number < 7_500:
            room.append(None)

    assert leaks(fill, inputs=int).word == "growth that ends"


def test_an_interrupt_of_awaited_operations_is_one():
    async def interrupted(number):
        await asyncio.sleep(0)
        if number == 500:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        leaks(interrupted, 1_000, inputs=int)


def test_a_cache_that_fills_is_growth_that_ends():
    cache = OrderedDict()

    def put(number):
        cache[number] = [number]
        if len(cache) > 500:
            cache.popitem(last=False)

    assert leaks(put, inputs=int).word == "growth that ends"


def test_what_holds_itself_is_collected_before_each_look():
    def cycle():
        one, two = Node(), Node()
        one.other, two.other = two, one

    assert leaks(cycle).word == "no growth"


@pytest.mark.parametrize("count", [2_000, pytest.param(5_000, marks=pytest.mark.full)])
@pytest.mark.parametrize("name", CLEAN)
def test_what_leaves_nothing_gives_no_alarm(name, count):
    found = leaks(CLEAN[name], count)
    assert found.word != "growth that goes on", found


def test_what_was_found_is_json():
    found = leaks(lambda: None, count=100)
    assert len(found.samples) == 11
    assert msgspec.json.decode(msgspec.json.encode(found), type=LeakTable) == found


def test_too_few_operations_say_nothing():
    with pytest.raises(UsageError, match="at least 100 operations are needed"):
        leaks(lambda: None, count=99)
