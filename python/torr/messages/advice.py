"""What to try against each error reason. docs/faults.md has it beside the engine's meanings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Mapping

ADVICE = {
    "connect.refused": "Check that the target is running, and that port and address are right."
    " Under load, its accept queue may be full (with `tcp_abort_on_overflow`), or the server may"
    " have crashed.",
    "connect.unreachable": "Check address, route and firewall.",
    "connect.reset": "A proxy or firewall may cut new connections: check its limits.",
    "connect.no_port": "Widen `net.ipv4.ip_local_port_range`, keep connections alive, or use fewer"
    " connections. The level is generator-limited.",
    "connect.no_descriptor": "Raise the hard limit (`ulimit -Hn`). The level is generator-limited.",
    "connect.no_buffer": "Use fewer connections, or allow more memory for sockets"
    " (`net.ipv4.tcp_mem`). The level is generator-limited.",
    "connect.proxy": "Check that the proxy allows this target, and whether it needs a password."
    " The sample has the response of the proxy.",
    "connect.other": "The detail of the sample is the error of the kernel. Try `torr run --once"
    " -v`.",
    "timeout.queue": "With `--rate`, every connection was busy for the whole timeout. Use more"
    " connections (`-c`), a lower rate, or a faster server.",
    "timeout.stream": "The server allows fewer streams on a connection than `--streams`. Give a"
    " smaller `--streams`, more connections, or raise the limit of the server.",
    "timeout.connect": "SYN packets are dropped, by a full accept queue (`somaxconn`, the server's"
    " backlog) or by a firewall.",
    "timeout.tls": "The server may lack processor time for handshakes, or the port may not speak"
    " TLS.",
    "timeout.write": "The server reads too slowly for the size of the body, or a server of HTTP/2"
    " has not sent its first settings.",
    "timeout.first_byte": "The server is overloaded or hangs. Try a single request: `torr run"
    " --once`.",
    "timeout.head": "The head arrives too slowly: look for a slow proxy between torr and the"
    " server.",
    "timeout.body": "The body stopped or arrives too slowly: look for large responses, a slow disk,"
    " a slow server behind this one, or a wrong Content-Length.",
    "timeout.idle": "The model, or a proxy that buffers, sent nothing. `--idle-timeout` sets for"
    " how long that is allowed.",
    "timeout.websocket_handshake": "Check the path: a server that does not speak WebSocket there"
    " may not answer. It may also have a limit of connections.",
    "write.reset": "The server refuses the body: look for a limit of its size.",
    "write.closed": "The server closes the connection before it has read the request: look for a"
    " limit, or an early response.",
    "read.reset": "The process behind the port crashed, or a proxy cut the connection.",
    "read.reset_in_head": "As for `read.reset`, but in the middle of an answer.",
    "read.reset_in_body": "As for `read.reset`. Often a worker of the server was killed or ran out"
    " of memory.",
    "read.closed": "The server closes connections without a response: look for a limit of"
    " connections, and for crashes.",
    "read.closed_in_head": "The server stopped in the middle of a response: look for crashes.",
    "read.closed_in_body": "The body is shorter than announced: look for crashes, or a wrong"
    " Content-Length.",
    "read.closed_on_reuse": "The keep-alive timeout of the server ended when torr sent the next"
    " request. Raise this timeout, or test with `--no-keepalive`.",
    "read.unprocessed": "torr sends such a request again, three times at most. Look for a limit of"
    " streams or of requests per connection in the server, and give a smaller `--streams`.",
    "read.goaway": "The error code is in the log of the server. It may have a limit of requests,"
    " of resets, or of memory for a connection.",
    "read.stream_reset.no_error": "The server ended the stream early on purpose: look for a limit"
    " of the size of bodies.",
    "read.stream_reset.protocol_error": "Look for a header that HTTP/2 does not allow, or a wrong"
    " Content-Length. The log of the server may have the reason.",
    "read.stream_reset.internal_error": "Look at the log of the server.",
    "read.stream_reset.flow_control_error": "This is a defect of the server or of torr: please"
    " report it.",
    "read.stream_reset.settings_timeout": "The server, or torr, has too little processor time.",
    "read.stream_reset.stream_closed": "This is a defect of the server or of torr: please report"
    " it.",
    "read.stream_reset.frame_size_error": "This is a defect of the server or of torr: please"
    " report it.",
    "read.stream_reset.cancel": "The server, or a proxy behind it, gave up: look for a timeout, or"
    " for a crash of the handler.",
    "read.stream_reset.compression_error": "This is a defect of the server or of torr: please"
    " report it.",
    "read.stream_reset.connect_error": "The proxy could not reach the server behind it.",
    "read.stream_reset.enhance_your_calm": "Look for a limit of requests or of resets, and give a"
    " lower rate or fewer streams.",
    "read.stream_reset.inadequate_security": "Allow TLS 1.2 or 1.3 with a strong cipher on the"
    " server.",
    "read.stream_reset.http_1_1_required": "Use `--http 1.1` for this request.",
    "read.stream_reset.other": "Look at the log of the server.",
    "read.websocket_close.normal": "The server closed by plan: look for a limit of the age or of"
    " the messages of a connection.",
    "read.websocket_close.going_away": "The server was stopped or restarted, or closes idle"
    " connections.",
    "read.websocket_close.protocol_error": "The log of the server may have the reason. If the"
    " frames are correct, please report it.",
    "read.websocket_close.unsupported": "Send text in place of binary messages, or the other way:"
    " `--binary`.",
    "read.websocket_close.not_utf8": "Send the message with `--binary`, or correct its text.",
    "read.websocket_close.policy": "Look for a missing token, or a limit of messages, in the log"
    " of the server.",
    "read.websocket_close.too_large": "Send smaller messages, or raise the limit of the server.",
    "read.websocket_close.extension": "torr offers no extension: allow the server to go without.",
    "read.websocket_close.internal": "Look for an exception in the log of the server.",
    "read.websocket_close.restart": "The server restarts: measure when it is stable.",
    "read.websocket_close.try_later": "The server is overloaded: give a lower rate, or fewer"
    " connections.",
    "read.websocket_close.other": "The sample and the log of the server may say more.",
    "read.websocket_close.none": "Look at the log of the server.",
    "read.no_memory": "This is a limit of torr: 40 MiB for each worker, in addition to 64 KiB for"
    " each connection. Ask for smaller responses, or use more workers (`--workers`).",
    "read.too_large": "Only `--once` has this limit, because it holds the whole response in memory."
    " A load does not.",
    "protocol.not_http": "Check the port: ports that speak TLS or another protocol answer in this"
    " way.",
    "protocol.http2": "Give `--http 2`, or `--http 2c` without TLS.",
    "protocol.bad_head": "Look at the head with `torr run --once -v`.",
    "protocol.head_too_large": "Look for cookies or headers that grow without a limit.",
    "protocol.too_many_interim": "Look for a server or proxy that repeats 100, 102 or 103 without"
    " end.",
    "protocol.bad_content_length": "Often a proxy and the server behind it both set a length.",
    "protocol.bad_chunk": "The server may encode chunks wrongly, or write two responses to one"
    " connection at once.",
    "protocol.extra_bytes": "Check the Content-Length of the server, and whether it sends a body"
    " with a status that has none.",
    "protocol.not_http2": "Use `--http 1.1`, or a port of the server that speaks HTTP/2.",
    "protocol.h2_frame": "The server, or a proxy before it, breaks the rules of HTTP/2. Compare"
    " with `--http 1.1`.",
    "protocol.h2_frame_size": "The server, or a proxy before it, breaks the rules of HTTP/2."
    " Compare with `--http 1.1`.",
    "protocol.h2_flow_control": "The server, or a proxy before it, breaks the rules of HTTP/2."
    " Compare with `--http 1.1`.",
    "protocol.h2_stream_closed": "The server, or a proxy before it, breaks the rules of HTTP/2."
    " Compare with `--http 1.1`.",
    "protocol.h2_compression": "The server, or a proxy before it, breaks the rules of HTTP/2."
    " Compare with `--http 1.1`.",
    "protocol.h2_flood": "Look for a server or proxy that sends PING or SETTINGS without end.",
    "protocol.grpc_message": "Check that the URL is that of a gRPC server, and not that of a proxy"
    " that answers itself.",
    "protocol.grpc_count": "The method may stream: check that --proto is that of this server.",
    "protocol.websocket_upgrade": "Check that the path is one of WebSocket, and that a proxy"
    " passes `Upgrade` on.",
    "protocol.websocket_connection": "Check that a proxy passes `Connection: Upgrade` on.",
    "protocol.websocket_accept": "A proxy or cache may answer in place of the server.",
    "protocol.websocket_extension": "Configure the server to use only what clients offer.",
    "protocol.websocket_subprotocol": "Offer the subprotocol with `-H 'Sec-WebSocket-Protocol:"
    " …'`.",
    "protocol.websocket_frame": "The server, or a proxy before it, breaks the rules of WebSocket.",
    "protocol.websocket_masked": "The server uses the code of a client: only clients mask frames.",
    "protocol.websocket_fragment": "The server may write two messages to one connection at once.",
    "protocol.websocket_too_large": "Ask for smaller messages.",
    "protocol.websocket_utf8": "Let the server send such data in binary messages.",
    "protocol.websocket_close": "The server, or a proxy before it, breaks the rules of WebSocket.",
    "tls.expired": "Renew the certificate. To measure without this check, use `--insecure`.",
    "tls.not_yet_valid": "Check the clock of this machine. To measure without this check, use"
    " `--insecure`.",
    "tls.wrong_host": "Use a URL with a name that the certificate is for, or `--insecure`. Only"
    " the names in subjectAltName count, not the subject (CN).",
    "tls.unknown_issuer": "Name the certificate of its authority with `--cacert`, or use"
    " `--insecure`. A server that does not send its intermediate certificates causes this error"
    " too.",
    "tls.authority_as_server": "Usually the certificate is self-signed by `openssl req -x509`."
    " Name this certificate with `--cacert`, or use `--insecure`.",
    "tls.bad_certificate": "Look at the certificate with `openssl s_client -connect HOST:PORT`.",
    "tls.refused": "If the server asks for a client certificate, name it with `--cert` and"
    " `--key`.",
    "tls.nothing_in_common": "torr supports TLS 1.2 and 1.3. With `--http 2`, the server must"
    " support HTTP/2 (ALPN).",
    "tls.not_tls": "If the port speaks plain HTTP, use http:// in the URL.",
    "tls.closed": "Look for a limit of connections, or a proxy between torr and the server. The"
    " log of the server may have the reason.",
    "tls.failed": "Look at the handshake with `openssl s_client -connect HOST:PORT`. torr also"
    " refuses handshake messages of more than 64 KiB, such as a long chain of certificates, and 32"
    " empty records in a row.",
    "status": "The reason contains the status, such as `status.503`. For 401 to 404, check URL and"
    " credentials. 429 and 503 are limits of the server, 502 and 504 those of a server behind it."
    " `torr run --once -v` prints a response, and the samples in result.json have bodies.",
    "status.grpc.cancelled": "The server, or a proxy, ended the call: look for a timeout.",
    "status.grpc.unknown": "The sample has the text of the server. Often its code raised an"
    " exception.",
    "status.grpc.invalid_argument": "Check the message: the sample has the text of the server.",
    "status.grpc.deadline_exceeded": "torr sends its `--timeout` as the deadline. The server is"
    " overloaded, or the time is too short.",
    "status.grpc.not_found": "Check the values in the message.",
    "status.grpc.already_exists": "Make the values in the message different for each call, as with"
    " `{{uuid}}`.",
    "status.grpc.permission_denied": "Check the credentials in the metadata (`-H`).",
    "status.grpc.resource_exhausted": "Look for a limit of calls, of memory or of the size of a"
    " message.",
    "status.grpc.failed_precondition": "The sample has the text of the server.",
    "status.grpc.aborted": "Calls may conflict with each other, as transactions on the same row.",
    "status.grpc.out_of_range": "Check the values in the message.",
    "status.grpc.unimplemented": "Check the name of the method, and that the server has this"
    " version of it.",
    "status.grpc.internal": "Look at the log of the server, and check that --proto is that of this"
    " server.",
    "status.grpc.unavailable": "The server is starting, stopping or overloaded.",
    "status.grpc.data_loss": "Look at the log of the server.",
    "status.grpc.unauthenticated": "Give credentials in the metadata, such as `-H 'authorization:"
    " Bearer …'`.",
    "status.grpc.undefined": "The sample has the status: look at the server or a proxy before it.",
    "status.grpc.missing": "Check that the URL is that of a gRPC server. A proxy before it may drop"
    " the trailers.",
    "check.body": "Look at the body of the sample, and at `--expect-body`.",
    "check.json": "Look at the body of the sample, and at `--expect-json`. Check that the body is"
    " JSON.",
    "check.capture": "The response lacks the value of `--capture`: the login failed, or the"
    " response has another form.",
    "check.encoding": "The body is incomplete, or has an encoding other than gzip and deflate.",
    "check.too_large": "A body may have at most 16 MiB, before and after decompression. A"
    " decompressed body of more than 1 MiB may be at most a hundred times as large as it was sent."
    " Parsed JSON may take at most 128 MiB, and a captured value at most 256 KiB.",
    "check.locustfile": "The sample has the exception of the locustfile, or the text that it"
    " passed to `response.failure`.",
    "stream.error": "The sample has the event. Examples are an overload, a limit of tokens, or a"
    " missing model.",
    "stream.truncated": "A worker of the server may have crashed, or a proxy may have ended the"
    " body after a timeout.",
    "stream.malformed": "The sample has the event. Two writers may share one connection, or a"
    " buffer was cut.",
    "stream.compressed": "Switch off compression for `text/event-stream`, since it delays events.",
    "stream.unknown": "The API does not use the given dialect: look at the sample, or try"
    " `--stream sse`.",
    "stream.no_events": "The sample has the response. Examples are a login page, an error as JSON,"
    " or the response to a request that did not ask for a stream.",
    "stream.too_large": "An event of this size probably never ends. Check whether the response is a"
    " stream of events.",
    "cancelled.gave_up": "This is no error: `--cancel` lets users give up.",
}


def advice(reason: str) -> Message:
    """Return what to try, an empty text for an unknown reason."""
    return text_of_reason("advice", ADVICE, reason)


def text_of_reason(area: str, texts: Mapping[str, str], reason: str) -> Message:
    """Return the text of a reason, or of its class, with the code of its words."""
    known = reason if reason in texts else reason.partition(".")[0]
    return Message(texts[known], f"{area}.{known}") if known in texts else Message("")
