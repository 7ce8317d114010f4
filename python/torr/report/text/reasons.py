"""The meaning of each error reason, which the engine has, and advice, which is only here.

docs/faults.md is made of both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr import engine
from torr.messages.message import Message
from torr.messages.say import chain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torr.results.level import ErrorSample

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
    "timeout.idle": "The model, or a proxy that buffers, fell silent. `--idle-timeout` says for how"
    " long that is allowed.",
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
    "read.no_memory": "torr's own limit: 40 MiB for each worker, beyond 64 KiB for each connection."
    " Do answers have to be so large? More workers (`--workers`) have more.",
    "read.too_large": "`--once` holds the whole answer in memory; a load does not.",
    "protocol.not_http": "Is this the right port? TLS and other protocols answer so.",
    "protocol.http2": "The port speaks HTTP/2 only; torr speaks HTTP/1.1.",
    "protocol.bad_head": "Look at it: `torr run --once -v`.",
    "protocol.head_too_large": "Cookies or headers without a bound.",
    "protocol.too_many_interim": "A server or proxy that repeats 100, 102 or 103 without end.",
    "protocol.bad_content_length": "A proxy and its upstream that both set a length.",
    "protocol.bad_chunk": "A broken chunked encoder, or two answers mixed on one connection.",
    "protocol.extra_bytes": "The body is longer than announced.",
    "tls.expired": "Renew it. To measure all the same: `--insecure`.",
    "tls.not_yet_valid": "Is this machine's clock right? To measure all the same: `--insecure`.",
    "tls.wrong_host": "Fire at a name that the certificate is for, or `--insecure`. Names stand in"
    " its subjectAltName; its subject (CN) does not count.",
    "tls.unknown_issuer": "Name its authority's certificate with `--cacert`, or `--insecure`. A"
    " server that does not send its intermediate certificates looks like this too.",
    "tls.authority_as_server": "Self-signed by `openssl req -x509`, usually. Name that very"
    " certificate with `--cacert`, or `--insecure`.",
    "tls.bad_certificate": "Look at it: `openssl s_client -connect HOST:PORT`.",
    "tls.refused": "Does it ask for a client certificate? `--cert`, `--key`.",
    "tls.nothing_in_common": "torr speaks TLS 1.2 and 1.3, and HTTP/1.1 within.",
    "tls.not_tls": "A port of plain HTTP answers so: fire at http://.",
    "tls.closed": "A limit of connections, or a proxy in between; the server's log may know.",
    "tls.failed": "Look at it: `openssl s_client -connect HOST:PORT`. A message of the handshake of"
    " more than 64 KiB, such as a long chain of certificates, or 32 empty records in a row end so.",
    "status": "Counted by number, as `status.503`. 429 and 503 are limits of the server, 502 and"
    " 504 those of what is behind it; the samples have its words.",
    "check.body": "Look at the sample's body, and at `--expect-body`.",
    "check.json": "Look at the sample's body, and at `--expect-json`. Is it JSON at all?",
    "check.capture": "The answer lacks the value of `--capture`: a login that failed, or an answer"
    " of another form.",
    "check.encoding": "The body breaks off, or is in a coding other than gzip and deflate.",
    "check.too_large": "Checks and captures look at bodies of up to 16 MiB, before and after"
    " decompression, which may make 1 MiB or a hundred times what was sent, at JSON that takes up"
    " to 128 MiB once parsed, and keep values of 256 KiB.",
    "check.locustfile": "The sample has the words of the locustfile: an exception, or what was"
    " given to `response.failure`.",
    "stream.error": "The sample has the event: overload, a limit of tokens, a model that is gone.",
    "stream.truncated": "A worker that died, or a proxy's timeout, which ends the body properly.",
    "stream.malformed": "The sample has the event. Two writers on one connection, or a cut buffer.",
    "stream.compressed": "Switch compression off for `text/event-stream`: it holds events back.",
    "stream.unknown": "Another API than the dialect named: try `--stream sse`, see the sample.",
    "stream.no_events": "The sample has the answer: a page to sign in, an error as JSON, a request"
    " that did not ask for a stream.",
    "stream.too_large": "An event that never ends: is it a stream of events at all?",
}


def meaning(reason: str) -> Message:
    """Return what a reason means, an empty text for an unknown one; `status.503` is a `status`."""
    return _text("reason", engine.reasons(), reason)


def advice(reason: str) -> Message:
    """Return what to try, an empty text for an unknown reason."""
    return _text("advice", ADVICE, reason)


def detail(sample: ErrorSample) -> str:
    """Return the detail of a sample, of which the meaning of its reason can be translated."""
    known = meaning(sample.reason or sample.error_class)
    rest = sample.detail.removeprefix(known)
    return chain("", [known, rest]) if len(rest) < len(sample.detail) else sample.detail


def _text(area: str, texts: Mapping[str, str], reason: str) -> Message:
    """Return the text of a reason, or of its class, with the code of its words."""
    known = reason if reason in texts else reason.partition(".")[0]
    return Message(texts[known], f"{area}.{known}") if known in texts else Message("")
