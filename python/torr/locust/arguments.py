"""The arguments that `torr locust` adds to Locust's, also for config files and the environment."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from torr.errors import UsageError
from torr.options.definition import build_options, options_of
from torr.options.locust import NO_RUN, LocustOptions

if TYPE_CHECKING:
    from collections.abc import Callable

    from torr.options.definition import Option

OPTIONS = options_of(LocustOptions)
FLAGS = {option.field: option.long for option in OPTIONS}


def add_arguments(parser: Any, **_more: object) -> None:
    """Add torr's arguments to Locust's parser."""
    # The web page shows only arguments that belong to the parser itself.
    group = parser.add_argument_group(
        "torr options", "What torr records of a test, in addition to Locust"
    )
    for option in OPTIONS:
        group.add_argument(
            option.long,
            env_var=option.variable,
            default=option.default,
            help=option.help,
            **_argparse_keywords(option),
        )


def options_in(parsed: object) -> LocustOptions:
    """Return torr's options as Locust has parsed them; without any, no run is recorded."""
    values = {option.field: getattr(parsed, option.key, None) for option in OPTIONS}
    values |= {"folder": values["folder"] or NO_RUN, "tag": tuple(values["tag"] or ())}
    return build_options(
        LocustOptions, {name: value for name, value in values.items() if value is not None}
    )


def _argparse_keywords(option: Option) -> dict[str, Any]:
    """Return the keywords of argparse that describe the kind of an option."""
    if option.is_switch:
        return {"action": "store_true"}
    action = {"action": "append"} if option.is_repeatable else {}
    return {"metavar": option.reader.name, "type": _type_of(option), **action}


def _type_of(option: Option) -> Callable[[str], object]:
    def read(text: str) -> object:
        try:
            return option.reader.read(text)
        except UsageError as error:
            raise argparse.ArgumentTypeError(error.message) from error

    return read
