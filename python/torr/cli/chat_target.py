"""`torr target openai` and `torr target dify`: chat APIs whose every event is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import click

from torr import targets, units
from torr.cli.command import Verb
from torr.cli.flags import flag, together
from torr.cli.target import BEHAVIOUR, place, seed, serve
from torr.errors import UsageError, require
from torr.options import readers

if TYPE_CHECKING:
    from torr.targets import Bimodal, Chance, Constant, Heavy, SameTokens, SomeTokens

TIMES = "write 50ms, 5ms,500ms,5% (fast, slow, share) or heavy:50ms,0.8 (median, sigma)"


def read_times(text: str) -> Constant | Bimodal | Heavy:
    """A time, or a distribution of times: TIME, FAST,SLOW,SHARE or heavy:MEDIAN,SIGMA."""
    if text.startswith("heavy:"):
        median, sigma = _fields(text.removeprefix("heavy:"), 2, TIMES)
        return targets.Heavy(units.parse_duration(median), readers.NUMBER.read(sigma))
    if "," in text:
        fast, slow, share = _fields(text, 3, TIMES)
        return targets.Bimodal(
            units.parse_duration(fast), units.parse_duration(slow), readers.SHARE.read(share)
        )
    return targets.Constant(units.parse_duration(text))


def read_tokens(text: str) -> SameTokens | SomeTokens:
    """A number of tokens, or any between two: 100, 50..200."""
    least, dots, most = text.partition("..")
    if not dots:
        return targets.SameTokens(readers.whole("N", 0).read(text))
    low, high = readers.whole("N", 0).read(least), readers.whole("N", 0).read(most)
    require(low <= high, f"{text!r} ends before it begins", "write 50..200")
    return targets.SomeTokens(low, high)


def read_chance(text: str) -> Chance:
    """A defect and its share: truncate:0.01; raises UsageError that lists the defects."""
    name, colon, share = text.partition(":")
    known = targets.defects()
    if name not in known:
        raise UsageError(f"{name!r} is not a defect of streams", f"one of {', '.join(known)}")
    return targets.Chance(name, readers.SHARE.read(share) if colon else 1.0)


def _fields(text: str, count: int, hint: str) -> list[str]:
    fields = text.split(",")
    if len(fields) != count:
        raise UsageError(f"{text!r} is no distribution of times", hint)
    return fields


_TIMES = readers.Reader("TIME", read_times)

chat = together(
    flag("--ttft", reader=_TIMES, default="0ms", group=BEHAVIOUR, help="to the first text [0ms]"),
    flag("--itl", reader=_TIMES, default="0ms", group=BEHAVIOUR, help="between texts [0ms]"),
    flag(
        "--tokens",
        reader=readers.Reader("N|A..B", read_tokens),
        default="16",
        group=BEHAVIOUR,
        help="texts of an answer [16]",
    ),
    flag(
        "--events-per-write",
        reader=readers.COUNT,
        default=1,
        group=BEHAVIOUR,
        help="texts that leave together [1]",
    ),
    flag(
        "--capacity", reader=readers.COUNT, group=BEHAVIOUR, help="answer N at once, the rest queue"
    ),
    flag(
        "--fault",
        "defects",
        reader=readers.Reader("NAME:SHARE", read_chance),
        multiple=True,
        group=BEHAVIOUR,
        help="what goes wrong, e.g. truncate:0.01 (see --list)",
    ),
    flag("--list", "listing", is_flag=True, group=BEHAVIOUR, help="print the names of the faults"),
    flag(
        "--log",
        type=click.Path(path_type=str),
        metavar="FILE",
        group=BEHAVIOUR,
        help="write what was sent when to FILE, as CSV",
    ),
    seed,
    place,
)


@click.command(
    cls=Verb,
    examples=(
        "torr target openai --ttft 200ms --itl 20ms --tokens 50..200 --port 8080",
        "torr target openai --capacity 32 --fault truncate:1% --log truth.csv --port 8080",
    ),
)
@chat
def openai(**flags: Any) -> None:  # noqa: ANN401
    """Stream OpenAI chat completions: POST /v1/chat/completions."""
    _chat("openai", flags)


@click.command(
    cls=Verb,
    examples=("torr target dify --ttft heavy:300ms,0.5 --itl 30ms --capacity 64 --port 8080",),
)
@chat
def dify(**flags: Any) -> None:  # noqa: ANN401
    """Stream Dify chat messages, and answer retrievals.

    POST /v1/chat-messages (an agent, where inputs are given) and /v1/datasets/ID/retrieve, which
    takes as long as a first text.
    """
    _chat("dify", flags)


def _chat(dialect: Literal["openai", "dify"], flags: dict[str, Any]) -> None:
    if flags["listing"]:
        for name, meaning in targets.defects().items():
            click.echo(f"{name:<10} {meaning}")
        return
    names = ("ttft", "itl", "tokens", "events_per_write", "capacity", "defects", "seed", "log")
    serve(targets.Chat(dialect, **{name: flags[name] for name in names}), flags)
