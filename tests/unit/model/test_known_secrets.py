"""Values that are known to be secret are covered wherever they stand, however many there are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torr.model.known_secrets import KnownSecrets


@pytest.mark.parametrize(
    ("values", "text", "saved"),
    [
        ([], "abcd", "abcd"),
        (["hush"], "hush, hushhush hus", "***, ****** hus"),
        (["hush", "hush-hush"], "hush-hush and hush-hus", "*** and ***-hus"),
        (["abcdef", "cdefgh"], "1abcdefgh2", "1***2"),
        (["ab", "abcdef"], "abc abcdef", "***c ***"),
        (["", "x"], "axb", "a***b"),
        (["a b\nc"], "1 a b\nc 2", "1 *** 2"),
    ],
)
def test_values_are_covered_whole(values, text, saved):
    assert KnownSecrets(values).covered(text) == saved


@given(st.lists(st.text("abc", min_size=1, max_size=6), max_size=8), st.text("abc", max_size=60))
def test_no_part_of_a_value_stays(values, text):
    covers = [False] * len(text)
    for value in filter(None, values):
        for at in range(len(text)):
            if text.startswith(value, at):
                covers[at : at + len(value)] = [True] * len(value)
    kept = "".join(
        letter for letter, is_covered in zip(text, covers, strict=True) if not is_covered
    )
    assert KnownSecrets(values).covered(text).replace("*", "") == kept


def test_a_text_is_read_once_for_many_values():
    """Once for each of them, it would be 50 billion characters."""
    secrets = KnownSecrets(f"user-{number:06}" for number in range(100_000))
    text = "nothing in it; " * 33_000 + "user-012345"
    assert secrets.covered(text).endswith("in it; ***")
