"""Which option types `torr run` and `torr ladder` read, and what other flags are called here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.say import say
from torr.options.cluster import ClusterOptions
from torr.options.connection import ConnectionOptions
from torr.options.definition import VerbOptions
from torr.options.grpc import GrpcOptions
from torr.options.ladder import LadderOptions
from torr.options.load import LoadOptions
from torr.options.request import OnceOptions, RequestOptions
from torr.options.result import ResultOptions
from torr.options.stream import StreamOptions
from torr.options.trace import TraceOptions

if TYPE_CHECKING:
    from collections.abc import Sequence


_MEASURING = (
    *(LoadOptions, ClusterOptions, RequestOptions, StreamOptions, TraceOptions, GrpcOptions),
    ConnectionOptions,
)

RUN = VerbOptions("run", (*_MEASURING, OnceOptions, ResultOptions))
LADDER = VerbOptions("ladder", (LadderOptions, *_MEASURING, ResultOptions))

OTHER_NAMES: dict[str, tuple[str, ...]] = {
    "--clients": ("--levels", "--connections"),
    "--concurrency": ("--levels", "--connections"),
    "--users": ("--levels", "--connections"),
    "--vus": ("--levels", "--connections"),
    "-u": ("--levels", "--connections"),
    "--qps": ("--rate", "--rates"),
    "--rps": ("--rate", "--rates"),
    "--iterations": ("--requests",),
    "--num-requests": ("--requests",),
    "--run-time": ("--duration",),
    "--time": ("--duration",),
    "-t": ("--duration",),
    "--threads": ("--processes",),
    "--time-scale": ("--speed",),
    # Of the load generators of AIPerf, vLLM and SGLang.
    "--synthetic-input-tokens-mean": ("--prompt-tokens",),
    "--isl": ("--prompt-tokens",),
    "--random-input-len": ("--prompt-tokens",),
    "--random-prefix-len": ("--prefix-tokens",),
    "--output-tokens-mean": ("--output-tokens",),
    "--osl": ("--output-tokens",),
    "--random-output-len": ("--output-tokens",),
    "--num-prompts": ("--requests",),
    "--request-count": ("--requests",),
    "--request-rate": ("--rate",),
    "--max-concurrency": ("--connections", "--levels"),
}
"""Flags of other load generators, and the flags of torr for the same: the first that a verb has."""


def no_such_flag(verb: str, flag: str, near: Sequence[str]) -> tuple[str, str | None]:
    """Return what to say of a flag that a verb has not, and what to try, if that is known.

    `near` are flags that it has and that look like it.
    """
    if verb == LADDER.verb and any(flag in option.flags for option in RUN.all):
        return (
            say(
                "{flag} is a flag of torr run: a ladder has --levels, numbers of connections, or"
                " --rates",
                flag=flag,
            ),
            say("torr ladder --rates 100,200,400, or torr run {flag}", flag=flag),
        )
    if flag in ("-f", "--file") and verb in (RUN.verb, LADDER.verb):
        said = say("No such option {flag!r}: a file stands in place of the URL", flag=flag)
        return said, f"torr {verb} plan.toml"
    own = _own_name(verb, flag)
    if own is not None:
        return say("No such option {flag!r}: torr calls it {name}", flag=flag, name=own), None
    if not near:
        return say("No such option {flag!r}", flag=flag), None
    names = ", ".join(map(repr, sorted(near)))
    return say("No such option {flag!r}. Did you mean {names}?", flag=flag, names=names), None


def verbs() -> tuple[VerbOptions, ...]:
    """Return the options of the verbs that other load generators have flags for."""
    from torr.options.compare import COMPARE  # `torr run` needs none of these
    from torr.options.diff import DIFF
    from torr.options.tune import TUNE

    return RUN, LADDER, COMPARE, TUNE, DIFF


def _own_name(verb: str, flag: str) -> str | None:
    """Return the flags of a verb for what other load generators name `flag`; None if unknown."""
    options = next((each.all for each in verbs() if each.verb == verb), ())
    for name in OTHER_NAMES.get(flag, ()):
        for option in options:
            if name in option.flags:
                return "/".join(option.flags)
    return None
