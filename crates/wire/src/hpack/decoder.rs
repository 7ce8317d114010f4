//! Decoding of blocks of fields.

use super::table::Table;
use super::{DEFAULT_TABLE_BYTES, huffman, integer};

/// A block that cannot be decoded: the tables of both ends may differ from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HpackError;

/// How a block used the dynamic table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Decoded {
    /// Whether its meaning depends on the table.
    pub uses_table: bool,
    /// Whether it changed the size of the table.
    pub resizes_table: bool,
    /// The number of fields that it inserted.
    pub inserted: u32,
}

/// The decoder of one direction of a connection.
#[derive(Debug, Default)]
pub struct Decoder {
    table: Table,
    /// Changes with the table.
    generation: u64,
    /// The field that is being decoded.
    name: Vec<u8>,
    value: Vec<u8>,
}

/// How a literal field begins.
struct Literal {
    /// The bits of the index of its name.
    bits: u32,
    is_inserted: bool,
}

impl Decoder {
    /// Returns the number of changes of the table.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Inserts a field, as a block that was decoded before does.
    pub fn insert(&mut self, name: &[u8], value: &[u8]) {
        self.table.insert(name, value);
        self.generation += 1;
    }

    /// Decodes a block. `receive` takes name and value of each field, and whether it was inserted.
    pub fn decode(
        &mut self,
        block: &[u8],
        mut receive: impl FnMut(&[u8], &[u8], bool),
    ) -> Result<Decoded, HpackError> {
        let (mut decoded, mut rest, mut has_field) = (Decoded::default(), block, false);
        while let Some(first) = rest.first() {
            rest = match first {
                0x80.. => {
                    let (index, after) = integer::read(rest, 7).ok_or(HpackError)?;
                    let (name, value) = self.table.get(index).ok_or(HpackError)?;
                    decoded.uses_table |= index > super::static_table::LENGTH;
                    receive(name, value, false);
                    after
                }
                0x20..=0x3f => {
                    let (most, after) = integer::read(rest, 5).ok_or(HpackError)?;
                    // Only before the first field, and at most what this end has allowed.
                    if has_field || most > DEFAULT_TABLE_BYTES {
                        return Err(HpackError);
                    }
                    self.table.set_most(most);
                    self.generation += 1;
                    decoded.resizes_table = true;
                    rest = after;
                    continue;
                }
                _ => {
                    let literal = match first {
                        0x40.. => Literal { bits: 6, is_inserted: true },
                        _ => Literal { bits: 4, is_inserted: false },
                    };
                    let after = self.literal(rest, &literal, &mut decoded)?;
                    receive(&self.name, &self.value, literal.is_inserted);
                    after
                }
            };
            has_field = true;
        }
        Ok(decoded)
    }

    fn literal<'a>(
        &mut self,
        bytes: &'a [u8],
        literal: &Literal,
        decoded: &mut Decoded,
    ) -> Result<&'a [u8], HpackError> {
        let (index, mut rest) = integer::read(bytes, literal.bits).ok_or(HpackError)?;
        self.name.clear();
        self.value.clear();
        if index == 0 {
            rest = text(rest, &mut self.name).ok_or(HpackError)?;
        } else {
            let (name, _) = self.table.get(index).ok_or(HpackError)?;
            self.name.extend_from_slice(name);
            decoded.uses_table |= index > super::static_table::LENGTH;
        }
        rest = text(rest, &mut self.value).ok_or(HpackError)?;
        if literal.is_inserted {
            self.table.insert(&self.name, &self.value);
            self.generation += 1;
            decoded.inserted += 1;
        }
        Ok(rest)
    }
}

/// Appends the text at the start of `bytes`; returns the bytes behind it.
fn text<'a>(bytes: &'a [u8], out: &mut Vec<u8>) -> Option<&'a [u8]> {
    let is_huffman = bytes.first()? & 0x80 != 0;
    let (length, rest) = integer::read(bytes, 7)?;
    let (text, rest) = rest.split_at_checked(length)?;
    if is_huffman {
        huffman::decode(text, out)?;
    } else {
        out.extend_from_slice(text);
    }
    Some(rest)
}
