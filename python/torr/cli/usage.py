"""Errors of click as errors of torr: the flag or variable first, then a hint."""

from __future__ import annotations

import click
from click.core import ParameterSource

from torr.errors import UsageError
from torr.messages.say import chain, changed, say


def explained(error: click.UsageError) -> UsageError:
    """Return an error of click as an error of torr."""
    command = error.ctx.command_path.removeprefix("torr").strip() if error.ctx else ""
    where = f"{command}: " if command else ""
    usual = f"torr {command} --help".replace("  ", " ")
    if isinstance(error, click.NoSuchOption):
        from torr.options.verbs import no_such_flag  # `torr --help` needs no options

        if error.option_name == "--json" and _has_output(error.ctx):
            return UsageError(
                say("{where}there is no option '--json'", where=where), say("write -o json")
            )
        message, hint = no_such_flag(command, error.option_name, error.possibilities or ())
        return UsageError(chain("", [where, message]), hint or usual)
    return UsageError(chain("", [where, _named(error)]), getattr(error, "hint", None) or usual)


def _named(error: click.UsageError) -> str:
    parameter = error.param if isinstance(error, click.BadParameter) else None
    if isinstance(error, click.BadOptionUsage):
        return say("{flag} needs a value", flag=error.option_name)
    if parameter is None:
        return changed(error.message, lambda text: text.rstrip("."))
    flag = parameter.make_metavar(error.ctx) if error.ctx else str(parameter.name)
    if isinstance(parameter, click.Option):
        flag = _variable(parameter, error.ctx) or "/".join(parameter.opts)
    if isinstance(error, click.MissingParameter):
        return say("{flag} is missing", flag=flag)
    return chain(": ", [flag, changed(error.message, lambda text: text.rstrip("."))])


def _has_output(ctx: click.Context | None) -> bool:
    return ctx is not None and any("--output" in p.opts for p in ctx.command.params)


def _variable(option: click.Option, ctx: click.Context | None) -> str | None:
    """Return the environment variable that a value comes from; None for other sources."""
    source = ctx.get_parameter_source(option.name or "") if ctx else None
    is_variable = source is ParameterSource.ENVIRONMENT
    return option.envvar if is_variable and isinstance(option.envvar, str) else None
