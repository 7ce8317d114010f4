//! What a stream has told, kept for who counts its tokens afterwards.

use wire::{Kind, Mark};

/// So much text of one stream is kept, and so much of its thoughts.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// The text of one stream, as it is written in JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Told {
    /// What a user reads.
    pub text: Vec<u8>,
    /// What the model thought aloud.
    pub thought: Vec<u8>,
    /// How long its first piece was, and whether that was a thought.
    pub first: (usize, bool),
    /// Whether some of it is not here: a tool's call, or what is too long.
    pub is_cut: bool,
}

impl Told {
    /// Starts anew in place.
    pub(crate) fn restart(&mut self) {
        self.text.clear();
        self.thought.clear();
        (self.first, self.is_cut) = ((0, false), false);
    }

    /// Keeps what an event with text tells.
    pub(crate) fn take(&mut self, mark: &Mark<'_>) {
        let is_thought = mark.kind == Kind::Reasoning;
        let is_first = self.text.is_empty() && self.thought.is_empty();
        let (kept, piece) = if is_thought {
            (&mut self.thought, mark.thought)
        } else {
            (&mut self.text, mark.text)
        };
        if piece.is_empty() || kept.len() + piece.len() > MOST_BYTES {
            self.is_cut = true;
            return;
        }
        kept.extend_from_slice(piece);
        if is_first {
            self.first = (piece.len(), is_thought);
        }
    }

    /// Its first piece.
    #[must_use]
    pub fn first(&self) -> &[u8] {
        let (length, is_thought) = self.first;
        let kept = if is_thought { &self.thought } else { &self.text };
        &kept[..length.min(kept.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(marks: &[(Kind, &'static [u8])]) -> Told {
        let mut told = Told::default();
        for (kind, said) in marks {
            let is_thought = *kind == Kind::Reasoning;
            let (text, thought): (&[u8], &[u8]) =
                if is_thought { (b"", said) } else { (said, b"") };
            told.take(&Mark { has_text: true, text, thought, ..Mark::of(*kind) });
        }
        told
    }

    #[test]
    fn thoughts_are_kept_apart_and_the_first_piece_is_known() {
        let all =
            told(&[(Kind::Reasoning, b"so"), (Kind::Reasoning, b" be"), (Kind::Text, b"yes")]);
        assert_eq!((all.text.as_slice(), all.thought.as_slice()), (&b"yes"[..], &b"so be"[..]));
        assert_eq!((all.first(), all.is_cut), (&b"so"[..], false));
        assert_eq!(told(&[(Kind::Text, b"ab"), (Kind::Text, b"c")]).first(), b"ab");
    }

    #[test]
    fn what_cannot_be_kept_is_missed() {
        assert!(told(&[(Kind::Text, b"a"), (Kind::ToolCall, b"")]).is_cut);
        let long: &'static [u8] = vec![b'x'; MOST_BYTES].leak();
        assert!(!told(&[(Kind::Text, long)]).is_cut);
        assert!(told(&[(Kind::Text, long), (Kind::Text, b"x")]).is_cut);
    }
}
