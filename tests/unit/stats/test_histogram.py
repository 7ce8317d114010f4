import base64
import random
import struct
import zlib

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from streamed import histogram
from torr.errors import UsageError
from torr.stats.histogram import Histogram, needed

HEAD = struct.Struct(">iiiiqqd")
# Written by the engine, with what result.json said of it.
TTFT = (
    "HISTFAAAAYt4ASWPQaoTQRRFK+d1WTRN04SmCU0MIYTw+XyCiIMQHAQRV+HIsbgEJ+IKFAeuwJW4DPfg1IHkn8rv"
    "pt+9795Xt14///p9TIkv6emJJ0iLiq9/Xa+Xv5WldP0GnPiz4L3vmf8L+58L/oHaHvYs2XDH2+bAwDvYkZlpm7Bu"
    "SBz8MmcoZFZ0tAqTTDLAktJ0dlvC5NZa9ItZwUThFcZvOZo3cWRkp0ywodedkS49cIOj5GyslwTZZu9QaLW8QJqU"
    "arqwuvm9XnFab6RvEiObRkew1oRJLERTMblo1Wa1MCMxETR+ZMstOaQdlsyEYuuSmWqHrPNUuKA/bZeagtboWKqz"
    "SS0UUjM4V1jLiyyLiVk30ZGb8qwXGZRbXHp2/YF7YKkezKJux6QRyvV3dHqyGZYELWdJqfdvvIKto0Wlp8X+Dup9"
    "97xUa13w5PklA3tWTl5Yc3BsIm5ozoNmx8U302oFdXysYSvbN57a0TFQbwlmHrhwEsOMnpGBjx5Z84EfCz7xmeA3"
    "dDwCZG8itw=="
)


def test_the_engines_histogram_gives_the_engines_percentiles():
    found = Histogram.read(TTFT)
    assert found.total() == 353
    assert found.at(0.5) == pytest.approx(302.252031)
    assert found.at(0.75) == pytest.approx(419.168255)
    assert found.at(0.9) == pytest.approx(590.348287)
    assert found.at(0.95) == pytest.approx(698.351615)


@pytest.mark.parametrize("highest", [2**10, 2**11, 2**20, 2**41])
def test_every_value_is_read_to_three_digits(highest):
    dice = random.Random(highest)
    values = sorted(dice.randrange(highest) for _ in range(500))
    found = Histogram.read(histogram(values))
    ranks = found.ranks((i + 1) / 500 for i in range(500))
    for value, rank in zip(values, ranks, strict=True):
        assert value <= round(rank * 1e6) <= value * 1.001


def counted(histogram):
    return dict(zip(histogram.values.tolist(), histogram.counts.tolist(), strict=True))


def test_parts_add_up_to_the_whole():
    values = [random.Random(3).randrange(10**9) for _ in range(1000)]
    parts = [Histogram.read(histogram(values[at::7])) for at in range(7)]
    assert counted(Histogram.sum(parts)) == counted(Histogram.read(histogram(values)))


def test_a_count_of_any_size_is_read():
    found = Histogram.read(histogram([5] * 70_000 + [9]))
    assert counted(found) == {5: 70_000, 9: 1}


@pytest.mark.parametrize(("share", "n"), [(0.5, 20), (0.95, 200), (0.99, 1000), (0.999, 10_000)])
def test_a_percentile_needs_ten_values_beyond_it(share, n):
    assert needed(share) == n
    assert Histogram({1_000_000: n - 1}).at(share) is None
    assert Histogram({1_000_000: n}).at(share) == 1.0


@pytest.mark.parametrize("text", ["", "HISTFAAAsecret", "AAAA", "no base64 %", "ä"])
def test_what_is_no_histogram_is_said(text):
    with pytest.raises(UsageError, match="not a histogram"):
        Histogram.read(text)


def packed(content):
    return base64.b64encode(b"HIST\0\0\0\0" + zlib.compress(content)).decode()


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (bytes(17 << 20), "more than 16,777,216 bytes once unpacked"),
        (HEAD.pack(1, 0, 0, 2**31 - 1, 1, 1, 1.0), "2147483647 digits"),
        (HEAD.pack(1, 0, 0, 3, 0, 1, 1.0), "3 digits from 0 on"),
        (HEAD.pack(1, 10, 0, 3, 1, 1, 1.0) + b"\xff" * 8 + b"\x02", "a number beyond 56 bits"),
        (HEAD.pack(1, 2, 0, 3, 1, 1, 1.0) + b"\xff\xff", "its last number is not whole"),
        (
            HEAD.pack(1, 7, 0, 3, 1, 1, 1.0) + b"\xff" * 4 + b"\x7f\x02\x02",
            "a value beyond 63 bits",
        ),
        (HEAD.pack(1, 4, 0, 3, 1, 1, 1.0) + b"\xff\xff\x07\x02", "a value beyond 63 bits"),
    ],
)
def test_a_histogram_that_would_take_all_memory_is_refused(content, why):
    with pytest.raises(UsageError, match=why):
        Histogram.read(packed(content))


@given(
    st.dictionaries(st.integers(1, 10**9), st.integers(1, 50), min_size=1, max_size=20),
    st.lists(st.integers(1, 1000).map(lambda n: n / 1000), min_size=1, max_size=5),
)
def test_a_percentile_is_numpys_inverse_of_the_empirical_distribution(counts, shares):
    values = np.repeat(list(counts), list(counts.values()))
    shares = sorted(shares)
    # Where a share of all values is a whole number, a rounded product may be on either side of it.
    assume(all(abs(len(values) * s - round(len(values) * s)) > 1e-6 for s in shares))
    expected = np.quantile(values, shares, method="inverted_cdf") / 1e6
    assert Histogram(counts).ranks(shares) == pytest.approx(list(expected))
