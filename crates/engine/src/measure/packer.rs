//! Histograms in HdrHistogram's compressed V2 form, as base64.
//!
//! The form is that of `V2DeflateSerializer`, which makes a compressor for each histogram: that
//! costs more than all else of an interval. Here it is made once a thread.

use std::cell::RefCell;
use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use flate2::{Compress, Compression, FlushCompress, Status};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2Serializer};

/// The first bytes of the compressed form, before its length.
const COOKIE: u32 = 0x1c84_9314;

/// The header of the form that is compressed: cookie, length of the counts, offset, digits, lowest
/// and highest value, ratio.
const HEADER: usize = 40;

/// Three times what the counts of one hour can take at 3 digits.
const MAX_PLAIN: u64 = 1 << 20;

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

/// The histogram that a text holds.
///
/// The library takes memory for as many bytes as a text declares, up to 4 GiB; so what is declared
/// is compared with what is there before the library reads it.
///
/// # Errors
/// When the text is no such histogram of 3 digits.
pub(crate) fn unpack(text: &str) -> Result<Histogram<u64>, String> {
    let packed = STANDARD.decode(text).map_err(|error| error.to_string())?;
    let body = packed.strip_prefix(&COOKIE.to_be_bytes()).and_then(|rest| rest.get(4..));
    let body = body.ok_or("not a compressed HdrHistogram of version 2")?;
    let mut plain = Vec::new();
    ZlibDecoder::new(body)
        .take(MAX_PLAIN)
        .read_to_end(&mut plain)
        .map_err(|error| error.to_string())?;
    let number = |at: usize| {
        let bytes = plain.get(at..at + 4)?;
        Some(u32::from_be_bytes(bytes.try_into().ok()?) as usize)
    };
    if number(4).map(|counts| counts + HEADER) != Some(plain.len()) {
        return Err("the histogram is not as long as it declares".to_owned());
    }
    if number(12) != Some(3) {
        return Err("the histogram does not have 3 digits".to_owned());
    }
    Deserializer::new().deserialize(&mut plain.as_slice()).map_err(|error| error.to_string())
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
            // No more was consumed than there is.
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
    use super::*;

    #[test]
    fn every_histogram_is_read_back() {
        let mut packer = Packer::new();
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        for step in 0..60_u64 {
            for value in 0..(step * step) {
                histogram.record((value + 1) * (step + 7) * 97).unwrap();
            }
            let text = packer.pack(&histogram);
            assert_eq!(unpack(&text).unwrap(), histogram, "step {step}");
            let bytes = STANDARD.decode(text).unwrap();
            let read = Deserializer::new().deserialize::<u64, _>(&mut bytes.as_slice());
            assert_eq!(read.unwrap(), histogram, "by the library, step {step}");
        }
    }

    /// A histogram of one value as text, its plain form changed before it is compressed.
    fn changed(change: impl Fn(&mut Vec<u8>)) -> String {
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        histogram.record(1000).unwrap();
        let mut packer = Packer::new();
        packer.serializer.serialize(&histogram, &mut packer.plain).unwrap();
        change(&mut packer.plain);
        packer.packed.extend_from_slice(&COOKIE.to_be_bytes());
        packer.packed.extend_from_slice(&[0; 4]);
        packer.compress();
        STANDARD.encode(&packer.packed)
    }

    #[test]
    fn a_text_takes_no_more_memory_than_what_it_holds() {
        assert!(unpack(&changed(|_| ())).is_ok());
        let declares = |length: u32| {
            unpack(&changed(|plain| plain[4..8].copy_from_slice(&length.to_be_bytes())))
        };
        for length in [u32::MAX, 1 << 30, 100, 1, 0] {
            let error = declares(length).unwrap_err();
            assert_eq!(error, "the histogram is not as long as it declares", "{length}");
        }
        let bomb = unpack(&changed(|plain| plain.resize(2 * MAX_PLAIN as usize, 0)));
        assert_eq!(bomb.unwrap_err(), "the histogram is not as long as it declares");
    }

    #[test]
    fn what_is_no_histogram_of_three_digits_is_refused() {
        let digits = unpack(&changed(|plain| plain[15] = 5));
        assert_eq!(digits.unwrap_err(), "the histogram does not have 3 digits");
        for text in ["", "*", "AAAA", "HISTFAAAAAA=", "HISTEwAAAAAAAAAA"] {
            assert!(unpack(text).is_err(), "{text}");
        }
    }
}
