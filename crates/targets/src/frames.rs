//! The frames of HTTP/2 (RFC 9113, 4.1 and 6), as far as targets need them. torr's own code for them is
//! not used here, so that a mistake in it is noticed.

/// Length (3 bytes), type, flags, and stream (4 bytes).
pub(crate) const HEAD_BYTES: usize = 9;

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PUSH_PROMISE: u8 = 5;
pub(crate) const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
pub(crate) const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;

pub(crate) const END_STREAM: u8 = 1;
/// Of SETTINGS and PING.
pub(crate) const ACK: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;
pub(crate) const PADDED: u8 = 8;

/// The first bytes of a client.
pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The head of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RawFrameHead {
    pub(crate) length: usize,
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) stream: u32,
}

impl RawFrameHead {
    pub(crate) fn of(bytes: [u8; HEAD_BYTES]) -> Self {
        let [high, middle, low, kind, flags, stream @ ..] = bytes;
        let length = usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low);
        RawFrameHead { length, kind, flags, stream: u32::from_be_bytes(stream) & !(1 << 31) }
    }

    pub(crate) fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// Returns a frame.
pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = payload.len();
    let mut bytes = vec![(length >> 16) as u8, (length >> 8) as u8, length as u8, kind, flags];
    bytes.extend_from_slice(&stream.to_be_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

/// The frames of one connection, in the pieces in which they are written.
#[derive(Debug, Default)]
pub(crate) struct WrittenFrames {
    head: [u8; HEAD_BYTES],
    /// Bytes of the head that were written.
    known: usize,
    /// Bytes of the frame's payload that are not written.
    left: usize,
}

impl WrittenFrames {
    /// Takes bytes that follow, and returns how many responses have their last byte in them.
    pub(crate) fn add(&mut self, mut bytes: &[u8]) -> u64 {
        let mut ended = 0;
        while !bytes.is_empty() {
            if self.known < HEAD_BYTES {
                let taken = bytes.len().min(HEAD_BYTES - self.known);
                self.head[self.known..self.known + taken].copy_from_slice(&bytes[..taken]);
                (self.known, bytes) = (self.known + taken, &bytes[taken..]);
                if self.known < HEAD_BYTES {
                    break;
                }
                self.left = RawFrameHead::of(self.head).length;
            }
            let taken = bytes.len().min(self.left);
            (self.left, bytes) = (self.left - taken, &bytes[taken..]);
            if self.left == 0 {
                ended += u64::from(self.ends_response());
                self.known = 0;
            }
        }
        ended
    }

    fn ends_response(&self) -> bool {
        let head = RawFrameHead::of(self.head);
        matches!(head.kind, DATA | HEADERS) && head.has(END_STREAM)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: u8, flags: u8, payload: usize) -> Vec<u8> {
        frame(kind, flags, 1, &vec![7; payload])
    }

    #[test]
    fn a_response_ends_with_the_last_byte_of_its_last_frame_however_it_is_cut() {
        let frames = [
            of(SETTINGS, ACK, 0),         // SETTINGS with ACK, which is the same flag
            of(HEADERS, END_HEADERS, 20), // the head of a response with a body
            of(DATA, 0, 300),             // part of it
            of(DATA, END_STREAM, 2),      // its end
            of(HEADERS, END_HEADERS | END_STREAM, 5), // a response without a body
            of(DATA, END_STREAM, 0),      // an empty end
            of(PING, ACK, 8),             // PING with ACK
        ];
        let all = frames.concat();
        let ends: Vec<usize> = (1..=frames.len()).map(|n| frames[..n].concat().len()).collect();
        for step in 1..=all.len() {
            let mut written = WrittenFrames::default();
            let mut at = 0;
            for part in all.chunks(step) {
                let before = at;
                at += part.len();
                let expected = [3, 4, 5].iter().filter(|n| (before + 1..=at).contains(&ends[**n]));
                assert_eq!(written.add(part), expected.count() as u64, "{step}: {before} to {at}");
            }
        }
    }
}
