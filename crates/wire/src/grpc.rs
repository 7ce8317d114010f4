//! gRPC: the messages of a call, and its status.
//!
//! Each message of a body has a prefix: whether it is compressed, and its length. The status of a call
//! is in the trailers of the response, or in its head if it has no body.

/// Bytes of the prefix of a message.
pub const GRPC_PREFIX_BYTES: usize = 5;

/// The field that has the status of a call.
pub const GRPC_STATUS: &str = "grpc-status";

/// The field that has the text beside the status.
pub const GRPC_MESSAGE: &str = "grpc-message";

/// The highest status that is defined.
const LAST_STATUS: u16 = 16;

/// The prefix of a message says neither that it is compressed nor that it is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadPrefix;

/// Counts the messages of a body, which comes in any split.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GrpcMessages {
    /// The prefix of the message that is being received, and how much of it there is.
    prefix: [u8; GRPC_PREFIX_BYTES],
    known: usize,
    /// Bytes of the message that are to come, once its prefix is complete.
    left: usize,
    complete: u64,
}

impl GrpcMessages {
    /// Takes a piece of the body, and calls `on_message` for each message that ends in it.
    pub fn feed(&mut self, piece: &[u8], mut on_message: impl FnMut()) -> Result<(), BadPrefix> {
        let mut rest = piece;
        while !rest.is_empty() {
            if self.known < GRPC_PREFIX_BYTES {
                let (taken, after) = rest.split_at(rest.len().min(GRPC_PREFIX_BYTES - self.known));
                self.prefix[self.known..self.known + taken.len()].copy_from_slice(taken);
                self.known += taken.len();
                rest = after;
                if self.prefix[0] > 1 {
                    return Err(BadPrefix);
                }
                if self.known < GRPC_PREFIX_BYTES {
                    return Ok(());
                }
                self.left = message_bytes(&self.prefix);
            }
            let taken = rest.len().min(self.left);
            rest = &rest[taken..];
            self.left -= taken;
            if self.left == 0 {
                (self.known, self.complete) = (0, self.complete + 1);
                on_message();
            }
        }
        Ok(())
    }

    /// Returns the number of complete messages.
    #[must_use]
    pub fn complete(&self) -> u64 {
        self.complete
    }

    /// Returns whether a message has begun and not ended.
    #[must_use]
    pub fn is_inside_message(&self) -> bool {
        self.known > 0
    }

    /// Begins another body.
    pub fn restart(&mut self) {
        *self = Self::default();
    }
}

fn message_bytes(prefix: &[u8; GRPC_PREFIX_BYTES]) -> usize {
    let [_, length @ ..] = *prefix;
    u32::from_be_bytes(length) as usize
}

/// Returns the length of the first message of a body with its prefix; the whole body if that is not
/// complete.
#[must_use]
pub fn first_message(body: &[u8]) -> usize {
    let length = body.first_chunk().map(message_bytes);
    let whole = length.and_then(|length| length.checked_add(GRPC_PREFIX_BYTES));
    whole.unwrap_or(usize::MAX).min(body.len())
}

/// The status of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrpcStatus {
    /// The call succeeded.
    Ok,
    /// A status of an error, from 1 to 16.
    Error(u8),
    /// A number that is not defined, or no number.
    Unknown,
    /// There is none.
    Missing,
}

impl GrpcStatus {
    /// Reads the value of [`GRPC_STATUS`].
    #[must_use]
    pub fn read(value: Option<&[u8]>) -> Self {
        let Some(value) = value else { return Self::Missing };
        // A number may have no sign.
        let value = if value.iter().all(u8::is_ascii_digit) { value } else { b"" };
        let number = std::str::from_utf8(value).ok().and_then(|text| text.parse::<u16>().ok());
        match number {
            Some(0) => Self::Ok,
            Some(number) if number <= LAST_STATUS => Self::Error(number as u8),
            _ => Self::Unknown,
        }
    }
}

/// Returns the value of [`GRPC_MESSAGE`] as text; bytes that are not ASCII are written as `%XX`.
#[must_use]
pub fn grpc_message_text(value: &[u8]) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value;
    while let Some((first, after)) = rest.split_first() {
        let hex = after
            .first_chunk::<2>()
            .filter(|hex| *first == b'%' && hex.iter().all(u8::is_ascii_hexdigit));
        let decoded =
            hex.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(decoded.unwrap_or(*first));
        rest = if decoded.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(is_compressed: bool, payload: &[u8]) -> Vec<u8> {
        let length = (payload.len() as u32).to_be_bytes();
        [&[u8::from(is_compressed)], &length[..], payload].concat()
    }

    #[test]
    fn messages_are_counted_at_every_pair_of_split_points() {
        let body =
            [message(false, b""), message(true, b"four"), message(false, &[7; 300])].concat();
        for first in 0..=body.len() {
            for second in first..=body.len() {
                let (mut messages, mut heard) = (GrpcMessages::default(), 0);
                for piece in [&body[..first], &body[first..second], &body[second..]] {
                    messages.feed(piece, || heard += 1).unwrap();
                }
                assert_eq!((messages.complete(), heard), (3, 3));
                assert!(!messages.is_inside_message());
            }
        }
    }

    #[test]
    fn a_message_counts_when_its_last_byte_was_received() {
        let body = [message(false, b"one"), message(false, b"")].concat();
        let mut messages = GrpcMessages::default();
        let mut seen = Vec::new();
        for byte in &body {
            messages.feed(&[*byte], || {}).unwrap();
            seen.push((messages.complete(), messages.is_inside_message()));
        }
        let inside = |count| vec![(count, true); 7];
        let expected = [inside(0), vec![(1, false)], vec![(1, true); 4], vec![(2, false)]].concat();
        assert_eq!(seen, expected);
        messages.restart();
        assert_eq!(messages, GrpcMessages::default());
    }

    #[test]
    fn a_prefix_that_is_none_is_refused_at_its_first_byte() {
        let mut messages = GrpcMessages::default();
        assert_eq!(messages.feed(&message(false, b"one"), || {}), Ok(()));
        assert_eq!(messages.feed(b"<", || {}), Err(BadPrefix));
    }

    #[test]
    fn the_first_message_of_a_body_is_found() {
        let body = [message(false, b"one"), message(false, b"more")].concat();
        assert_eq!(first_message(&body), 8);
        assert_eq!(first_message(&body[8..]), 9);
        assert_eq!(first_message(&body[..6]), 6);
        assert_eq!(first_message(&body[..3]), 3);
        assert_eq!(first_message(b""), 0);
        assert_eq!(first_message(&[0, 255, 255, 255, 255, 1]), 6);
    }

    #[test]
    fn a_status_is_a_number_from_0_to_16() {
        let table: [(Option<&[u8]>, GrpcStatus); 9] = [
            (Some(b"0"), GrpcStatus::Ok),
            (Some(b"1"), GrpcStatus::Error(1)),
            (Some(b"16"), GrpcStatus::Error(16)),
            (Some(b"17"), GrpcStatus::Unknown),
            (Some(b"-1"), GrpcStatus::Unknown),
            (Some(b"+0"), GrpcStatus::Unknown),
            (Some(b""), GrpcStatus::Unknown),
            (Some(b"\xff"), GrpcStatus::Unknown),
            (None, GrpcStatus::Missing),
        ];
        for (value, status) in table {
            assert_eq!(GrpcStatus::read(value), status, "{value:?}");
        }
    }

    #[test]
    fn the_text_beside_a_status_is_decoded() {
        assert_eq!(grpc_message_text(b"no such user: %E4%BD%A0 100%"), "no such user: 你 100%");
        assert_eq!(grpc_message_text(b"%zz%4"), "%zz%4");
        assert_eq!(grpc_message_text(b"50%+5"), "50%+5");
    }
}
