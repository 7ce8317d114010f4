"""The basic types of results: counts, shares, amounts and summary statistics."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal, TypeVar, get_args, get_type_hints

import msgspec
from msgspec import Meta

from torr.messages.message import Message, as_object, from_object

Kind = TypeVar("Kind")

Percent = Annotated[float, Meta(ge=0, le=100, description="percent")]
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
LARGEST = 1e15
"""The largest number: sums of larger ones would lose their last digits."""
Amount = Annotated[float, Meta(ge=0, le=LARGEST)]
Number = Annotated[float, Meta(ge=-LARGEST, le=LARGEST)]
Factor = str | int | float | bool
Factors = dict[str, Factor]
StatName = Literal["mean", "min", "p50", "p75", "p90", "p95", "p99", "p99_9", "p99_99", "max"]


def encode(part: object) -> bytes:
    """Return the JSON of parts of a result."""
    return msgspec.json.encode(part, enc_hook=_encoded)


def factors_key(factors: Factors) -> str:
    """Return the settings of a trial as text that can be a key, whatever their order."""
    return msgspec.json.encode(factors, order="sorted").decode()


def builtins(part: object) -> Any:  # noqa: ANN401 - any JSON value
    """Return parts of a result as objects, lists and values of JSON."""
    return msgspec.to_builtins(part, enc_hook=_encoded)


def convert(value: object, kind: type[Kind]) -> Kind:
    """Return values of JSON as a part of a result."""
    return msgspec.convert(value, kind, dec_hook=decode_message)


def decode_message(kind: type, value: object) -> Any:  # noqa: ANN401 - what msgspec hands on
    """Return a message of what JSON has of it; for decoders of msgspec."""
    if kind is Message:
        return from_object(value)
    raise NotImplementedError(f"{kind} in a result")


def _encoded(value: object) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, Message):
        return as_object(value)
    if isinstance(value, str):
        # A text that can be said in other languages, where only its English is stored.
        return str.__str__(value)
    raise NotImplementedError(f"{type(value)} in a result")


class ResultPart(msgspec.Struct, kw_only=True):
    """One object of result.json; keys that it does not know are left out."""


@cache
def parts_of(kind: type[ResultPart]) -> frozenset[str]:
    """Return the fields of a part that hold one part."""
    hints = get_type_hints(kind).items()
    return frozenset(name for name, hint in hints if any(map(_is_part, get_args(hint) or (hint,))))


def _is_part(hint: object) -> bool:
    return isinstance(hint, type) and issubclass(hint, ResultPart)


class Statistics(ResultPart, kw_only=True):
    """Summary statistics of one distribution of times, in milliseconds.

    A percentile p is null below 10 / (1 - p) values. `at_least` names those that are only known
    to be at least what they say.
    """

    n: Count
    mean: Number | None = None
    stdev: Number | None = None
    within_stdev_rate: Percent | None = None
    min: Number | None = None
    p50: Number | None = None
    p75: Number | None = None
    p90: Number | None = None
    p95: Number | None = None
    p99: Number | None = None
    p99_9: Number | None = None
    p99_99: Number | None = None
    max: Number | None = None
    at_least: list[StatName] = []

    def value(self, stat: str) -> float | None:
        """Return a number by its name in a condition: `mean`, `p99.9`."""
        number: float | None = getattr(self, stat.replace(".", "_"), None)
        return number

    def is_lower_bound(self, stat: str) -> bool:
        """Return whether a number, by its name in a condition, is only known not to be lower."""
        return stat.replace(".", "_") in self.at_least

    def divided_by(self, divisor: float) -> Statistics:
        """Return them with every time divided by a number."""
        names = (name for name in self.__struct_fields__ if name not in _NO_TIMES)
        times = {n: time / divisor for n in names if (time := getattr(self, n)) is not None}
        return msgspec.structs.replace(self, **times)


_NO_TIMES = frozenset({"n", "within_stdev_rate", "at_least"})
