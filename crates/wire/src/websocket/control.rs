//! The payload of a control frame, whose length is limited (RFC 6455, 5.5).

/// The longest payload of a control frame.
pub const MAX_CONTROL_BYTES: usize = 125;

/// The payload of a control frame.
#[derive(Clone, Copy)]
pub struct ControlPayload {
    bytes: [u8; MAX_CONTROL_BYTES],
    length: u8,
}

impl ControlPayload {
    /// A payload without bytes.
    pub const EMPTY: Self = Self { bytes: [0; MAX_CONTROL_BYTES], length: 0 };

    /// Creates a payload; `None` if it is longer than [`MAX_CONTROL_BYTES`].
    #[must_use]
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let mut payload = Self::EMPTY;
        payload.append(bytes).then_some(payload)
    }

    /// Returns the bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    pub(super) fn as_mut_bytes(&mut self) -> &mut [u8] {
        &mut self.bytes[..usize::from(self.length)]
    }

    pub(super) fn clear(&mut self) {
        self.length = 0;
    }

    /// Appends bytes; returns whether there was room for them.
    pub(super) fn append(&mut self, bytes: &[u8]) -> bool {
        let room = &mut self.bytes[usize::from(self.length)..];
        let Some(place) = room.get_mut(..bytes.len()) else { return false };
        place.copy_from_slice(bytes);
        // At most 125 bytes fit, so the number does too.
        self.length += bytes.len() as u8;
        true
    }
}

impl PartialEq for ControlPayload {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for ControlPayload {}

impl std::fmt::Debug for ControlPayload {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_tuple("ControlPayload").field(&self.as_bytes()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_has_at_most_125_bytes() {
        let bytes = [7; MAX_CONTROL_BYTES + 1];
        assert_eq!(ControlPayload::new(&bytes), None);
        let payload = ControlPayload::new(&bytes[1..]).unwrap();
        assert_eq!(payload.as_bytes(), &bytes[1..]);
        assert_eq!(ControlPayload::new(b""), Some(ControlPayload::EMPTY));
        assert_ne!(payload, ControlPayload::EMPTY);
        let short = ControlPayload::new(b"ab").unwrap();
        assert_eq!(format!("{short:?}"), "ControlPayload([97, 98])");
    }
}
