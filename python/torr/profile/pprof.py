"""Read profiles of Go's net/http/pprof without Go: protocol buffers compressed by gzip.

The format is google/pprof's profile.proto; only the fields for stacks and weights are read. A
sample lists locations from the leaf to the root; a location lists several functions where calls
were inlined, the innermost first.
"""

from __future__ import annotations

import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from torr.errors import UsageError
from torr.messages.message import message
from torr.profile.stacks import Stack, Stacks

# Fields of Profile, Sample, Location, Line, Function and ValueType.
_SAMPLE_TYPE, _SAMPLE, _LOCATION, _FUNCTION, _STRINGS = 1, 2, 4, 5, 6
_LOCATIONS, _VALUES = 1, 2
_ID, _LINE, _FUNCTION_ID, _NAME = 1, 4, 1, 2
_TYPE, _UNIT = 1, 2

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_UNKNOWN = "(unknown)"
_TOO_LARGE = message("hint.shorter_profile", "profile for a shorter time")
_SIZES = {_FIXED64: 8, _FIXED32: 4}
_MOST_BYTES_OF_A_VARINT = 10
# Ten times the size of profiles of large servers over minutes.
MOST_BYTES = 32 << 20
_MOST_VALUES = 4_000_000

Fields = Mapping[int, list[int | bytes]]


def read(data: bytes, kind: str | None = None) -> Stacks:
    """Return the stacks of a profile for a sample type such as `cpu`, by default for its last one.

    Raises UsageError if the data is not a profile, or has no such type.
    """
    try:
        return _read(data, kind)
    except (EOFError, IndexError, KeyError, TypeError, ValueError, zlib.error) as error:
        raise UsageError(
            message("profile.not_pprof", "this is not a profile of pprof"),
            message("hint.not_pprof", "fetch {path}", path="/debug/pprof/profile"),
        ) from error


def _read(data: bytes, kind: str | None) -> Stacks:
    budget = _Budget()
    profile = _fields(_decompressed(data), budget)
    strings = [_bytes(text).decode("utf-8", "replace") for text in profile[_STRINGS]]
    types = [_fields(_bytes(item), budget) for item in profile[_SAMPLE_TYPE]]
    names = [strings[_first(item, _TYPE)] for item in types]
    if kind is not None and kind not in names:
        raise UsageError(
            message("profile.no_type", "the profile has no {kind!r}", kind=kind),
            message("hint.no_type", "it has {kinds}", kinds=", ".join(names)),
        )
    at = names.index(kind) if kind is not None else len(names) - 1
    frames = _Frames.of(profile, strings, budget)
    weights: Counter[Stack] = Counter()
    for item in profile[_SAMPLE]:
        sample = _fields(_bytes(item), budget)
        value = _numbers(sample, _VALUES, budget)[at]
        if value:
            weights[frames.stack(_numbers(sample, _LOCATIONS, budget))] += value
    return Stacks(weights, _unit(strings[_first(types[at], _UNIT)]))


def _decompressed(data: bytes) -> bytes:
    """Return the content of data that may be compressed; raise UsageError if it is too large."""
    if data[:2] == b"\x1f\x8b":
        unpacking = zlib.decompressobj(zlib.MAX_WBITS | 16)
        data = unpacking.decompress(data, MOST_BYTES + 1)
        if len(data) <= MOST_BYTES and not unpacking.eof:
            raise EOFError
    if len(data) > MOST_BYTES:
        text = message(
            "profile.too_large", "the profile has more than {most} MiB", most=MOST_BYTES >> 20
        )
        raise UsageError(text, _TOO_LARGE)
    return data


class _Budget:
    """Limits the number of values that are read, whatever the data declares."""

    def __init__(self) -> None:
        self._remaining = _MOST_VALUES

    def spend(self) -> None:
        """Count one value; raise UsageError if there are too many."""
        self._remaining -= 1
        if self._remaining < 0:
            text = message(
                "profile.too_many_values",
                "the profile has more than {most:,} values",
                most=_MOST_VALUES,
            )
            raise UsageError(text, _TOO_LARGE)


@dataclass(frozen=True, slots=True)
class _Frames:
    """The functions of each location, innermost first."""

    by_location: Mapping[int, tuple[str, ...]]

    @classmethod
    def of(cls, profile: Fields, strings: list[str], budget: _Budget) -> _Frames:
        functions = {}
        for item in profile[_FUNCTION]:
            function = _fields(_bytes(item), budget)
            functions[_first(function, _ID)] = strings[_first(function, _NAME)] or _UNKNOWN
        by_location = {}
        for item in profile[_LOCATION]:
            location = _fields(_bytes(item), budget)
            lines = [_fields(_bytes(line), budget) for line in location[_LINE]]
            names = tuple(functions[_first(line, _FUNCTION_ID)] for line in lines)
            by_location[_first(location, _ID)] = names or (_UNKNOWN,)
        return cls(by_location)

    def stack(self, locations: list[int]) -> Stack:
        leaf_first = [name for location in locations for name in self.by_location[location]]
        return tuple(reversed(leaf_first)) or (_UNKNOWN,)


def _unit(text: str) -> str:
    return {"nanoseconds": "ns", "count": "samples"}.get(text, text)


def _fields(data: bytes, budget: _Budget) -> Fields:
    """Return the fields of a message by number; missing ones are empty lists."""
    budget.spend()
    values: defaultdict[int, list[int | bytes]] = defaultdict(list)
    for number, value in _parse_fields(data):
        budget.spend()
        values[number].append(value)
    return values


def _parse_fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
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
    """Return a number of 7 bits per byte, lowest first, and the index behind it."""
    value = 0
    for index in range(_MOST_BYTES_OF_A_VARINT):
        byte = data[at + index]
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return value, at + index + 1
    raise ValueError


def _numbers(fields: Fields, number: int, budget: _Budget) -> list[int]:
    """Return the values of a repeated number, packed or one by one."""
    values: list[int] = []
    for value in fields[number]:
        if isinstance(value, int):
            values.append(value)
            continue
        at = 0
        while at < len(value):
            budget.spend()
            number_, at = _varint(value, at)
            values.append(number_)
    return values


def _first(fields: Fields, number: int) -> int:
    """Return the value of a single number; 0 if it is missing, as in protocol buffers."""
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
