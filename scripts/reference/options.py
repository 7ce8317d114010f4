"""docs/reference/options.md: every command and flag, read from the commands and the plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import click

from torr.cli.command import Flag, Verb, Verbs
from torr.cli.main import torr
from torr.plugin import pytest_addoption

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

_HEAD = """\
# Options

Generated from the commands by `make reference`. The default stands in brackets.

Times carry a unit: `500us`, `1.5ms`, `10s`, `2m`, `1h`. Rates are per second: `500`, `10k`, `1.5M`.
Counts of connections and requests take `k` and `M`, too. Sizes: `512`, `64kB` (× 1000), `64KiB`
(× 1024). Shares: `0.1` or `10%`. Conditions of `--slo` and `--abort-on` are explained in
[metrics](metrics.md#conditions), exit codes on [a page of their own](exit-codes.md).
"""


def page() -> str:
    """The whole page."""
    parts = [_HEAD]
    for path, verb in verbs():
        parts.append(_section(path, verb))
    parts.append(_plugin())
    return "\n".join(parts)


def verbs(group: Verbs = torr, path: str = "torr") -> Iterator[tuple[str, Verb]]:
    """Every command with its whole name, in the order of the help."""
    context = click.Context(group, info_name=path)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, Verbs):
            yield from verbs(command, f"{path} {name}")
        elif isinstance(command, Verb):
            yield f"{path} {name}", command


def _section(path: str, verb: Verb) -> str:
    context = click.Context(verb, info_name=path)
    lines = [f"## {path}", "", str(verb.help), "", "```text"]
    lines += [verb.usage(context), "```", ""]
    lines += ["| option | what it does |", "| --- | --- |"]
    for parameter in verb.params:
        row = parameter.get_help_record(context)
        if isinstance(parameter, Flag) and row is not None:
            lines.append(f"| `{_cell(row[0])}` | {_cell(row[1] + _choices(parameter, row[1]))} |")
    lines += [f"| `{_cell(flag)}` | {_cell(says)} |" for flag, says in verb.passed_on]
    lines += ["", "```sh", *verb.examples, "```", ""]
    return "\n".join(lines)


def _choices(flag: Flag, text: str) -> str:
    """Return the values of a flag whose help has room for some of them only."""
    reader = getattr(flag.type, "reader", None)
    choices = reader.choices if reader is not None and "…" in text else ()
    return f" (one of {', '.join(choices)})" if choices else ""


class _Listener:
    """Stands where pytest asks plugins for their options, and hears them."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, str]] = []

    def getgroup(self, _name: str, _says: str) -> _Listener:
        return self

    def addoption(self, name: str, **said: Any) -> None:  # noqa: ANN401
        value = said.get("metavar") or "|".join(said.get("choices", ()))
        # argparse fills in texts: two per cent signs are one.
        self.rows.append((f"{name} {value}".rstrip(), said["help"] % ()))


def _plugin() -> str:
    heard = _Listener()
    pytest_addoption(cast("pytest.Parser", heard))
    lines = ["## pytest", "", "What the plugin adds, see [functions](../functions.md).", ""]
    lines += ["| option | what it does |", "| --- | --- |"]
    lines += [f"| `{_cell(flag)}` | {_cell(says)} |" for flag, says in heard.rows]
    return "\n".join([*lines, ""])


def _cell(text: str) -> str:
    """Text of a table's cell, in which a bar would end it."""
    return text.replace("|", "\\|")
