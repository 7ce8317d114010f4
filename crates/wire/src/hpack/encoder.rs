//! Encoding of fields. Texts are not compressed: what is sent often becomes an index.

use super::table::Table;
use super::{DEFAULT_TABLE_BYTES, integer};

/// Whether a field is kept in the dynamic table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Indexing {
    /// It is, if there is room.
    Kept,
    /// It is not: it differs from request to request.
    NotKept,
}

/// The encoder of one direction of a connection.
///
/// No field leaves the table for another one, so that the fields that every request has stay in it.
#[derive(Debug, Default)]
pub struct Encoder {
    table: Table,
    /// Changes with the table.
    generation: u64,
    /// The smallest size that the peer has set since the last block, if it set any.
    smallest: Option<usize>,
}

impl Encoder {
    /// Returns the number of changes of the table.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Sets the size of the table that the peer allows.
    pub fn set_table_bytes(&mut self, most: usize) {
        let most = most.min(DEFAULT_TABLE_BYTES);
        if most == self.table.most() {
            return;
        }
        self.smallest = Some(self.smallest.map_or(most, |known| known.min(most)));
        self.table.set_most(most);
        self.generation += 1;
    }

    /// Begins a block: tells the peer of a changed size of the table.
    pub fn begin(&mut self, out: &mut Vec<u8>) {
        let Some(smallest) = self.smallest.take() else { return };
        integer::write(smallest, 5, 0x20, out);
        if smallest != self.table.most() {
            integer::write(self.table.most(), 5, 0x20, out);
        }
        self.generation += 1;
    }

    /// Appends a field.
    pub fn field(&mut self, name: &[u8], value: &[u8], indexing: Indexing, out: &mut Vec<u8>) {
        let found = self.table.find(name, value);
        if let Some((index, true)) = found {
            return integer::write(index, 7, 0x80, out);
        }
        let is_kept = indexing == Indexing::Kept && self.table.has_room(name, value);
        let (bits, first) = if is_kept { (6, 0x40) } else { (4, 0) };
        match found {
            Some((index, _)) => integer::write(index, bits, first, out),
            None => {
                out.push(first);
                text(name, out);
            }
        }
        text(value, out);
        if is_kept {
            self.table.insert(name, value);
            self.generation += 1;
        }
    }
}

fn text(text: &[u8], out: &mut Vec<u8>) {
    integer::write(text.len(), 7, 0, out);
    out.extend_from_slice(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_of_the_table_has_a_generation_of_its_own() {
        let (mut encoder, mut out) = (Encoder::default(), Vec::new());
        let mut seen = vec![encoder.generation()];
        encoder.field(b"a", b"1", Indexing::Kept, &mut out);
        seen.push(encoder.generation());
        encoder.set_table_bytes(100);
        seen.push(encoder.generation());
        encoder.begin(&mut out);
        seen.push(encoder.generation());
        assert!(seen.is_sorted_by(|earlier, later| earlier < later), "{seen:?}");
        encoder.begin(&mut out);
        encoder.set_table_bytes(100);
        encoder.field(b"a", b"1", Indexing::Kept, &mut out);
        assert_eq!(encoder.generation(), seen[3]);
    }
}
