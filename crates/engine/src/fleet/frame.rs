//! Frames: the encoding of messages in a stream of bytes between two processes.
//!
//! A version, two lengths, a message in JSON and an attachment. Both ends check the version of every
//! frame before they decode it.

use std::io::{self, ErrorKind, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The version of the frames and of the messages in them.
const VERSION: u8 = 5;

/// Version, length of the message, length of the attachment (little endian).
const HEAD_BYTES: usize = 9;

/// The maximum length; no message comes near it.
const LARGEST_BYTES: u32 = 1 << 30;

/// Writes a message and what belongs to it.
pub(super) fn write(
    to: &mut impl Write,
    message: &impl Serialize,
    attachment: &[u8],
) -> io::Result<()> {
    let text = serde_json::to_vec(message)?;
    let mut head = vec![VERSION];
    for length in [text.len(), attachment.len()] {
        let length = u32::try_from(length).ok().filter(|length| *length <= LARGEST_BYTES);
        let length = length.ok_or_else(|| broken("a message too large to be sent".into()))?;
        head.extend(length.to_le_bytes());
    }
    to.write_all(&[head.as_slice(), &text].concat())?;
    to.write_all(attachment)?;
    to.flush()
}

/// Reads the next message; none at the end of the stream.
pub(super) fn read<M: DeserializeOwned>(from: &mut impl Read) -> io::Result<Option<(M, Vec<u8>)>> {
    let mut head = [0; HEAD_BYTES];
    // An end between two frames is the end of the stream; an end within a frame is an error.
    if first(from, &mut head[..1])? == 0 {
        return Ok(None);
    }
    if head[0] != VERSION {
        return Err(broken(format!("version {} of the frames is not {VERSION}", head[0])));
    }
    from.read_exact(&mut head[1..])?;
    let [_, a, b, c, d, e, f, g, h] = head;
    let text = body(from, u32::from_le_bytes([a, b, c, d]))?;
    let attachment = body(from, u32::from_le_bytes([e, f, g, h]))?;
    Ok(Some((serde_json::from_slice(&text)?, attachment)))
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
        write(&mut bytes, &("two", 2), b"\x00attached\n").unwrap();
        bytes
    }

    #[test]
    fn messages_come_out_as_they_went_in_with_what_belongs_to_them() {
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
    fn another_version_and_an_absurd_length_are_refused() {
        let mut bytes = frames();
        bytes[4] = 0xff;
        let error = read::<Message>(&mut bytes.as_slice()).unwrap_err();
        assert!(error.to_string().contains("a frame of"), "{error}");
        bytes[0] = VERSION + 1;
        let error = read::<Message>(&mut bytes.as_slice()).unwrap_err();
        let text = format!("version {} of the frames is not {VERSION}", VERSION + 1);
        assert!(error.to_string().contains(&text), "{error}");
    }
}
