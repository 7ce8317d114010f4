//! Server-sent events of no known dialect: data is text.

use super::Malformed;
use crate::{Event, Kind, Mark};

pub(super) const NAME: &str = "sse";
pub(super) const HAS_END: bool = false;

pub(super) fn mark(event: Event<'_>) -> Result<Mark<'_>, Malformed> {
    let data = event.data.unwrap_or_default();
    Ok(match event.name {
        b"ping" => Mark::of(Kind::Ping),
        b"error" => Mark::of(Kind::Error),
        _ if data == b"[DONE]" => Mark::of(Kind::End),
        _ if data.is_empty() => Mark::of(Kind::Other),
        _ => Mark { has_text: true, text: data, ..Mark::of(Kind::Text) },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_text_unless_it_is_known_to_be_none() {
        let table = [
            ("", Some("hello"), Kind::Text),
            ("update", Some("{\"a\": 1}"), Kind::Text),
            ("", Some(""), Kind::Other),
            ("ping", None, Kind::Ping),
            ("error", Some("busy"), Kind::Error),
            ("", Some("[DONE]"), Kind::End),
        ];
        for (name, data, kind) in table {
            let mark = mark(Event { name: name.as_bytes(), data: data.map(str::as_bytes) });
            let found = mark.map(|mark| (mark.kind, mark.has_text));
            assert_eq!(found, Ok((kind, kind == Kind::Text)));
        }
    }
}
