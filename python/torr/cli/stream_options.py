"""The flags of answers that stream, and of chat APIs; the same everywhere."""

from __future__ import annotations

import click

from torr.cli.options import flag, together
from torr.model.stream import ALIASES, DIALECTS
from torr.options import readers

STREAM = "Streams and chat"

streaming = together(
    flag(
        "--stream",
        type=click.Choice(DIALECTS),
        metavar="DIALECT",
        group=STREAM,
        help="answers are events: sse, openai, dify, anthropic",
    ),
    flag(
        "--idle-timeout",
        type=readers.SOME_DURATION,
        group=STREAM,
        rare=True,
        help="a stream may stand still for so long",
    ),
    flag(
        "--from",
        "counted_from",
        type=click.Choice(["sent", "intended"]),
        default="sent",
        metavar="WHEN",
        group=STREAM,
        rare=True,
        help="their times count from: sent, intended [sent]",
    ),
    flag(
        "--chat",
        type=click.Choice(DIALECTS[1:]),
        metavar="API",
        group=STREAM,
        help="ask a chat API: openai, dify, anthropic",
    ),
    flag(
        "--alias",
        "aliases",
        type=click.Choice(ALIASES),
        multiple=True,
        metavar="TOOL",
        group=STREAM,
        rare=True,
        help="also what it would say: vllm, aiperf",
    ),
    flag(
        "--tokenizer",
        type=readers.FILE,
        group=STREAM,
        rare=True,
        help="count tokens too, by a tokenizer.json",
    ),
    flag("--prompt", metavar="TEXT", group=STREAM, rare=True, help="what its users say"),
    flag(
        "--prompts",
        type=readers.FILE,
        group=STREAM,
        rare=True,
        help="what they say in turn: JSON lines, ShareGPT",
    ),
    flag("--model", metavar="NAME", group=STREAM, rare=True, help="the model that answers"),
    flag(
        "--max-tokens",
        type=readers.COUNT,
        group=STREAM,
        rare=True,
        help="an answer has so many at most",
    ),
    flag("--user", metavar="NAME", group=STREAM, rare=True, help="who asks [dify: torr]"),
    flag(
        "--inputs",
        type=readers.CONTENT,
        group=STREAM,
        rare=True,
        help="variables of a Dify app, as JSON",
    ),
    flag(
        "--token-env",
        metavar="NAME",
        group=STREAM,
        rare=True,
        help="the environment variable with the API's key",
    ),
    flag(
        "--turns",
        type=readers.COUNT,
        default=1,
        group=STREAM,
        rare=True,
        help="hold conversations of N turns [1]",
    ),
    flag(
        "--prompt-order",
        type=click.Choice(["sequence", "shuffle"]),
        default="sequence",
        metavar="HOW",
        group=STREAM,
        rare=True,
        help="sequence, or shuffle by --seed [sequence]",
    ),
    flag(
        "--unique-prefix",
        is_flag=True,
        group=STREAM,
        rare=True,
        help="begin each prompt anew, so that no cache knows it",
    ),
)
