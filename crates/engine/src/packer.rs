//! Histograms in HdrHistogram's compressed V2 form, as base64.
//!
//! The form is that of `V2DeflateSerializer`, which makes a compressor for each histogram: that
//! costs more than all else of a slice. Here it is made once a thread.

use std::cell::RefCell;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::{Compress, Compression, FlushCompress, Status};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer as _, V2Serializer};

/// What the compressed form begins with, before its length.
const COOKIE: u32 = 0x1c84_9314;

thread_local! {
    static PACKER: RefCell<Packer> = RefCell::new(Packer::new());
}

struct Packer {
    serializer: V2Serializer,
    zlib: Compress,
    plain: Vec<u8>,
    packed: Vec<u8>,
}

/// The histogram as text.
pub(crate) fn pack(histogram: &Histogram<u64>) -> String {
    PACKER.with_borrow_mut(|packer| packer.pack(histogram))
}

impl Packer {
    fn new() -> Self {
        Self {
            serializer: V2Serializer::new(),
            zlib: Compress::new(Compression::fast(), true),
            plain: Vec::new(),
            packed: Vec::new(),
        }
    }

    fn pack(&mut self, histogram: &Histogram<u64>) -> String {
        self.plain.clear();
        // Writing to memory does not fail.
        let _ = self.serializer.serialize(histogram, &mut self.plain);
        self.packed.clear();
        self.packed.extend_from_slice(&COOKIE.to_be_bytes());
        self.packed.extend_from_slice(&[0; 4]);
        self.compress();
        let length = u32::try_from(self.packed.len() - 8).unwrap_or(u32::MAX);
        self.packed[4..8].copy_from_slice(&length.to_be_bytes());
        STANDARD.encode(&self.packed)
    }

    fn compress(&mut self) {
        self.zlib.reset();
        loop {
            self.packed.reserve(self.plain.len() / 2 + 64);
            // What was consumed is no more than what there is.
            let read = self.zlib.total_in() as usize;
            let rest = &self.plain[read..];
            let status = self.zlib.compress_vec(rest, &mut self.packed, FlushCompress::Finish);
            // Only room can be missing, and each turn makes more.
            if !matches!(status, Ok(Status::Ok | Status::BufError)) {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use hdrhistogram::serialization::Deserializer;

    use super::*;

    #[test]
    fn every_histogram_is_read_back_by_the_library() {
        let mut packer = Packer::new();
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        for step in 0..60_u64 {
            for value in 0..(step * step) {
                histogram.record((value + 1) * (step + 7) * 97).unwrap();
            }
            let bytes = STANDARD.decode(packer.pack(&histogram)).unwrap();
            let read = Deserializer::new().deserialize::<u64, _>(&mut bytes.as_slice());
            assert_eq!(read.unwrap(), histogram, "step {step}");
        }
    }
}
