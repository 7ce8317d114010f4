//! Frames: the encoding of messages in a stream of bytes between two processes.
//!
//! Two lengths, a message in the form of the crate `postcard`, and an attachment. Its form depends on the
//! types of both ends, which are the same: they have compared their builds before ([`super::greeting`]).

use std::io::{self, ErrorKind, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Length of the message, length of the attachment (little endian).
const HEAD_BYTES: usize = 8;

/// The maximum length; no message comes near it.
const LARGEST_BYTES: u32 = 1 << 30;

/// Writes a message and its attachment.
pub(super) fn write(
    to: &mut impl Write,
    message: &impl Serialize,
    attachment: &[u8],
) -> io::Result<()> {
    let message = postcard::to_stdvec(message).map_err(|error| broken(error.to_string()))?;
    let mut head = Vec::with_capacity(HEAD_BYTES);
    for length in [message.len(), attachment.len()] {
        let length = u32::try_from(length).ok().filter(|length| *length <= LARGEST_BYTES);
        let length = length.ok_or_else(|| broken("a message too large to be sent".into()))?;
        head.extend(length.to_le_bytes());
    }
    to.write_all(&[head.as_slice(), &message].concat())?;
    to.write_all(attachment)?;
    to.flush()
}

/// Reads the next message and its attachment; none at the end of the stream.
pub(super) fn read<M: DeserializeOwned>(from: &mut impl Read) -> io::Result<Option<(M, Vec<u8>)>> {
    let mut head = [0; HEAD_BYTES];
    // An end between two frames is the end of the stream; an end within a frame is an error.
    if first(from, &mut head[..1])? == 0 {
        return Ok(None);
    }
    from.read_exact(&mut head[1..])?;
    let [a, b, c, d, e, f, g, h] = head;
    let message = body(from, u32::from_le_bytes([a, b, c, d]))?;
    let attachment = body(from, u32::from_le_bytes([e, f, g, h]))?;
    match postcard::take_from_bytes(&message) {
        Ok((message, [])) => Ok(Some((message, attachment))),
        Ok((_, rest)) => Err(broken(format!("{} bytes after a message", rest.len()))),
        Err(error) => Err(broken(error.to_string())),
    }
}

/// Reads one byte, if one still comes.
fn first(from: &mut impl Read, byte: &mut [u8]) -> io::Result<usize> {
    loop {
        match from.read(byte) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

fn body(from: &mut impl Read, length: u32) -> io::Result<Vec<u8>> {
    if length > LARGEST_BYTES {
        return Err(broken(format!("a frame of {length} bytes")));
    }
    let mut bytes = Vec::new();
    let count = from.by_ref().take(length.into()).read_to_end(&mut bytes)?;
    if count < length as usize { Err(ErrorKind::UnexpectedEof.into()) } else { Ok(bytes) }
}

fn broken(text: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Message = (String, u64);

    fn frames() -> Vec<u8> {
        let mut bytes = Vec::new();
        write(&mut bytes, &("one", u64::MAX), b"").unwrap();
        write(&mut bytes, &("two", 2_u64), b"\x00attached\n").unwrap();
        bytes
    }

    #[test]
    fn messages_come_out_as_they_went_in_with_their_attachments() {
        let bytes = frames();
        let mut from = bytes.as_slice();
        let one: (Message, _) = read(&mut from).unwrap().unwrap();
        let two: (Message, _) = read(&mut from).unwrap().unwrap();
        assert_eq!(one, (("one".to_owned(), u64::MAX), vec![]));
        assert_eq!(two, (("two".to_owned(), 2), b"\x00attached\n".to_vec()));
        assert!(read::<Message>(&mut from).unwrap().is_none());
    }

    #[test]
    fn an_end_within_a_frame_is_an_error_wherever_it_comes() {
        let bytes = frames();
        let first = bytes.len() - {
            let mut rest = bytes.as_slice();
            read::<Message>(&mut rest).unwrap();
            rest.len()
        };
        for end in 1..first {
            let error = read::<Message>(&mut &bytes[..end]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::UnexpectedEof, "{end}");
        }
    }

    #[test]
    fn an_absurd_length_and_bytes_after_the_message_are_refused() {
        let mut bytes = frames();
        bytes[3] = 0xff;
        let error = read::<Message>(&mut bytes.as_slice()).unwrap_err();
        assert!(error.to_string().contains("a frame of"), "{error}");
        let mut longer = Vec::new();
        write(&mut longer, &("one", 1_u64, 2_u64), b"").unwrap();
        let error = read::<Message>(&mut longer.as_slice()).unwrap_err();
        assert_eq!(error.to_string(), "1 bytes after a message");
    }
}
