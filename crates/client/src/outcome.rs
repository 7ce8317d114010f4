//! How exchanges end: the class, and the exact reason.

use std::io;

use net::LayerFault;
use wire::WireError;
use wire::websocket::{CloseCode, WebSocketError};

/// The class in which an attempt ends; exactly one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// A complete and accepted response.
    Ok,
    /// The dial failed, or this machine lacked a resource for it.
    Connect,
    /// Reset or closed before the whole request was sent.
    Write,
    /// Reset or closed before the response was complete.
    Read,
    /// No complete response within the timeout.
    Timeout,
    /// Not HTTP, wrong framing, head too large.
    Protocol,
    /// TLS failed.
    Tls,
    /// A complete response with a status that is not accepted.
    Status,
    /// A complete response that failed a check.
    Check,
    /// A stream with a fault in a response that began well.
    Stream,
    /// The user gave up, as the plan says; no error.
    Cancelled,
}

impl Class {
    /// Every class, in the order of its number.
    pub const ALL: [Self; 11] = [
        Self::Ok,
        Self::Connect,
        Self::Write,
        Self::Read,
        Self::Timeout,
        Self::Protocol,
        Self::Tls,
        Self::Status,
        Self::Check,
        Self::Stream,
        Self::Cancelled,
    ];

    /// Returns its name in files and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Connect => "connect",
            Self::Write => "write",
            Self::Read => "read",
            Self::Timeout => "timeout",
            Self::Protocol => "protocol",
            Self::Tls => "tls",
            Self::Status => "status",
            Self::Check => "check",
            Self::Stream => "stream",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Declares the reasons: value, class, name, and description.
macro_rules! reasons {
    ($($value:ident, $class:ident, $name:literal, $text:literal;)*) => {
        /// The reason why an attempt failed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Reason {
            $(#[doc = $text] $value,)*
        }

        impl Reason {
            /// Every reason, in the order of its number.
            pub const ALL: &[Self] = &[$(Self::$value,)*];

            /// Returns its class.
            #[must_use]
            pub fn class(self) -> Class {
                match self { $(Self::$value => Class::$class,)* }
            }

            /// Returns its name in files and reports, such as `connect.refused`.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$value => $name,)* }
            }

            /// Returns its description.
            #[must_use]
            pub fn text(self) -> &'static str {
                match self { $(Self::$value => $text,)* }
            }
        }
    };
}

reasons! {
    ConnectRefused, Connect, "connect.refused", "nothing listens there, or it refused the connection";
    ConnectUnreachable, Connect, "connect.unreachable", "no route to the target";
    ConnectReset, Connect, "connect.reset", "the connection was reset while it was being made";
    ConnectNoPort, Connect, "connect.no_port", "this machine has no local port left";
    ConnectNoDescriptor, Connect, "connect.no_descriptor", "this process has no file descriptor left";
    ConnectNoBuffer, Connect, "connect.no_buffer", "this machine has no memory left for sockets";
    ConnectProxy, Connect, "connect.proxy", "the proxy did not connect to the target";
    ConnectOther, Connect, "connect.other", "the connection could not be made";
    TimeoutQueue, Timeout, "timeout.queue", "timed out while waiting for a free connection";
    TimeoutStream, Timeout, "timeout.stream", "timed out while waiting for a stream that the server allows (HTTP/2)";
    TimeoutConnect, Timeout, "timeout.connect", "the target did not answer the connection request in time";
    TimeoutTls, Timeout, "timeout.tls", "the TLS handshake was not complete in time";
    TimeoutWrite, Timeout, "timeout.write", "the target did not read the request in time";
    TimeoutFirstByte, Timeout, "timeout.first_byte", "no byte of the response came in time";
    TimeoutHead, Timeout, "timeout.head", "the head of the response was not complete in time";
    TimeoutBody, Timeout, "timeout.body", "the body of the response was not complete in time";
    TimeoutIdle, Timeout, "timeout.idle", "the stream sent nothing for longer than the idle timeout";
    TimeoutWebSocketHandshake, Timeout, "timeout.websocket_handshake", "the WebSocket handshake was not complete in time";
    WriteReset, Write, "write.reset", "reset before the whole request was sent";
    WriteClosed, Write, "write.closed", "closed before the whole request was sent";
    ReadReset, Read, "read.reset", "reset before the first byte of the response";
    ReadResetInHead, Read, "read.reset_in_head", "reset within the head of the response";
    ReadResetInBody, Read, "read.reset_in_body", "reset within the body of the response";
    ReadClosed, Read, "read.closed", "closed before the first byte of the response";
    ReadClosedInHead, Read, "read.closed_in_head", "closed within the head of the response";
    ReadClosedInBody, Read, "read.closed_in_body", "closed within the body of the response";
    ReadClosedOnReuse, Read, "read.closed_on_reuse", "a used connection was closed instead of a response";
    ReadUnprocessed, Read, "read.unprocessed", "the server did not process the request, although it was sent several times (HTTP/2)";
    ReadGoAway, Read, "read.goaway", "the server ended the connection with an error before the response was complete (GOAWAY of HTTP/2)";
    ReadStreamResetNoError, Read, "read.stream_reset.no_error", "the server ended the stream before the response was complete, without an error (HTTP/2)";
    ReadStreamResetProtocolError, Read, "read.stream_reset.protocol_error", "the server ended the stream because torr broke the protocol in its view (HTTP/2)";
    ReadStreamResetInternalError, Read, "read.stream_reset.internal_error", "the server ended the stream because of an error of its own (HTTP/2)";
    ReadStreamResetFlowControl, Read, "read.stream_reset.flow_control_error", "the server ended the stream because it received more than it allowed, in its view (HTTP/2)";
    ReadStreamResetSettingsTimeout, Read, "read.stream_reset.settings_timeout", "the server ended the stream because its settings were not acknowledged in time (HTTP/2)";
    ReadStreamResetStreamClosed, Read, "read.stream_reset.stream_closed", "the server ended the stream because a frame came after its end, in its view (HTTP/2)";
    ReadStreamResetFrameSize, Read, "read.stream_reset.frame_size_error", "the server ended the stream because a frame has a wrong length, in its view (HTTP/2)";
    ReadStreamResetCancel, Read, "read.stream_reset.cancel", "the server cancelled the stream before the response was complete (HTTP/2)";
    ReadStreamResetCompression, Read, "read.stream_reset.compression_error", "the server ended the stream because it could not read the fields of the request (HTTP/2)";
    ReadStreamResetConnect, Read, "read.stream_reset.connect_error", "the server ended the stream because its connection to another server broke (HTTP/2)";
    ReadStreamResetCalm, Read, "read.stream_reset.enhance_your_calm", "the server ended the stream because it received too much (HTTP/2)";
    ReadStreamResetSecurity, Read, "read.stream_reset.inadequate_security", "the server ended the stream because TLS is too weak for it (HTTP/2)";
    ReadStreamResetHttp11, Read, "read.stream_reset.http_1_1_required", "the server answers this request only over HTTP/1.1";
    ReadStreamResetOther, Read, "read.stream_reset.other", "the server ended the stream with an unknown error code (HTTP/2)";
    ReadWebSocketNormal, Read, "read.websocket_close.normal", "the server closed the WebSocket connection instead of an answer: its purpose is fulfilled (1000)";
    ReadWebSocketGoingAway, Read, "read.websocket_close.going_away", "the server closed the WebSocket connection instead of an answer: it stops (1001)";
    ReadWebSocketProtocolError, Read, "read.websocket_close.protocol_error", "the server closed the WebSocket connection: torr broke the protocol in its view (1002)";
    ReadWebSocketUnsupported, Read, "read.websocket_close.unsupported", "the server closed the WebSocket connection: it does not accept messages of this kind (1003)";
    ReadWebSocketNotUtf8, Read, "read.websocket_close.not_utf8", "the server closed the WebSocket connection: a text is not UTF-8, or a message is not what it should be (1007)";
    ReadWebSocketPolicy, Read, "read.websocket_close.policy", "the server closed the WebSocket connection: the message violates its policy (1008)";
    ReadWebSocketTooLarge, Read, "read.websocket_close.too_large", "the server closed the WebSocket connection: the message is too large for it (1009)";
    ReadWebSocketExtension, Read, "read.websocket_close.extension", "the server closed the WebSocket connection: it needs an extension (1010)";
    ReadWebSocketInternal, Read, "read.websocket_close.internal", "the server closed the WebSocket connection because of an error of its own (1011)";
    ReadWebSocketRestart, Read, "read.websocket_close.restart", "the server closed the WebSocket connection: it restarts (1012)";
    ReadWebSocketTryLater, Read, "read.websocket_close.try_later", "the server closed the WebSocket connection: it is overloaded (1013)";
    ReadWebSocketOther, Read, "read.websocket_close.other", "the server closed the WebSocket connection with another code";
    ReadWebSocketNone, Read, "read.websocket_close.none", "the server closed the WebSocket connection without a code";
    ReadNoMemory, Read, "read.no_memory", "the open responses of one worker need more memory than torr allows";
    ReadTooLarge, Read, "read.too_large", "the response is larger than 16 MiB, the limit of a single request";
    ProtocolNotHttp, Protocol, "protocol.not_http", "the response does not start with an HTTP status line";
    ProtocolHttp2, Protocol, "protocol.http2", "the server supports only HTTP/2";
    ProtocolBadHead, Protocol, "protocol.bad_head", "the status line or a header field is malformed";
    ProtocolHeadTooLarge, Protocol, "protocol.head_too_large", "the head is larger than 64 KiB";
    ProtocolTooManyInterim, Protocol, "protocol.too_many_interim", "more than 100 interim responses (1xx), or more than 64 KiB of them, came before the response";
    ProtocolBadContentLength, Protocol, "protocol.bad_content_length", "Content-Length is not a number, or two of them differ";
    ProtocolBadChunk, Protocol, "protocol.bad_chunk", "a chunk size or delimiter is malformed";
    ProtocolExtraBytes, Protocol, "protocol.extra_bytes", "more bytes came than the head of the response announced";
    ProtocolNotHttp2, Protocol, "protocol.not_http2", "the server does not answer in HTTP/2";
    ProtocolH2Frame, Protocol, "protocol.h2_frame", "a frame of HTTP/2 breaks the protocol";
    ProtocolH2FrameSize, Protocol, "protocol.h2_frame_size", "a frame of HTTP/2 has a wrong length";
    ProtocolH2FlowControl, Protocol, "protocol.h2_flow_control", "the server sent more than its window allows, or made a window too large (HTTP/2)";
    ProtocolH2StreamClosed, Protocol, "protocol.h2_stream_closed", "a frame of HTTP/2 came for a stream that had ended";
    ProtocolH2Compression, Protocol, "protocol.h2_compression", "the fields of a response cannot be decoded (HPACK of HTTP/2)";
    ProtocolH2Flood, Protocol, "protocol.h2_flood", "the server sent a head without end, or more frames that need answers than torr could answer (HTTP/2)";
    ProtocolGrpcMessage, Protocol, "protocol.grpc_message", "the body of the response is not made of whole messages of gRPC";
    ProtocolGrpcCount, Protocol, "protocol.grpc_count", "the response does not have exactly one message, although the call succeeded (gRPC)";
    ProtocolWebSocketUpgrade, Protocol, "protocol.websocket_upgrade", "the response to the WebSocket handshake has no `Upgrade: websocket`";
    ProtocolWebSocketConnection, Protocol, "protocol.websocket_connection", "the response to the WebSocket handshake has no `Connection: Upgrade`";
    ProtocolWebSocketAccept, Protocol, "protocol.websocket_accept", "Sec-WebSocket-Accept does not belong to the key of the WebSocket handshake";
    ProtocolWebSocketExtension, Protocol, "protocol.websocket_extension", "the server uses a WebSocket extension, although torr offered none";
    ProtocolWebSocketSubprotocol, Protocol, "protocol.websocket_subprotocol", "the server uses a WebSocket subprotocol that was not offered";
    ProtocolWebSocketFrame, Protocol, "protocol.websocket_frame", "a frame of WebSocket breaks the protocol";
    ProtocolWebSocketMasked, Protocol, "protocol.websocket_masked", "the server sent a masked frame, which only clients may send (WebSocket)";
    ProtocolWebSocketFragment, Protocol, "protocol.websocket_fragment", "the frames of a message come in a wrong order (WebSocket)";
    ProtocolWebSocketTooLarge, Protocol, "protocol.websocket_too_large", "a message is larger than 16 MiB, or than 1 MiB with `--match id:KEY` (WebSocket)";
    ProtocolWebSocketUtf8, Protocol, "protocol.websocket_utf8", "a text message is not UTF-8 (WebSocket)";
    ProtocolWebSocketClose, Protocol, "protocol.websocket_close", "a Close frame has a code or a reason that it must not have (WebSocket)";
    TlsExpired, Tls, "tls.expired", "the certificate of the server has expired";
    TlsNotYetValid, Tls, "tls.not_yet_valid", "the certificate of the server is not valid yet";
    TlsWrongHost, Tls, "tls.wrong_host", "the certificate of the server is for another name";
    TlsUnknownIssuer, Tls, "tls.unknown_issuer", "no trusted authority signed the certificate of the server";
    TlsAuthorityAsServer, Tls, "tls.authority_as_server", "the server presents the certificate of an authority (CA:TRUE) as its own";
    TlsBadCertificate, Tls, "tls.bad_certificate", "the server has no certificate, or one that cannot be used";
    TlsRefused, Tls, "tls.refused", "the server refused the handshake, possibly because it needs a client certificate";
    TlsNothingInCommon, Tls, "tls.nothing_in_common", "no TLS version, cipher or protocol in common with the server";
    TlsNotTls, Tls, "tls.not_tls", "the server does not use TLS on this port";
    TlsClosed, Tls, "tls.closed", "closed or reset within the TLS handshake";
    TlsFailed, Tls, "tls.failed", "TLS failed, in the handshake or later";
    Status, Status, "status", "answered with a status that is not accepted";
    GrpcCancelled, Status, "status.grpc.cancelled", "the server cancelled the call (gRPC)";
    GrpcUnknown, Status, "status.grpc.unknown", "the call failed with an unknown error in the server (gRPC)";
    GrpcInvalidArgument, Status, "status.grpc.invalid_argument", "the server does not accept the message (gRPC)";
    GrpcDeadlineExceeded, Status, "status.grpc.deadline_exceeded", "the deadline of the call passed before the server answered (gRPC)";
    GrpcNotFound, Status, "status.grpc.not_found", "the server did not find what the message asks for (gRPC)";
    GrpcAlreadyExists, Status, "status.grpc.already_exists", "what the call creates exists already (gRPC)";
    GrpcPermissionDenied, Status, "status.grpc.permission_denied", "the caller may not make this call (gRPC)";
    GrpcResourceExhausted, Status, "status.grpc.resource_exhausted", "a quota or a resource of the server is used up (gRPC)";
    GrpcFailedPrecondition, Status, "status.grpc.failed_precondition", "the server is not in the state that the call needs (gRPC)";
    GrpcAborted, Status, "status.grpc.aborted", "the server aborted the call, often because of another one at the same time (gRPC)";
    GrpcOutOfRange, Status, "status.grpc.out_of_range", "the call goes beyond the valid range (gRPC)";
    GrpcUnimplemented, Status, "status.grpc.unimplemented", "the server does not have this method (gRPC)";
    GrpcInternal, Status, "status.grpc.internal", "the server broke a rule of its own, or could not read the message (gRPC)";
    GrpcUnavailable, Status, "status.grpc.unavailable", "the server is not available now (gRPC)";
    GrpcDataLoss, Status, "status.grpc.data_loss", "the server lost or damaged data (gRPC)";
    GrpcUnauthenticated, Status, "status.grpc.unauthenticated", "the call has no valid credentials (gRPC)";
    GrpcUndefined, Status, "status.grpc.undefined", "the call ended with a status that gRPC does not define";
    GrpcMissing, Status, "status.grpc.missing", "the response has no grpc-status: the server does not speak gRPC, or the call was cut off";
    CheckBody, Check, "check.body", "the body does not contain the expected text";
    CheckJson, Check, "check.json", "the JSON body does not have the expected value";
    CheckCapture, Check, "check.capture", "the value to capture for later requests is not in the response";
    CheckEncoding, Check, "check.encoding", "the body cannot be decompressed";
    CheckTooLarge, Check, "check.too_large", "the body, its JSON or a captured value is too large to be checked";
    CheckLocustfile, Check, "check.locustfile", "the locustfile marked the response as a failure";
    StreamError, Stream, "stream.error", "the stream has an error event after a correct start";
    StreamTruncated, Stream, "stream.truncated", "the stream ended without its final event";
    StreamMalformed, Stream, "stream.malformed", "an event is not valid JSON of its dialect";
    StreamCompressed, Stream, "stream.compressed", "the stream is compressed, although torr did not ask for it";
    StreamUnknown, Stream, "stream.unknown", "no event fits the dialect of `--stream`";
    StreamNoEvents, Stream, "stream.no_events", "the response has no server-sent event";
    StreamTooLarge, Stream, "stream.too_large", "one event is larger than 16 MiB";
    CancelledGaveUp, Cancelled, "cancelled.gave_up", "the user gave up before the response was complete, as the plan says";
}

impl Reason {
    /// Returns the reason of a failed dial.
    #[must_use]
    pub fn of_dial(error: &io::Error) -> Self {
        use io::ErrorKind as Kind;
        // EMFILE and ENFILE have no kind of their own; their numbers are the same on every Linux.
        match (error.raw_os_error(), error.kind()) {
            (Some(23 | 24), _) => Self::ConnectNoDescriptor,
            (Some(105), _) | (_, Kind::OutOfMemory) => Self::ConnectNoBuffer,
            (_, Kind::AddrNotAvailable | Kind::AddrInUse) => Self::ConnectNoPort,
            // A Unix socket that does not exist, or whose accept queue is full.
            (_, Kind::ConnectionRefused | Kind::NotFound | Kind::WouldBlock) => {
                Self::ConnectRefused
            }
            (_, Kind::HostUnreachable | Kind::NetworkUnreachable | Kind::NetworkDown) => {
                Self::ConnectUnreachable
            }
            (_, Kind::ConnectionReset | Kind::ConnectionAborted) => Self::ConnectReset,
            (_, Kind::TimedOut) => Self::TimeoutConnect,
            _ => Self::ConnectOther,
        }
    }

    /// Returns the reason of an exchange whose stream the server reset with an error code of HTTP/2.
    #[must_use]
    pub fn of_stream_reset(code: u32) -> Self {
        match code {
            0x0 => Self::ReadStreamResetNoError,
            0x1 => Self::ReadStreamResetProtocolError,
            0x2 => Self::ReadStreamResetInternalError,
            0x3 => Self::ReadStreamResetFlowControl,
            0x4 => Self::ReadStreamResetSettingsTimeout,
            0x5 => Self::ReadStreamResetStreamClosed,
            0x6 => Self::ReadStreamResetFrameSize,
            0x7 => Self::ReadUnprocessed,
            0x8 => Self::ReadStreamResetCancel,
            0x9 => Self::ReadStreamResetCompression,
            0xa => Self::ReadStreamResetConnect,
            0xb => Self::ReadStreamResetCalm,
            0xc => Self::ReadStreamResetSecurity,
            0xd => Self::ReadStreamResetHttp11,
            _ => Self::ReadStreamResetOther,
        }
    }

    /// Returns the reason of a call of gRPC that ended with a status from 1 to 16.
    #[must_use]
    pub fn of_grpc_status(status: u8) -> Self {
        match status {
            1 => Self::GrpcCancelled,
            2 => Self::GrpcUnknown,
            3 => Self::GrpcInvalidArgument,
            4 => Self::GrpcDeadlineExceeded,
            5 => Self::GrpcNotFound,
            6 => Self::GrpcAlreadyExists,
            7 => Self::GrpcPermissionDenied,
            8 => Self::GrpcResourceExhausted,
            9 => Self::GrpcFailedPrecondition,
            10 => Self::GrpcAborted,
            11 => Self::GrpcOutOfRange,
            12 => Self::GrpcUnimplemented,
            13 => Self::GrpcInternal,
            14 => Self::GrpcUnavailable,
            15 => Self::GrpcDataLoss,
            16 => Self::GrpcUnauthenticated,
            _ => Self::GrpcUndefined,
        }
    }

    /// Returns the reason of an exchange whose connection the server closed with a code of WebSocket.
    #[must_use]
    pub fn of_websocket_close(code: Option<CloseCode>) -> Self {
        match code.map(|code| code.0) {
            None => Self::ReadWebSocketNone,
            Some(1000) => Self::ReadWebSocketNormal,
            Some(1001) => Self::ReadWebSocketGoingAway,
            Some(1002) => Self::ReadWebSocketProtocolError,
            Some(1003) => Self::ReadWebSocketUnsupported,
            Some(1007) => Self::ReadWebSocketNotUtf8,
            Some(1008) => Self::ReadWebSocketPolicy,
            Some(1009) => Self::ReadWebSocketTooLarge,
            Some(1010) => Self::ReadWebSocketExtension,
            Some(1011) => Self::ReadWebSocketInternal,
            Some(1012) => Self::ReadWebSocketRestart,
            Some(1013) => Self::ReadWebSocketTryLater,
            Some(_) => Self::ReadWebSocketOther,
        }
    }

    /// Returns whether the cause is this machine, not the target.
    #[must_use]
    pub fn is_local(self) -> bool {
        matches!(self, Self::ConnectNoPort | Self::ConnectNoDescriptor | Self::ConnectNoBuffer)
    }

    /// Returns whether the next address of a name is tried after a connection could not be opened for this
    /// reason. An address that was too slow has taken the whole timeout already.
    #[must_use]
    pub fn is_worth_another_address(self) -> bool {
        !self.is_local() && self.class() != Class::Timeout
    }
}

impl From<LayerFault> for Reason {
    fn from(fault: LayerFault) -> Self {
        match fault {
            LayerFault::Expired => Self::TlsExpired,
            LayerFault::NotYetValid => Self::TlsNotYetValid,
            LayerFault::WrongHost => Self::TlsWrongHost,
            LayerFault::UnknownIssuer => Self::TlsUnknownIssuer,
            LayerFault::AuthorityAsServer => Self::TlsAuthorityAsServer,
            LayerFault::BadCertificate => Self::TlsBadCertificate,
            LayerFault::Refused => Self::TlsRefused,
            LayerFault::NothingInCommon => Self::TlsNothingInCommon,
            LayerFault::NotTls => Self::TlsNotTls,
            LayerFault::Failed => Self::TlsFailed,
        }
    }
}

impl From<WireError> for Reason {
    fn from(error: WireError) -> Self {
        match error {
            WireError::NotHttp => Self::ProtocolNotHttp,
            WireError::Http2 => Self::ProtocolHttp2,
            WireError::BadHead => Self::ProtocolBadHead,
            WireError::HeadTooLarge => Self::ProtocolHeadTooLarge,
            WireError::TooManyInterim => Self::ProtocolTooManyInterim,
            WireError::BadContentLength => Self::ProtocolBadContentLength,
            WireError::BadChunk => Self::ProtocolBadChunk,
            WireError::ExtraBytes => Self::ProtocolExtraBytes,
        }
    }
}

impl From<WebSocketError> for Reason {
    fn from(error: WebSocketError) -> Self {
        use WebSocketError as Error;
        match error {
            Error::MaskedFrame => Self::ProtocolWebSocketMasked,
            Error::UnexpectedContinuation | Error::MessageInsideMessage => {
                Self::ProtocolWebSocketFragment
            }
            Error::MessageTooLarge => Self::ProtocolWebSocketTooLarge,
            Error::TextNotUtf8 => Self::ProtocolWebSocketUtf8,
            Error::CloseCodeIncomplete | Error::CloseCodeForbidden | Error::CloseReasonNotUtf8 => {
                Self::ProtocolWebSocketClose
            }
            Error::UnmaskedFrame
            | Error::ReservedBits
            | Error::ReservedOpcode
            | Error::FragmentedControlFrame
            | Error::ControlFrameTooLong
            | Error::LengthNotMinimal
            | Error::LengthTopBit
            | Error::BytesAfterClose => Self::ProtocolWebSocketFrame,
        }
    }
}

/// The end of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// Why it failed; `None` for a complete response, whose status may not be accepted.
    pub failure: Option<Reason>,
    /// The status, if a final head was received.
    pub status: Option<u16>,
    /// Whether the connection may carry another exchange.
    pub reusable: bool,
}

impl Outcome {
    /// Creates a failure, after which the connection cannot be used.
    #[must_use]
    pub fn failed(reason: Reason, status: Option<u16>) -> Self {
        Self { failure: Some(reason), status, reusable: false }
    }

    /// Returns whether its user gave up.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.failure.is_some_and(|reason| reason.class() == Class::Cancelled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_named_after_its_class() {
        for reason in Reason::ALL {
            let class = reason.name().split('.').next().unwrap();
            assert_eq!(class, reason.class().name());
        }
    }

    #[test]
    fn numbers_follow_the_order_of_the_lists() {
        for (index, reason) in Reason::ALL.iter().enumerate() {
            assert_eq!(*reason as usize, index);
        }
        for (index, class) in Class::ALL.iter().enumerate() {
            assert_eq!(*class as usize, index);
        }
    }

    #[test]
    fn a_failure_that_took_the_whole_timeout_leaves_no_time_for_another_address() {
        let table = [
            (Reason::ConnectRefused, true),
            (Reason::TlsClosed, true),
            (Reason::ConnectNoPort, false),
            (Reason::TimeoutConnect, false),
            (Reason::TimeoutTls, false),
            (Reason::TimeoutWebSocketHandshake, false),
        ];
        for (reason, is_worth_it) in table {
            assert_eq!(reason.is_worth_another_address(), is_worth_it, "{}", reason.name());
        }
    }

    #[test]
    fn refusals_of_the_target_differ_from_limits_of_this_machine() {
        let table = [
            (111, Reason::ConnectRefused, false),
            (113, Reason::ConnectUnreachable, false),
            (101, Reason::ConnectUnreachable, false),
            (104, Reason::ConnectReset, false),
            (110, Reason::TimeoutConnect, false),
            (24, Reason::ConnectNoDescriptor, true),
            (23, Reason::ConnectNoDescriptor, true),
            (99, Reason::ConnectNoPort, true),
            (105, Reason::ConnectNoBuffer, true),
            (13, Reason::ConnectOther, false),
        ];
        for (errno, reason, local) in table {
            let found = Reason::of_dial(&io::Error::from_raw_os_error(errno));
            assert_eq!((found, found.is_local()), (reason, local), "errno {errno}");
        }
    }
}
