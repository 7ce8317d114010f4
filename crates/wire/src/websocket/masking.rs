//! Masking of payloads (RFC 6455, 5.3).

/// The key of one frame: byte i of the payload is combined with byte i mod 4 of the key.
pub type MaskingKey = [u8; 4];

/// The bytes that are masked at once: the compiler turns a loop of known length into instructions on
/// vectors.
const BLOCK_BYTES: usize = 128;

/// Appends bytes, masked; masking twice returns what was there before.
#[inline]
pub(super) fn append_masked(bytes: &[u8], key: MaskingKey, out: &mut Vec<u8>) {
    out.reserve(bytes.len());
    let (blocks, rest) = bytes.as_chunks::<BLOCK_BYTES>();
    if !blocks.is_empty() {
        let mut keys = [0; BLOCK_BYTES];
        keys.as_chunks_mut().0.fill(key);
        for block in blocks {
            // Copies and masks in one pass.
            out.extend(block.iter().zip(&keys).map(|(byte, key)| byte ^ key));
        }
    }
    let start = out.len();
    out.extend_from_slice(rest);
    mask_in_place(&mut out[start..], key);
}

/// Masks bytes where they are.
#[inline]
pub(super) fn mask_in_place(bytes: &mut [u8], key: MaskingKey) {
    let [a, b, c, d] = key;
    let twice = u64::from_ne_bytes([a, b, c, d, a, b, c, d]);
    let (words, rest) = bytes.as_chunks_mut();
    for word in words {
        *word = (u64::from_ne_bytes(*word) ^ twice).to_ne_bytes();
    }
    rest.iter_mut().zip(key.iter().cycle()).for_each(|(byte, key)| *byte ^= key);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_as_one_byte_after_the_other() {
        let key = [0x37, 0xfa, 0x21, 0x3d];
        let payload: Vec<u8> = (0..1000_u32).map(|number| (number * 7 + 3) as u8).collect();
        for length in (0..=300).chain(990..=1000) {
            for offset in 0..9 {
                let bytes = &payload[offset.min(length)..length];
                let one_by_one = bytes.iter().enumerate().map(|(at, byte)| byte ^ key[at % 4]);
                let expected: Vec<u8> = one_by_one.collect();
                // The output may have any length before.
                let mut out = vec![9; offset];
                append_masked(bytes, key, &mut out);
                assert_eq!(out[..offset], vec![9; offset]);
                assert_eq!(out[offset..], expected, "{length} {offset}");
                mask_in_place(&mut out[offset..], key);
                assert_eq!(&out[offset..], bytes, "{length} {offset}");
            }
        }
    }
}
