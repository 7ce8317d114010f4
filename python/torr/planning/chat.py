"""From `--chat` and its flags to requests in the words of that API, and rows of prompts."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from torr.errors import UsageError, require
from torr.model.check import Capture
from torr.model.json_input import parse_json_to_send
from torr.model.request import Request
from torr.model.rows import Rows
from torr.model.url import Url

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torr.model.request import Header

Flags = dict[str, Any]

PATHS = {
    "openai": "/v1/chat/completions",
    "dify": "/v1/chat-messages",
    "anthropic": "/v1/messages",
}
# What Anthropic's API cannot do without.
_SOME_TOKENS = 1024
_ANTHROPIC_VERSION = "2023-06-01"
_ONLY_CHAT = {
    "prompt": "--prompt",
    "prompts": "--prompts",
    "model": "--model",
    "max_tokens": "--max-tokens",
    "user": "--user",
    "inputs": "--inputs",
    "unique_prefix": "--unique-prefix",
}
_NOT_CHAT = {
    "requests_file": "--requests-file",
    "method": "-m/--method",
    "body": "-b/--body",
    "json_body": "--json-body",
    "data": "--data",
    "verbatim": "--verbatim",
    "stream": "--stream",
    "steps": "--steps",
    "weights": "--weights",
    "basic_auth": "--basic-auth",
    "capture": "--capture",
}


def check_flags(flags: Flags) -> None:
    """Refuse flags that only make sense with `--chat`, or only without; raises UsageError."""
    chats = flags["chat"] is not None
    for name, long in (_NOT_CHAT if chats else _ONLY_CHAT).items():
        given = flags[name] not in (None, False, ())
        hint = "it writes the request itself" if chats else "add --chat openai, dify or anthropic"
        require(not given, f"{long} {'and' if chats else 'needs'} --chat", hint)
    require(chats or flags["turns"] == 1, "--turns needs --chat", "add --chat openai")


def token_header(flags: Flags) -> list[Header]:
    """The API's key from the environment, never from a command line; raises UsageError."""
    name = flags["token_env"]
    if name is None:
        return []
    token = os.environ.get(name, "")
    require(
        bool(token),
        f"--token-env {name}: there is no such variable in the environment, or it is empty",
        f"export {name}=… first",
    )
    if "anthropic" in (flags["chat"], flags["stream"]):
        return [("x-api-key", token)]
    return [("authorization", f"Bearer {token}")]


def chat_requests(urls: Sequence[str], flags: Flags) -> tuple[tuple[Request, ...], Rows]:
    """One request a turn, and the rows of prompts that fill them."""
    require(bool(urls), "URL is missing", "torr run --chat openai http://localhost:8000")
    require(len(urls) == 1, "--chat: several URLs are given", "give one")
    url = _url(urls[0], flags["chat"])
    turns = flags["turns"]
    require(
        turns == 1 or not flags.get("once"),
        "--turns and --once are both given: a turn is a request, and --once sends one",
        "leave one out",
    )
    requests = tuple(_turn(url, number, flags) for number in range(1, turns + 1))
    return requests, _rows(flags)


def _url(text: str, api: str) -> str:
    """The URL of the API; a URL without a path gets the usual one."""
    url = Url.parse(text)
    return url.at(PATHS[api]) if url.path in ("", "/") else text


def _turn(url: str, number: int, flags: Flags) -> Request:
    api = flags["chat"]
    body, captures = {"openai": _openai, "dify": _dify, "anthropic": _anthropic}[api](number, flags)
    given = {name.lower() for name, _ in flags["headers"]}
    usual = [("content-type", "application/json")]
    if api == "anthropic":
        usual.append(("anthropic-version", _ANTHROPIC_VERSION))
    headers = [*flags["headers"], *(header for header in usual if header[0] not in given)]
    return Request(
        url=url,
        method="POST",
        headers=tuple(headers),
        body=body.encode(),
        name=f"turn {number}" if flags["turns"] > 1 else "",
        captures=captures,
        template=True,
        timeout_ns=flags["timeout"],
        accept_statuses=flags["expect_status"] or ((200, 299),),
    )


def _openai(number: int, flags: Flags) -> tuple[str, tuple[Capture, ...]]:
    require(flags["model"] is not None, "--chat openai needs --model", "--model gpt-4o-mini")
    more = {"stream": True, "stream_options": {"include_usage": True}}
    if flags["max_tokens"] is not None:
        more["max_completion_tokens"] = flags["max_tokens"]
    if flags["user"] is not None:
        more["user"] = flags["user"]
    return _with_history({"model": flags["model"]}, more, number, flags)


def _anthropic(number: int, flags: Flags) -> tuple[str, tuple[Capture, ...]]:
    require(flags["model"] is not None, "--chat anthropic needs --model", "--model claude-…")
    more: dict[str, Any] = {"max_tokens": flags["max_tokens"] or _SOME_TOKENS, "stream": True}
    if flags["user"] is not None:
        more["metadata"] = {"user_id": flags["user"]}
    return _with_history({"model": flags["model"]}, more, number, flags)


def _with_history(
    first: dict[str, Any], more: dict[str, Any], number: int, flags: Flags
) -> tuple[str, tuple[Capture, ...]]:
    """A body that holds all that was said before, as these APIs keep no conversation."""
    said = []
    for turn in range(1, number + 1):
        said.append(_message("user", _prompt(turn, flags)))
        if turn < number:
            said.append(_message("assistant", f"{{{{answer_{turn} | json}}}}"))
    is_last = number == flags["turns"]
    captures = () if is_last else (Capture(f"answer_{number}", "text", ""),)
    return _joined(first, f'"messages":[{",".join(said)}]', more), captures


def _dify(number: int, flags: Flags) -> tuple[str, tuple[Capture, ...]]:
    first = {"inputs": _inputs(flags["inputs"])}
    more = {"response_mode": "streaming", "user": flags["user"] or "torr"}
    if number > 1:
        more["conversation_id"] = "{{conversation | json}}"
    goes_on = number == 1 < flags["turns"]
    captures = (Capture("conversation", "conversation", ""),) if goes_on else ()
    return _joined(first, f'"query":"{_prompt(number, flags)}"', more), captures


def _inputs(text: bytes | None) -> dict[str, Any]:
    if text is None:
        return {}
    try:
        found = parse_json_to_send(text)
    except ValueError as error:
        raise UsageError(f"--inputs: {error}") from error
    require(isinstance(found, dict), "--inputs: not a JSON object", """--inputs '{"dept": "IT"}'""")
    members: dict[str, Any] = found
    return members


def _joined(first: dict[str, Any], middle: str, more: dict[str, Any]) -> str:
    """One JSON object, whose middle is written already."""
    write: Callable[[Any], str] = lambda part: json.dumps(part, ensure_ascii=False)[1:-1]  # noqa: E731
    return f"{{{write(first)},{middle},{write(more)}}}"


def _message(role: str, content: str) -> str:
    return f'{{"role":"{role}","content":"{content}"}}'


def _prompt(turn: int, flags: Flags) -> str:
    prefix = "{{uuid}} " if flags["unique_prefix"] and turn == 1 else ""
    return f"{prefix}{{{{row.prompt_{turn} | json}}}}"


def _rows(flags: Flags) -> Rows:
    from torr.sources.prompts import of_turns, ordered, read_prompts

    prompt, path, turns = flags["prompt"], flags["prompts"], flags["turns"]
    both = prompt is not None and path is not None
    require(not both, "--prompt and --prompts are both given", "give one")
    if path is not None:
        found = of_turns(read_prompts(Path(path)), turns)
    else:
        hint = "--prompt 'What is a torr?'"
        require(prompt is not None and bool(prompt.strip()), "--chat needs --prompt", hint)
        found = of_turns([(prompt,) * turns], turns)
    if found.left_out:
        few = "is" if found.left_out == 1 else "are"
        text = f"note: {path}: {found.left_out:,} with too few turns {few} left out"
        click.echo(text, err=True)
    prompts = ordered(found, flags["prompt_order"], flags["seed"])
    columns = tuple(f"prompt_{turn}" for turn in range(1, turns + 1))
    return Rows(columns, prompts.conversations, is_unique=flags["unique_prefix"])
