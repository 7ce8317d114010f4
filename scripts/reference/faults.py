"""docs/faults.md: every way in which a request can end, read from the engine's tables.

The names and meanings stand in crates/client/src/outcome.rs and crates/targets/src/fault.rs; here
is only what to try. A reason without advice fails the generation.
"""

from __future__ import annotations

import re
from pathlib import Path

CRATES = Path(__file__).parents[2] / "crates"

_REASON = re.compile(r'^    \w+, (\w+), "([\w.]+)", "([^"]+)";$', re.MULTILINE)
_FAULT = re.compile(r'^    \w+ "(\w+)" (?:true|false) "([^"]+)";$', re.MULTILINE)

CLASSES = {
    "ok": "a complete answer whose status is accepted (200–399)",
    "connect": "no connection: refused, unreachable, reset, or nothing left here to dial with",
    "write": "reset or closed before the request was out",
    "read": "reset or closed before the answer was complete",
    "timeout": "no complete answer when `--timeout` had passed",
    "protocol": "the bytes that came are not the HTTP/1.1 answer that they began or promised",
    "tls": "the TLS handshake failed, or its certificate was not accepted",
    "status": "a complete answer with a status outside 200–399, or outside `--expect-status`",
    "check": "a complete answer that does not say what was expected, or lacks what was to be kept",
}

ADVICE = {
    "connect.refused": "Is it running, on this port and address? Under load: a full accept queue"
    " with `tcp_abort_on_overflow`, or a server that died.",
    "connect.unreachable": "Check address, route and firewall.",
    "connect.reset": "A proxy or firewall that cuts new connections; look there for its limits.",
    "connect.no_port": "Widen `net.ipv4.ip_local_port_range`, keep connections alive, or use fewer"
    " of them. The level is generator-limited.",
    "connect.no_descriptor": "Raise the hard limit (`ulimit -Hn`). The level is generator-limited.",
    "connect.no_buffer": "Fewer connections, or more memory for sockets (`net.ipv4.tcp_mem`). The"
    " level is generator-limited.",
    "connect.proxy": "Ask the proxy itself: is the target allowed, is a password wanted? The"
    " sample has its answer.",
    "connect.other": "The sample's detail is all that the kernel said; try `torr run --once -v`.",
    "timeout.queue": "With `--rate`: every connection was busy for the whole timeout. More `-c`, a"
    " lower rate, or a faster server.",
    "timeout.connect": "SYNs are dropped: a full accept queue (`somaxconn`, the server's backlog)"
    " or a firewall.",
    "timeout.tls": "The server's cores are full of handshakes, or what listens there is no TLS.",
    "timeout.write": "The server reads too slowly for the size of the body.",
    "timeout.first_byte": "The server is overloaded or hangs. Does one request alone answer?",
    "timeout.head": "A head that trickles: look for a slow proxy in between.",
    "timeout.body": "A body that stalls: large answers, a slow disk or upstream, a wrong length.",
    "write.reset": "The server refuses the body: look for a limit of its size.",
    "write.closed": "The server closes before it has read the request: limits, or an early answer.",
    "read.reset": "The process behind the port crashed, or a proxy cut the connection.",
    "read.reset_in_head": "As `read.reset`, in the middle of an answer.",
    "read.reset_in_body": "As `read.reset`; often a worker that was killed or out of memory.",
    "read.closed": "The server closes new connections without an answer: a limit of connections.",
    "read.closed_in_head": "The server ended in the middle of an answer: look for crashes.",
    "read.closed_in_body": "The body is shorter than announced: crashes, or a wrong length.",
    "read.closed_on_reuse": "The server's keep-alive timeout met a new request. Raise it, or test"
    " with `--no-keepalive`.",
    "protocol.not_http": "Is this the right port? TLS and other protocols answer so.",
    "protocol.http2": "The port speaks HTTP/2 only; torr speaks HTTP/1.1.",
    "protocol.bad_head": "Look at it: `torr run --once -v`.",
    "protocol.head_too_large": "Cookies or headers without a bound.",
    "protocol.bad_content_length": "A proxy and its upstream that both set a length.",
    "protocol.bad_chunk": "A broken chunked encoder, or two answers mixed on one connection.",
    "protocol.extra_bytes": "The body is longer than announced.",
    "tls.expired": "Renew it. To measure all the same: `--insecure`.",
    "tls.not_yet_valid": "Is this machine's clock right? To measure all the same: `--insecure`.",
    "tls.wrong_host": "Fire at the name that the certificate is for, or `--insecure`.",
    "tls.unknown_issuer": "Name its authority's certificate with `--cacert`, or `--insecure`. A"
    " server that does not send its intermediate certificates looks like this too.",
    "tls.authority_as_server": "Self-signed by `openssl req -x509`, usually. `--insecure`, or make"
    " it with `-addext basicConstraints=critical,CA:FALSE` and name it with `--cacert`.",
    "tls.bad_certificate": "Look at it: `openssl s_client -connect HOST:PORT`.",
    "tls.refused": "Does it ask for a client certificate? `--cert`, `--key`.",
    "tls.nothing_in_common": "torr speaks TLS 1.2 and 1.3, and HTTP/1.1 within.",
    "tls.not_tls": "A port of plain HTTP answers so: fire at http://.",
    "tls.closed": "A limit of connections, or a proxy in between; the server's log may know.",
    "tls.failed": "Look at it: `openssl s_client -connect HOST:PORT`.",
    "status": "Counted by number, as `status.503`. 429 and 503 are limits of the server, 502 and"
    " 504 those of what is behind it; the samples have its words.",
    "check.body": "Look at the sample's body, and at `--expect-body`.",
    "check.json": "Look at the sample's body, and at `--expect-json`. Is it JSON at all?",
    "check.capture": "The answer lacks what `--capture` should keep: a login that failed, or an"
    " answer of another form.",
    "check.encoding": "The body breaks off, or is in a coding other than gzip and deflate.",
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
    "endless_body": "timeout.body",
    "status_503": "status.503",
    "hang": "timeout.first_byte",
    "close_delimited": "ok",
    "interim_100": "ok",
    "no_content": "ok",
    "not_modified": "ok",
    "no_accept": "timeout.connect",
}

_HEAD = """\
# How a request can end

Generated from the engine's tables by `make reference`.

Every attempt ends in exactly one class, and a failure has one reason. Nothing is dropped, repeated
or redirected, so that the numbers balance:

```text
planned   = attempted + dropped
attempted = ok + the sum of all errors + in_flight
```

`counts.errors` of [result.json](reference/files.md) has the classes, `reasons` the reasons, and
`samples` the first five failures of each class, with the head and the first KB of each answer.
"""

_TARGET = """\
## Trying them

`torr target faulty` fails on purpose, so that you can see what each failure looks like and whether
your own alarms notice. The legal ones are correct answers that clients often get wrong.

```sh
torr target faulty --fault reset_in_body --share 10% --port 8080
torr run --slo 'success >= 99%' http://localhost:8080/
```

| fault | what the client meets | what torr calls it |
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
