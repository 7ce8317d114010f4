"""What `torr locust` adds to Locust's arguments, for config files and the environment, too."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from torr.errors import UsageError
from torr.options.definition import made, options_of
from torr.options.locust import NO_RUN, LocustOptions

if TYPE_CHECKING:
    from collections.abc import Callable

    from torr.options.definition import Option

OPTIONS = options_of(LocustOptions)
FLAGS = {option.field: option.long for option in OPTIONS}


def add_arguments(parser: Any, **_more: object) -> None:
    """Add them to Locust's parser."""
    # The web page shows only what is added to the parser itself.
    group = parser.add_argument_group("torr options", "What is kept of a test, beside Locust's own")
    for option in OPTIONS:
        group.add_argument(
            option.long,
            env_var=option.variable,
            default=option.default,
            help=option.help,
            **_kind(option),
        )


def options_in(parsed: object) -> LocustOptions:
    """Return them as Locust has read them; where it has read none, no run is kept."""
    found = {option.field: getattr(parsed, option.key, None) for option in OPTIONS}
    found |= {"folder": found["folder"] or NO_RUN, "tag": tuple(found["tag"] or ())}
    return made(LocustOptions, {name: value for name, value in found.items() if value is not None})


def _kind(option: Option) -> dict[str, Any]:
    """What kind of argument it is, as argparse wants to know it."""
    if option.is_switch:
        return {"action": "store_true"}
    action = {"action": "append"} if option.is_repeatable else {}
    return {"metavar": option.reader.name, "type": _reading(option), **action}


def _reading(option: Option) -> Callable[[str], object]:
    def read(text: str) -> object:
        try:
            return option.reader.read(text)
        except UsageError as error:
            raise argparse.ArgumentTypeError(error.message) from error

    return read
