"""Lengths of prompts and answers."""

from __future__ import annotations

import random
import statistics

import pytest

from torr.errors import UsageError
from torr.model.stream import MOST_TOKENS
from torr.planning.prompt_text.lengths import Lengths, read_lengths


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("512", Lengths("same", 512)),
        ("4k", Lengths("same", 4000)),
        ("100..900", Lengths("range", 100, 900)),
        ("normal:512,64", Lengths("normal", 512, 64)),
        ("normal:512,0", Lengths("normal", 512, 0)),
        ("lognormal:1k,0.6", Lengths("lognormal", 1000, 0.6)),
    ],
)
def test_every_form_of_lengths_is_read(text, expected):
    assert read_lengths(text) == expected


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not a whole number"),
        ("0", "not at least 1"),
        ("1.5", "not a whole number"),
        ("20M", "too many"),
        ("900..100", "ends before it begins"),
        ("100..", "not a whole number"),
        ("0..5", "not at least 1"),
        ("heavy:512,1", "'heavy' is not a distribution"),
        ("normal:512", "not a distribution of lengths"),
        ("normal:512,x", "not a number"),
        ("normal:512,-1", "not a number"),
        ("lognormal:512,6", "sigma '6' is too large"),
        ("lognormal:0,1", "not at least 1"),
    ],
)
def test_what_is_no_length_is_refused(text, why):
    with pytest.raises(UsageError, match=why):
        read_lengths(text)


def test_a_range_with_a_dash_is_answered_with_the_right_form():
    with pytest.raises(UsageError, match="'100-900' is not a length") as caught:
        read_lengths("100-900")
    assert caught.value.hint == "write 100..900"


def drawn(text, many=4000):
    draw = random.Random(3)
    lengths = read_lengths(text)
    return [lengths.draw(draw) for _ in range(many)]


def test_lengths_are_distributed_as_they_are_written():
    assert set(drawn("512")) == {512}
    uniform = drawn("1..4")
    assert [uniform.count(n) / 1000 for n in range(1, 5)] == pytest.approx([1] * 4, abs=0.1)
    normal = drawn("normal:500,50")
    assert statistics.mean(normal) == pytest.approx(500, rel=0.02)
    assert statistics.stdev(normal) == pytest.approx(50, rel=0.1)
    long = drawn("lognormal:500,1")
    assert statistics.median(long) == pytest.approx(500, rel=0.1)
    assert statistics.mean(long) == pytest.approx(500 * 2.71828**0.5, rel=0.1)


def test_no_length_is_below_one_or_above_the_maximum():
    assert min(drawn("normal:1,100")) == 1
    assert max(drawn("lognormal:10M,5")) == MOST_TOKENS
    assert all(isinstance(length, int) for length in drawn("normal:9,3", 10))


def test_the_same_seed_draws_the_same_lengths():
    assert drawn("lognormal:500,1", 20) == drawn("lognormal:500,1", 20)
