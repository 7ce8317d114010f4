"""packaging/data/share: shell completions by click, and the man page torr(1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.shell_completion import BashComplete, FishComplete, ZshComplete

from reference.options import verbs
from torr import __version__
from torr.cli.command import Flag
from torr.cli.main import EXAMPLES, torr
from torr.errors import ENDS, ExitCode

if TYPE_CHECKING:
    from click.shell_completion import ShellComplete

    from torr.cli.command import Verb

_VARIABLE = "_TORR_COMPLETE"


def bash() -> str:
    """Return the completion of bash, without click's check of bash's version."""
    return _script(BashComplete)


def zsh() -> str:
    """Return the completion of zsh."""
    return _script(ZshComplete)


def fish() -> str:
    """Return the completion of fish."""
    return _script(FishComplete)


def _script(shell: type[ShellComplete]) -> str:
    complete = shell(torr, {}, "torr", _VARIABLE)
    return (complete.source_template % complete.source_vars()).strip() + "\n"


def man() -> str:
    """Return the manual page in the form that `man` reads."""
    parts = [
        f'.TH TORR 1 "" "torr {__version__}" "User Commands"',
        ".SH NAME",
        "torr \\- load testing of APIs",
        ".SH SYNOPSIS",
        ".B torr",
        "COMMAND [OPTIONS] ...",
        ".SH DESCRIPTION",
        _text(torr.help or ""),
        ".PP",
        "Times have a unit: 500us, 1.5ms, 10s, 2m, 1h. Rates are per second: 500, 10k, 1.5M.",
        ".SH COMMANDS",
        *(_section(path, verb) for path, verb in verbs()),
        ".SH EXIT STATUS",
        *(f".TP\n.B {int(code)}\n{_text(ENDS[code])}" for code in ExitCode),
        ".SH EXAMPLES",
        *(f".PP\n.RS\n.nf\n{_text(example)}\n.fi\n.RE" for example in EXAMPLES),
    ]
    return "\n".join(parts) + "\n"


def _section(path: str, verb: Verb) -> str:
    context = click.Context(verb, info_name=path)
    parts = [f".SS {_text(verb.usage(context))}", _text(str(verb.help))]
    for parameter in verb.params:
        row = parameter.get_help_record(context)
        if isinstance(parameter, Flag) and row is not None:
            parts.append(f".TP\n.B {_text(row[0])}\n{_text(row[1])}")
    return "\n".join(parts)


def _text(text: str) -> str:
    """Return a text for man(7): no line of it is a macro, and `-` can be copied."""
    lines = text.replace("\\", "\\e").replace("-", "\\-").splitlines()
    return "\n".join(f"\\&{line}" if line[:1] in {".", "'"} else line for line in lines)
