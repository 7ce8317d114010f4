//! Who looks at a body as it comes.

use net::Nanos;
use wire::{BodySink, Head};

use crate::Watch;

/// Keeps a body, up to a limit, and shows it to who watches a stream.
pub(crate) struct Onlooker<'a> {
    pub(crate) body: &'a mut Option<Vec<u8>>,
    /// So much of it is kept.
    pub(crate) body_limit: usize,
    /// Whether some of it was not kept.
    pub(crate) is_body_cut: &'a mut bool,
    pub(crate) watch: &'a mut Option<Box<Watch>>,
    pub(crate) at: Nanos,
    pub(crate) is_late: bool,
}

impl BodySink for Onlooker<'_> {
    fn head(&mut self, head: &Head) {
        if !head.is_event_stream && self.watch.as_ref().is_some_and(|watch| watch.is_guessing()) {
            *self.watch = None;
        }
    }

    fn body(&mut self, piece: &[u8]) {
        if let Some(body) = self.body {
            let room = self.body_limit.saturating_sub(body.len());
            *self.is_body_cut |= piece.len() > room;
            body.extend_from_slice(&piece[..piece.len().min(room)]);
        }
        if let Some(watch) = self.watch {
            watch.take(piece, self.at, self.is_late);
        }
    }
}
