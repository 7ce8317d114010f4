//! The dynamic table of one direction of a connection.

use std::collections::VecDeque;

use super::{DEFAULT_TABLE_BYTES, static_table};

/// The bytes that an entry counts beyond its name and value (RFC 7541, 4.1).
const ENTRY_BYTES: usize = 32;

/// Bytes of entries that have left the table, beyond which their memory is used again.
const UNUSED_BYTES: usize = 16 * 1024;

/// The dynamic table, and the static one before it.
#[derive(Debug)]
pub(super) struct Table {
    /// The newest entry first.
    entries: VecDeque<Entry>,
    /// The names and values, the oldest first.
    texts: Vec<u8>,
    /// The first of them that belongs to an entry.
    used_from: usize,
    size: usize,
    most: usize,
}

/// The lengths of a name and a value, and where they are.
#[derive(Debug, Clone, Copy)]
struct Entry {
    from: usize,
    name: usize,
    value: usize,
}

impl Entry {
    fn size(self) -> usize {
        size_of_field(self.name, self.value)
    }
}

/// Returns the size of a field in a table, and in a list of fields.
pub(super) fn size_of_field(name: usize, value: usize) -> usize {
    name + value + ENTRY_BYTES
}

impl Default for Table {
    fn default() -> Self {
        let (entries, texts) = (VecDeque::new(), Vec::new());
        Self { entries, texts, used_from: 0, size: 0, most: DEFAULT_TABLE_BYTES }
    }
}

impl Table {
    /// Returns the entry with an index, of the static or the dynamic table.
    pub(super) fn get(&self, index: usize) -> Option<(&[u8], &[u8])> {
        if index <= static_table::LENGTH {
            return static_table::get(index);
        }
        let entry = self.entries.get(index - static_table::LENGTH - 1)?;
        Some(self.texts(*entry))
    }

    fn texts(&self, entry: Entry) -> (&[u8], &[u8]) {
        self.texts[entry.from..entry.from + entry.name + entry.value].split_at(entry.name)
    }

    /// Returns the index of an entry with a name, and whether it has the value, too; the best there is.
    pub(super) fn find(&self, name: &[u8], value: &[u8]) -> Option<(usize, bool)> {
        let fixed = static_table::find(name, value);
        if let Some((index, true)) = fixed {
            return Some((index, true));
        }
        let mut named = fixed;
        for (entry, index) in self.entries.iter().zip(static_table::LENGTH + 1..) {
            let (known, its) = self.texts(*entry);
            if known == name && its == value {
                return Some((index, true));
            }
            if known == name && named.is_none() {
                named = Some((index, false));
            }
        }
        named
    }

    /// Returns whether a field fits without another leaving the table.
    pub(super) fn has_room(&self, name: &[u8], value: &[u8]) -> bool {
        self.size + size_of_field(name.len(), value.len()) <= self.most
    }

    /// Returns the size that it may have.
    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// Sets the size that it may have.
    pub(super) fn set_most(&mut self, most: usize) {
        self.most = most;
        self.shrink_to(most);
    }

    /// Inserts a field; the oldest make room. One that is larger than the table empties it.
    pub(super) fn insert(&mut self, name: &[u8], value: &[u8]) {
        let size = size_of_field(name.len(), value.len());
        self.shrink_to(self.most.saturating_sub(size));
        if size > self.most {
            return;
        }
        if self.used_from > UNUSED_BYTES {
            self.texts.drain(..self.used_from);
            self.entries.iter_mut().for_each(|entry| entry.from -= self.used_from);
            self.used_from = 0;
        }
        let from = self.texts.len();
        self.texts.extend_from_slice(name);
        self.texts.extend_from_slice(value);
        self.entries.push_front(Entry { from, name: name.len(), value: value.len() });
        self.size += size;
    }

    fn shrink_to(&mut self, most: usize) {
        while self.size > most
            && let Some(oldest) = self.entries.pop_back()
        {
            self.size -= oldest.size();
            self.used_from = oldest.from + oldest.name + oldest.value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_entry_comes_first_and_the_oldest_makes_room() {
        let mut table = Table::default();
        table.set_most(2 * ENTRY_BYTES + 8);
        table.insert(b"a", b"123");
        table.insert(b"b", b"456");
        assert_eq!(table.get(62), Some((&b"b"[..], &b"456"[..])));
        assert_eq!(table.get(63), Some((&b"a"[..], &b"123"[..])));
        assert!(!table.has_room(b"", b""));
        table.insert(b"c", b"7");
        assert_eq!((table.get(63), table.get(64)), (Some((&b"b"[..], &b"456"[..])), None));
        assert_eq!(table.find(b"b", b"456"), Some((63, true)));
        assert_eq!(table.find(b"b", b"4"), Some((63, false)));
        assert_eq!(table.find(b"a", b"123"), None);
        table.insert(b"d", &[b'x'; 100]);
        assert_eq!((table.get(62), table.size), (None, 0));
        table.insert(b"e", &[b'x'; ENTRY_BYTES + 7]);
        assert_eq!(table.size, 2 * ENTRY_BYTES + 8);
    }

    #[test]
    fn entries_stay_what_they_are_when_memory_is_used_again() {
        let mut table = Table::default();
        for number in 0..20_000 {
            table.insert(b"number", number.to_string().as_bytes());
            let newest = table.get(62).map(|(_, value)| value.to_vec());
            assert_eq!(newest, Some(number.to_string().into_bytes()));
            let count = table.entries.len();
            let oldest = table.get(61 + count).map(|(_, value)| value.to_vec());
            assert_eq!(oldest, Some((number + 1 - count).to_string().into_bytes()));
        }
        let oldest = 61 + table.entries.len();
        assert!(table.get(oldest).is_some() && table.get(oldest + 1).is_none());
        assert!(table.size <= DEFAULT_TABLE_BYTES && table.texts.len() < 2 * UNUSED_BYTES);
        table.set_most(0);
        assert_eq!((table.get(62), table.size), (None, 0));
    }
}
