"""Keys of plan files and matrix files that are options: the command line overrides them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from torr.errors import UsageError, require
from torr.messages.say import say
from torr.messages.similar import did_you_mean
from torr.options.definition import OptionScope
from torr.options.verbs import LADDER, RUN
from torr.planning.plan_file import HINTS
from torr.sources.entry import errors_at
from torr.sources.group_entry import GROUP_KEYS
from torr.sources.names import is_plan_file
from torr.sources.plan_file import TABLES, read_plan_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.options.definition import Option, VerbOptions
    from torr.sources.plan_file import PlanFile

Values = dict[str, Any]
"""Values of options by the names of their fields."""


def values_of_plan(verb: VerbOptions, arguments: Sequence[str]) -> Values:
    """Return the options of the plan file among some arguments, if there is one."""
    file = next((text for text in arguments if is_plan_file(text)), None)
    return {} if file is None else _values_of_plan(verb, Path(file))


def _values_of_plan(verb: VerbOptions, path: Path) -> Values:
    file = read_plan_file(path)
    own_keys = _keys_of(file, verb)
    # One file serves both commands: keys of the other command alone are ignored.
    options = {**_keys_of(file, LADDER), **_keys_of(file, RUN)}
    values = {}
    for key, value in file.flags.items():
        with errors_at(path, file.lines.get(key, 1)):
            hint = did_you_mean(key, [*options, *TABLES]) or say(
                "a key is the name of a flag of torr {verb}", verb=verb.verb
            )
            if key in GROUP_KEYS:
                hint = say("write it into [[groups]]")
            hint = HINTS.get(key, hint)
            require(key in options, say("there is no {key!r} here", key=key), hint)
            parsed = read_key(options[key], key, value)
        if key in own_keys:
            values[options[key].field] = parsed
    return values


def _keys_of(file: PlanFile, verb: VerbOptions) -> dict[str, Option]:
    """Return the options that a file may have; requests and groups have some of their own."""
    keys = verb.keys(OptionScope.PLAN)
    return {**keys, **verb.keys(OptionScope.KEYWORD)} if file.is_of_chat else keys


def read_key(option: Option, key: str, value: object) -> Any:  # noqa: ANN401 - a type each
    """Return the value of an option in a file; raise UsageError that names the key."""
    if option.is_switch:
        require(
            isinstance(value, bool),
            say("{key} = {value!r}: it must be true or false", key=key, value=value),
        )
        return value
    values = value if isinstance(value, list) else [value]
    fits = all(isinstance(item, str | int | float) for item in values)
    require(fits, say("{key} is neither a text nor a number", key=key))
    several = option.is_repeatable or not isinstance(value, list)
    require(several, say("{key} is one value, not a list", key=key))
    texts = [str(item) for item in values]
    try:
        return option.read(texts if option.is_repeatable else texts[0])
    except UsageError as error:
        raise UsageError(
            say("{key}: {message}", key=key, message=error.message), error.hint
        ) from error
