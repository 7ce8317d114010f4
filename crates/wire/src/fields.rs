//! A list of fields: those of a head, or the trailers behind a body.

use crate::head::read_fields;

/// Names and values, in the order in which they were received.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields {
    names: String,
    values: Vec<u8>,
    /// By field, where its name and its value end.
    ends: Vec<(usize, usize)>,
}

impl Fields {
    /// Reads a section of fields with the blank line that ends it; a section that breaks the grammar
    /// has none.
    #[must_use]
    pub fn read(section: &[u8]) -> Self {
        let mut fields = Self::default();
        read_fields(section, |name, value| fields.push(name, value));
        fields
    }

    /// Appends a field.
    pub fn push(&mut self, name: &str, value: &[u8]) {
        self.names.push_str(name);
        self.values.extend_from_slice(value);
        self.ends.push((self.names.len(), self.values.len()));
    }

    /// Returns the value of the last field with a name, in whatever case it is written.
    #[must_use]
    pub fn last(&self, name: &str) -> Option<&[u8]> {
        let mut fields = self.iter().rev();
        fields.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Removes all fields, and keeps their memory.
    pub(crate) fn clear(&mut self) {
        self.names.clear();
        self.values.clear();
        self.ends.clear();
    }

    /// Returns whether there is no field.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the bytes of all names and values.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.names.len() + self.values.len()
    }

    /// Returns names and values in their order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &[u8])> {
        (0..self.ends.len()).map(|index| {
            let (name, value) = index.checked_sub(1).map_or((0, 0), |before| self.ends[before]);
            let (name_end, value_end) = self.ends[index];
            (&self.names[name..name_end], &self.values[value..value_end])
        })
    }
}

/// Returns the text of bytes that are Latin-1, as those of fields are.
#[must_use]
pub fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_a_character_of_latin_1() {
        assert_eq!(latin1(b"caf\xe9 \x80"), "caf\u{e9} \u{80}");
    }

    #[test]
    fn fields_keep_their_order_and_the_last_one_counts_whatever_its_case() {
        let fields = Fields::read(b"A: 1\r\nb:\r\na:  \xff2 \r\n\r\nrest");
        let all: Vec<_> = fields.iter().collect();
        assert_eq!(all, [("A", &b"1"[..]), ("b", b""), ("a", b"\xff2")]);
        assert_eq!((fields.last("A"), fields.last("B")), (Some(&b"\xff2"[..]), Some(&b""[..])));
        assert_eq!((fields.last("c"), fields.held_bytes(), fields.is_empty()), (None, 6, false));
    }

    #[test]
    fn a_section_that_breaks_the_grammar_has_no_fields() {
        for section in [&b"A: 1\r\n"[..], b"A: 1\r\n B\x00: 2\r\n\r\n", b"", b"no colon\r\n\r\n"] {
            assert!(Fields::read(section).is_empty(), "{:?}", String::from_utf8_lossy(section));
        }
    }
}
