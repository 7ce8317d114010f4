//! The tokenizer of chat targets: simple, deterministic, and without a vocabulary file.
//!
//! A token is a word with the whitespace before it. A word of more than [`PIECE_CHARS`] characters is
//! several tokens of at most so many characters. Whitespace at the end of a text is no token. The number of
//! a token is a hash of its text, so that equal texts have equal tokens; it cannot be turned back into text.

/// The number of a token, below [`VOCABULARY`] if this tokenizer made it.
pub(crate) type TokenId = u32;

/// The maximum number of characters of a token, without its whitespace.
const PIECE_CHARS: usize = 8;
const VOCABULARY: u64 = 1 << 17;

/// FNV-1a. Source: Fowler, Noll, Vo, *The FNV non-cryptographic hash algorithm*.
const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// The piece of a text that is read.
struct TokenPiece {
    hash: u64,
    /// Characters that are not whitespace.
    chars: usize,
}

impl TokenPiece {
    fn new() -> Self {
        TokenPiece { hash: FNV_BASIS, chars: 0 }
    }

    fn add(&mut self, text: &str) {
        for byte in text.bytes() {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME);
        }
    }

    /// Ends the token, if there is one, and begins the next one.
    fn end(&mut self, tokens: &mut Vec<TokenId>) {
        if self.chars > 0 {
            tokens.push(self.token());
            *self = TokenPiece::new();
        }
    }

    fn token(&self) -> TokenId {
        // Less than the vocabulary, which fits a u32.
        ((self.hash ^ (self.hash >> 32)) % VOCABULARY) as TokenId
    }
}

/// Adds the tokens of a text.
pub(crate) fn tokenize(text: &str, tokens: &mut Vec<TokenId>) {
    let mut piece = TokenPiece::new();
    for (at, char) in text.char_indices() {
        let is_space = char.is_whitespace();
        if is_space || piece.chars == PIECE_CHARS {
            piece.end(tokens);
        }
        piece.add(&text[at..at + char.len_utf8()]);
        piece.chars += usize::from(!is_space);
    }
    piece.end(tokens);
}

/// Adds the tokens that a chat template writes before a message of a role.
pub(crate) fn begin_message(role: &str, count: u64, tokens: &mut Vec<TokenId>) {
    for number in 0..count {
        let mut piece = TokenPiece::new();
        piece.add(&format!("<|{role} {number}|>"));
        tokens.push(piece.token());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<TokenId> {
        let mut tokens = Vec::new();
        tokenize(text, &mut tokens);
        tokens
    }

    #[test]
    fn counts_words_and_the_pieces_of_long_words() {
        let rows = [
            ("", 0),
            (" \n", 0),
            ("one two three", 3),
            ("  one\n\ntwo ", 2),
            ("12345678", 1),
            ("123456789", 2),
            ("a 12345678901234567 b", 5),
            ("\u{4f60}\u{597d} \u{4f60}\u{597d}", 2),
        ];
        for (text, count) in rows {
            assert_eq!(tokens(text).len(), count, "{text:?}");
        }
    }

    #[test]
    fn equal_words_are_equal_tokens_only_after_equal_whitespace() {
        let numbers = tokens("one one  one one");
        assert_eq!(numbers[1], numbers[3]);
        assert_ne!(numbers[0], numbers[1]);
        assert_ne!(numbers[1], numbers[2]);
        assert!(numbers.iter().all(|token| u64::from(*token) < VOCABULARY));
    }

    #[test]
    fn a_text_that_begins_alike_has_the_same_first_tokens() {
        let (short, long) = (tokens("a long preface"), tokens("a long preface to it"));
        assert_eq!(short, long[..3]);
    }

    #[test]
    fn messages_of_different_roles_begin_with_different_tokens() {
        let begin = |role| {
            let mut tokens = Vec::new();
            begin_message(role, 3, &mut tokens);
            tokens
        };
        assert_eq!((begin("user").len(), begin("user")), (3, begin("user")));
        assert_ne!(begin("user"), begin("assistant"));
    }
}
