"""What click says of a wrong command line, as torr says it: the flag first, and what to try."""

from __future__ import annotations

import click

from torr.errors import UsageError


def explained(error: click.UsageError) -> UsageError:
    """The same error as one of torr's."""
    command = error.ctx.command_path.removeprefix("torr").strip() if error.ctx else ""
    where = f"{command}: " if command else ""
    if isinstance(error, click.NoSuchOption) and command == "ladder" and _is_of_run(error):
        return UsageError(
            f"ladder: {error.option_name} is a flag of torr run: a ladder climbs by connections",
            f"torr ladder --levels 100,200,400, or torr run {error.option_name}",
        )
    hint = getattr(error, "hint", None) or f"torr {command} --help".replace("  ", " ")
    return UsageError(f"{where}{_named(error)}", hint)


def _named(error: click.UsageError) -> str:
    parameter = error.param if isinstance(error, click.BadParameter) else None
    if parameter is None or isinstance(error, click.MissingParameter):
        return error.format_message().rstrip(".")
    flag = parameter.make_metavar(error.ctx) if error.ctx else str(parameter.name)
    if isinstance(parameter, click.Option):
        flag = "/".join(parameter.opts)
    return f"{flag}: {error.message.rstrip('.')}"


def _is_of_run(error: click.NoSuchOption) -> bool:
    """Whether `torr run` has the flag that this command has not."""
    from torr.cli.run import run

    return any(error.option_name in parameter.opts for parameter in run.params)
