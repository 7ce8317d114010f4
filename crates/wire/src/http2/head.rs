//! Heads and trailers of responses, and a cache of the latest ones.
//!
//! Servers often send the same block of fields again. Its meaning is the same if it does not refer to
//! the dynamic table, or if the table is the same.

use std::sync::Arc;

use crate::head::{FieldSummary, decimal};
use crate::hpack::{Decoded, Decoder, HpackError};
use crate::{Fields, Framing, Head, MAX_HEAD_BYTES, ResponseHead, WireError};

/// The longest block that is cached.
const KEPT_BYTES: usize = 4 * 1024;

/// The bytes that a field counts beyond its name and value in the size of a list of fields.
const FIELD_BYTES: usize = 32;

/// Why a block of fields is no head or trailer section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockError {
    /// It cannot be decoded, so that no other block of the connection can be, either.
    Compression,
    /// It breaks the rules of heads, which concerns its stream alone.
    Malformed(WireError),
}

impl From<HpackError> for BlockError {
    fn from(_: HpackError) -> Self {
        Self::Compression
    }
}

/// A head with all its fields, if they were asked for.
type FullHead = (Head, Option<Arc<ResponseHead>>);

/// The decoder of all heads and trailers of a connection.
#[derive(Debug, Default)]
pub struct HeadDecoder {
    decoder: Decoder,
    head: Option<CachedBlock<FullHead>>,
    trailers: Option<CachedBlock<Arc<Fields>>>,
}

/// The latest block of its kind, what it means, and what it does to the table.
#[derive(Debug)]
struct CachedBlock<T> {
    block: Vec<u8>,
    /// The generation of the table that the block refers to, if it does.
    generation: Option<u64>,
    /// The fields that it inserts.
    inserted: Fields,
    meaning: T,
}

impl<T: Clone> CachedBlock<T> {
    /// Takes the empty buffers of a block that is replaced.
    fn buffers(replaced: Option<Self>) -> (Vec<u8>, Fields) {
        let Some(Self { mut block, mut inserted, .. }) = replaced else {
            return Default::default();
        };
        block.clear();
        inserted.clear();
        (block, inserted)
    }

    /// Returns a block with its meaning, unless the same bytes may mean something else the next time.
    fn of(
        (mut buffer, inserted): (Vec<u8>, Fields),
        block: &[u8],
        (decoded, generation): (Decoded, u64),
        meaning: T,
    ) -> Option<Self> {
        let may_differ = decoded.resizes_table || (decoded.uses_table && decoded.inserted > 0);
        if block.len() > KEPT_BYTES || may_differ {
            return None;
        }
        buffer.extend_from_slice(block);
        let generation = decoded.uses_table.then_some(generation);
        Some(Self { block: buffer, generation, inserted, meaning })
    }

    /// Returns the meaning of a block that is this one, after what decoding it does to the table.
    fn of_same(cached: Option<&Self>, block: &[u8], decoder: &mut Decoder) -> Option<T> {
        let cached = cached.filter(|cached| cached.block == block)?;
        if cached.generation.is_some_and(|known| known != decoder.generation()) {
            return None;
        }
        for (name, value) in cached.inserted.iter() {
            decoder.insert(name.as_bytes(), value);
        }
        Some(cached.meaning.clone())
    }
}

impl HeadDecoder {
    /// Decodes the head of a response. `wants_fields` says for a status whether all fields are needed.
    pub fn head(
        &mut self,
        block: &[u8],
        wants_fields: impl Fn(u16) -> bool,
    ) -> Result<FullHead, BlockError> {
        let has_fields = |cached: &&CachedBlock<FullHead>| {
            let (head, full) = &cached.meaning;
            full.is_some() || !wants_fields(head.status)
        };
        let cached = self.head.as_ref().filter(has_fields);
        if let Some(known) = CachedBlock::of_same(cached, block, &mut self.decoder) {
            return Ok(known);
        }
        let mut reading = HeadReading::default();
        let (buffer, mut inserted) = CachedBlock::buffers(self.head.take());
        let decoded = self.decoder.decode(block, |name, value, is_inserted| {
            reading.field(name, value, &wants_fields);
            if is_inserted && block.len() <= KEPT_BYTES {
                // Names of a head are tokens, or it is malformed and not kept.
                inserted.push(&String::from_utf8_lossy(name), value);
            }
        })?;
        let head = reading.end().map_err(BlockError::Malformed)?;
        let state = (decoded, self.decoder.generation());
        self.head = CachedBlock::of((buffer, inserted), block, state, head.clone());
        Ok(head)
    }

    /// Decodes the trailers behind a body.
    pub fn trailers(&mut self, block: &[u8]) -> Result<Arc<Fields>, BlockError> {
        let cached = self.trailers.as_ref();
        if let Some(known) = CachedBlock::of_same(cached, block, &mut self.decoder) {
            return Ok(known);
        }
        let (buffer, mut inserted) = CachedBlock::buffers(self.trailers.take());
        let (mut fields, mut error, mut size) = (Fields::default(), None, 0);
        let decoded = self.decoder.decode(block, |name, value, is_inserted| {
            size += name.len() + value.len() + FIELD_BYTES;
            let problem = check(name, value).err();
            let too_large = (size > MAX_HEAD_BYTES).then_some(WireError::HeadTooLarge);
            error = error.or(problem).or(too_large);
            if error.is_none() {
                let name = String::from_utf8_lossy(name);
                fields.push(&name, value);
                if is_inserted && block.len() <= KEPT_BYTES {
                    inserted.push(&name, value);
                }
            }
        })?;
        if let Some(error) = error {
            return Err(BlockError::Malformed(error));
        }
        let (fields, state) = (Arc::new(fields), (decoded, self.decoder.generation()));
        self.trailers = CachedBlock::of((buffer, inserted), block, state, Arc::clone(&fields));
        Ok(fields)
    }
}

/// A head whose fields are being decoded.
#[derive(Default)]
struct HeadReading {
    status: Option<u16>,
    summary: FieldSummary,
    full: Option<Fields>,
    size: usize,
    error: Option<WireError>,
}

impl HeadReading {
    fn field(&mut self, name: &[u8], value: &[u8], wants_fields: &impl Fn(u16) -> bool) {
        self.size += name.len() + value.len() + FIELD_BYTES;
        if self.error.is_some() {
            return;
        }
        self.error = match self.status {
            _ if self.size > MAX_HEAD_BYTES => Some(WireError::HeadTooLarge),
            // The status comes first, and once.
            None => self.take_status(name, value, wants_fields).err(),
            Some(_) => self.take(name, value).err(),
        };
    }

    fn take_status(
        &mut self,
        name: &[u8],
        value: &[u8],
        wants_fields: &impl Fn(u16) -> bool,
    ) -> Result<(), WireError> {
        let number = decimal(value).and_then(|number| u16::try_from(number).ok());
        let status = number.filter(|status| (100..1000).contains(status) && value.len() == 3);
        self.status = Some(status.filter(|_| name == b":status").ok_or(WireError::BadHead)?);
        self.full = status.is_some_and(wants_fields).then(Fields::default);
        Ok(())
    }

    fn take(&mut self, name: &[u8], value: &[u8]) -> Result<(), WireError> {
        check(name, value)?;
        let name = std::str::from_utf8(name).map_err(|_| WireError::BadHead)?;
        self.summary.look_at(name, value)?;
        if let Some(full) = &mut self.full {
            full.push(name, value);
        }
        Ok(())
    }

    fn end(self) -> Result<FullHead, WireError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let status = self.status.ok_or(WireError::BadHead)?;
        let head = Head {
            status,
            framing: self.summary.length.map_or(Framing::Close, Framing::Length),
            keepalive: true,
            is_event_stream: self.summary.is_event_stream,
        };
        let full = self.full.map(|fields| {
            Arc::new(ResponseHead { version: 20, status, reason: Box::default(), fields })
        });
        Ok((head, full))
    }
}

/// Checks a field: names are in lower case, and fields of connections are not allowed (8.2).
fn check(name: &[u8], value: &[u8]) -> Result<(), WireError> {
    let is_name = |byte: &u8| matches!(byte, 0x21..=0x39 | 0x3b..=0x40 | 0x5b..=0x7e);
    let is_broken = |byte: &u8| matches!(byte, 0 | b'\n' | b'\r');
    let is_of_connections = matches!(
        name,
        b"connection" | b"keep-alive" | b"proxy-connection" | b"transfer-encoding" | b"upgrade"
    );
    let is_fine = !name.is_empty() && name.iter().all(is_name) && !is_of_connections;
    (is_fine && !value.iter().any(is_broken)).then_some(()).ok_or(WireError::BadHead)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hpack::{Encoder, Indexing};

    /// The block of `:status: 200`.
    const OK: u8 = 0x88;

    /// Returns a block with a status and a field that is inserted into the table.
    fn inserting(name: u8, value: u8) -> Vec<u8> {
        vec![OK, 0x40, 1, name, 1, value]
    }

    /// Decodes a head; returns the names and values of its fields, as in `a=b c=d`.
    fn fields(decoder: &mut HeadDecoder, block: &[u8]) -> Result<String, BlockError> {
        let (_, full) = decoder.head(block, |_| true)?;
        let full = full.unwrap();
        let text = |(name, value)| format!("{name}={}", String::from_utf8_lossy(value));
        Ok(full.fields.iter().map(text).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn the_same_block_means_something_else_after_the_table_has_changed() {
        // Each uses the second entry of the table: whole, or its name for another value.
        let table = [
            (&[OK, 0xbf][..], "a=1", "b=2", "c=3"),
            (&[OK, 0x0f, 0x30, 1, b'x'], "a=x", "b=x", "c=x"),
        ];
        for (block, before, after, last) in table {
            let mut decoder = HeadDecoder::default();
            fields(&mut decoder, &inserting(b'a', b'1')).unwrap();
            // Trailers do not replace the head that is known.
            let trailers = &inserting(b'b', b'2')[1..];
            decoder.trailers(trailers).unwrap();
            for _ in 0..2 {
                assert_eq!(fields(&mut decoder, block).unwrap(), before);
            }
            decoder.trailers(trailers).unwrap();
            assert_eq!(fields(&mut decoder, block).unwrap(), after);
            decoder.trailers(&inserting(b'c', b'3')[1..]).unwrap();
            decoder.trailers(&inserting(b'd', b'4')[1..]).unwrap();
            assert_eq!(fields(&mut decoder, block).unwrap(), last);
            decoder.trailers(&[0x20, 0x3f, 0xe1, 0x1f]).unwrap();
            assert!(fields(&mut decoder, block).is_err());
        }
    }

    #[test]
    fn a_block_that_is_known_changes_the_table_each_time() {
        let mut decoder = HeadDecoder::default();
        fields(&mut decoder, &inserting(b'a', b'1')).unwrap();
        for _ in 0..3 {
            fields(&mut decoder, &inserting(b'b', b'2')).unwrap();
        }
        let all = [OK, 0xbe, 0xbf, 0xc0, 0xc1];
        assert_eq!(fields(&mut decoder, &all).unwrap(), "b=2 b=2 b=2 a=1");
    }

    #[test]
    fn a_block_that_uses_the_table_and_changes_it_is_decoded_each_time() {
        let mut decoder = HeadDecoder::default();
        fields(&mut decoder, &inserting(b'a', b'1')).unwrap();
        let block = [OK, 0xbe, 0x40, 1, b'c', 1, b'3'];
        assert_eq!(fields(&mut decoder, &block).unwrap(), "a=1 c=3");
        assert_eq!(fields(&mut decoder, &block).unwrap(), "c=3 c=3");
    }

    #[test]
    fn a_block_that_resizes_the_table_does_so_each_time() {
        let mut decoder = HeadDecoder::default();
        let emptying = [0x20, 0x3f, 0xe1, 0x1f, OK];
        for _ in 0..2 {
            fields(&mut decoder, &inserting(b'a', b'1')).unwrap();
            assert_eq!(fields(&mut decoder, &[OK, 0xbe]).unwrap(), "a=1");
            assert_eq!(fields(&mut decoder, &emptying).unwrap(), "");
            assert!(fields(&mut decoder, &[OK, 0xbe]).is_err());
        }
    }

    /// Returns a block whose fields, after `first`, count so many bytes.
    fn of_size(first: Option<(&str, &str)>, size: usize) -> Vec<u8> {
        let (mut encoder, mut block) = (Encoder::default(), Vec::new());
        let mut left = size;
        let mut add = |name: &str, value: &str| {
            let (name, value) = (name.as_bytes(), value.as_bytes());
            encoder.field(name, value, Indexing::NotKept, &mut block);
            left -= name.len() + value.len() + 32;
            left
        };
        let mut left = first.map_or(size, |(name, value)| add(name, value));
        while left > 0 {
            let length = left.min(1_000) - 32 - 2;
            left = add("ab", &"v".repeat(length));
        }
        block
    }

    #[test]
    fn a_list_of_fields_may_be_as_large_as_allowed_and_no_larger() {
        let mut decoder = HeadDecoder::default();
        let too_large = BlockError::Malformed(WireError::HeadTooLarge);
        let status = Some((":status", "200"));
        assert!(decoder.head(&of_size(status, MAX_HEAD_BYTES), |_| false).is_ok());
        let larger = of_size(status, MAX_HEAD_BYTES + 1);
        assert_eq!(decoder.head(&larger, |_| false).unwrap_err(), too_large);
        assert!(decoder.trailers(&of_size(None, MAX_HEAD_BYTES)).is_ok());
        let larger = of_size(None, MAX_HEAD_BYTES + 1);
        assert_eq!(decoder.trailers(&larger).unwrap_err(), too_large);
    }

    #[test]
    fn trailers_that_are_known_change_the_table_each_time() {
        let mut decoder = HeadDecoder::default();
        let block = [&inserting(b'a', b'1')[1..], &[0, 1, b'n', 1, b'v']].concat();
        for _ in 0..2 {
            let trailers = decoder.trailers(&block).unwrap();
            assert_eq!(trailers.iter().collect::<Vec<_>>(), [("a", &b"1"[..]), ("n", b"v")]);
        }
        assert_eq!(fields(&mut decoder, &[OK, 0xbe, 0xbf]).unwrap(), "a=1 a=1");
        assert!(fields(&mut decoder, &[OK, 0xc0]).is_err());
    }
}
