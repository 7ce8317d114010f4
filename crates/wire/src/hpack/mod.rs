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
