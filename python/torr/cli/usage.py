"""Errors of click as errors of torr: the flag or variable first, then a hint."""

from __future__ import annotations

import click
from click.core import ParameterSource

from torr.errors import UsageError


def explained(error: click.UsageError) -> UsageError:
    """Return an error of click as an error of torr."""
    command = error.ctx.command_path.removeprefix("torr").strip() if error.ctx else ""
    where = f"{command}: " if command else ""
    usual = f"torr {command} --help".replace("  ", " ")
    if isinstance(error, click.NoSuchOption):
        from torr.options.verbs import no_such_flag  # `torr --help` needs no options

        if error.option_name == "--json" and _has_output(error.ctx):
            return UsageError(f"{where}there is no option '--json'", "write -o json")
        message, hint = no_such_flag(command, error.option_name, error.possibilities or ())
        return UsageError(f"{where}{message}", hint or usual)
    return UsageError(f"{where}{_named(error)}", getattr(error, "hint", None) or usual)


def _named(error: click.UsageError) -> str:
    parameter = error.param if isinstance(error, click.BadParameter) else None
    if parameter is None or isinstance(error, click.MissingParameter):
        return error.format_message().rstrip(".")
    flag = parameter.make_metavar(error.ctx) if error.ctx else str(parameter.name)
    if isinstance(parameter, click.Option):
        flag = _variable(parameter, error.ctx) or "/".join(parameter.opts)
    return f"{flag}: {error.message.rstrip('.')}"


def _has_output(ctx: click.Context | None) -> bool:
    return ctx is not None and any("--output" in p.opts for p in ctx.command.params)


def _variable(option: click.Option, ctx: click.Context | None) -> str | None:
    """Return the environment variable that a value comes from; None for other sources."""
    source = ctx.get_parameter_source(option.name or "") if ctx else None
    is_variable = source is ParameterSource.ENVIRONMENT
    return option.envvar if is_variable and isinstance(option.envvar, str) else None
