//! Close frames: why a connection ends (RFC 6455, 5.5.1 and 7.4).

use super::control::ControlPayload;
use super::error::WebSocketError;

/// Why a connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CloseCode(pub u16);

impl CloseCode {
    /// The purpose of the connection is fulfilled.
    pub const NORMAL: Self = Self(1000);
    /// The server stops, or the client leaves.
    pub const GOING_AWAY: Self = Self(1001);
    /// The peer broke the protocol.
    pub const PROTOCOL_ERROR: Self = Self(1002);
    /// A text of the peer is not UTF-8.
    pub const NOT_UTF8: Self = Self(1007);
    /// A message of the peer is too large.
    pub const MESSAGE_TOO_LARGE: Self = Self(1009);

    /// Returns whether a Close frame may have this code.
    ///
    /// Allowed are the codes of RFC 6455, those that IANA has registered since (1012 to 1014), and those
    /// of libraries and applications (3000 to 4999). 1005, 1006 and 1015 stand for ends without a code.
    #[must_use]
    pub fn may_be_sent(self) -> bool {
        matches!(self.0, 1000..=1003 | 1007..=1014 | 3000..=4999)
    }
}

/// The content of a Close frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CloseFrame<'a> {
    /// Why the connection ends; `None` if the frame does not say it.
    pub code: Option<CloseCode>,
    /// More about it; empty without a code.
    pub reason: &'a str,
}

impl<'a> CloseFrame<'a> {
    /// Reads the payload of a Close frame.
    pub(super) fn read(payload: &'a [u8]) -> Result<Self, WebSocketError> {
        match payload {
            [] => Ok(Self { code: None, reason: "" }),
            [_] => Err(WebSocketError::CloseCodeIncomplete),
            [high, low, reason @ ..] => {
                let code = CloseCode(u16::from_be_bytes([*high, *low]));
                if !code.may_be_sent() {
                    return Err(WebSocketError::CloseCodeForbidden);
                }
                let reason = std::str::from_utf8(reason);
                let reason = reason.map_err(|_| WebSocketError::CloseReasonNotUtf8)?;
                Ok(Self { code: Some(code), reason })
            }
        }
    }

    /// Returns the payload; `None` if the reason is longer than 123 bytes. Without a code the payload is
    /// empty.
    #[must_use]
    pub fn payload(&self) -> Option<ControlPayload> {
        let Some(code) = self.code else { return Some(ControlPayload::EMPTY) };
        let mut payload = ControlPayload::new(&code.0.to_be_bytes())?;
        payload.append(self.reason.as_bytes()).then_some(payload)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_frames_are_read_as_they_are_written() {
        for (code, reason) in [(None, ""), (Some(1000), ""), (Some(4999), "größer")] {
            let frame = CloseFrame { code: code.map(CloseCode), reason };
            assert_eq!(CloseFrame::read(frame.payload().unwrap().as_bytes()), Ok(frame));
        }
        let longest = "x".repeat(123);
        let frame = CloseFrame { code: Some(CloseCode::NORMAL), reason: &longest };
        assert_eq!(CloseFrame::read(frame.payload().unwrap().as_bytes()), Ok(frame));
        let too_long = "x".repeat(124);
        assert_eq!(CloseFrame { reason: &too_long, ..frame }.payload(), None);
    }

    #[test]
    fn only_some_codes_may_be_sent() {
        let is_allowed = |code: &u16| CloseFrame::read(&code.to_be_bytes()).is_ok();
        let allowed: Vec<u16> = (0..=u16::MAX).filter(is_allowed).collect();
        let expected = (1000..=1003).chain(1007..=1014).chain(3000..=4999);
        assert_eq!(allowed, expected.collect::<Vec<_>>());
        let refused = CloseFrame::read(&[0x03, 0xed]); // 1005
        assert_eq!(refused, Err(WebSocketError::CloseCodeForbidden));
    }

    #[test]
    fn a_payload_that_breaks_the_rules_is_named() {
        assert_eq!(CloseFrame::read(&[3]), Err(WebSocketError::CloseCodeIncomplete));
        let frame = [3, 232, b'a', 0xc3];
        assert_eq!(CloseFrame::read(&frame), Err(WebSocketError::CloseReasonNotUtf8));
        // The code comes first.
        assert_eq!(CloseFrame::read(&[0, 0, 0xc3]), Err(WebSocketError::CloseCodeForbidden));
    }
}
