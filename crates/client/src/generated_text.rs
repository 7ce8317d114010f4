//! The generated text of a stream, whose tokens are counted later.

use wire::Mark;

/// The maximum number of bytes to keep of one stream.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// The largest buffer that is kept for the next stream.
const SPARE_BYTES: usize = 64 * 1024;

/// The generated text of one stream, as it is written in JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GeneratedText {
    /// The output, which a user reads.
    pub text: Vec<u8>,
    /// The reasoning.
    pub thought: Vec<u8>,
    /// The lengths of reasoning and text of the first event.
    first: (usize, usize),
    /// Whether some of it is missing: a tool's call, further answers, or text beyond the maximum.
    pub is_cut: bool,
}

impl GeneratedText {
    /// Begins another stream.
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

    /// Keeps the text of an event.
    pub(crate) fn take(&mut self, mark: &Mark<'_>) {
        let is_first = self.text.is_empty() && self.thought.is_empty();
        let has_room = self.text.len() + self.thought.len() + mark.text.len() + mark.thought.len()
            <= MAX_BYTES;
        let has_text = !(mark.text.is_empty() && mark.thought.is_empty());
        if mark.is_partial || mark.is_sibling || !has_room || !has_text {
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

    /// Returns reasoning and text of the first event.
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

    fn generated(marks: &[(Kind, &'static [u8])]) -> GeneratedText {
        let mut text_of = GeneratedText::default();
        for (kind, said) in marks {
            let is_thought = *kind == Kind::Reasoning;
            let (text, thought): (&[u8], &[u8]) =
                if is_thought { (b"", said) } else { (said, b"") };
            text_of.take(&Mark { has_text: true, text, thought, ..Mark::of(*kind) });
        }
        text_of
    }

    #[test]
    fn reasoning_is_separate_and_the_first_event_is_known() {
        let all =
            generated(&[(Kind::Reasoning, b"so"), (Kind::Reasoning, b" be"), (Kind::Text, b"yes")]);
        assert_eq!((all.text.as_slice(), all.thought.as_slice()), (&b"yes"[..], &b"so be"[..]));
        assert_eq!((all.first(), all.is_cut), ([&b"so"[..], b""], false));
        assert_eq!(
            generated(&[(Kind::Text, b"ab"), (Kind::Text, b"c")]).first(),
            [&b""[..], b"ab"]
        );
    }

    #[test]
    fn text_that_cannot_be_kept_is_marked_as_missing() {
        assert!(generated(&[(Kind::Text, b"a"), (Kind::ToolCall, b"")]).is_cut);
        let mut two = GeneratedText::default();
        two.take(&Mark { text: b"one of two", is_partial: true, ..Mark::of(Kind::Text) });
        assert!(two.is_cut);
        let mut one = generated(&[(Kind::Text, b"one")]);
        for is_sibling in [true, false] {
            one.take(&Mark { has_text: true, text: b"more", is_sibling, ..Mark::of(Kind::Text) });
        }
        assert_eq!((one.text.as_slice(), one.is_cut), (&b"one"[..], true));
        let long: &'static [u8] = vec![b'x'; MAX_BYTES].leak();
        assert!(!generated(&[(Kind::Text, long)]).is_cut);
        assert!(generated(&[(Kind::Text, long), (Kind::Text, b"x")]).is_cut);
    }
}
