//! Messages of gRPC, whose times are those of texts. Their content is not read.

use super::Malformed;
use crate::{Event, Kind, Mark};

pub(super) const NAME: &str = "grpc";
pub(super) const HAS_END: bool = false;

#[allow(clippy::unnecessary_wraps)] // All dialects have the same signature.
pub(super) fn mark(_event: Event<'_>) -> Result<Mark<'_>, Malformed> {
    Ok(Mark { has_text: true, ..Mark::of(Kind::Message) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_counts_as_text() {
        let mark = mark(Event { name: b"", data: None }).unwrap();
        assert_eq!((mark.kind, mark.has_text), (Kind::Message, true));
    }
}
