"""The keys of a plan file that are flags: they stand where a flag is not typed."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import click

from torr.errors import UsageError, require
from torr.planning.plan_file import CHATS, CHATS_HINT, SAID_BY_FILE
from torr.sources.entry import at
from torr.sources.group_entry import GROUP_KEYS
from torr.sources.plan_file import TABLES, read_plan_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

# What only a command line or its reader can mean, and what requests and groups of the file say.
LEFT_OUT = frozenset({"once", "verbose", "help-all", "requests", "lang", *SAID_BY_FILE, *CHATS})


def defaults_of(verb: click.Command, path: Path) -> dict[str, Any]:
    """What a plan file says for the flags of a command, by their names; raises FileError."""
    file = read_plan_file(path)
    own = keys_of(verb)
    # One file is for both: what is of the other command alone says nothing here.
    known = {**_keys_of_all(), **own}
    found = {}
    for key, value in file.flags.items():
        with at(path, file.lines.get(key, 1)):
            near = get_close_matches(key, [*known, *TABLES], 1)
            hint = f"did you mean {near[0]}?" if near else f"a key is a flag of torr {verb.name}"
            if key in GROUP_KEYS:
                hint = "write it into [[groups]]"
            if key.replace("_", "-") in CHATS:
                hint = CHATS_HINT
            require(key in known, f"there is no {key!r} here", hint)
            text = checked(verb, known[key], key, value)
        if key in own:
            found[str(own[key].name)] = text
    return found


def keys_of(verb: click.Command, left_out: AbstractSet[str] = LEFT_OUT) -> dict[str, click.Option]:
    """Every flag of a command by its key: its long name, with `_` for `-`."""
    options = [option for option in verb.params if isinstance(option, click.Option)]
    long = [(next(o for o in option.opts if o.startswith("--"))[2:], option) for option in options]
    return {name.replace("-", "_"): option for name, option in long if name not in left_out}


def _keys_of_all() -> dict[str, click.Option]:
    from torr.cli.ladder import ladder
    from torr.cli.run import run

    return {**keys_of(ladder), **keys_of(run)}


def checked(verb: click.Command, option: click.Option, key: str, value: object) -> object:
    """The value as the flag takes it; raises UsageError with the flag's own words."""
    if option.is_flag:
        require(isinstance(value, bool), f"{key} = {value!r}: it is true or false")
        return value
    values = value if isinstance(value, list) else [value]
    fits = all(isinstance(each, str | int | float) for each in values)
    require(fits, f"{key} is no text and no number")
    require(option.multiple or not isinstance(value, list), f"{key} is one value, not a list")
    texts = [str(each) for each in values]
    context = click.Context(verb)
    try:
        for text in texts:
            option.type.convert(text, option, context)
    except click.UsageError as error:
        raise UsageError(f"{key}: {error.message}", getattr(error, "hint", None)) from error
    return texts if option.multiple else texts[0]


def merged(
    verb: click.Command, path: Path | None, given: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The defaults of a call: what it was given goes before what the file says."""
    return {**(defaults_of(verb, path) if path is not None else {}), **(given or {})}
