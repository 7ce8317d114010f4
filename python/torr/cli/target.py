"""`torr target`: serve a target of known behaviour."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING, Any

import click

from torr import targets
from torr.cli.command import Verb, Verbs
from torr.cli.flags import flags_of
from torr.errors import UsageError
from torr.messages.say import say
from torr.options.definition import build_options
from torr.options.target import (
    BYTES,
    DELAY,
    FAULTY,
    GRPC,
    HELLO,
    WEBSOCKET,
    DelayOptions,
    FaultyOptions,
    PlaceOptions,
)

if TYPE_CHECKING:
    from torr.targets import Behaviour

DEFAULT_DELAY_NS = 5_000_000

KINDS = {
    "hello": ("torr.cli.target:hello", "answer at once with text or JSON"),
    "delay": (
        "torr.cli.target:delay",
        "answer after a known delay, with a limited capacity if wanted",
    ),
    "bytes": ("torr.cli.target:some_bytes", "answer with a body of a given size"),
    "grpc": ("torr.cli.target:grpc", "send the messages of gRPC calls back"),
    "ws": ("torr.cli.target:websocket", "answer each WebSocket message with the same message"),
    "faulty": ("torr.cli.target:faulty", "fail in a chosen way in a share of the responses"),
    "openai": (
        "torr.cli.chat_target:openai",
        "imitate a server of language models: answers token by token, a queue, a cache",
    ),
    "dify": (
        "torr.cli.chat_target:dify",
        "stream chat messages of an app or agent, and answer retrievals",
    ),
}


@click.group(
    cls=Verbs,
    verbs=KINDS,
    examples=(
        "torr target hello --port 8080",
        "torr target delay --delay 5ms --capacity 64 --port 8080",
        "torr target faulty --fault reset_in_body --share 10% --port 8080",
        "torr target openai --ttft 200ms --itl 20ms --tokens 100 --port 8080",
    ),
)
def target() -> None:
    """Serve a target until Ctrl-C, then print its counts as JSON."""


@click.command(cls=Verb, examples=("torr target hello --json --port 8080",))
@flags_of(HELLO)
def hello(**flags: Any) -> None:  # noqa: ANN401
    """Answer at once."""
    serve(targets.Hello(json=flags["json"]), flags)


@click.command(
    cls=Verb,
    examples=(
        "torr target delay --delay 5ms --capacity 64 --port 8080",
        "torr target delay --bimodal 2ms,200ms,5% --log truth.csv --port 8080",
        "torr target delay --heavy 5ms,1.2 --port 8080",
    ),
)
@flags_of(DELAY)
def delay(**flags: Any) -> None:  # noqa: ANN401
    """Answer after a known delay, counted from the request's arrival."""
    options = build_options(DelayOptions, flags)
    times = targets.Constant(DEFAULT_DELAY_NS if options.delay_ns is None else options.delay_ns)
    given = [x for x in (options.delay_ns, options.bimodal, options.heavy) if x is not None]
    if len(given) > 1:
        raise UsageError(say("target delay: --delay, --bimodal and --heavy exclude each other"))
    behaviour = targets.Delay(
        options.bimodal or options.heavy or times, options.capacity, options.seed, options.log
    )
    serve(behaviour, flags)


@click.command("bytes", cls=Verb, examples=("torr target bytes --size 64KiB --chunked",))
@flags_of(BYTES)
def some_bytes(**flags: Any) -> None:  # noqa: ANN401
    """Answer with a body of a given size."""
    serve(targets.Bytes(flags["size"], flags["chunked"]), flags)


@click.command(cls=Verb, examples=("torr target grpc --port 8080",))
@flags_of(GRPC)
def grpc(**flags: Any) -> None:  # noqa: ANN401
    """Serve torr.Echo, whose methods send their messages back, with reflection.

    The methods are Unary, ServerStream, ClientStream and Bidirectional, without TLS. A message is
    an EchoMessage: string text = 1, int64 number = 2, repeated string tags = 3, EchoMessage
    inner = 4.
    """
    serve(targets.Grpc(flags["copies"]), flags)


@click.command("ws", cls=Verb, examples=("torr target ws --port 8080",))
@flags_of(WEBSOCKET)
def websocket(**flags: Any) -> None:  # noqa: ANN401
    """Answer each WebSocket message with the same message."""
    serve(targets.WebSocketEcho(flags["push_every_ns"]), flags)


@click.command(
    cls=Verb,
    examples=("torr target faulty --fault status_503 --share 5%", "torr target faulty --list"),
)
@flags_of(FAULTY)
def faulty(**flags: Any) -> None:  # noqa: ANN401
    """Fail in one way in a share of the responses, and answer the others correctly."""
    options, known = build_options(FaultyOptions, flags), targets.faults()
    if options.listing:
        click.echo("\n".join(known))
        return
    if options.fault not in known:
        flag = "target faulty: --fault"
        problem = say("{flag} is missing", flag=flag)
        if options.fault is not None:
            problem = say("{flag} {fault!r} is not a fault", flag=flag, fault=options.fault)
        raise UsageError(
            problem,
            say("choose one of {known}", known=", ".join(known)),
        )
    serve(targets.Faulty(options.fault, options.share, options.seed), flags)


def serve(behaviour: Behaviour, flags: dict[str, Any]) -> None:
    """Listen until a signal or the end of the time, then print the counts.

    Signals are blocked before the target starts its threads, so that this thread gets them.
    """
    signals = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    options = build_options(PlaceOptions, flags)
    address = targets.ListenAddress(options.host, options.port, options.threads, options.processes)
    with targets.listening(behaviour, address) as listening:
        click.echo(f"listening on {listening.url}")
        if options.duration_ns is None:
            signal.sigwait(signals)
        else:
            signal.sigtimedwait(signals, options.duration_ns / 1e9)
        try:
            listening.stop()  # now the counts are complete
        finally:
            click.echo(json.dumps(listening.counts()))
