"""The interface to the embedded targets: test servers whose behaviour is known.

They listen in threads of this process. A target is closed by who made it, best by `with`.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from torr.errors import NothingMeasuredError, OutputError, UsageError
from torr.messages.say import say

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class ListenAddress:
    """Where a target listens, and with how many processes; port 0 is any free port.

    Each process has so many threads, and descriptors of its own.
    """

    host: str = "127.0.0.1"
    port: int = 0
    threads: int = 1
    processes: int = 1


@dataclass(frozen=True, slots=True)
class Hello:
    """Answers at once: `Hello world`, or `{"status":"ok"}`."""

    json: bool = False
    kind: Literal["hello"] = "hello"


@dataclass(frozen=True, slots=True)
class Constant:
    """Every response takes this long."""

    ns: int
    kind: Literal["constant"] = "constant"


@dataclass(frozen=True, slots=True)
class Bimodal:
    """A share of the responses is slow, the others are fast."""

    fast_ns: int
    slow_ns: int
    slow_share: float
    kind: Literal["bimodal"] = "bimodal"


@dataclass(frozen=True, slots=True)
class Heavy:
    """Log-normal: half of the responses take less than the median, a few take very long."""

    median_ns: int
    sigma: float
    kind: Literal["heavy"] = "heavy"


@dataclass(frozen=True, slots=True)
class Delay:
    """Answers after a delay, at most `capacity` at once; the rest queue."""

    delay: Constant | Bimodal | Heavy
    capacity: int | None = None
    seed: int = 1
    log: str | None = None
    kind: Literal["delay"] = "delay"


@dataclass(frozen=True, slots=True)
class Bytes:
    """Answers with a body of this size."""

    size: int
    chunked: bool = False
    kind: Literal["bytes"] = "bytes"


@dataclass(frozen=True, slots=True)
class Faulty:
    """Misbehaves in one way, in a share of its responses."""

    fault: str
    share: float = 1.0
    seed: int = 1
    kind: Literal["faulty"] = "faulty"


@dataclass(frozen=True, slots=True)
class SameTokens:
    """Every response has a number of texts, one for each token."""

    n: int
    kind: Literal["constant"] = "constant"


@dataclass(frozen=True, slots=True)
class SomeTokens:
    """Any number of texts within bounds."""

    least: int
    most: int
    kind: Literal["uniform"] = "uniform"


@dataclass(frozen=True, slots=True)
class Chance:
    """How often a stream meets a defect."""

    defect: str
    share: float


@dataclass(frozen=True, slots=True)
class Chat:
    """Streams answers as a chat API does: known events at known times.

    `ttft` lies before the first text, `itl` between two; at most `capacity` answers at once. Each
    token of a prompt that is not in the cache takes `prefill_ns`. `kv_tokens` limits the tokens of
    running requests, and `prefix_cache` those that are kept for later prompts, in blocks. The
    target notices `notice_after_ns` after it that a client has closed.
    """

    dialect: Literal["openai", "dify"]
    ttft: Constant | Bimodal | Heavy = Constant(0)
    itl: Constant | Bimodal | Heavy = Constant(0)
    prefill_ns: int = 0
    tokens: SameTokens | SomeTokens = SameTokens(16)
    message_tokens: int = 0
    events_per_write: int = 1
    capacity: int | None = None
    kv_tokens: int | None = None
    prefix_cache: int | None = None
    prefix_block: int = 16
    notice_after_ns: int = 0
    defects: tuple[Chance, ...] = ()
    seed: int = 1
    log: str | None = None
    kind: Literal["chat"] = "chat"


@dataclass(frozen=True, slots=True)
class Grpc:
    """Sends the messages of gRPC calls back; `ServerStream` sends so many copies of one."""

    copies: int = 3
    kind: Literal["grpc"] = "grpc"


@dataclass(frozen=True, slots=True)
class WebSocketEcho:
    """Answers each message of WebSocket with the same message.

    After each `push_every_ns` a connection gets a message that it did not ask for.
    """

    push_every_ns: int | None = None
    kind: Literal["ws"] = "ws"


Behaviour = Hello | Delay | Bytes | Faulty | Chat | Grpc | WebSocketEcho


class TargetServer(Protocol):
    """A serving target: the compiled `Target`, or processes that share a port."""

    @property
    def port(self) -> int:
        """Return where it listens."""

    def counts(self) -> str:
        """Return the counts so far."""

    def stop(self) -> None:
        """Close every socket."""


@dataclass(frozen=True, slots=True)
class Target:
    """A listening target."""

    url: str
    _server: TargetServer = field(repr=False)

    def stop(self) -> None:
        """Close every socket and complete the log; raises OutputError when that fails."""
        try:
            self._server.stop()
        except OSError as error:
            raise OutputError(
                say("the target's log is not complete: {error}", error=error)
            ) from error

    def counts(self) -> dict[str, Any]:
        """Return the counts: connections, requests, answered, faults, calls, ends, bytes_out.

        Of several processes only when they have stopped.
        """
        found: dict[str, Any] = json.loads(self._server.counts())
        return found


@contextmanager
def listening(behaviour: Behaviour, place: ListenAddress | None = None) -> Iterator[Target]:
    """Start a target for the block of a `with`; raises UsageError when it cannot listen."""
    place = place or ListenAddress()
    server = _start(behaviour, place)
    host = f"[{place.host}]" if ":" in place.host else place.host
    scheme = "ws" if isinstance(behaviour, WebSocketEcho) else "http"
    target = Target(f"{scheme}://{host}:{server.port}", server)
    try:
        yield target
    finally:
        target.stop()


def faults() -> list[str]:
    """Return the names of the faults of a `Faulty` target."""
    with _built():
        from torr import _engine

        return _engine.faults()


def defects() -> dict[str, str]:
    """Return the defects of the streams of a `Chat` target: names and meanings."""
    with _built():
        from torr import _engine

        return dict(_engine.defects())


def _start(behaviour: Behaviour, place: ListenAddress) -> TargetServer:
    try:
        with _built():
            from torr import _engine

            where = {"host": place.host, "port": place.port, "threads": place.threads}
            spec = {**asdict(behaviour), **where}
            if place.processes == 1:
                return _engine.Target(json.dumps(spec))
            from torr.shared_target import SharedTarget

            return SharedTarget(spec, place.processes)
    except ValueError as error:
        raise UsageError(str(error)) from error
    except OSError as error:
        raise UsageError(
            say(
                "--port {port}: cannot listen on {host}: {error}",
                port=place.port,
                host=place.host,
                error=error,
            ),
            say("choose another port or address; --port 0 takes any free port"),
        ) from error


@contextmanager
def _built() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise NothingMeasuredError(
            say("the engine is not built: {error}", error=error), say("run `make build`")
        ) from error
