"""Keys of plan files and matrix files that are options: they hold where nothing else is given."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torr.errors import UsageError, require
from torr.options.definition import Front
from torr.options.verbs import LADDER, RUN
from torr.planning.plan_file import CHATS, CHATS_HINT
from torr.sources.entry import errors_at
from torr.sources.group_entry import GROUP_KEYS
from torr.sources.names import is_plan_file
from torr.sources.plan_file import TABLES, read_plan_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.options.definition import Option
    from torr.options.verbs import VerbOptions

Values = dict[str, Any]
"""Values of options by the names of their fields, before they become option types."""


def values_of_plan(verb: VerbOptions, arguments: Sequence[str]) -> Values:
    """Return what the plan file among some arguments says, if there is one; raises FileError."""
    file = next((text for text in arguments if is_plan_file(text)), None)
    return {} if file is None else _values_of_plan(verb, Path(file))


def _values_of_plan(verb: VerbOptions, path: Path) -> Values:
    file = read_plan_file(path)
    own = verb.keys(Front.PLAN)
    # One file is for both: what is of the other command alone says nothing here.
    known = {**LADDER.keys(Front.PLAN), **RUN.keys(Front.PLAN)}
    found = {}
    for key, value in file.flags.items():
        with errors_at(path, file.lines.get(key, 1)):
            near = get_close_matches(key, [*known, *TABLES], 1)
            hint = f"did you mean {near[0]}?" if near else f"a key is a flag of torr {verb.verb}"
            if key in GROUP_KEYS:
                hint = "write it into [[groups]]"
            if key in CHATS:
                hint = CHATS_HINT
            require(key in known, f"there is no {key!r} here", hint)
            read = read_key(known[key], key, value)
        if key in own:
            found[known[key].field] = read
    return found


def read_key(option: Option, key: str, value: object) -> Any:  # noqa: ANN401 - a type each
    """Return the value of an option that stands in a file; raises UsageError that names the key."""
    if option.is_switch:
        require(isinstance(value, bool), f"{key} = {value!r}: it is true or false")
        return value
    values = value if isinstance(value, list) else [value]
    fits = all(isinstance(each, str | int | float) for each in values)
    require(fits, f"{key} is no text and no number")
    several = option.is_repeatable or not isinstance(value, list)
    require(several, f"{key} is one value, not a list")
    texts = [str(each) for each in values]
    try:
        return option.read(texts if option.is_repeatable else texts[0])
    except UsageError as error:
        raise UsageError(f"{key}: {error.message}", error.hint) from error
