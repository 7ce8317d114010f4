//! What a stream has told, kept for who counts its tokens afterwards.

use wire::Mark;

/// So much of one stream is kept.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// Memory that one long stream needed is given back from here on.
const SPARE_BYTES: usize = 64 * 1024;

/// The text of one stream, as it is written in JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Told {
    /// What a user reads.
    pub text: Vec<u8>,
    /// What the model thought aloud.
    pub thought: Vec<u8>,
    /// How much of the thoughts and of the text came first.
    first: (usize, usize),
    /// Whether some of it is not here: a tool's call, or what is too long.
    pub is_cut: bool,
}

impl Told {
    /// Starts anew in place.
    pub(crate) fn restart(&mut self) {
        for kept in [&mut self.text, &mut self.thought] {
            kept.clear();
            kept.shrink_to(SPARE_BYTES);
        }
        (self.first, self.is_cut) = ((0, 0), false);
    }

    pub(crate) fn held_bytes(&self) -> usize {
        self.text.len() + self.thought.len()
    }

    /// Keeps what an event with text tells.
    pub(crate) fn take(&mut self, mark: &Mark<'_>) {
        let is_first = self.text.is_empty() && self.thought.is_empty();
        let has_room = self.text.len() + self.thought.len() + mark.text.len() + mark.thought.len()
            <= MOST_BYTES;
        let has_text = !(mark.text.is_empty() && mark.thought.is_empty());
        if mark.is_partial || !has_room || !has_text {
            self.is_cut = true;
        }
        if self.is_cut {
            return;
        }
        self.text.extend_from_slice(mark.text);
        self.thought.extend_from_slice(mark.thought);
        if is_first {
            self.first = (mark.thought.len(), mark.text.len());
        }
    }

    /// What came first: of the thoughts, and of the text.
    #[must_use]
    pub fn first(&self) -> [&[u8]; 2] {
        let (thought, text) = self.first;
        [&self.thought[..thought], &self.text[..text]]
    }
}

#[cfg(test)]
mod tests {
    use wire::Kind;

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
        assert_eq!((all.first(), all.is_cut), ([&b"so"[..], b""], false));
        assert_eq!(told(&[(Kind::Text, b"ab"), (Kind::Text, b"c")]).first(), [&b""[..], b"ab"]);
    }

    #[test]
    fn what_cannot_be_kept_is_missed() {
        assert!(told(&[(Kind::Text, b"a"), (Kind::ToolCall, b"")]).is_cut);
        let mut two = Told::default();
        two.take(&Mark { text: b"one of two", is_partial: true, ..Mark::of(Kind::Text) });
        assert!(two.is_cut);
        let long: &'static [u8] = vec![b'x'; MOST_BYTES].leak();
        assert!(!told(&[(Kind::Text, long)]).is_cut);
        assert!(told(&[(Kind::Text, long), (Kind::Text, b"x")]).is_cut);
    }
}
