//! Settings (RFC 9113, 6.5).

/// A setting that matters to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    /// The size of the table for the fields of requests.
    HeaderTableBytes(u32),
    /// Whether the peer accepts responses that it did not ask for.
    EnablePush(u32),
    /// The number of streams that may be open at once.
    MaxConcurrentStreams(u32),
    /// The bytes of a body that may be sent on a new stream.
    InitialWindowBytes(u32),
    /// The longest payload of a frame.
    MaxFrameBytes(u32),
    /// The longest list of fields.
    MaxHeaderListBytes(u32),
    /// A setting that torr does not know.
    Other,
}

impl Setting {
    /// Appends the setting.
    pub fn write(self, out: &mut Vec<u8>) {
        let (number, value): (u16, u32) = match self {
            Self::HeaderTableBytes(value) => (1, value),
            Self::EnablePush(value) => (2, value),
            Self::MaxConcurrentStreams(value) => (3, value),
            Self::InitialWindowBytes(value) => (4, value),
            Self::MaxFrameBytes(value) => (5, value),
            Self::MaxHeaderListBytes(value) => (6, value),
            Self::Other => return,
        };
        out.extend_from_slice(&number.to_be_bytes());
        out.extend_from_slice(&value.to_be_bytes());
    }
}

/// Returns the settings in a payload, whose length is a multiple of six.
pub fn settings(payload: &[u8]) -> impl Iterator<Item = Setting> {
    let (entries, _) = payload.as_chunks::<6>();
    entries.iter().map(|[high, low, value @ ..]| {
        let value = u32::from_be_bytes(*value);
        match u16::from_be_bytes([*high, *low]) {
            1 => Setting::HeaderTableBytes(value),
            2 => Setting::EnablePush(value),
            3 => Setting::MaxConcurrentStreams(value),
            4 => Setting::InitialWindowBytes(value),
            5 => Setting::MaxFrameBytes(value),
            6 => Setting::MaxHeaderListBytes(value),
            _ => Setting::Other,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_as_they_are_written() {
        let all = [
            Setting::HeaderTableBytes(4096),
            Setting::EnablePush(0),
            Setting::MaxConcurrentStreams(100),
            Setting::InitialWindowBytes(1 << 30),
            Setting::MaxFrameBytes(16_384),
            Setting::MaxHeaderListBytes(65_536),
        ];
        let mut payload = Vec::new();
        all.iter().for_each(|setting| setting.write(&mut payload));
        assert_eq!(settings(&payload).collect::<Vec<_>>(), all);
        assert_eq!(settings(&[0, 9, 0, 0, 0, 1]).collect::<Vec<_>>(), [Setting::Other]);
    }
}
