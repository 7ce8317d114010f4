"""Reader of the histograms in result.json: HdrHistogram V2, compressed, base64.

Histograms of intervals can be added, percentiles cannot: a percentile of several intervals is read
from the sum of their histograms, by the rule of HdrHistogram.
"""

from __future__ import annotations

import base64
import math
import struct
import zlib
from types import MappingProxyType
from typing import TYPE_CHECKING

from torr.errors import UsageError
from torr.messages.say import say
from torr.model.outside_file import unpacked

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

_OUTER = struct.Struct(">ii")
_INNER = struct.Struct(">iiiiqqd")
# torr writes histograms of three digits and less than 100 KB, with counts below 56 bits and values
# below 63 bits.
_MOST_DIGITS = 5
_MOST_BYTES = 16 << 20
_MOST_BITS = 63
_MOST_OCTETS = 8
_MOST_BINS = 1 << 32


class Histogram:
    """The count of each value, in nanoseconds.

    The values of a bin are counted as its highest value, as in the percentiles of result.json.
    """

    def __init__(self, counts: Mapping[int, int] = MappingProxyType({})) -> None:
        import numpy as np

        ordered = sorted(counts.items())
        self.values = np.array([value for value, _ in ordered], np.int64)
        self.counts = np.array([count for _, count in ordered], np.int64)

    @classmethod
    def read(cls, text: str) -> Histogram:
        """Read one histogram; raises UsageError where it is none."""
        try:
            return cls._of(*_read(text))
        except (ValueError, IndexError, struct.error, zlib.error) as error:
            hint = say("torr does not write such a result: measure again")
            raise UsageError(
                say("the result holds what is not a histogram: {error}", error=error), hint
            ) from error

    @classmethod
    def sum(cls, histograms: Iterable[Histogram]) -> Histogram:
        """Add histograms up."""
        import numpy as np

        parts = [cls(), *histograms]
        all_values = np.concatenate([part.values for part in parts])
        values, indexes = np.unique(all_values, return_inverse=True)
        counts = np.zeros(len(values), np.int64)
        np.add.at(counts, indexes, np.concatenate([part.counts for part in parts]))
        return cls._of(values, counts)

    @classmethod
    def _of(cls, values: Numbers, counts: Numbers) -> Histogram:
        histogram = cls.__new__(cls)
        histogram.values, histogram.counts = values, counts
        return histogram

    def total(self) -> int:
        """Return how many values there are."""
        return int(self.counts.sum())

    def carries(self, share: float) -> bool:
        """Return whether there are enough values for the percentile `share`: 10 / (1 - share)."""
        return self.total() >= needed(share)

    def at(self, share: float) -> float | None:
        """Return the percentile `share` in milliseconds; None where there are too few values."""
        return self.ranks([share])[0] if self.carries(share) else None

    def ranks(self, shares: Iterable[float]) -> list[float]:
        """Return the values, in milliseconds, that shares of all values do not exceed."""
        total = self.total()
        wanted = [max(1, math.ceil(share * total - 1e-9)) for share in shares]
        indexes = self.counts.cumsum().searchsorted(wanted)
        return [value / 1e6 for value in self.values[indexes].tolist()]


def needed(share: float) -> int:
    """Return how many values a percentile needs: 10 / (1 - p)."""
    return math.ceil(10 / (1 - share) - 1e-6)


def _read(text: str) -> tuple[Numbers, Numbers]:
    outer = base64.b64decode(text, validate=True)
    inner = unpacked(outer[_OUTER.size :], _MOST_BYTES)
    _, length, _, digits, lowest, _, _ = _INNER.unpack_from(inner)
    if not 1 <= digits <= _MOST_DIGITS or lowest < 1:
        raise ValueError(f"{digits} digits from {lowest} on")
    half_bits = math.ceil(math.log2(2 * 10**digits)) - 1
    unit_bits = lowest.bit_length() - 1
    indexes, counts = _bins(inner[_INNER.size : _INNER.size + length])
    return _highest(indexes, half_bits, unit_bits), counts


def _bins(data: bytes) -> tuple[Numbers, Numbers]:
    """Return indexes and counts of bins that are not empty: zigzag LEB128, with runs of zeros."""
    import numpy as np

    if not data:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    octets = np.frombuffer(data, np.uint8).astype(np.int64)
    ends = np.flatnonzero(octets < 0x80)
    starts = np.append(0, ends[:-1] + 1)
    lengths = ends - starts + 1
    if not ends.size or ends[-1] != octets.size - 1:
        raise ValueError("its last number is not whole")
    if lengths.max() > _MOST_OCTETS:
        raise ValueError("a number beyond 56 bits")
    shifts = 7 * (np.arange(octets.size) - np.repeat(starts, lengths))
    coded = np.add.reduceat((octets & 0x7F) << shifts, starts)
    numbers = (coded >> 1) ^ -(coded & 1)
    steps = np.where(numbers < 0, -numbers, 1)
    if steps.sum(dtype=np.float64) > _MOST_BINS:
        raise ValueError("a value beyond 63 bits")
    is_count = numbers > 0
    return (np.cumsum(steps) - steps)[is_count], numbers[is_count]


def _highest(indexes: Numbers, half_bits: int, unit_bits: int) -> Numbers:
    """Return the highest value of each bin."""
    import numpy as np

    buckets = np.maximum(0, (indexes >> half_bits) - 1)
    within = indexes - (buckets << half_bits)
    shifts = buckets + unit_bits
    if (shifts + half_bits + 1 > _MOST_BITS).any():
        raise ValueError("a value beyond 63 bits")
    values: Numbers = ((within + 1) << shifts) - 1
    return values
