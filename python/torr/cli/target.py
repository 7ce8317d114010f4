"""`torr target`: servers to try torr on, whose behaviour is known."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING, Any

import click

from torr import targets, units
from torr.cli.command import Verb, Verbs
from torr.cli.flags import flag, together
from torr.errors import UsageError
from torr.options import readers

if TYPE_CHECKING:
    from torr.targets import Behaviour

BEHAVIOUR, PLACE = "Behaviour", "Place"

KINDS = {
    "hello": ("torr.cli.target:hello", "answers at once, text or JSON"),
    "delay": ("torr.cli.target:delay", "answers after a delay; a capacity makes a knee"),
    "bytes": ("torr.cli.target:some_bytes", "answers with a body of some size"),
    "faulty": ("torr.cli.target:faulty", "fails in one of many ways, in a share of its answers"),
    "openai": ("torr.cli.chat_target:openai", "streams chat completions, token by token"),
    "dify": ("torr.cli.chat_target:dify", "streams chat messages of an app or agent; retrieval"),
}

place = together(
    flag("--port", reader=readers.PORT, default=0, group=PLACE, help="[any free one]"),
    flag("--host", default="127.0.0.1", metavar="HOST", group=PLACE, help="[127.0.0.1]"),
    flag("--threads", reader=readers.whole("N", 1, 256), default=1, group=PLACE, help="[1]"),
    flag(
        "--processes",
        reader=readers.whole("N", 1, 64),
        default=1,
        group=PLACE,
        help="that share the port, each with its descriptors [1]",
    ),
    flag(
        "--for",
        "duration",
        reader=readers.SOME_DURATION,
        group=PLACE,
        help="end by itself after TIME",
    ),
)
seed = flag("--seed", reader=readers.SEED, default=1, group=BEHAVIOUR, help="of what is random [1]")


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
    """Serve something to fire at, until Ctrl-C; then print what it did, as JSON."""


@click.command(cls=Verb, examples=("torr target hello --json --port 8080",))
@flag("--json", "as_json", is_flag=True, group=BEHAVIOUR, help='{"status":"ok"}, not Hello world')
@place
def hello(*, as_json: bool, **flags: Any) -> None:  # noqa: ANN401
    """Answer at once."""
    serve(targets.Hello(json=as_json), flags)


@click.command(
    cls=Verb,
    examples=(
        "torr target delay --delay 5ms --capacity 64 --port 8080",
        "torr target delay --bimodal 2ms,200ms,5% --log truth.csv --port 8080",
        "torr target delay --heavy 5ms,1.2 --port 8080",
    ),
)
@flag(
    "--delay",
    "constant",
    reader=readers.DURATION,
    group=BEHAVIOUR,
    help="every answer takes TIME [5ms]",
)
@flag("--bimodal", metavar="FAST,SLOW,SHARE", group=BEHAVIOUR, help="a SHARE of them is slow")
@flag("--heavy", metavar="MEDIAN,SIGMA", group=BEHAVIOUR, help="log-normal: a long tail")
@flag("--capacity", reader=readers.COUNT, group=BEHAVIOUR, help="serve N at once, the rest queue")
@flag(
    "--log",
    type=click.Path(path_type=str),
    metavar="FILE",
    group=BEHAVIOUR,
    help="write what was sent when to FILE, as CSV",
)
@seed
@place
def delay(**flags: Any) -> None:  # noqa: ANN401
    """Answer after a known delay, counted from the request's arrival."""
    behaviour = targets.Delay(_delay(flags), flags["capacity"], flags["seed"], flags["log"])
    serve(behaviour, flags)


@click.command("bytes", cls=Verb, examples=("torr target bytes --size 64KiB --chunked",))
@flag("--size", reader=readers.SIZE, default="64KiB", group=BEHAVIOUR, help="of the body [64KiB]")
@flag("--chunked", is_flag=True, group=BEHAVIOUR, help="in chunks, without Content-Length")
@place
def some_bytes(size: int, *, chunked: bool, **flags: Any) -> None:  # noqa: ANN401
    """Answer with a body of some size."""
    serve(targets.Bytes(size, chunked), flags)


@click.command(
    cls=Verb,
    examples=("torr target faulty --fault status_503 --share 5%", "torr target faulty --list"),
)
@flag("--fault", metavar="NAME", group=BEHAVIOUR, help="what goes wrong (see --list)")
@flag(
    "--share",
    reader=readers.SHARE,
    default="10%",
    group=BEHAVIOUR,
    help="in how many answers [10%]",
)
@flag("--list", "listing", is_flag=True, group=BEHAVIOUR, help="print the names of the faults")
@seed
@place
def faulty(fault: str | None, share: float, *, listing: bool, **flags: Any) -> None:  # noqa: ANN401
    """Fail in one way, in a share of the answers; the others are right."""
    known = targets.faults()
    if listing:
        click.echo("\n".join(known))
        return
    if fault not in known:
        what = "is missing" if fault is None else f"{fault!r} is not a fault"
        raise UsageError(f"target faulty: --fault {what}", f"one of {', '.join(known)}")
    serve(targets.Faulty(fault, share, flags["seed"]), flags)


def _delay(flags: dict[str, Any]) -> targets.Constant | targets.Bimodal | targets.Heavy:
    given = [name for name in ("constant", "bimodal", "heavy") if flags[name] is not None]
    if len(given) > 1:
        raise UsageError("target delay: --delay, --bimodal and --heavy exclude each other")
    if flags["bimodal"] is not None:
        fast, slow, share = _fields("--bimodal", "FAST,SLOW,SHARE", flags["bimodal"])
        return targets.Bimodal(
            units.parse_duration(fast), units.parse_duration(slow), readers.SHARE.read(share)
        )
    if flags["heavy"] is not None:
        median, sigma = _fields("--heavy", "MEDIAN,SIGMA", flags["heavy"])
        return targets.Heavy(units.parse_duration(median), readers.NUMBER.read(sigma))
    return targets.Constant(5_000_000 if flags["constant"] is None else flags["constant"])


def _fields(name: str, form: str, text: str) -> list[str]:
    fields = text.split(",")
    if len(fields) != form.count(",") + 1:
        raise UsageError(f"target delay: {name} {text!r} is not {form}", "e.g. 2ms,200ms,5%")
    return fields


def serve(behaviour: Behaviour, flags: dict[str, Any]) -> None:
    """Listen until a signal or the end of the time, then print the counts.

    The signals are blocked before the target's threads start, so that only this wait sees them.
    """
    ends = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, ends)
    where = targets.Place(flags["host"], flags["port"], flags["threads"], flags["processes"])
    with targets.listening(behaviour, where) as listening:
        click.echo(f"listening on {listening.url}")
        duration_ns = flags["duration"]
        if duration_ns is None:
            signal.sigwait(ends)
        else:
            signal.sigtimedwait(ends, duration_ns / 1e9)
        try:
            listening.stop()  # what is counted after this is all that it did
        finally:
            click.echo(json.dumps(listening.counts()))
