//! Who looks at a body as it comes.

use net::Nanos;
use wire::BodySink;

use crate::Watch;

/// So much of a body is kept for whoever looks at it.
const KEPT_BYTES: usize = 16 * 1024 * 1024;

/// Keeps a body, up to a limit, and shows it to who watches a stream.
pub(crate) struct Onlooker<'a> {
    pub(crate) body: &'a mut Option<Vec<u8>>,
    pub(crate) watch: &'a mut Option<Box<Watch>>,
    pub(crate) at: Nanos,
    pub(crate) is_late: bool,
}

impl BodySink for Onlooker<'_> {
    fn body(&mut self, piece: &[u8]) {
        if let Some(body) = self.body {
            let room = KEPT_BYTES.saturating_sub(body.len());
            body.extend_from_slice(&piece[..piece.len().min(room)]);
        }
        if let Some(watch) = self.watch {
            watch.take(piece, self.at, self.is_late);
        }
    }
}
