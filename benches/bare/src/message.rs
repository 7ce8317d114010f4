//! Messages over WebSocket: the handshake, and one frame that is sent again and again.

use std::io;

/// The fields of the handshake. Its key is the example of RFC 6455: nothing checks the answer.
pub(crate) const UPGRADE: &str = "Upgrade: websocket\r\nConnection: Upgrade\r\n\
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n";

const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];
const LONGEST_SHORT: usize = 125;

/// A text message as a client sends it, masked with a fixed key.
pub(crate) fn frame(message: &str) -> io::Result<Vec<u8>> {
    if message.len() > LONGEST_SHORT {
        return Err(io::Error::other(format!("a message may have {LONGEST_SHORT} bytes")));
    }
    // The length is at most 125.
    let mut frame = vec![0x81, 0x80 | message.len() as u8];
    frame.extend(MASK);
    frame.extend(message.bytes().zip(MASK.into_iter().cycle()).map(|(byte, mask)| byte ^ mask));
    Ok(frame)
}

/// Bytes of the same message as a server sends it: without the key.
pub(crate) fn echo_bytes(frame: &[u8]) -> usize {
    frame.len() - MASK.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frame_is_that_of_the_standard() {
        // RFC 6455, 5.7.
        let expected = [0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58];
        assert_eq!(frame("Hello").unwrap(), expected);
        assert_eq!(echo_bytes(&expected), 7);
        assert!(frame(&"x".repeat(126)).is_err());
    }
}
