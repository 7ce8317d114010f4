//! The faults of faulty targets: one table, from which names, docs, CLI help and tests are made.
//!
//! The bytes of each fault are in `script`.

use serde::{Deserialize, Serialize};

/// Declares the enum and its methods from the rows of the table.
macro_rules! faults {
    ($($variant:ident $name:literal $answers:literal $meaning:literal;)+) => {
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
    ResetBefore "reset_before" false "reset after the request was read, before any byte of a response";
    ResetInHead "reset_in_head" false "reset after half the head";
    ResetInBody "reset_in_body" false "reset after half the body";
    SlowLoris "slow_loris" false "one byte every 100 ms, forever";
    ClosedBefore "closed_before" false "closed after the request was read, before any byte of a response";
    ClosedInHead "closed_in_head" false "closed after half the head";
    ClosedEarly "closed_early" false "closed after half the body";
    ClosedOnReuse "closed_on_reuse" false "a connection's first request is answered as keep-alive; at a later one it is closed without a response";
    CloseAfter "close_after" true "answered, then closed without having said so (legal)";
    LengthTooLong "length_too_long" false "Content-Length larger than the body, then silence";
    LengthTooShort "length_too_short" false "Content-Length smaller than the body";
    BadLength "bad_length" false "Content-Length: banana";
    TwoLengths "two_lengths" false "two Content-Length headers that differ";
    BadChunk "bad_chunk" false "a chunk size that is no number";
    BadChunkEnd "bad_chunk_end" false "no CRLF after a chunk's data";
    Garbage "garbage" false "64 random bytes instead of HTTP, then closed";
    Http2Only "http2_only" false "HTTP/2 frames (SETTINGS, GOAWAY), then closed, as an HTTP/2-only server does";
    HugeHead "huge_head" false "a head of 1 MB";
    EndlessHead "endless_head" false "a head that never ends, 1 MB/s";
    SlowHead "slow_head" false "a status line, then a header line that never ends, one byte a second";
    EndlessInterim "endless_interim" false "102 Processing again and again, 1 MB/s";
    EndlessBody "endless_body" false "a chunked body that never ends, 1 MB/s";
    EndlessLine "endless_line" false "a stream of events whose first line never ends, 1 MB/s";
    GzipBomb "gzip_bomb" true "a gzip body of 32 kB that becomes 32 MiB (legal; `check.too_large` with `--compressed` and a check of the body)";
    Status503 "status_503" true "503 Service Unavailable with a body (legal)";
    Hang "hang" false "reads the request and never answers";
    CloseDelimited "close_delimited" true "HTTP/1.0 without a length: the body ends when the connection does (legal)";
    Interim100 "interim_100" true "103 Early Hints before the 200 (legal)";
    NoContent "no_content" true "204 without a body (legal)";
    NotModified "not_modified" true "304 with a Content-Length but no body (legal)";
    NoAccept "no_accept" false "a blackhole: the accept queue is full, SYNs are dropped (share does not apply)";
}
