//! The Huffman code of HPACK (RFC 7541, appendix B), for reading.
//!
//! The code is canonical: it follows from the lengths of its codes. Codes of one length are
//! consecutive numbers, in the order of their symbols.

/// By symbol, the bits of its code; the last symbol is the end of a string.
const LENGTHS: [u8; SYMBOLS] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28,
    28, 28, 28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5,
    5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6,
    6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22,
    23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22,
    21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20,
    22, 22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19,
    21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22,
    22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
];

const SYMBOLS: usize = 257;
const END: u16 = 256;
const LONGEST: usize = 30;

/// The codes of one length.
#[derive(Clone, Copy)]
struct Codes {
    /// Their bits.
    length: u32,
    /// The first of them.
    first: u32,
    /// The position of its symbol.
    position: usize,
    /// The number behind the last of them, followed by zeros up to 32 bits.
    limit: u64,
}

const fn codes() -> [Codes; LONGEST + 1] {
    let mut all = [Codes { length: 0, first: 0, position: 0, limit: 0 }; LONGEST + 1];
    let (mut next, mut position, mut length) = (0_u32, 0, 0);
    while length <= LONGEST {
        let (mut count, mut symbol) = (0, 0);
        while symbol < SYMBOLS {
            count += (LENGTHS[symbol] as usize == length) as u32;
            symbol += 1;
        }
        let limit = ((next + count) as u64) << (32 - length);
        all[length] = Codes { length: length as u32, first: next, position, limit };
        (next, position, length) = ((next + count) << 1, position + count as usize, length + 1);
    }
    all
}

/// By length.
static CODES: [Codes; LONGEST + 1] = codes();

/// The symbols in the order of their codes.
static IN_ORDER: [u16; SYMBOLS] = {
    let (mut all, mut count, mut length) = ([0; SYMBOLS], 0, 0);
    while length <= LONGEST {
        let mut symbol = 0;
        while symbol < SYMBOLS {
            if LENGTHS[symbol] as usize == length {
                all[count] = symbol as u16;
                count += 1;
            }
            symbol += 1;
        }
        length += 1;
    }
    all
};

const SHORTEST: usize = 5;

/// Appends the decoded text; `None` if it is not a text in this code.
pub(super) fn decode(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    // The lowest `count` bits of `bits` are not decoded yet.
    let (mut bits, mut count) = (0_u64, 0_u32);
    for byte in bytes {
        bits = bits << 8 | u64::from(*byte);
        count += 8;
        while count as usize >= SHORTEST {
            let window = bits << (64 - count) >> 32;
            let codes = CODES[SHORTEST..].iter().find(|codes| window < codes.limit)?;
            if codes.length > count {
                break;
            }
            // The window is below the limit, so that the code is one of this length.
            let code = (window >> (32 - codes.length)) as u32;
            let symbol = IN_ORDER[codes.position + (code - codes.first) as usize];
            if symbol == END {
                return None;
            }
            out.push(symbol as u8);
            count -= codes.length;
        }
    }
    // The end of the last byte is filled with ones.
    let padding = (1 << count) - 1;
    (count < 8 && bits & padding == padding).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hpack::checksum;

    fn code_of(symbol: u16) -> (u32, u32) {
        let position = IN_ORDER.iter().position(|known| *known == symbol).unwrap();
        let length = u32::from(LENGTHS[usize::from(symbol)]);
        let codes = CODES[length as usize];
        (codes.first + (position - codes.position) as u32, length)
    }

    /// Writes codes one after another, and fills the last byte with ones.
    fn encode(symbols: &[u16]) -> Vec<u8> {
        let mut text = String::new();
        for symbol in symbols {
            let (code, length) = code_of(*symbol);
            text.push_str(&format!("{code:0width$b}", width = length as usize));
        }
        while !text.len().is_multiple_of(8) {
            text.push('1');
        }
        let bytes = text.as_bytes().chunks(8).map(|bits| std::str::from_utf8(bits).unwrap());
        bytes.map(|bits| u8::from_str_radix(bits, 2).unwrap()).collect()
    }

    fn decoded(bytes: &[u8]) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        decode(bytes, &mut out).map(|()| out)
    }

    #[test]
    fn codes_are_those_of_the_appendix() {
        let table = [
            (b'0', 0x0, 5),
            (b'a', 0x3, 5),
            (b' ', 0x14, 6),
            (b'X', 0xfc, 8),
            (b'!', 0x3f8, 10),
            (b'@', 0x1ffa, 13),
            (0, 0x1ff8, 13),
            (249, 0xffffffe, 28),
            (b'\n', 0x3ffffffc, 30),
        ];
        for (symbol, code, length) in table {
            assert_eq!(code_of(symbol.into()), (code, length), "{symbol}");
        }
        assert_eq!(code_of(END), (0x3fff_ffff, 30));
        // All codes and lengths, as another implementation has them.
        let all: String =
            (0..=END).map(code_of).map(|(code, length)| format!("{code} {length}\n")).collect();
        assert_eq!(checksum(all.as_bytes()), 0x18d0_8317_9582_a7e5);
    }

    #[test]
    fn texts_are_those_of_the_examples() {
        // RFC 7541, C.4 and C.6.
        let table: [(&[u8], &str); 4] = [
            (b"\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\xff", "www.example.com"),
            (b"\xa8\xeb\x10\x64\x9c\xbf", "no-cache"),
            (b"\x64\x02", "302"),
            (
                b"\xd0\x7a\xbe\x94\x10\x54\xd4\x44\xa8\x20\x05\x95\x04\x0b\x81\x66\xe0\x82\xa6\x2d\x1b\xff",
                "Mon, 21 Oct 2013 20:13:21 GMT",
            ),
        ];
        for (bytes, text) in table {
            assert_eq!(decoded(bytes), Some(text.as_bytes().to_vec()));
        }
    }

    #[test]
    fn every_pair_of_bytes_is_read_as_it_was_written() {
        for first in 0..256 {
            for second in 0..256 {
                let read = decoded(&encode(&[first, second]));
                assert_eq!(read, Some(vec![first as u8, second as u8]));
            }
        }
    }

    #[test]
    fn an_end_within_a_text_and_wrong_padding_are_refused() {
        assert_eq!(decoded(&encode(&[b'a'.into(), END])), None);
        // `a` with zeros behind it, and with a whole byte of ones.
        assert_eq!(decoded(&[0b0001_1000]), None);
        assert_eq!(decoded(&[0b0001_1111, 0xff]), None);
        assert_eq!(decoded(&[0b0001_1111]), Some(b"a".to_vec()));
        assert_eq!(decoded(&[0xff]), None);
        assert_eq!(decoded(&[]), Some(Vec::new()));
    }
}
