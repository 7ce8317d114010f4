//! Reading text from events, and frames of WebSocket, allocates nothing once the buffers have grown.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use wire::websocket::{Masking, MessageKind, OutgoingFrame, WebSocketReader};
use wire::{Dialect, Sse};

struct Counting;

thread_local! {
    /// Of this thread only: the test's harness allocates beside it.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is passed on as it came.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn texts_of_every_dialect_cost_no_allocation() {
    let streams = [
        (Dialect::Openai, include_str!("streams/openai.sse")),
        (Dialect::Dify, include_str!("streams/dify.sse")),
        (Dialect::Anthropic, include_str!("streams/anthropic.sse")),
        (Dialect::Responses, include_str!("streams/responses.sse")),
        (Dialect::Plain, include_str!("streams/plain.sse")),
    ];
    let mut sse = Sse::default();
    for (dialect, text) in streams {
        // In the first round buffers grow.
        for is_settled in [false, true] {
            let mut texts = 0;
            for piece in text.as_bytes().chunks(50) {
                let before = ALLOCATIONS.get();
                let mut most = 0;
                let fed = sse.feed(piece, |event| {
                    let mark = dialect.mark(event);
                    let has_text = mark.is_ok_and(|mark| mark.has_text);
                    texts += u64::from(has_text);
                    // What a parser passes over within a nested value costs it a stack.
                    most += u64::from(!has_text);
                });
                assert!(fed.is_ok());
                let allocated = ALLOCATIONS.get() - before;
                assert!(!is_settled || allocated <= most, "{dialect:?}: {allocated}");
            }
            assert!(texts >= 2);
        }
    }
}

#[test]
fn frames_of_websocket_cost_no_allocation() {
    let payload = "größer ".repeat(50);
    let mut server = WebSocketReader::new(Masking::Required, 1 << 20);
    let mut client = WebSocketReader::new(Masking::Forbidden, 1 << 20);
    let (mut to_server, mut to_client) = (Vec::new(), Vec::new());
    // In the first round buffers grow.
    for is_settled in [false, true] {
        let before = ALLOCATIONS.get();
        to_server.clear();
        to_client.clear();
        for length in [0, 9, 72, payload.len()] {
            let text = &payload.as_bytes()[..length];
            let frame = OutgoingFrame::message(MessageKind::Text, text);
            frame.write_masked([1, 2, 3, 4], &mut to_server);
            frame.write_unmasked(&mut to_client);
        }
        for (reader, bytes) in [(&mut server, &to_server), (&mut client, &to_client)] {
            let mut events = 0;
            for mut piece in bytes.chunks(40) {
                while reader.next(&mut piece).unwrap().is_some() {
                    events += 1;
                }
                assert!(piece.is_empty());
            }
            assert!(events >= 4, "{events}");
        }
        let allocated = ALLOCATIONS.get() - before;
        assert!(!is_settled || allocated == 0, "{allocated}");
    }
}
