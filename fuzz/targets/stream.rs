//! Streams: in pieces their events are those of a plain reader, and no event breaks a dialect.

#![no_main]

use fuzz::cuts::cut;
use fuzz::sse::{Read, events};
use libfuzzer_sys::fuzz_target;
use wire::{Dialect, Event, Sse};

fuzz_target!(|data: &[u8]| {
    let expected = events(data);
    for pieces in [vec![data], cut(data)] {
        let (mut sse, mut found) = (Sse::default(), Vec::new());
        for piece in pieces {
            sse.feed(piece, |event| {
                for dialect in Dialect::ALL {
                    look(*dialect, event);
                }
                found.push(read(event));
            })
            .expect("a short input has no large event");
        }
        let left = sse.finish().expect("likewise").map(read);
        assert_eq!((found, left), expected);
    }
});

fn read(event: Event<'_>) -> Read {
    (event.name.to_vec(), event.data.map(<[u8]>::to_vec))
}

/// What is said of an event must hold together.
fn look(dialect: Dialect, event: Event<'_>) {
    let Ok(mark) = dialect.mark(event) else { return };
    assert!(dialect == Dialect::Plain || std::str::from_utf8(mark.text).is_ok());
    assert!(mark.text.is_empty() || mark.has_text, "{mark:?}");
    if dialect != Dialect::Plain && !mark.text.is_empty() {
        let quoted = [b"\"", mark.text, b"\""].concat();
        assert!(
            serde_json::from_slice::<serde_json::Value>(&quoted).is_ok() || has_lone(mark.text)
        );
    }
}

/// Whether an escape stands there that is no whole character: half of a surrogate pair.
fn has_lone(text: &[u8]) -> bool {
    text.windows(3).any(|part| matches!(part, [b'\\', b'u', b'd' | b'D']))
}
