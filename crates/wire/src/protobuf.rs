//! Numbers in the format of protocol buffers.

use serde::{Deserialize, Serialize};

/// How protocol buffers encode a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)] // The names are those of protocol buffers.
pub enum NumberEncoding {
    Int32,
    Int64,
    Uint32,
    Uint64,
    Sint32,
    Sint64,
    Bool,
    Fixed32,
    Sfixed32,
    Fixed64,
    Sfixed64,
    Float,
    Double,
}

impl NumberEncoding {
    /// Appends a number; returns false, and appends 0, if the text is no number that fits.
    pub fn write(self, text: &[u8], out: &mut Vec<u8>) -> bool {
        let text = std::str::from_utf8(text).unwrap_or_default();
        match self {
            Self::Int32 => put(text.parse::<i32>(), |number| {
                // A negative number is as long as one of 64 bits.
                write_varint(i64::from(number) as u64, out);
            }),
            Self::Int64 => put(text.parse::<i64>(), |number| write_varint(number as u64, out)),
            Self::Uint32 => put(text.parse::<u32>(), |number| write_varint(number.into(), out)),
            Self::Uint64 => put(text.parse::<u64>(), |number| write_varint(number, out)),
            Self::Sint32 => put(text.parse::<i32>(), |number| {
                write_varint(zigzag(number.into()), out);
            }),
            Self::Sint64 => put(text.parse::<i64>(), |number| write_varint(zigzag(number), out)),
            Self::Bool => {
                let number = match text {
                    "true" | "1" => Ok(1),
                    "false" | "0" => Ok(0),
                    _ => Err(()),
                };
                put(number, |number| write_varint(number, out))
            }
            Self::Fixed32 => put(text.parse::<u32>(), |number| out.extend(number.to_le_bytes())),
            Self::Sfixed32 => put(text.parse::<i32>(), |number| out.extend(number.to_le_bytes())),
            Self::Fixed64 => put(text.parse::<u64>(), |number| out.extend(number.to_le_bytes())),
            Self::Sfixed64 => put(text.parse::<i64>(), |number| out.extend(number.to_le_bytes())),
            Self::Float => put(text.parse::<f32>(), |number| out.extend(number.to_le_bytes())),
            Self::Double => put(text.parse::<f64>(), |number| out.extend(number.to_le_bytes())),
        }
    }
}

fn put<T: Default, E>(number: Result<T, E>, write: impl FnOnce(T)) -> bool {
    let is_number = number.is_ok();
    write(number.unwrap_or_default());
    is_number
}

/// Returns a number whose size is that of the given one, whatever its sign.
fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

/// Appends a number in as many bytes as it needs, seven bits in each.
pub(crate) fn write_varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_encoded_as_protocol_buffers_do() {
        use NumberEncoding as Number;
        let table: [(Number, &str, &[u8]); 20] = [
            (Number::Int64, "0", &[0]),
            (Number::Int64, "300", &[0xac, 2]),
            (Number::Int64, "-1", &[255, 255, 255, 255, 255, 255, 255, 255, 255, 1]),
            (
                Number::Uint64,
                "18446744073709551615",
                &[255, 255, 255, 255, 255, 255, 255, 255, 255, 1],
            ),
            (Number::Int32, "-1", &[255, 255, 255, 255, 255, 255, 255, 255, 255, 1]),
            (Number::Uint32, "4294967295", &[255, 255, 255, 255, 15]),
            (Number::Sint32, "-2147483648", &[255, 255, 255, 255, 15]),
            (Number::Sint32, "1", &[2]),
            (Number::Sint64, "-1", &[1]),
            (Number::Sint64, "1", &[2]),
            (Number::Sint64, "-64", &[127]),
            (Number::Bool, "true", &[1]),
            (Number::Bool, "0", &[0]),
            (Number::Fixed32, "1", &[1, 0, 0, 0]),
            (Number::Sfixed32, "-2", &[254, 255, 255, 255]),
            (Number::Fixed64, "258", &[2, 1, 0, 0, 0, 0, 0, 0]),
            (Number::Sfixed64, "-1", &[255; 8]),
            (Number::Float, "1.5", &[0, 0, 0xc0, 0x3f]),
            (Number::Double, "-2", &[0, 0, 0, 0, 0, 0, 0, 0xc0]),
            (Number::Double, "1e3", &[0, 0, 0, 0, 0, 0x40, 0x8f, 0x40]),
        ];
        for (encoding, text, expected) in table {
            let mut out = Vec::new();
            assert!(encoding.write(text.as_bytes(), &mut out), "{encoding:?} {text}");
            assert_eq!(out, expected, "{encoding:?} {text}");
        }
        for (encoding, text) in [
            (Number::Int32, "2147483648"),
            (Number::Uint32, "4294967296"),
            (Number::Uint32, "-1"),
            (Number::Sint32, "-2147483649"),
            (Number::Int64, "1.5"),
            (Number::Uint64, "-1"),
            (Number::Fixed32, "4294967296"),
            (Number::Bool, "2"),
            (Number::Double, "x"),
        ] {
            let mut out = Vec::new();
            assert!(!encoding.write(text.as_bytes(), &mut out), "{encoding:?} {text}");
            assert!(out.iter().all(|byte| *byte == 0));
        }
    }
}
