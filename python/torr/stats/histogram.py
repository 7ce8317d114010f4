"""The histograms of result.json, read: HdrHistogram V2, compressed, base64.

Those of slices add up, percentiles do not: who wants the percentile of several slices adds first
and reads it from the sum. Only the files' own percentile rule is here; nothing is estimated.
"""

from __future__ import annotations

import base64
import math
import struct
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator

from torr.errors import UsageError
from torr.model.outside_file import unpacked

_OUTER = struct.Struct(">ii")
_INNER = struct.Struct(">iiiiqqd")
# torr's have three digits and fewer than 100 KB; none has a value beyond 64 bits.
_MOST_DIGITS = 5
_MOST_BYTES = 16 << 20
_MOST_SHIFT = 64


class Histogram(Counter[int]):
    """How often each value was seen, in nanoseconds.

    A value stands for those that its bin does not tell apart, of which it is the highest, as in the
    percentiles of result.json.
    """

    @classmethod
    def read(cls, text: str) -> Histogram:
        """Read one histogram; raises UsageError where it is none."""
        try:
            return cls(_read(text))
        except (ValueError, IndexError, struct.error, zlib.error) as error:
            hint = "torr writes none such: measure again"
            raise UsageError(f"the result holds what is not a histogram: {error}", hint) from error

    @classmethod
    def sum(cls, histograms: Iterable[Histogram]) -> Histogram:
        """Add histograms up."""
        total = cls()
        for histogram in histograms:
            total.update(histogram)
        return total

    def carries(self, share: float) -> bool:
        """Whether there are enough values for the percentile `share`, 0 up to 1: 10 / (1 - p)."""
        return self.total() >= needed(share)

    def at(self, share: float) -> float | None:
        """Return the percentile `share` in milliseconds; None where too few values carry it."""
        return self.ranks([share])[0] if self.carries(share) else None

    def ranks(self, shares: Iterable[float]) -> list[float]:
        """Return the values, in milliseconds, that ascending shares of all values do not exceed."""
        ordered = sorted(self.items())
        below, place, total, found = 0, -1, self.total(), []
        for share in shares:
            wanted = max(1, math.ceil(share * total - 1e-9))
            while below < wanted:
                place += 1
                below += ordered[place][1]
            found.append(ordered[place][0] / 1e6)
        return found


def needed(share: float) -> int:
    """Return how many values a percentile needs: 10 / (1 - p)."""
    return math.ceil(10 / (1 - share) - 1e-6)


def _read(text: str) -> dict[int, int]:
    outer = base64.b64decode(text, validate=True)
    inner = unpacked(outer[_OUTER.size :], _MOST_BYTES)
    _, length, _, digits, lowest, _, _ = _INNER.unpack_from(inner)
    if not 1 <= digits <= _MOST_DIGITS or lowest < 1:
        raise ValueError(f"{digits} digits from {lowest} on")
    half_bits = math.ceil(math.log2(2 * 10**digits)) - 1
    unit_bits = lowest.bit_length() - 1
    counts = _counts(inner[_INNER.size : _INNER.size + length])
    return {_highest(at, half_bits, unit_bits): count for at, count in counts}


def _counts(data: bytes) -> Iterator[tuple[int, int]]:
    """The bins that are not empty: place and count. Written as zigzag LEB128, zeros as runs."""
    at = place = 0
    while at < len(data):
        coded = shift = 0
        for shift in range(0, 63, 7):
            byte = data[at]
            at += 1
            # The ninth byte is whole: it has no sign that another one follows.
            coded |= (byte if shift == 56 else byte & 0x7F) << shift
            if byte < 0x80:
                break
        count = (coded >> 1) ^ -(coded & 1)
        if count > 0:
            yield place, count
        place += -count if count < 0 else 1


def _highest(place: int, half_bits: int, unit_bits: int) -> int:
    """The highest value of a bin."""
    bucket = max(0, (place >> half_bits) - 1)
    within = place - (bucket << half_bits)
    shift = bucket + unit_bits
    if shift > _MOST_SHIFT:
        raise ValueError("a value beyond 64 bits")
    return ((within + 1) << shift) - 1
