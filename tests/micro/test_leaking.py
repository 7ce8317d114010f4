"""Growth that ends, growth that goes on, and none."""

from __future__ import annotations

import json
from collections import OrderedDict

import pytest

from micro.clean import CLEAN
from micro.leaky import LEAKY
from torr.errors import UsageError
from torr.micro.leaking import leaks

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
    found = leaks(every_tenth, given=int)
    assert found.word == "growth that goes on"
    assert found.growth == pytest.approx(1_000, abs=50)
    assert found.per_operation == pytest.approx(0.1, rel=1.5)
    assert any(name.endswith("test_leaking.Node") for name, _ in found.types)
    assert any("test_leaking.py" in place for place, _ in found.places)


def test_texts_are_found_too_which_the_collector_does_not_know():
    kept.clear()
    found = leaks(text_every_tenth, given=int)
    assert found.word == "growth that goes on"
    assert abs(found.growth) < 50


@pytest.mark.parametrize("name", LEAKY)
def test_each_kind_of_leak_is_found(name):
    assert leaks(LEAKY[name], given=int).word == "growth that goes on"


def test_a_cache_that_fills_is_growth_that_ends():
    cache = OrderedDict()

    def put(number):
        cache[number] = [number]
        if len(cache) > 500:
            cache.popitem(last=False)

    assert leaks(put, given=int).word == "growth that ends"


def test_what_holds_itself_is_collected_before_each_look():
    def cycle():
        one, two = Node(), Node()
        one.other, two.other = two, one

    assert leaks(cycle).word == "no growth"


@pytest.mark.parametrize("name", CLEAN)
def test_what_leaves_nothing_gives_no_alarm(name):
    found = leaks(CLEAN[name], count=5_000)
    assert found.word != "growth that goes on", found.as_json()


def test_what_was_found_is_json():
    found = leaks(lambda: None, count=100)
    assert len(found.as_json()["looks"]) == 11
    json.dumps(found.as_json())


def test_too_few_operations_say_nothing():
    with pytest.raises(UsageError, match="100 operations are the least"):
        leaks(lambda: None, count=99)
