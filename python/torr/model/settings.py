"""Settings: combinations of the values of a server's parameters.

A parameter may have a condition, such as a pool size that only several workers have. A setting in
which the condition does not hold has no value of the parameter.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SettingValue = str | int | float | bool
Setting = dict[str, SettingValue]
"""A value for each parameter whose condition holds, by name, in the order of the parameters."""

MOST_SETTINGS = 100_000


class TunedParameter(msgspec.Struct, frozen=True):
    """A parameter with the values that are tried; `when` has the values of others that it needs.

    `argument` are words that are added to the command of the server; `variable` is an environment
    variable. Without both, the value is used where its name stands in braces. `otherwise` is the
    value in settings in which the condition does not hold; it is no part of them.
    """

    name: str
    values: tuple[SettingValue, ...]
    when: dict[str, tuple[SettingValue, ...]] = {}
    argument: tuple[str, ...] = ()
    variable: str | None = None
    otherwise: SettingValue | None = None

    def applies_in(self, setting: Setting) -> bool:
        """Return whether the condition holds in a setting."""
        return all(
            name in setting and is_one_of(setting[name], values)
            for name, values in self.when.items()
        )


def is_one_of(value: SettingValue | None, values: Iterable[SettingValue | None]) -> bool:
    """Return whether a value is one of some; the numbers 0 and 1 differ from false and true."""
    return any(type(value) is type(other) and value == other for other in values)


def settings_of(parameters: Sequence[TunedParameter]) -> list[Setting]:
    """Return every setting, the last parameter changing fastest.

    Conditions name only parameters before theirs. Raise ValueError beyond MOST_SETTINGS.
    """
    settings: list[Setting] = [{}]
    for parameter in parameters:
        values = [_values_in(parameter, setting) for setting in settings]
        if sum(map(len, values)) > MOST_SETTINGS:
            raise ValueError(f"more than {MOST_SETTINGS:,} settings")
        settings = [
            {**setting, parameter.name: value} if value is not None else setting
            for setting, own in zip(settings, values, strict=True)
            for value in own
        ]
    return settings


def most_settings(parameters: Sequence[TunedParameter]) -> int:
    """Return how many settings there would be if every condition held."""
    return math.prod(len(parameter.values) for parameter in parameters)


def _values_in(parameter: TunedParameter, setting: Setting) -> tuple[SettingValue | None, ...]:
    return parameter.values if parameter.applies_in(setting) else (None,)
