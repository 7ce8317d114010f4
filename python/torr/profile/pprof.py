"""Profiles of Go's net/http/pprof, read without Go: gzip around protocol buffers.

The format is google/pprof's profile.proto; only what stacks and weights need is read. A sample
names locations from the leaf to the root; a location has several functions where calls were
inlined, the innermost first.
"""

from __future__ import annotations

import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from torr.errors import UsageError
from torr.profile.stacks import Stack, Stacks

# Fields of Profile, Sample, Location, Line, Function and ValueType.
_SAMPLE_TYPE, _SAMPLE, _LOCATION, _FUNCTION, _STRINGS = 1, 2, 4, 5, 6
_LOCATIONS, _VALUES = 1, 2
_ID, _LINE, _OF_FUNCTION, _NAME = 1, 4, 1, 2
_TYPE, _UNIT = 1, 2

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_UNKNOWN = "(unknown)"
_TOO_LARGE = "profile for a shorter time"
_SIZES = {_FIXED64: 8, _FIXED32: 4}
_MOST_BYTES_OF_A_VARINT = 10
# Profiles of large servers over minutes have a tenth of these.
MOST_BYTES = 32 << 20
_MOST_VALUES = 4_000_000

Fields = Mapping[int, list[int | bytes]]


def read(data: bytes, kind: str | None = None) -> Stacks:
    """Return the stacks of a profile by its kind of sample, such as `cpu`; without one by its last.

    Raises UsageError where it is no profile, or has no such kind.
    """
    try:
        return _read(data, kind)
    except (EOFError, IndexError, KeyError, TypeError, ValueError, zlib.error) as error:
        raise UsageError("this is no profile of pprof", "fetch /debug/pprof/profile") from error


def _read(data: bytes, kind: str | None) -> Stacks:
    budget = _Budget()
    profile = _fields(_unpacked(data), budget)
    strings = [_bytes(text).decode("utf-8", "replace") for text in profile[_STRINGS]]
    types = [_fields(_bytes(each), budget) for each in profile[_SAMPLE_TYPE]]
    names = [strings[_first(each, _TYPE)] for each in types]
    if kind is not None and kind not in names:
        raise UsageError(f"the profile has no {kind!r}", f"it has {', '.join(names)}")
    at = names.index(kind) if kind is not None else len(names) - 1
    frames = _Frames.of(profile, strings, budget)
    weights: Counter[Stack] = Counter()
    for each in profile[_SAMPLE]:
        sample = _fields(_bytes(each), budget)
        value = _numbers(sample, _VALUES, budget)[at]
        if value:
            weights[frames.stack(_numbers(sample, _LOCATIONS, budget))] += value
    return Stacks(weights, _unit(strings[_first(types[at], _UNIT)]))


def _unpacked(data: bytes) -> bytes:
    """The content of what may be packed by gzip; raises UsageError where it is too large."""
    if data[:2] == b"\x1f\x8b":
        unpacking = zlib.decompressobj(zlib.MAX_WBITS | 16)
        data = unpacking.decompress(data, MOST_BYTES + 1)
        if len(data) <= MOST_BYTES and not unpacking.eof:
            raise EOFError
    if len(data) > MOST_BYTES:
        raise UsageError(f"the profile has more than {MOST_BYTES >> 20} MiB", _TOO_LARGE)
    return data


class _Budget:
    """How many values may still be read; a profile has few, whatever its bytes say."""

    def __init__(self) -> None:
        self._left = _MOST_VALUES

    def spend(self) -> None:
        """Read one more; raises UsageError where there are too many."""
        self._left -= 1
        if self._left < 0:
            raise UsageError(f"the profile has more than {_MOST_VALUES:,} values", _TOO_LARGE)


@dataclass(frozen=True, slots=True)
class _Frames:
    """The functions of each location, innermost first."""

    by_location: Mapping[int, tuple[str, ...]]

    @classmethod
    def of(cls, profile: Fields, strings: list[str], budget: _Budget) -> _Frames:
        functions = {}
        for each in profile[_FUNCTION]:
            function = _fields(_bytes(each), budget)
            functions[_first(function, _ID)] = strings[_first(function, _NAME)] or _UNKNOWN
        found = {}
        for each in profile[_LOCATION]:
            location = _fields(_bytes(each), budget)
            lines = [_fields(_bytes(line), budget) for line in location[_LINE]]
            named = tuple(functions[_first(line, _OF_FUNCTION)] for line in lines)
            found[_first(location, _ID)] = named or (_UNKNOWN,)
        return cls(found)

    def stack(self, locations: list[int]) -> Stack:
        leaf_first = [name for each in locations for name in self.by_location[each]]
        return tuple(reversed(leaf_first)) or (_UNKNOWN,)


def _unit(text: str) -> str:
    return {"nanoseconds": "ns", "count": "samples"}.get(text, text)


def _fields(data: bytes, budget: _Budget) -> Fields:
    """The fields of a message by their numbers; those that are not there are empty."""
    budget.spend()
    found: defaultdict[int, list[int | bytes]] = defaultdict(list)
    for number, value in _each(data):
        budget.spend()
        found[number].append(value)
    return found


def _each(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == _VARINT:
            value, at = _varint(data, at)
            yield number, value
            continue
        size, at = _varint(data, at) if wire == _BYTES else (_SIZES[wire], at)
        if at + size > len(data):
            raise EOFError
        yield number, data[at : at + size]
        at += size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of 7 bits a byte, the lowest first, and where it ends."""
    value = 0
    for place in range(_MOST_BYTES_OF_A_VARINT):
        byte = data[at + place]
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return value, at + place + 1
    raise ValueError


def _numbers(fields: Fields, number: int, budget: _Budget) -> list[int]:
    """A repeated number, packed into bytes or one by one."""
    found: list[int] = []
    for value in fields[number]:
        if isinstance(value, int):
            found.append(value)
            continue
        at = 0
        while at < len(value):
            budget.spend()
            each, at = _varint(value, at)
            found.append(each)
    return found


def _first(fields: Fields, number: int) -> int:
    """A number that is there once; 0 where it is left out, as protocol buffers leave out zeros."""
    values = fields[number]
    if not values:
        return 0
    if not isinstance(values[-1], int):
        raise TypeError
    return values[-1]


def _bytes(value: int | bytes) -> bytes:
    if not isinstance(value, bytes):
        raise TypeError
    return value
