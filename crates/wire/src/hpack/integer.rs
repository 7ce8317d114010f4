//! Integers with a prefix of some bits (RFC 7541, 5.1).

/// Larger integers are refused: no field is as long, and no table as large.
const MOST: usize = 1 << 28;

/// Reads an integer whose first byte has `bits` of it; returns it with the bytes behind it. `None` if it
/// is cut off or too large.
pub(super) fn read(bytes: &[u8], bits: u32) -> Option<(usize, &[u8])> {
    let (first, mut rest) = bytes.split_first()?;
    let most = (1_usize << bits) - 1;
    let mut value = usize::from(*first) & most;
    if value < most {
        return Some((value, rest));
    }
    for shift in (0..28).step_by(7) {
        let (byte, after) = rest.split_first()?;
        rest = after;
        value += usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return (value <= MOST).then_some((value, rest));
        }
    }
    None
}

/// Appends an integer; `first` has the other bits of its first byte.
pub(super) fn write(value: usize, bits: u32, first: u8, out: &mut Vec<u8>) {
    let most = (1_usize << bits) - 1;
    // What is below `most` fits the bits of the prefix, which are at most eight.
    if value < most {
        return out.push(first | value as u8);
    }
    out.push(first | most as u8);
    let mut rest = value - most;
    while rest >= 0x80 {
        out.push(rest as u8 & 0x7f | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_those_of_the_examples() {
        // RFC 7541, C.1.
        for (value, bits, bytes) in [
            (10, 5, &[0b01010][..]),
            (1337, 5, &[0b11111, 0b1001_1010, 0b0000_1010]),
            (42, 8, &[0b0010_1010]),
        ] {
            let mut out = Vec::new();
            write(value, bits, 0, &mut out);
            assert_eq!(out, bytes);
            assert_eq!(read(bytes, bits), Some((value, &[][..])));
        }
    }

    #[test]
    fn every_integer_is_read_as_it_was_written_and_no_part_of_it() {
        let values = (0..600).chain([16_383, 16_384, 70_000, MOST - 1, MOST]);
        for value in values {
            for bits in 4..=8 {
                let mut out = Vec::new();
                write(value, bits, 0, &mut out);
                assert_eq!(read(&out, bits), Some((value, &[][..])), "{value} {bits}");
                for cut in 0..out.len() {
                    assert_eq!(read(&out[..cut], bits), None);
                }
            }
        }
    }

    #[test]
    fn integers_that_are_too_large_are_refused() {
        let mut out = Vec::new();
        write(MOST + 1, 7, 0, &mut out);
        assert_eq!(read(&out, 7), None);
        assert_eq!(read(&[0xff; 12], 7), None);
        // Leading zeros are allowed, as many as an integer has room for.
        assert_eq!(read(&[0x7f, 0x80, 0x80, 0x00], 7), Some((127, &[][..])));
        assert_eq!(read(&[0x7f, 0x80, 0x80, 0x80, 0x80, 0x00], 7), None);
    }
}
