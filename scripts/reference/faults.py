"""docs/faults.md: every way in which a request can end, read from the engine's tables.

The names and meanings stand in crates/client/src/outcome.rs and crates/targets/src/fault.rs, and
what to try in torr.messages.advice. A reason without advice fails the generation.
"""

from __future__ import annotations

import re
from pathlib import Path

from torr.messages.advice import ADVICE

CRATES = Path(__file__).parents[2] / "crates"

_REASON = re.compile(r'^    \w+, (\w+), "([\w.]+)", "([^"]+)";$', re.MULTILINE)
_FAULT = re.compile(r'^    \w+ "(\w+)" \w+ (?:true|false) "([^"]+)";$', re.MULTILINE)

CLASSES = {
    "ok": "a complete response whose status is accepted (200–399)",
    "connect": "no connection: it was refused or reset, the target is unreachable, or this machine"
    " lacks a port, a descriptor or memory",
    "write": "the connection was reset or closed before the request was sent",
    "read": "the connection was reset or closed before the response was complete",
    "timeout": "the response was not complete after `--timeout`, or a stream sent nothing for"
    " `--idle-timeout`",
    "protocol": "the received bytes are not a valid HTTP response",
    "tls": "the TLS handshake failed, or torr did not accept the certificate",
    "status": "a complete response with a status outside 200–399, or outside `--expect-status`",
    "check": "a complete response without the expected content, or without the value to capture",
    "stream": "a stream that failed after its head had arrived, see [streams](streams.md)",
    "cancelled": "the user gave up before the response was complete, as `--cancel` says; no error",
}

# What torr calls each fault of `torr target faulty`; a test meets every one of them.
ENDS = {
    "reset_before": "read.reset",
    "reset_in_head": "read.reset_in_head",
    "reset_in_body": "read.reset_in_body",
    "slow_loris": "timeout.head",
    "closed_before": "read.closed",
    "closed_in_head": "read.closed_in_head",
    "closed_early": "read.closed_in_body",
    "closed_on_reuse": "read.closed_on_reuse",
    "close_after": "ok",
    "length_too_long": "timeout.body",
    "length_too_short": "protocol.extra_bytes",
    "bad_length": "protocol.bad_content_length",
    "two_lengths": "protocol.bad_content_length",
    "bad_chunk": "protocol.bad_chunk",
    "bad_chunk_end": "protocol.bad_chunk",
    "garbage": "protocol.not_http",
    "http2_only": "protocol.http2",
    "huge_head": "protocol.head_too_large",
    "endless_head": "protocol.head_too_large",
    "slow_head": "timeout.head",
    "endless_interim": "protocol.too_many_interim",
    "endless_body": "timeout.body",
    "endless_line": "timeout.body",
    "gzip_bomb": "ok",
    "status_503": "status.503",
    "hang": "timeout.first_byte",
    "close_delimited": "ok",
    "interim_100": "ok",
    "no_content": "ok",
    "not_modified": "ok",
    "no_accept": "timeout.connect",
    "h2_refused": "read.unprocessed",
    "h2_reset": "read.stream_reset.internal_error",
    "h2_cancel": "read.stream_reset.cancel",
    "h2_goaway": "ok",
    "h2_goaway_error": "read.goaway",
    "h2_closed": "read.closed_in_body",
    "h2_hang": "timeout.first_byte",
    "h2_zero_window": "timeout.write",
    "h2_half_body": "protocol.bad_content_length",
    "h2_bad_head": "protocol.h2_compression",
    "h2_head_bomb": "protocol.head_too_large",
    "h2_continuations": "protocol.h2_flood",
    "h2_pings": "protocol.h2_flood",
    "h2_settings": "protocol.h2_flood",
    "h2_resets": "protocol.h2_frame",
    "h2_reset_flood": "read.stream_reset.cancel",
    "h2_push": "protocol.h2_frame",
    "h2_bad_frame": "protocol.h2_frame",
    "h2_overflow": "protocol.h2_flow_control",
    "h2_frames": "ok",
    "h2_changes": "ok",
    "grpc_status": "status.grpc.unavailable",
    "grpc_early_status": "status.grpc.resource_exhausted",
    "grpc_late_status": "status.grpc.unavailable",
    "grpc_no_status": "status.grpc.missing",
    "grpc_bad_status": "status.grpc.undefined",
    "grpc_bad_gateway": "status.502",
    "grpc_hang": "timeout.first_byte",
    "grpc_bad_prefix": "protocol.grpc_message",
    "grpc_half_message": "protocol.grpc_message",
    "grpc_no_message": "protocol.grpc_count",
    "grpc_two_messages": "protocol.grpc_count",
    "grpc_huge": "timeout.body",
    "ws_refused": "status.403",
    "ws_no_handshake": "timeout.websocket_handshake",
    "ws_bad_accept": "protocol.websocket_accept",
    "ws_extension": "protocol.websocket_extension",
    "ws_close": "read.websocket_close.internal",
    "ws_drop": "read.closed_in_body",
    "ws_hang": "timeout.first_byte",
    "ws_half": "timeout.body",
    "ws_masked": "protocol.websocket_masked",
    "ws_bad_utf8": "protocol.websocket_utf8",
    "ws_fragment": "protocol.websocket_fragment",
    "ws_reserved": "protocol.websocket_frame",
    "ws_huge": "protocol.websocket_too_large",
    "ws_bad_close": "protocol.websocket_close",
    "ws_pings": "timeout.first_byte",
    "ws_frames": "ok",
}

_HEAD = """\
# How a request can end

Generated from the engine's tables by `make reference`.

An attempt is one request that torr sends. Every attempt that ends is counted in exactly one class,
and every failure has one reason. torr does not follow redirects, and a request that is
[sent again](http2.md#when-the-server-does-not-process-a-request) remains one attempt, so the counts
always add up:

```text
planned   = attempted + dropped
attempted = ok + the sum of all errors + cancelled + in_flight
```

`planned` requests are those that were due. A request is `dropped` if it was due but never sent
(`--max-in-flight`). An attempt is `in_flight` if it was still open when the level ended. In
[result.json](reference/files.md), `counts.errors` has the number of each class, and `reasons` the
number of each reason. `samples` has the first five failures of each class, with the head and the
first KB of each response.
"""

_TARGET = """\
## Try each failure

`torr target faulty` fails on purpose. Use it to see each failure in a result, and to test your own
alerts. Faults that end as `ok` are correct responses that clients often handle wrongly. Faults
whose names begin with `h2_` are those of HTTP/2: they need `--http 2c`. Those that begin
with `grpc_` are those of gRPC: they need `--grpc`, with any unary method. Those that begin with
`ws_` are those of WebSocket: they need a `ws://` URL. Start the target in a second terminal; it
runs until Ctrl-C:

```sh
torr target faulty --fault reset_in_body --share 10% --port 8080
torr run --slo 'success >= 99%' http://localhost:8080/
```

| fault | what the client receives | how torr counts it |
| --- | --- | --- |
"""


def reasons() -> list[tuple[str, str, str]]:
    """Class, name and meaning of every reason, in the order of the engine's table."""
    source = (CRATES / "client/src/outcome.rs").read_text(encoding="utf-8")
    return [(kind.lower(), name, text) for kind, name, text in _REASON.findall(source)]


def target_faults() -> list[tuple[str, str]]:
    """Name and meaning of every fault of `torr target faulty`."""
    source = (CRATES / "targets/src/fault.rs").read_text(encoding="utf-8")
    return _FAULT.findall(source)


def page() -> str:
    """The whole page."""
    classes = [f"| `{name}` | {text} |" for name, text in CLASSES.items()]
    rows = [f"| `{name}` | {text} | {ADVICE[name]} |" for _, name, text in reasons()]
    faults = [f"| `{name}` | {text} | `{ENDS[name]}` |" for name, text in target_faults()]
    return "\n".join(
        [
            _HEAD,
            "## Classes\n\n| class | when |\n| --- | --- |",
            *classes,
            "\n## Reasons\n\n| reason | what happened | what to try |\n| --- | --- | --- |",
            *rows,
            f"\n{_TARGET.rstrip()}",
            *faults,
            "",
        ]
    )
