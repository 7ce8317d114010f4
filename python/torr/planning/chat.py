"""Requests of a chat API, and rows of prompts, from `--chat` and its options."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from typing import TYPE_CHECKING

from torr.errors import require
from torr.messages.say import say
from torr.model.request import Request
from torr.model.url import Url
from torr.options.definition import first_given, refuse, require_for
from torr.planning.apis.api import bearer
from torr.planning.apis.servers import OUTPUT_PLACE
from torr.planning.apis.table import APIS
from torr.planning.output_rows import OUTPUT_COLUMN, with_outputs
from torr.planning.prompt_rows import made_up_rows, rows_of
from torr.planning.prompt_seed import seed_of_round
from torr.planning.prompt_text.lengths import Lengths
from torr.planning.request_mix import RequestMix

if TYPE_CHECKING:
    from torr.model.request import Header
    from torr.options.measure import MeasureOptions
    from torr.options.request import RequestOptions
    from torr.options.stream import StreamOptions
    from torr.options.trace import TraceOptions
    from torr.planning.apis.api import ModelApi
    from torr.planning.prompt_text.calibration import Calibration

_LENGTHS = ("prompt_tokens", "prefix_tokens", "prefix_groups")
_MADE_UP = (*_LENGTHS, "token_ids")

OF_SOME_APIS = (
    *("model", "max_tokens", "output_tokens", "server", "user", "inputs", "unique_prefix"),
    *("turns", "batch", "tools", "images"),
    *_MADE_UP,
)
"""Fields of StreamOptions that not every API takes."""
ONLY_CHAT = ("prompt", "prompts", *OF_SOME_APIS)
"""Fields of StreamOptions for chats alone."""
_NOT_CHAT = (
    *("requests_file", "method", "body", "json_body", "data", "verbatim"),
    *("steps", "weights", "basic_auth", "captures"),
)
_OTHER_PROMPTS = ("prompt", "prompts", "unique_prefix")
_ONLY_TRACE = ("trace_format", "block_tokens", "trace_from_ns", "trace_to_ns", "synthesis")
_NOT_TRACE = ("prompt", "prompts", "turns", "prompt_order", "unique_prefix", "images", *_LENGTHS)
GOLDEN = (math.sqrt(5) - 1) / 2
"""The rounds of a comparison begin at multiples of this part of the prompts, modulo 1.

However many rounds there are, their beginnings are then far from each other.
"""
_OUTPUT_LENGTH = ("output_tokens", "max_tokens")
_OF_ROW = Lengths("same", OUTPUT_PLACE)
"""Stands for the length of the output of each row."""


def check_chat(request: RequestOptions, stream: StreamOptions, trace: TraceOptions) -> None:
    """Raise UsageError for options that need `--chat`, or exclude it."""
    if stream.chat is None:
        hint = say("add --chat openai")
        require_for(stream, *ONLY_CHAT, what="--chat", hint=hint)
        require_for(trace, "trace", what="--chat", hint=hint)
        return
    option = first_given(request, *_NOT_CHAT) or first_given(stream, "stream")
    problem = say("{label} and --chat are both given", label=option.label if option else "")
    require(option is None, problem, say("leave one out: --chat writes the request itself"))
    _check_of_api(APIS[stream.chat], stream, has_trace=trace.trace is not None)
    if trace.trace is None:
        hint = say("add --trace FILE")
        require_for(trace, *_ONLY_TRACE, what="--trace", hint=hint)


def _check_of_api(api: ModelApi, stream: StreamOptions, *, has_trace: bool) -> None:
    """Refuse options that an API has no place for, and those that contradict each other.

    With `has_trace` a trace may say how long each prompt and each output is.
    """
    other = first_given(stream, *(name for name in OF_SOME_APIS if name not in api.takes))
    require(
        other is None,
        say("{label} does not fit --chat {api}", label=other.label if other else "", api=api.name),
        say("leave it out"),
    )
    require(
        "model" not in api.takes or stream.model is not None,
        say("--chat {api} needs --model", api=api.name),
        say("name the model that answers: --model NAME"),
    )
    if stream.prompt_tokens is None:
        made_up = ("prefix_tokens", "prefix_groups", *(() if has_trace else ("token_ids",)))
        require_for(stream, *made_up, what="--prompt-tokens", hint="--prompt-tokens 512")
    else:
        taken = ("prompts", "unique_prefix") if api.has_query else _OTHER_PROMPTS
        refuse(stream, *taken, what="--prompt-tokens")
    if stream.token_ids:
        hint = say("add --tokenizer tokenizer.json, which has the ids of the model")
        require(stream.tokenizer is not None, say("--token-ids needs --tokenizer"), hint)
        # A later turn contains a response, which is a text.
        refuse(stream, "turns", what="--token-ids")
    if stream.prefix_tokens is None:
        require_for(stream, "prefix_groups", what="--prefix-tokens", hint="--prefix-tokens 256")
    if stream.output_tokens is not None:
        refuse(stream, "max_tokens", what="--output-tokens")
    elif not has_trace:
        _refuse_server(stream)


def _refuse_server(stream: StreamOptions) -> None:
    """Refuse the server of a length where there is no length."""
    require_for(stream, "server", what="--output-tokens", hint="--output-tokens 128")


def token_header(options: StreamOptions) -> list[Header]:
    """Return the header with the API's key, which is read from the environment alone."""
    name = options.token_env
    if name is None:
        return []
    token = os.environ.get(name, "")
    require(
        bool(token),
        say(
            "--token-env {name}: there is no such variable in the environment, or it is empty",
            name=name,
        ),
        say("export {name}=… first", name=name),
    )
    # A dialect of streams has the name of its API.
    api = APIS.get(options.chat or options.stream or "")
    return [api.key_header(token) if api else bearer(token)]


def chat_requests(options: MeasureOptions, name: str) -> RequestMix:
    """Return one request per turn, and the rows of prompts that fill them."""
    api, urls, turns = APIS[name], options.urls, options.stream.turns
    require(bool(urls), say("URL is missing"), "torr run --chat openai http://localhost:8000")
    require(len(urls) == 1, say("--chat: several URLs are given"), say("give one of them"))
    url = _url(urls[0], api)
    require(
        turns == 1 or not options.once.once,
        say("--turns and --once are both given: a turn is a request, and --once sends one"),
        say("leave one out"),
    )
    if options.trace.trace is not None:
        return _of_trace(url, api, options, options.trace.trace)
    requests = tuple(_turn(url, api, number, options) for number in range(1, turns + 1))
    if options.stream.prompt_tokens is not None:
        return _made_up(url, requests, api, options)
    rows, notes = rows_of(api, options.stream, options.load.seed)
    rows = with_outputs(rows, options.stream, options.load.seed)
    if options.round:
        rows = rows.rotated(int(len(rows.rows) * (options.round * GOLDEN % 1)))
    return RequestMix(requests, rows=rows, in_steps=turns > 1, notes=notes)


def _made_up(
    url: str, requests: tuple[Request, ...], api: ModelApi, options: MeasureOptions
) -> RequestMix:
    """Return the requests with made-up prompts, and the notes how their lengths are known."""
    stream, known = options.stream, _known(url, api, options)
    seed = seed_of_round(options.load.seed, options.round)
    rows = made_up_rows(api, stream, known.words, seed, known.template_tokens)
    rows = with_outputs(rows, stream, seed)
    return RequestMix(requests, rows=rows, in_steps=stream.turns > 1, notes=known.notes)


def _known(url: str, api: ModelApi, options: MeasureOptions) -> Calibration:
    """Return the words of made-up prompts for a server, and what its template adds to them."""
    from torr.planning.prompt_text.calibration import calibration, of_comparison

    if options.round is not None:
        return of_comparison(options, has_messages=api.has_messages)
    parsed, headers = Url.parse(url), _headers(options)
    known = calibration(parsed, options, headers)
    return known.with_template(parsed, options, headers) if api.has_messages else known


def ask_server(options: MeasureOptions) -> Calibration | None:
    """Return what a server says of the tokens of made-up prompts; None without such prompts."""
    from torr.planning.trace import has_output_lengths

    stream, trace = options.stream, options.trace
    if stream.chat is None:
        return None
    if stream.prompt_tokens is None and (
        trace.trace is None or not has_output_lengths(trace, trace.trace)
    ):
        return None
    api = APIS[stream.chat]
    return _known(_url(options.urls[0], api), api, options)


def _headers(options: MeasureOptions) -> tuple[Header, ...]:
    return (*options.request.headers, *token_header(options.stream))


def _of_trace(url: str, api: ModelApi, options: MeasureOptions, file: str) -> RequestMix:
    """Return the requests of a trace, and the feed of its rows."""
    from torr.planning.prompt_text.calibration import Calibration
    from torr.planning.prompt_text.words import USUAL
    from torr.planning.trace import has_output_lengths, refuse_token_ids, trace_requests

    stream = options.stream
    refuse(stream, *_NOT_TRACE, what="--trace")
    refuse(options.once, "once", what="--trace")
    if stream.token_ids:
        refuse_token_ids(options.trace, file)
    if not has_output_lengths(options.trace, file):
        base = _turn(url, api, 1, replace(options, stream=_with_own_outputs(stream)))
        # It has no lengths of prompts either: they are its own texts.
        requests, feed = trace_requests(base, api, options, file, Calibration(USUAL, ""))
        return RequestMix(requests, rows=feed)
    refuse(stream, *_OUTPUT_LENGTH, what="--trace")
    base = _turn(url, api, 1, replace(options, stream=replace(stream, output_tokens=_OF_ROW)))
    known = _known(url, api, options)
    requests, feed = trace_requests(base, api, options, file, known)
    return RequestMix(requests, rows=feed, notes=known.notes)


def _with_own_outputs(stream: StreamOptions) -> StreamOptions:
    """Return the options where a trace says nothing of outputs: each row may have a length."""
    if stream.output_tokens is None:
        _refuse_server(stream)
        return stream
    is_same = stream.output_tokens.constant is not None
    return stream if is_same else replace(stream, output_tokens=_OF_ROW)


def _url(text: str, api: ModelApi) -> str:
    """Return the URL of the API; a URL without a path gets the usual one."""
    url = Url.parse(text)
    return url.at(api.path) if url.path in ("", "/") else text


def _turn(url: str, api: ModelApi, number: int, options: MeasureOptions) -> Request:
    request_options, stream = options.request, options.stream
    body, captures = api.write(number, stream)
    lengths = stream.output_tokens
    if lengths is not None and lengths.constant is None:
        column = OUTPUT_COLUMN.format(number)
        body = body.replace(str(OUTPUT_PLACE), f"{{{{row.{column}}}}}")
    set_by_user = {name.lower() for name, _ in request_options.headers}
    defaults = [("content-type", "application/json"), *api.headers]
    headers = [
        *request_options.headers,
        *(header for header in defaults if header[0] not in set_by_user),
    ]
    return Request(
        url=url,
        method="POST",
        headers=tuple(headers),
        body=body.encode(),
        name=f"turn {number}" if stream.turns > 1 else "",
        captures=captures,
        template=True,
        timeout_ns=request_options.timeout_ns,
        accept_statuses=request_options.expect_status or ((200, 299),),
    )
