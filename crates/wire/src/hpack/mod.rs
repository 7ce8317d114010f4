//! HPACK, the compression of fields in HTTP/2 (RFC 7541).

mod decoder;
mod encoder;
mod huffman;
mod integer;
mod static_table;
mod table;

pub use decoder::{Decoded, Decoder, HpackError};
pub use encoder::{Encoder, Indexing};

/// The size of a dynamic table before a peer sets another.
pub const DEFAULT_TABLE_BYTES: usize = 4096;

/// The 64-bit FNV-1a hash of a table.
#[cfg(test)]
fn checksum(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}
