"""The description of a server: its command, its health check and how it is stopped.

It is written once with placeholders, which are filled for each trial. It does not start anything
and does not read the disk.
"""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from torr.errors import UsageError, require
from torr.messages.say import say
from torr.model.secret_names import is_secret, is_secret_flag
from torr.model.secrets import redacted_command
from torr.model.url import Url
from torr.servers.placeholders import fill, placeholder_names
from torr.store.runs.database_url import VARIABLE as STORE

if TYPE_CHECKING:
    from collections.abc import Mapping

GRACE_S = 10.0
HEALTH_S = 30.0
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Command:
    """One server: `grace_s` and `health_timeout_s` are seconds, `cores` the numbers of its cores.

    `workers` is the number of processes that should answer; None stands for the value of
    {processes} if the command or its environment uses it, and 1 if not. Without `cores` the server
    may run on all. Without a `health` path, the server is healthy when it accepts a connection.
    """

    argv: tuple[str, ...]
    url: str
    name: str = "server"
    env: tuple[tuple[str, str], ...] = ()
    cwd: Path = Path()
    stop_signal: int = signal.SIGTERM
    grace_s: float = GRACE_S
    health: str = "/"
    health_timeout_s: float = HEALTH_S
    cores: tuple[int, ...] = ()
    workers: int | None = None

    @property
    def secrets(self) -> list[str]:
        """Return the values of variables and flags with secret names, longest first."""
        secrets = {value for name, value in self.env if is_secret(name)}
        secrets |= {after for word, after in pairwise(self.argv) if is_secret_flag(word)}
        return sorted(filter(None, secrets), key=len, reverse=True)

    @property
    def environment(self) -> dict[str, str]:
        """Return the variables it is started with: those of torr, and its own.

        The address of torr's store is omitted, since it may contain a password.
        """
        inherited = {name: value for name, value in os.environ.items() if name != STORE}
        return {**inherited, **dict(self.env)}

    def redacted(self) -> str:
        """Return the command as one line for a shell, without secrets."""
        import shlex

        return shlex.join(redacted_command(self.argv))

    def __post_init__(self) -> None:
        """Raise UsageError if the server could not be started or stopped like this."""
        require(
            bool(self.argv) and bool(self.argv[0]),
            say("{name}: the command is empty", name=self.name),
            say(
                'write it as a list of words: command = ["uvicorn", "app:app", "--port",'
                ' "{{port}}"]'
            ),
        )
        for word in (*self.argv, *(f"{key}{value}" for key, value in self.env)):
            require(
                "\0" not in word,
                say("{name}: {word!r} contains a NUL character", name=self.name, word=word),
            )
        for key, _ in self.env:
            require(
                bool(key) and "=" not in key,
                say("{name}: {key!r} cannot name a variable of env", name=self.name, key=key),
            )
        require(self.grace_s > 0, say("{name}: the grace must be longer than 0", name=self.name))
        require(
            self.health_timeout_s > 0,
            say("{name}: the health timeout must be longer than 0", name=self.name),
        )
        require(
            not self.health or self.health.startswith("/"),
            say(
                "{name}: the health path {health!r} does not begin with /",
                name=self.name,
                health=self.health,
            ),
            say("write the path alone, such as /health: torr requests it from the server of url"),
        )
        require(
            self.workers is None or self.workers > 0,
            say("{name}: workers must be 1 or more", name=self.name),
        )

    def filled(self, values: Mapping[str, object]) -> Command:
        """Return a copy whose placeholders are filled; raise UsageError for an unknown one."""
        texts = (*self.argv, *(value for _, value in self.env))
        uses_processes = any("processes" in placeholder_names(text) for text in texts)
        return replace(
            self,
            argv=tuple(fill(word, values, f"{self.name}: command") for word in self.argv),
            url=fill(self.url, values, f"{self.name}: url", template=True),
            env=tuple(
                (key, fill(value, values, f"{self.name}: env {key}")) for key, value in self.env
            ),
            cwd=Path(fill(str(self.cwd), values, f"{self.name}: cwd")),
            health=fill(self.health, values, f"{self.name}: health"),
            workers=self.workers or (_workers(self.name, values) if uses_processes else 1),
        )

    @property
    def placeholders(self) -> set[str]:
        """Return the names of the placeholders in the description."""
        values = (value for _, value in self.env)
        texts = (*self.argv, *values, self.url, str(self.cwd), self.health)
        return {name for text in texts for name in placeholder_names(text)}

    @property
    def parsed_url(self) -> Url:
        """Return the server's URL; raise UsageError if it is invalid."""
        return Url.parse(self.url, messages=True)

    @property
    def port(self) -> int | None:
        """Return the server's TCP port; None for a Unix socket."""
        url = self.parsed_url
        return None if url.socket is not None else url.port or _PORTS[url.scheme]

    def __str__(self) -> str:
        """Return the command as one line for a shell."""
        import shlex

        return shlex.join(self.argv)


def stop_signal(text: str) -> int:
    """Return the number of a signal written as `TERM`, `SIGINT` or `15`."""
    word = text.strip().upper()
    by_name = {member.name: int(member) for member in signal.Signals}
    by_name |= {name.removeprefix("SIG"): number for name, number in by_name.items()}
    by_name |= {str(number): number for number in set(by_name.values())}
    if word not in by_name:
        raise UsageError(
            say("{text!r} is not a signal", text=text), say("write TERM, INT, QUIT or HUP")
        )
    number = by_name[word]
    require(
        number not in {signal.SIGKILL, signal.SIGSTOP},
        say("{text} gives a server no chance to stop by itself", text=text),
        say("write TERM: torr kills a server that does not stop within its grace"),
    )
    return number


def _workers(name: str, values: Mapping[str, object]) -> int:
    text = str(values["processes"]) if "processes" in values else "1"
    require(
        text.isascii() and text.isdigit() and int(text) > 0,
        say("{name}: processes = {text} is not a number of processes", name=name, text=text),
        say("write 1 or more"),
    )
    return int(text)
