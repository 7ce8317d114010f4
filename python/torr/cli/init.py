"""`torr init`: write a plan file for a URL or an OpenAPI document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from torr.cli.command import Verb
from torr.cli.flags import flags_of
from torr.cli.streams import echo_pair, show_notes
from torr.errors import UsageError, require
from torr.messages.say import say
from torr.options.definition import build_options
from torr.options.init import INIT, InitOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torr.sources.openapi import Operation

EXAMPLES = (
    "torr init http://localhost:8080/items",
    "torr init openapi.json -o plan.toml",
    "torr init http://localhost:8080/openapi.json",
)
MOST_BYTES, WITHIN_S = 64 << 20, 30
_HEAD = """\
# A plan file: torr run {name}, or torr ladder {name} --levels auto
# The keys are the flags of torr run, with _ for -.
url = {url}
connections = 10                # users, who send one request after the other
duration = "10s"                # of the measurement
# slo = ["p95 < 500ms"]         # exit code 1 if it does not hold
"""


@click.command(cls=Verb, examples=EXAMPLES)
@click.argument("source", metavar="URL|FILE")
@flags_of(INIT)
def init(source: str, **flags: Any) -> None:  # noqa: ANN401
    """Write a plan file for a URL, or for the OpenAPI document in a file or at a URL."""
    from torr.model.url import Url
    from torr.sources.openapi import Operation, operations, parse_document, server_of
    from torr.store.atomic import SHARED, replace_bytes

    options = build_options(InitOptions, flags)
    require(
        options.force or not options.path.exists(),
        say("{path} exists", path=options.path),
        say("choose another file by -o, or replace it by --force"),
    )
    is_url = "://" in source
    if is_url and not urlsplit(source).path.endswith((".json", ".yaml", ".yml")):
        url = Url.parse(source)
        base, found = url.at(""), [Operation("request", "GET", url.target)]
    else:
        document = parse_document(_fetched(source) if is_url else _file(source))
        server = server_of(document, source if is_url else "http://localhost:8080/")
        prefix = urlsplit(server).path
        base = server.removesuffix(prefix) if prefix else server
        Url.parse(base)
        found = [
            Operation(x.name, x.method, prefix + x.path, x.headers, x.body, x.reason)
            for x in operations(document, all_methods=options.all_methods)
        ]
    require(any(x.reason is None for x in found), say("no operation can be written as a request"))
    text = _plan(options.path, base, found)
    replace_bytes(options.path, text.encode("utf-8", "replace"), SHARED)
    show_notes(f"{x.method} {x.path}: {x.reason}" for x in found if x.reason)
    echo_pair(say("plan"), str(options.path))


def _file(name: str) -> str:
    try:
        return Path(name).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(say("{name} cannot be read: {error}", name=name, error=error)) from error


def _fetched(text: str) -> str:
    from torr.http_client import Connection
    from torr.model.url import Url

    url = Url.parse(text)
    try:
        with Connection(url, WITHIN_S) as connection:
            response = connection.exchange(url.target, most_bytes=MOST_BYTES)
        answer = response.body.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(say("{name} cannot be read: {error}", name=text, error=error)) from error
    status = response.status
    require(status == 200, say("{name} answers with status {status}", name=text, status=status))
    return answer


def _plan(path: Path, base: str, found: Sequence[Operation]) -> str:
    parts = [_HEAD.format(name=path.name, url=_toml(base))]
    for operation in found:
        if operation.reason is not None:
            line = f"# {operation.method} {operation.path}: {operation.reason}"
            parts.append("".join(x if x.isprintable() else " " for x in line) + "\n")
            continue
        lines = [
            "[[requests]]",
            f"name = {_toml(operation.name)}",
            f"url = {_toml(operation.path)}",
        ]
        if operation.method != "GET" or operation.body is not None:
            lines.append(f"method = {_toml(operation.method)}")
        if operation.headers:
            fields = ", ".join(f"{_toml(k)} = {_toml(v)}" for k, v in operation.headers)
            lines.append(f"headers = {{ {fields} }}")
        if operation.body is not None:
            lines.append(f"body = {_toml(operation.body)}")
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
