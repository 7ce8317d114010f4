"""Options of `torr target`: where a target listens, and how it behaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torr import targets, units
from torr.errors import UsageError, require
from torr.messages.say import say
from torr.options import readers
from torr.options.definition import VerbOptions, many, option, switch
from torr.options.readers import Reader, whole

BEHAVIOUR, PLACE = "Behaviour", "Place"
TIMES = say("write 50ms, 5ms,500ms,5% (fast, slow, share) or heavy:50ms,0.8 (median, sigma)")

Times = targets.Constant | targets.Bimodal | targets.Heavy
Tokens = targets.SameTokens | targets.SomeTokens


def read_bimodal(text: str) -> targets.Bimodal:
    """Return the times of `FAST,SLOW,SHARE`; raises UsageError."""
    fast, slow, share = _fields(text, "FAST,SLOW,SHARE")
    return targets.Bimodal(
        units.parse_duration(fast), units.parse_duration(slow), readers.SHARE.read(share)
    )


def read_heavy(text: str) -> targets.Heavy:
    """Return the times of `MEDIAN,SIGMA`; raises UsageError."""
    median, sigma = _fields(text, "MEDIAN,SIGMA")
    return targets.Heavy(units.parse_duration(median), readers.NUMBER.read(sigma))


def read_times(text: str) -> Times:
    """Return a time, or a distribution: TIME, FAST,SLOW,SHARE or heavy:MEDIAN,SIGMA."""
    try:
        if text.startswith("heavy:"):
            return read_heavy(text.removeprefix("heavy:"))
        if "," in text:
            return read_bimodal(text)
    except _NoFieldsError as error:
        raise UsageError(
            say("{text!r} is not a distribution of times", text=text), TIMES
        ) from error
    return targets.Constant(units.parse_duration(text))


def read_tokens(text: str) -> Tokens:
    """Return a number of tokens, or any between two: 100, 50..200."""
    least, dots, most = text.partition("..")
    if not dots:
        return targets.SameTokens(_TOKENS.read(text))
    low, high = _TOKENS.read(least), _TOKENS.read(most)
    require(low <= high, say("{text!r} ends before it begins", text=text), say("write 50..200"))
    return targets.SomeTokens(low, high)


def read_chance(text: str) -> targets.Chance:
    """Return a defect and its share, truncate:0.01; raises UsageError that lists the defects."""
    name, colon, share = text.partition(":")
    known = targets.defects()
    if name not in known:
        raise UsageError(
            say("{name!r} is not a defect of streams", name=name),
            say("choose one of {known}", known=", ".join(known)),
        )
    return targets.Chance(name, readers.SHARE.read(share) if colon else 1.0)


class _NoFieldsError(UsageError):
    """The error of a text with another number of fields."""


def _fields(text: str, form: str) -> list[str]:
    fields = text.split(",")
    if len(fields) != form.count(",") + 1:
        raise _NoFieldsError(f"{text!r} is not {form}", "e.g. 2ms,200ms,5%")
    return fields


def read_cache(text: str) -> int | None:
    """Return a number of tokens, or None for off."""
    return None if text == "off" else _CACHE_TOKENS.read(text)


_TOKENS = whole("N", 0)
_CACHE_TOKENS = readers.count(10**12)
_TIMES = Reader("TIME", read_times, "50ms")
_ANSWER = Reader("N|A..B", read_tokens, "50..200")


@dataclass(frozen=True, slots=True)
class PlaceOptions:
    """Where a target listens, from how many threads and processes, and for how long."""

    group: ClassVar[str] = PLACE

    port: int = option("--port", readers.PORT, "listen on this port [any free port]", default=0)
    host: str = option(
        "--host",
        Reader("HOST", str, "::1"),
        "listen on this address [127.0.0.1]",
        default="127.0.0.1",
    )
    threads: int = option("--threads", whole("N", 1, 256), "serve from N threads [1]", default=1)
    processes: int = option(
        "--processes",
        whole("N", 1, 64),
        "serve from N processes that share the port [1]",
        default=1,
    )
    duration_ns: int | None = option("--for", readers.SOME_DURATION, "stop after TIME [at Ctrl-C]")


@dataclass(frozen=True, slots=True)
class HelloOptions:
    """The responses of a target that answers at once."""

    group: ClassVar[str] = BEHAVIOUR

    json: bool = switch("--json", 'answer {"status":"ok"} instead of Hello world')


@dataclass(frozen=True, slots=True)
class DelayOptions:
    """How long responses take."""

    group: ClassVar[str] = BEHAVIOUR

    delay_ns: int | None = option(
        "--delay", readers.DURATION, "answer each request after TIME [5ms]"
    )
    bimodal: targets.Bimodal | None = option(
        "--bimodal",
        Reader("FAST,SLOW,SHARE", read_bimodal, "2ms,200ms,5%"),
        "answer a SHARE after SLOW, the others after FAST",
    )
    heavy: targets.Heavy | None = option(
        "--heavy",
        Reader("MEDIAN,SIGMA", read_heavy, "5ms,1.2"),
        "draw delays from a log-normal distribution",
    )
    capacity: int | None = option(
        "--capacity", readers.COUNT, "serve N requests at once, queue the others"
    )
    log: str | None = option("--log", readers.PATH, "write what was sent, and when, to FILE as CSV")
    seed: int = option("--seed", readers.SEED, "set the seed of random choices [1]", default=1)


@dataclass(frozen=True, slots=True)
class BytesOptions:
    """How large bodies are."""

    group: ClassVar[str] = BEHAVIOUR

    size: int = option("--size", readers.SIZE, "send bodies of SIZE [64KiB]", default="64KiB")
    chunked: bool = switch("--chunked", "send chunks, without Content-Length")


@dataclass(frozen=True, slots=True)
class GrpcTargetOptions:
    """What calls of gRPC are answered with."""

    group: ClassVar[str] = BEHAVIOUR

    copies: int = option(
        "--copies", whole("N", 0, 1_000_000), "send N messages in a server stream [3]", default=3
    )


@dataclass(frozen=True, slots=True)
class WebSocketOptions:
    """What a server of WebSocket does besides answering."""

    group: ClassVar[str] = BEHAVIOUR

    push_every_ns: int | None = option(
        "--push-every",
        readers.SOME_DURATION,
        "send each connection a message every TIME [never]",
    )


@dataclass(frozen=True, slots=True)
class FaultyOptions:
    """Which fault a target has, and how often."""

    group: ClassVar[str] = BEHAVIOUR

    fault: str | None = option("--fault", readers.NAME, "fail in this way (see --list)")
    share: float = option(
        "--share", readers.SHARE, "fail in this share of the responses [10%]", default="10%"
    )
    listing: bool = switch("--list", "print the names of the faults")
    seed: int = option("--seed", readers.SEED, "set the seed of random choices [1]", default=1)


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """How a chat API streams."""

    group: ClassVar[str] = BEHAVIOUR

    ttft: Times = option("--ttft", _TIMES, "wait TIME before the first text [0ms]", default="0ms")
    itl: Times = option("--itl", _TIMES, "wait TIME between texts [0ms]", default="0ms")
    tokens: Tokens = option(
        "--tokens",
        Reader("N|A..B", read_tokens, "50..200"),
        "send N texts per answer, or A to B [16]",
        default="16",
    )
    events_per_write: int = option(
        "--events-per-write", readers.COUNT, "send N texts in each write [1]", default=1
    )
    capacity: int | None = option(
        "--capacity", readers.COUNT, "answer N requests at once, queue the others"
    )
    defects: tuple[targets.Chance, ...] = many(
        "--fault",
        Reader("NAME:SHARE", read_chance, "truncate:0.01"),
        "fail in a SHARE, e.g. truncate:0.01 (see --list)",
    )
    listing: bool = switch("--list", "print the names of the faults")
    log: str | None = option("--log", readers.PATH, "write what was sent, and when, to FILE as CSV")
    seed: int = option("--seed", readers.SEED, "set the seed of random choices [1]", default=1)


@dataclass(frozen=True, slots=True)
class LanguageModelOptions:
    """What limits a server of language models: its prefill and its KV cache."""

    group: ClassVar[str] = BEHAVIOUR

    prefill_ns: int = option(
        "--prefill",
        readers.DURATION,
        "add TIME to the first text for each token of the prompt [0ms]",
        default="0ms",
    )
    message_tokens: int = option(
        "--message-tokens",
        whole("N", 0, 1_000),
        "count N more tokens for each message of a chat [0]",
        default=0,
    )
    kv_tokens: int | None = option(
        "--kv-tokens",
        _CACHE_TOKENS,
        "hold N tokens of running requests, queue or preempt others",
    )
    prefix_cache: int | None = option(
        "--prefix-cache",
        Reader("N|off", read_cache, "64k"),
        "keep N tokens for prompts that begin alike [off]",
    )
    prefix_block: int = option(
        "--prefix-block",
        whole("N", 1, 1_048_576),
        "hold and keep tokens in blocks of N [16]",
        default=16,
    )
    notice_after_ns: int = option(
        "--notice-after",
        readers.DURATION,
        "notice TIME after it that a client has hung up [0ms]",
        default="0ms",
    )


HELLO = VerbOptions("hello", (HelloOptions, PlaceOptions))
DELAY = VerbOptions("delay", (DelayOptions, PlaceOptions))
BYTES = VerbOptions("bytes", (BytesOptions, PlaceOptions))
WEBSOCKET = VerbOptions("ws", (WebSocketOptions, PlaceOptions))
FAULTY = VerbOptions("faulty", (FaultyOptions, PlaceOptions))
GRPC = VerbOptions("grpc", (GrpcTargetOptions, PlaceOptions))
CHAT = VerbOptions("chat", (ChatOptions, PlaceOptions))
OPENAI = VerbOptions("openai", (ChatOptions, LanguageModelOptions, PlaceOptions))
