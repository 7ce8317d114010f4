//! The chunked coding (RFC 9112, section 7.1), fed in any split, without buffering.
//!
//! Extensions are skipped. Their length, and that of the trailers, is limited, so that a server cannot
//! send them without end.

use crate::{MAX_HEAD_BYTES, WireError};

/// The place of the next byte in the grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChunkPosition {
    Size { digits: u8 },
    SizeSpace,
    Extension,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    TrailerStart,
    Trailer,
    TrailerLf,
    EndLf,
    Done,
}

/// A decoder of one chunked body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunked {
    at: ChunkPosition,
    /// The remaining bytes of the current chunk; while its size is read, the size so far.
    left: u64,
    /// Bytes of the extension or of the trailers so far, bounded by [`MAX_HEAD_BYTES`].
    skipped: u32,
}

impl Default for Chunked {
    fn default() -> Self {
        Self { at: ChunkPosition::Size { digits: 0 }, left: 0, skipped: 0 }
    }
}

impl Chunked {
    /// Takes bytes up to the end of the body, and returns their number. Calls `on_data` with data, and
    /// `on_trailer` with each byte of the trailer section and the blank line that ends it.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        mut on_data: impl FnMut(&[u8]),
        mut on_trailer: impl FnMut(u8),
    ) -> Result<usize, WireError> {
        let mut used = 0;
        while used < bytes.len() && self.at != ChunkPosition::Done {
            if self.at == ChunkPosition::Data {
                used += self.data(&bytes[used..], &mut on_data);
            } else {
                if self.is_in_trailers() {
                    on_trailer(bytes[used]);
                }
                self.at = self.step(bytes[used])?;
                used += 1;
            }
        }
        Ok(used)
    }

    /// Returns whether the body is complete.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.at == ChunkPosition::Done
    }

    fn is_in_trailers(&self) -> bool {
        use ChunkPosition::{EndLf, Trailer, TrailerLf, TrailerStart};
        matches!(self.at, TrailerStart | Trailer | TrailerLf | EndLf)
    }

    fn data(&mut self, bytes: &[u8], on_data: &mut impl FnMut(&[u8])) -> usize {
        let length = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
        on_data(&bytes[..length]);
        self.left -= length as u64;
        if self.left == 0 {
            self.at = ChunkPosition::DataCr;
        }
        length
    }

    fn step(&mut self, byte: u8) -> Result<ChunkPosition, WireError> {
        match (self.at, byte) {
            (ChunkPosition::Size { digits }, _) if byte.is_ascii_hexdigit() => {
                self.digit(digits, byte)
            }
            (ChunkPosition::Size { digits: 1.. }, b'\r') => Ok(ChunkPosition::SizeLf),
            (ChunkPosition::Size { digits: 1.. } | ChunkPosition::SizeSpace, b';') => {
                Ok(ChunkPosition::Extension)
            }
            (ChunkPosition::Size { digits: 1.. } | ChunkPosition::SizeSpace, b' ' | b'\t') => {
                self.skip(ChunkPosition::SizeSpace)
            }
            (ChunkPosition::SizeSpace | ChunkPosition::Extension, b'\r') => {
                self.skipped = 0;
                Ok(ChunkPosition::SizeLf)
            }
            (ChunkPosition::Extension, b'\n') => Err(WireError::BadChunk),
            (ChunkPosition::Extension, _) => self.skip(ChunkPosition::Extension),
            (ChunkPosition::SizeLf, b'\n') if self.left == 0 => Ok(ChunkPosition::TrailerStart),
            (ChunkPosition::SizeLf, b'\n') => Ok(ChunkPosition::Data),
            (ChunkPosition::DataCr, b'\r') => Ok(ChunkPosition::DataLf),
            (ChunkPosition::DataLf, b'\n') => Ok(ChunkPosition::Size { digits: 0 }),
            (ChunkPosition::TrailerStart, b'\r') => Ok(ChunkPosition::EndLf),
            (ChunkPosition::TrailerStart | ChunkPosition::Trailer, b'\n') => {
                Err(WireError::BadChunk)
            }
            (ChunkPosition::Trailer, b'\r') => Ok(ChunkPosition::TrailerLf),
            (ChunkPosition::TrailerStart | ChunkPosition::Trailer, _) => {
                self.skip(ChunkPosition::Trailer)
            }
            (ChunkPosition::TrailerLf, b'\n') => Ok(ChunkPosition::TrailerStart),
            (ChunkPosition::EndLf, b'\n') => Ok(ChunkPosition::Done),
            _ => Err(WireError::BadChunk),
        }
    }

    fn digit(&mut self, digits: u8, byte: u8) -> Result<ChunkPosition, WireError> {
        // Fifteen hex digits hold any real size and cannot overflow 64 bits.
        if digits >= 15 {
            return Err(WireError::BadChunk);
        }
        let value = (byte as char).to_digit(16).ok_or(WireError::BadChunk)?;
        self.left = self.left * 16 + u64::from(value);
        Ok(ChunkPosition::Size { digits: digits + 1 })
    }

    fn skip(&mut self, at: ChunkPosition) -> Result<ChunkPosition, WireError> {
        self.skipped += 1;
        if self.skipped as usize > MAX_HEAD_BYTES { Err(WireError::HeadTooLarge) } else { Ok(at) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(parts: &[&[u8]]) -> Result<(Vec<u8>, bool, usize), WireError> {
        decode_all(parts).map(|(body, _, done, used)| (body, done, used))
    }

    type Decoded = (Vec<u8>, Vec<u8>, bool, usize);

    fn decode_all(parts: &[&[u8]]) -> Result<Decoded, WireError> {
        let (mut decoder, mut used) = (Chunked::default(), 0);
        let (mut body, mut trailers) = (Vec::new(), Vec::new());
        for part in parts {
            let on_data = |data: &[u8]| body.extend_from_slice(data);
            used += decoder.feed(part, on_data, |byte| trailers.push(byte))?;
        }
        Ok((body, trailers, decoder.is_done(), used))
    }

    #[test]
    fn decodes_the_same_at_every_pair_of_split_points() {
        let wire =
            b"4\r\nWiki\r\n6;ext=\"1\"\r\npedia \r\nE\r\nin \r\n\r\nchunks.\r\n0\r\nT: v\r\n\r\n";
        for first in 0..=wire.len() {
            for second in first..=wire.len() {
                let parts = [&wire[..first], &wire[first..second], &wire[second..]];
                let (body, trailers, done, used) = decode_all(&parts).unwrap();
                assert_eq!(body, b"Wikipedia in \r\n\r\nchunks.");
                assert_eq!(trailers, b"T: v\r\n\r\n");
                assert!(done && used == wire.len());
            }
        }
    }

    #[test]
    fn leaves_bytes_after_the_end_untouched() {
        assert_eq!(decode(&[b"0\r\n\r\nHTTP/1.1"]).unwrap(), (vec![], true, 5));
    }

    #[test]
    fn refuses_what_breaks_the_grammar() {
        let table: &[&[u8]] = &[
            b"\r\n",
            b"g\r\n",
            b"-1\r\n",
            b"4\n",
            b"4\r\nWikiX",
            b"4\r\nWiki\rX",
            b"4\rX",
            b"1234567890abcdef\r\n",
            b";x\r\n",
            b"0\r\n\n",
            b"0\r\nT: v\n",
            b"4;a\nWiki",
            b"0\r\n\rX",
            b"5 7\r\n",
            b"5 junk\r\n",
            b"5 \n",
        ];
        for wire in table {
            assert_eq!(
                decode(&[wire]),
                Err(WireError::BadChunk),
                "{:?}",
                String::from_utf8_lossy(wire)
            );
        }
    }

    #[test]
    fn bounds_extensions_and_trailers() {
        let endless = vec![b'x'; MAX_HEAD_BYTES + 1];
        assert_eq!(decode(&[b"4;", &endless]), Err(WireError::HeadTooLarge));
        assert_eq!(decode(&[b"0\r\n", &endless]), Err(WireError::HeadTooLarge));
        assert_eq!(decode(&[b"4", &vec![b' '; MAX_HEAD_BYTES + 1]]), Err(WireError::HeadTooLarge));
        // Each chunk may have as much.
        let longest = vec![b'x'; MAX_HEAD_BYTES];
        let chunk = [b"1;", &longest[..], b"\r\na\r\n"].concat();
        let end = [b"0;", &longest[..], b"\r\nT:", &longest[2..], b"\r\n\r\n"].concat();
        let (body, is_done, _) = decode(&[&chunk, &chunk, &end]).unwrap();
        assert_eq!((body.as_slice(), is_done), (&b"aa"[..], true));
    }

    #[test]
    fn spaces_may_follow_a_size() {
        let (body, is_done, _) = decode(&[b"4 \t\r\nWiki\r\n0 ;a=b\r\n\r\n"]).unwrap();
        assert_eq!((body.as_slice(), is_done), (&b"Wiki"[..], true));
    }
}
