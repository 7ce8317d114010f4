"""The table `[settings]` of a tune file: the values of each parameter, and how it is set."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from torr.errors import UsageError, require
from torr.messages.say import say
from torr.messages.similar import did_you_mean
from torr.model.settings import TunedParameter, is_one_of
from torr.sources.toml_table import TomlTable, line_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from torr.model.settings import SettingValue

PARAMETER_KEYS = ("values", "when", "otherwise", "argument", "env")
OF_A_TRIAL = ("port", "scratch")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class SettingsReader:
    """Reads the parameters of a file."""

    top: TomlTable

    def parameters(self) -> tuple[TunedParameter, ...]:
        """Return the parameters in the order of the file; raise FileError."""
        table = self.top.table("settings", say("write [settings] above them"))
        with self.top.errors_at("settings"):
            require(
                bool(table.values),
                say("there are no settings"),
                say("write [settings], and workers = [1, 2, 4] below it"),
            )
        # The parser does not keep the order of a table; the line numbers do.
        names = sorted(table.values, key=lambda name: line_of(self.top.lines, f"settings.{name}"))
        parameters: dict[str, TunedParameter] = {}
        for name in names:
            with table.errors_at(name):
                _check_name(name)
            parameters[name] = self._parameter(table, name, parameters)
        return tuple(parameters.values())

    def _parameter(
        self, table: TomlTable, name: str, before: Mapping[str, TunedParameter]
    ) -> TunedParameter:
        if not isinstance(table.values[name], dict):
            return TunedParameter(name, _values(table, name, name))
        own = table.table(name, "")
        own.check_keys(PARAMETER_KEYS)
        variable = own.value("env", str)
        with own.errors_at("env"):
            fits = variable is None or (bool(variable) and "=" not in variable)
            require(fits, say("{name} cannot name a variable of env", name=variable))
        return TunedParameter(
            name=name,
            values=_values(own, "values", name),
            when=dict(_conditions(own, before)),
            argument=tuple(own.texts("argument", say('write argument = ["--pool", "{{pool}}"]')))
            if "argument" in own.values
            else (),
            variable=variable,
            otherwise=_otherwise(own, name),
        )


def _check_name(name: str) -> None:
    require(
        _NAME.fullmatch(name) is not None,
        say("{name!r} cannot stand in braces", name=name),
        say("use letters, digits and _"),
    )
    require(
        name not in OF_A_TRIAL,
        say("{{{name}}} is a name that torr sets for each trial", name=name),
        say("rename it"),
    )


def _conditions(
    own: TomlTable, before: Mapping[str, TunedParameter]
) -> Iterator[tuple[str, tuple[SettingValue, ...]]]:
    """Yield the values that other parameters must have; these must be known values of them."""
    table = own.table("when", say("write when = {{ workers = [4, 8] }}"))
    for name in table.values:
        with table.errors_at(name):
            hint = did_you_mean(name, before) or say(
                "name a parameter that is written before it, on a line of its own"
            )
            require(name in before, say("when: there is no {name!r} before", name=name), hint)
            known = before[name].values
            values = _values(table, name, name) if _is_list(table, name) else (table.values[name],)
            shown = ", ".join(map(str, known))
            for value in values:
                require(
                    is_one_of(value, known),
                    say("when: {name} is never {value}", name=name, value=value),
                    say("its values are {shown}", shown=shown),
                )
            yield name, values


def _otherwise(own: TomlTable, name: str) -> SettingValue | None:
    """Return the value where the condition does not hold."""
    value = own.values.get("otherwise")
    with own.errors_at("otherwise" if value is not None else ""):
        _check_value(value if value is not None else "", name)
        require(
            value is None or "when" in own.values,
            say("{name} has otherwise, and no condition", name=name),
            say("write when = {{ workers = [4, 8] }}"),
        )
    return cast("SettingValue | None", value)


def _check_value(value: object, name: str) -> None:
    require(
        isinstance(value, str | int | float | bool),
        say("{name}: {value!r} is neither a text nor a number", name=name, value=value),
    )


def _is_list(table: TomlTable, name: str) -> bool:
    return isinstance(table.values[name], list)


def _values(table: TomlTable, key: str, name: str) -> tuple[SettingValue, ...]:
    """Return the values of a list, which are texts, numbers, true or false; none twice."""
    values = table.values.get(key)
    with table.errors_at(key if key in table.values else ""):
        if not isinstance(values, list) or not values:
            raise UsageError(
                say("{name} has no list of values", name=name),
                say("write {name} = [1, 4]", name=name),
            )
        for number, value in enumerate(values):
            _check_value(value, name)
            require(
                not is_one_of(value, values[:number]),
                say("{name} has {value!r} twice", name=name, value=value),
            )
        return tuple(values)
