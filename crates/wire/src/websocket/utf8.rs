//! UTF-8 that is received in pieces.

/// Returns whether a short text is UTF-8. Most texts are ASCII, and for short ones a loop without
/// branches is faster than the check of the standard library.
#[inline]
pub(super) fn is_utf8(text: &[u8]) -> bool {
    let (words, rest) = text.as_chunks();
    let bits = words.iter().fold(0, |bits, word| bits | u64::from_ne_bytes(*word));
    let rest_bits = rest.iter().fold(0, |bits, byte| bits | byte);
    let is_ascii = bits & 0x8080_8080_8080_8080 == 0 && rest_bits < 0x80;
    is_ascii || std::str::from_utf8(text).is_ok()
}

/// Checks a text, piece by piece. It fails at the first byte after which no text can be UTF-8.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Utf8Check {
    /// The beginning of a character whose other bytes are to come.
    partial: [u8; 4],
    length: u8,
}

impl Utf8Check {
    /// Takes the next bytes; returns whether the text can still be UTF-8.
    pub(super) fn takes(&mut self, bytes: &[u8]) -> bool {
        let Some(rest) = self.completed(bytes) else { return false };
        match std::str::from_utf8(rest) {
            Ok(_) => true,
            Err(error) if error.error_len().is_some() => false,
            // What is left is the beginning of a character: at most three bytes.
            Err(error) => rest[error.valid_up_to()..].iter().all(|byte| self.push(*byte)),
        }
    }

    /// Ends the text; returns whether its last character is complete. Another text may begin.
    pub(super) fn ends(&mut self) -> bool {
        std::mem::take(&mut self.length) == 0
    }

    /// Completes the character that has begun; returns the bytes after it, or `None` if it is no
    /// character.
    fn completed<'a>(&mut self, mut bytes: &'a [u8]) -> Option<&'a [u8]> {
        while self.length > 0
            && let Some((byte, rest)) = bytes.split_first()
        {
            bytes = rest;
            if !self.push(*byte) {
                return None;
            }
        }
        Some(bytes)
    }

    /// Appends a byte to the character; returns whether it can still be one.
    fn push(&mut self, byte: u8) -> bool {
        self.partial[usize::from(self.length)] = byte;
        self.length += 1;
        let character = std::str::from_utf8(&self.partial[..usize::from(self.length)]);
        let is_partial = character.is_err_and(|error| error.error_len().is_none());
        if !is_partial {
            self.length = 0;
        }
        is_partial || character.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether the check accepts a text in pieces.
    fn accepts(pieces: &[&[u8]]) -> bool {
        let mut check = Utf8Check::default();
        pieces.iter().all(|piece| check.takes(piece)) && check.ends()
    }

    #[test]
    fn says_the_same_as_the_standard_library_at_every_pair_of_split_points() {
        let texts: [&[u8]; 14] = [
            b"",
            b"plain",
            "aé日本𝄞z".as_bytes(),
            "\u{7ff}\u{800}\u{ffff}\u{10000}\u{10ffff}\u{d7ff}\u{e000}".as_bytes(),
            b"a\xc3",                 // the text ends inside a character
            b"a\xf0\x9d\x84",         // and a longer one
            b"\xc0\xaf",              // more bytes than the character needs
            b"\xe0\x9f\xbfz",         // and of three
            b"\xf0\x8f\xbf\xbf",      // and of four
            b"ab\xed\xa0\x80c",       // a surrogate
            b"\xf4\x90\x80\x80",      // above U+10FFFF
            b"ab\x80c",               // no first byte
            b"\xe6\x97a",             // a character that does not go on
            b"\xf5\x80\x80\x80\xff*", // bytes that no character has
        ];
        for text in texts {
            let expected = std::str::from_utf8(text).is_ok();
            assert_eq!(is_utf8(text), expected, "{text:x?}");
            for first in 0..=text.len() {
                for second in first..=text.len() {
                    let pieces = [&text[..first], &text[first..second], &text[second..]];
                    assert_eq!(accepts(&pieces), expected, "{text:x?} at {first}, {second}");
                }
            }
        }
    }

    #[test]
    fn a_byte_that_is_not_ascii_is_found_at_every_place_of_a_short_text() {
        for length in 0..=125 {
            let mut text = vec![b'a'; length];
            assert!(is_utf8(&text), "{length}");
            for place in 0..length {
                text[place] = 0x80;
                assert!(!is_utf8(&text), "{length} {place}");
                text[place] = b'a';
            }
        }
        assert!(is_utf8("größer".as_bytes()));
    }

    #[test]
    fn fails_at_the_first_byte_that_cannot_be_right() {
        for (text, good) in [(&b"a\xed\xa0\x80"[..], 2), (b"\xf4\x90", 1), (b"\xc3\xa9\x80", 2)] {
            let mut check = Utf8Check::default();
            let taken = text.iter().take_while(|byte| check.takes(&[**byte])).count();
            assert_eq!(taken, good, "{text:x?}");
        }
    }

    #[test]
    fn every_pair_of_characters_at_the_limits_of_their_lengths_is_judged_alike_byte_by_byte() {
        let limits = [0, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf];
        let more = [0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff];
        let bytes = [limits, more].concat();
        for text in (0..bytes.len().pow(4)).map(|number| {
            [0, 1, 2, 3].map(|place| bytes[number / bytes.len().pow(place) % bytes.len()])
        }) {
            let singles: Vec<&[u8]> = text.iter().map(std::slice::from_ref).collect();
            assert_eq!(accepts(&singles), std::str::from_utf8(&text).is_ok(), "{text:x?}");
        }
    }
}
