"""Numbers of things: the noun of one has no plural."""

import pytest

from torr.messages.counts import counted, levels_of


@pytest.mark.parametrize(
    ("counts", "text"),
    [
        ((1,), "1 connection"),
        ((0,), "0 connections"),
        ((1600,), "1,600 connections"),
        ((1, 2), "1 and 2 connections"),
        ((1, 8, 1600), "1, 8 and 1,600 connections"),
        ((4, 1), "4 and 1 connection"),
    ],
)
def test_one_connection_is_no_plural(counts, text):
    assert levels_of(counts, "connection") == text


def test_one_of_anything_is_no_plural():
    assert [counted(n, "error") for n in (0, 1, 2000)] == [
        "0 errors",
        "1 error",
        "2,000 errors",
    ]
