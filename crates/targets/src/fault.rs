//! The faults of faulty targets: one table, from which names, docs, CLI help and tests are made.
//!
//! The bytes of each fault are in `script`, those of HTTP/2 in `http2_script`, those of gRPC in
//! `grpc_script`, those of WebSocket in `websocket_script`.

use serde::{Deserialize, Serialize};

/// A protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultVersion {
    /// HTTP/1.1.
    Http1,
    /// HTTP/2, with prior knowledge.
    Http2,
    /// gRPC, over HTTP/2 with prior knowledge.
    Grpc,
    /// WebSocket.
    WebSocket,
}

/// Declares the enum and its methods from the rows of the table.
macro_rules! faults {
    ($($variant:ident $name:literal $version:ident $answers:literal $meaning:literal;)+) => {
        /// A way in which a faulty target fails, or a legal response that clients often read wrongly.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum Fault {
            $(#[doc = $meaning] #[serde(rename = $name)] $variant,)+
        }

        impl Fault {
            /// All faults, in the order of the table.
            pub const ALL: &[Fault] = &[$(Fault::$variant,)+];

            /// Returns the name in specs, in counts and on the command line.
            pub const fn name(self) -> &'static str {
                match self { $(Fault::$variant => $name,)+ }
            }

            /// Returns the protocol that it is a fault of, and that the target speaks.
            pub const fn version(self) -> FaultVersion {
                match self { $(Fault::$variant => FaultVersion::$version,)+ }
            }

            /// Returns a line of help about what the client receives.
            pub const fn meaning(self) -> &'static str {
                match self { $(Fault::$variant => $meaning,)+ }
            }

            /// Returns whether the client gets a complete and legal response, so that the target counts
            /// the request as answered.
            pub const fn answers(self) -> bool {
                match self { $(Fault::$variant => $answers,)+ }
            }
        }
    };
}

faults! {
    ResetBefore "reset_before" Http1 false "reset after the request was read, before any byte of a response";
    ResetInHead "reset_in_head" Http1 false "reset after half the head";
    ResetInBody "reset_in_body" Http1 false "reset after half the body";
    SlowLoris "slow_loris" Http1 false "one byte every 100 ms, forever";
    ClosedBefore "closed_before" Http1 false "closed after the request was read, before any byte of a response";
    ClosedInHead "closed_in_head" Http1 false "closed after half the head";
    ClosedEarly "closed_early" Http1 false "closed after half the body";
    ClosedOnReuse "closed_on_reuse" Http1 false "a connection's first request is answered as keep-alive; at a later one it is closed without a response";
    CloseAfter "close_after" Http1 true "answered, then closed without having said so (legal)";
    LengthTooLong "length_too_long" Http1 false "Content-Length larger than the body, then silence";
    LengthTooShort "length_too_short" Http1 false "Content-Length smaller than the body";
    BadLength "bad_length" Http1 false "Content-Length: banana";
    TwoLengths "two_lengths" Http1 false "two Content-Length headers that differ";
    BadChunk "bad_chunk" Http1 false "a chunk size that is no number";
    BadChunkEnd "bad_chunk_end" Http1 false "no CRLF after a chunk's data";
    Garbage "garbage" Http1 false "64 random bytes instead of HTTP, then closed";
    Http2Only "http2_only" Http1 false "HTTP/2 frames (SETTINGS, GOAWAY), then closed, as an HTTP/2-only server does";
    HugeHead "huge_head" Http1 false "a head of 1 MB";
    EndlessHead "endless_head" Http1 false "a head that never ends, 1 MB/s";
    SlowHead "slow_head" Http1 false "a status line, then a header line that never ends, one byte a second";
    EndlessInterim "endless_interim" Http1 false "102 Processing again and again, 1 MB/s";
    EndlessBody "endless_body" Http1 false "a chunked body that never ends, 1 MB/s";
    EndlessLine "endless_line" Http1 false "a stream of events whose first line never ends, 1 MB/s";
    GzipBomb "gzip_bomb" Http1 true "a gzip body of 32 kB that becomes 32 MiB (legal; `check.too_large` with `--compressed` and a check of the body)";
    Status503 "status_503" Http1 true "503 Service Unavailable with a body (legal)";
    Hang "hang" Http1 false "reads the request and never answers";
    CloseDelimited "close_delimited" Http1 true "HTTP/1.0 without a length: the body ends when the connection does (legal)";
    Interim100 "interim_100" Http1 true "103 Early Hints before the 200 (legal)";
    NoContent "no_content" Http1 true "204 without a body (legal)";
    NotModified "not_modified" Http1 true "304 with a Content-Length but no body (legal)";
    NoAccept "no_accept" Http1 false "a blackhole: the accept queue is full, SYNs are dropped (share does not apply)";
    H2Refused "h2_refused" Http2 false "HTTP/2: RST_STREAM with REFUSED_STREAM, so that the request may be sent again";
    H2Reset "h2_reset" Http2 false "HTTP/2: RST_STREAM with INTERNAL_ERROR after the head";
    H2Cancel "h2_cancel" Http2 false "HTTP/2: RST_STREAM with CANCEL instead of a response";
    H2GoAway "h2_goaway" Http2 true "HTTP/2: GOAWAY with the response: only requests that came before it are still answered (legal)";
    H2GoAwayError "h2_goaway_error" Http2 false "HTTP/2: GOAWAY with ENHANCE_YOUR_CALM instead of a response, then closed";
    H2Closed "h2_closed" Http2 false "HTTP/2: closed without GOAWAY, after half the body";
    H2Hang "h2_hang" Http2 false "HTTP/2: no response on this stream; others are answered";
    H2ZeroWindow "h2_zero_window" Http2 false "HTTP/2: no permission to send the body of the request";
    H2HalfBody "h2_half_body" Http2 false "HTTP/2: the body ends before its Content-Length";
    H2BadHead "h2_bad_head" Http2 false "HTTP/2: a head that HPACK cannot decode";
    H2HeadBomb "h2_head_bomb" Http2 false "HTTP/2: a head of 16 kB that becomes 60 MB, by references to one field";
    H2Continuations "h2_continuations" Http2 false "HTTP/2: a head that never ends, in CONTINUATION frames, 1 MB/s";
    H2Pings "h2_pings" Http2 false "HTTP/2: PING instead of a response, 10 MB/s, and their answers are not read";
    H2Settings "h2_settings" Http2 false "HTTP/2: SETTINGS that change instead of a response, 10 MB/s, and their acknowledgements are not read";
    H2Resets "h2_resets" Http2 false "HTTP/2: RST_STREAM for streams that never were";
    H2ResetFlood "h2_reset_flood" Http2 false "HTTP/2: RST_STREAM with CANCEL instead of a response, 1,000 times";
    H2Push "h2_push" Http2 false "HTTP/2: PUSH_PROMISE, which the client has refused";
    H2BadFrame "h2_bad_frame" Http2 false "HTTP/2: DATA of no stream";
    H2Overflow "h2_overflow" Http2 false "HTTP/2: WINDOW_UPDATE beyond the largest window";
    H2Frames "h2_frames" Http2 true "HTTP/2: a response in padded and unknown frames, with CONTINUATION, 103 and trailers (legal)";
    H2Changes "h2_changes" Http2 true "HTTP/2: settings that change before each response (legal)";
    GrpcStatus "grpc_status" Grpc true "gRPC: the status UNAVAILABLE in the head, without a message (legal)";
    GrpcEarlyStatus "grpc_early_status" Grpc true "gRPC: the status RESOURCE_EXHAUSTED before the request has ended, then RST_STREAM with NO_ERROR (legal)";
    GrpcLateStatus "grpc_late_status" Grpc true "gRPC: the status UNAVAILABLE after the message (legal)";
    GrpcNoStatus "grpc_no_status" Grpc false "gRPC: a message, but no status";
    GrpcBadStatus "grpc_bad_status" Grpc false "gRPC: a status that is no number";
    GrpcBadGateway "grpc_bad_gateway" Grpc true "gRPC: 502 Bad Gateway with a page of HTML, as a proxy sends it (legal)";
    GrpcHang "grpc_hang" Grpc false "gRPC: no response to this call; others are answered";
    GrpcBadPrefix "grpc_bad_prefix" Grpc false "gRPC: a message whose prefix says neither that it is compressed nor that it is not";
    GrpcHalfMessage "grpc_half_message" Grpc false "gRPC: half a message, then the status OK";
    GrpcNoMessage "grpc_no_message" Grpc false "gRPC: the status OK, but no message";
    GrpcTwoMessages "grpc_two_messages" Grpc false "gRPC: two messages from a method that returns one";
    GrpcHuge "grpc_huge" Grpc false "gRPC: a message of 4 GiB, by its prefix, then silence";
    WsRefused "ws_refused" WebSocket false "WebSocket: 403 to the handshake";
    WsNoHandshake "ws_no_handshake" WebSocket false "WebSocket: no response to the handshake";
    WsBadAccept "ws_bad_accept" WebSocket false "WebSocket: a Sec-WebSocket-Accept of another key";
    WsExtension "ws_extension" WebSocket false "WebSocket: permessage-deflate, which the client has not offered";
    WsClose "ws_close" WebSocket false "WebSocket: a Close frame with code 1011 instead of an answer";
    WsDrop "ws_drop" WebSocket false "WebSocket: closed within the answer, without a Close frame";
    WsHang "ws_hang" WebSocket false "WebSocket: no answer to this message; others are answered";
    WsHalf "ws_half" WebSocket false "WebSocket: half an answer, then silence";
    WsMasked "ws_masked" WebSocket false "WebSocket: a masked frame, which only clients may send";
    WsBadUtf8 "ws_bad_utf8" WebSocket false "WebSocket: a text that is not UTF-8";
    WsFragment "ws_fragment" WebSocket false "WebSocket: a continuation of no message";
    WsReserved "ws_reserved" WebSocket false "WebSocket: a frame with the bit of compression";
    WsHuge "ws_huge" WebSocket false "WebSocket: a message of 1 TiB, by its length";
    WsBadClose "ws_bad_close" WebSocket false "WebSocket: a Close frame with code 1005, which may not be sent";
    WsPings "ws_pings" WebSocket false "WebSocket: pings instead of an answer, 10 MB/s, and their answers are not read";
    WsFrames "ws_frames" WebSocket true "WebSocket: an answer in frames that divide a character, with pings between them (legal)";
}
