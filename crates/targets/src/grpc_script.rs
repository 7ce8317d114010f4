//! The frames of each fault of gRPC, over HTTP/2: a few steps, decided before the first.
//!
//! A call without a fault is answered with one message, the `Echo` of `proto/echo.proto` whose text is
//! that of [`crate::hello`].

use crate::Fault;
use crate::frames::{DATA, END_HEADERS, END_STREAM, HEADERS, RST_STREAM, frame};
use crate::hello::TEXT;
use crate::http2_script::{CONTENT_TYPE, NO_ERROR, STATUS_200, literal, text};
use crate::step::FaultStep;

/// `:status`, an entry of the static table.
const STATUS: u8 = 8;
const OK: &str = "0";
const RESOURCE_EXHAUSTED: &str = "8";
const UNAVAILABLE: &str = "14";

/// The response without a fault.
pub(crate) fn success(stream: u32) -> Vec<u8> {
    [head(stream), data(stream, &message()), status(stream, OK)].concat()
}

/// Returns the steps for a call, on its stream.
pub(crate) fn of(fault: Fault, stream: u32) -> Vec<FaultStep> {
    let bytes = match fault {
        Fault::GrpcStatus => only_status(stream, UNAVAILABLE),
        Fault::GrpcEarlyStatus => {
            let reset = frame(RST_STREAM, 0, stream, &NO_ERROR.to_be_bytes());
            [only_status(stream, RESOURCE_EXHAUSTED), reset].concat()
        }
        Fault::GrpcLateStatus => {
            [head(stream), data(stream, &message()), status(stream, UNAVAILABLE)].concat()
        }
        Fault::GrpcNoStatus => [head(stream), frame(DATA, END_STREAM, stream, &message())].concat(),
        Fault::GrpcBadStatus => {
            [head(stream), data(stream, &message()), status(stream, "banana")].concat()
        }
        Fault::GrpcBadGateway => {
            let status = [literal(STATUS, b""), text(b"502")].concat();
            let fields = [status, content_type(b"text/html")].concat();
            let page = b"<html>Bad Gateway</html>";
            let head = frame(HEADERS, END_HEADERS, stream, &fields);
            [head, frame(DATA, END_STREAM, stream, page)].concat()
        }
        Fault::GrpcBadPrefix => {
            let bad = [&[9], &message()[1..]].concat();
            [head(stream), data(stream, &bad), status(stream, OK)].concat()
        }
        Fault::GrpcHalfMessage => {
            let half = &message()[..TEXT.len()];
            [head(stream), data(stream, half), status(stream, OK)].concat()
        }
        Fault::GrpcNoMessage => [head(stream), status(stream, OK)].concat(),
        Fault::GrpcTwoMessages => {
            [head(stream), data(stream, &message().repeat(2)), status(stream, OK)].concat()
        }
        Fault::GrpcHuge => [head(stream), data(stream, &[0, 0xff, 0xff, 0xff, 0xff, 7])].concat(),
        // A call without a response; faults of other protocols have no steps here.
        _ => return Vec::new(),
    };
    vec![FaultStep::Send(bytes)]
}

/// Returns the message with its prefix: the first field is the text.
fn message() -> Vec<u8> {
    let field = [&[0x0a, TEXT.len() as u8], TEXT.as_bytes()].concat();
    [&[0, 0, 0, 0, field.len() as u8], field.as_slice()].concat()
}

fn head(stream: u32) -> Vec<u8> {
    frame(HEADERS, END_HEADERS, stream, &fields())
}

fn fields() -> Vec<u8> {
    [vec![STATUS_200], content_type(b"application/grpc")].concat()
}

fn content_type(value: &[u8]) -> Vec<u8> {
    [literal(CONTENT_TYPE, b""), text(value)].concat()
}

fn data(stream: u32, bytes: &[u8]) -> Vec<u8> {
    frame(DATA, 0, stream, bytes)
}

/// Returns the trailers that end a response.
fn status(stream: u32, status: &str) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | END_STREAM, stream, &status_field(status))
}

/// Returns a response that has nothing but its head, with the status.
fn only_status(stream: u32, status: &str) -> Vec<u8> {
    let fields = [fields(), status_field(status)].concat();
    frame(HEADERS, END_HEADERS | END_STREAM, stream, &fields)
}

fn status_field(status: &str) -> Vec<u8> {
    [literal(0, b"grpc-status"), text(status.as_bytes())].concat()
}
