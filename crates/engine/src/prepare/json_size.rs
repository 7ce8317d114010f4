//! JSON of a target, parsed within a bound of memory.
//!
//! A parsed value takes up to a hundred times the memory of its text. What it will take at most is
//! estimated from the text before anything is parsed.

use client::Reason;
use serde_json::Value;

/// Bytes that the parsed JSON of one response may take: a few megabytes of small objects, or 16 MiB
/// of long texts.
const MOST_BYTES: usize = 128 * 1024 * 1024;

/// A text of this length cannot take more memory than that, whatever is written in it.
const HARMLESS_BYTES: usize = MOST_BYTES / (OBJECT + 1);

/// The first node of an object's map: eleven names and values.
const OBJECT: usize = 640;
/// The first allocation of an array: four values.
const ARRAY: usize = 128;
/// A further value: of an array that has doubled, or in a map whose nodes are half full.
const VALUE: usize = 96;
/// The allocation of a name.
const NAME: usize = 32;
/// Half the smallest allocation of a text, which has two quotation marks.
const QUOTE: usize = 16;

/// The JSON of a body; `None` where it is none.
pub(crate) fn parse(body: &[u8]) -> Result<Option<Value>, Reason> {
    if body.len() > HARMLESS_BYTES && most_bytes(body) > MOST_BYTES {
        return Err(Reason::CheckTooLarge);
    }
    Ok(serde_json::from_slice(body).ok())
}

/// The memory that a text of JSON takes at most once it is parsed. Characters that stand within
/// texts are counted too.
fn most_bytes(text: &[u8]) -> usize {
    let cost = |byte: &u8| match byte {
        b'{' => OBJECT,
        b'[' => ARRAY,
        b',' => VALUE,
        b':' => NAME,
        b'"' => QUOTE,
        _ => 0,
    };
    text.len() + text.iter().map(cost).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array_of(item: &str, bytes: usize) -> Vec<u8> {
        let items = vec![item; bytes / (item.len() + 1)];
        format!("[{}]", items.join(",")).into_bytes()
    }

    #[test]
    fn json_that_would_take_too_much_memory_is_not_parsed() {
        for item in ["[[]]", "{\"a\":0}", "0", "[0]"] {
            let body = array_of(item, 3 << 20);
            assert_eq!(parse(&body), Err(Reason::CheckTooLarge), "{item}");
        }
    }

    #[test]
    fn ordinary_json_of_megabytes_is_parsed() {
        let row = "{\"id\": 12345, \"name\": \"somebody\", \"mail\": \"somebody@example.com\"}";
        let rows = parse(&array_of(row, 2 << 20)).unwrap().unwrap();
        assert_eq!(rows[7]["id"], 12345);
        let text = format!("{{\"text\": \"{}\"}}", "a long story, ".repeat(1 << 17));
        assert!(parse(text.as_bytes()).unwrap().is_some());
        assert_eq!(parse(b"<html>"), Ok(None));
    }
}
