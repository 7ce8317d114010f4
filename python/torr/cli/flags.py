"""Flags of click from the definitions of options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from torr.cli.command import Flag
from torr.errors import UsageError
from torr.options import readers
from torr.options.definition import Option, options_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from _typeshed import DataclassInstance

    from torr.options.definition import VerbOptions
    from torr.options.readers import Reader

    Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
    ParamType = click.ParamType[Any]
else:
    ParamType = click.ParamType


class Parameter(ParamType):
    """A type of click that reads its values by a reader."""

    def __init__(self, reader: Reader[Any]) -> None:
        self.name = reader.name
        self.reader = reader

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """Return the value of a text; a default is already a value."""
        if not isinstance(value, str):
            return value
        try:
            return self.reader.read(value)
        except UsageError as error:
            raise Misread(error, ctx, param) from error

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's signature
        param: click.Parameter,  # noqa: ARG002
        incomplete: str,
    ) -> list[CompletionItem]:
        """Return the completions of choices, files and folders."""
        if self.reader.choices:
            return [CompletionItem(x) for x in self.reader.choices if x.startswith(incomplete)]
        kind = {"FILE": "file", "DIR": "dir"}.get(self.name)
        return [] if kind is None else [CompletionItem(incomplete, type=kind)]


class Misread(click.BadParameter):
    """A value that could not be read, with a hint."""

    def __init__(
        self, error: UsageError, ctx: click.Context | None, param: click.Parameter | None
    ) -> None:
        super().__init__(error.message, ctx=ctx, param=param)
        self.hint = error.hint


urls = click.argument("urls", nargs=-1, type=Parameter(readers.URL), metavar="URL")


def flags_of(verb: VerbOptions) -> Decorator:
    """Return the decorator that gives a command the flags of a verb."""
    return _together(*map(_of_option, verb.all))


def shared(kind: type[DataclassInstance], *names: str) -> Decorator:
    """Return the decorator that gives a command flags of an option type, in order of `names`."""
    by_name = {option.field: option for option in options_of(kind)}
    return _together(*(_of_option(by_name[name]) for name in names))


def _of_option(option: Option) -> Decorator:
    """Return the decorator for one flag, which is shown with the name of its reader."""
    more: dict[str, Any] = {"is_flag": True}
    if not option.is_switch:
        more = {"type": Parameter(option.reader), "metavar": option.reader.name}
    if option.is_repeatable:
        more["multiple"] = True
    elif option.default is not None:
        more["default"] = option.read(str(option.default))
    return click.option(
        *option.flags,
        option.field,
        cls=Flag,
        envvar=option.variable,
        group=option.group,
        rare=option.rare,
        help=option.help,
        **more,
    )


def _together(*decorators: Decorator) -> Decorator:
    """Return several decorators as one, in the order in which flags are shown."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def is_given(name: str) -> bool:
    """Return whether a flag was given on the command line."""
    source = click.get_current_context().get_parameter_source(name)
    return source is not ParameterSource.DEFAULT
