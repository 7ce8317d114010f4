"""What starts a server, how it is known to be up, and how it is stopped: a description only.

It is written once with placeholders and filled for each trial; the filled one has none. It starts
nothing and looks at nothing on the disk.
"""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from torr.errors import UsageError, require
from torr.model.secret_names import is_secret, is_secret_flag
from torr.model.secrets import redacted_command
from torr.model.url import Url
from torr.servers.placeholders import filled, names
from torr.store.kept.database_url import VARIABLE as STORE

if TYPE_CHECKING:
    from collections.abc import Mapping

GRACE_S = 10.0
HEALTH_S = 30.0
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Command:
    """One server: `grace_s` and `health_timeout_s` are seconds, `cores` the numbers of its cores.

    `workers` is how many processes should answer; None takes the value of {processes} if the
    command or its environment asks for it, and 1 if not. No cores: it may run on all.
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
        """The values of variables and flags whose names say that they are secret, longest first."""
        found = {value for name, value in self.env if is_secret(name)}
        found |= {after for word, after in pairwise(self.argv) if is_secret_flag(word)}
        return sorted(filter(None, found), key=len, reverse=True)

    @property
    def environment(self) -> dict[str, str]:
        """The variables that it is started with: those of torr, and its own.

        The address of torr's store is left out, since it may hold a password.
        """
        inherited = {name: value for name, value in os.environ.items() if name != STORE}
        return {**inherited, **dict(self.env)}

    def redacted(self) -> str:
        """The words as a shell takes them, without secrets."""
        import shlex

        return shlex.join(redacted_command(self.argv))

    def __post_init__(self) -> None:
        """Refuse what cannot be started or stopped; raises UsageError."""
        require(
            bool(self.argv) and bool(self.argv[0]),
            f"{self.name}: the command is empty",
            'write it as a list of words: command = ["uvicorn", "app:app", "--port", "{port}"]',
        )
        for word in (*self.argv, *(f"{key}{value}" for key, value in self.env)):
            require("\0" not in word, f"{self.name}: {word!r} contains a NUL character")
        for key, _ in self.env:
            require(
                bool(key) and "=" not in key, f"{self.name}: {key!r} cannot name a variable of env"
            )
        require(self.grace_s > 0, f"{self.name}: the grace must be longer than 0")
        require(self.health_timeout_s > 0, f"{self.name}: the health timeout must be longer than 0")
        require(
            self.health.startswith("/"),
            f"{self.name}: the health path {self.health!r} does not begin with /",
            "write the path alone, such as /health: it is asked for where the url is",
        )
        require(self.workers is None or self.workers > 0, f"{self.name}: workers must be 1 or more")

    def filled(self, values: Mapping[str, object]) -> Command:
        """The same without placeholders; raises UsageError that names an unknown one."""
        texts = (*self.argv, *(value for _, value in self.env))
        asked = any("processes" in names(text) for text in texts)
        return replace(
            self,
            argv=tuple(filled(word, values, f"{self.name}: command") for word in self.argv),
            url=filled(self.url, values, f"{self.name}: url", template=True),
            env=tuple(
                (key, filled(value, values, f"{self.name}: env {key}")) for key, value in self.env
            ),
            cwd=Path(filled(str(self.cwd), values, f"{self.name}: cwd")),
            health=filled(self.health, values, f"{self.name}: health"),
            workers=self.workers or (_workers(self.name, values) if asked else 1),
        )

    @property
    def asked(self) -> set[str]:
        """The names of placeholders in it."""
        values = (value for _, value in self.env)
        texts = (*self.argv, *values, self.url, str(self.cwd), self.health)
        return {name for text in texts for name in names(text)}

    @property
    def place(self) -> Url:
        """Where it answers; raises UsageError for what is no URL."""
        return Url.parse(self.url)

    @property
    def port(self) -> int | None:
        """The TCP port where it answers; None for a Unix socket."""
        place = self.place
        return None if place.socket is not None else place.port or _PORTS[place.scheme]

    def __str__(self) -> str:
        """The words as a shell takes them."""
        import shlex

        return shlex.join(self.argv)


def stop_signal(text: str) -> int:
    """The number of a signal that people write as `TERM`, `SIGINT` or `15`."""
    word = text.strip().upper()
    by_name = {each.name: int(each) for each in signal.Signals}
    by_name |= {name.removeprefix("SIG"): number for name, number in by_name.items()}
    by_name |= {str(number): number for number in set(by_name.values())}
    if word not in by_name:
        raise UsageError(f"{text!r} is no signal", "write TERM, INT, QUIT or HUP")
    number = by_name[word]
    require(
        number not in {signal.SIGKILL, signal.SIGSTOP},
        f"{text} gives a server no chance to stop by itself",
        "write TERM: what does not stop in its grace is killed anyway",
    )
    return number


def _workers(name: str, values: Mapping[str, object]) -> int:
    text = str(values["processes"]) if "processes" in values else "1"
    require(
        text.isascii() and text.isdigit() and int(text) > 0,
        f"{name}: processes = {text} is no number of processes",
        "write 1 or more",
    )
    return int(text)
