//! The ID of a message: the value of a key of its JSON object.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Returns the value of a key of the object that a message is, as it is written in JSON; `None` if the
/// message is no JSON object, or does not have the key. Keys of inner objects do not count.
#[must_use]
pub fn message_id<'a>(message: &'a [u8], key: &str) -> Option<&'a [u8]> {
    let mut json = serde_json::Deserializer::from_slice(message);
    let value = json.deserialize_map(TopLevel { key }).ok().flatten()?;
    json.end().ok()?;
    Some(value.get().as_bytes())
}

/// Looks for a key in an object.
struct TopLevel<'k> {
    key: &'k str,
}

impl<'de> Visitor<'de> for TopLevel<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut value = None;
        while let Some(is_key) = map.next_key_seed(IsKey { key: self.key })? {
            if is_key {
                value = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(value)
    }
}

/// Compares a key, without a copy of it.
struct IsKey<'k> {
    key: &'k str,
}

impl<'de> DeserializeSeed<'de> for IsKey<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, key: D) -> Result<bool, D::Error> {
        key.deserialize_str(self)
    }
}

impl Visitor<'_> for IsKey<'_> {
    type Value = bool;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<bool, E> {
        Ok(key == self.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_is_the_value_of_the_outermost_key_as_it_is_written() {
        let table: [(&str, Option<&str>); 12] = [
            (r#"{"id": 7}"#, Some("7")),
            (r#" {"a": {"id": 1}, "id" : "x\"y" , "b": [{"id": 2}]} "#, Some(r#""x\"y""#)),
            (r#"{"id": {"n": [1, 2]}}"#, Some(r#"{"n": [1, 2]}"#)),
            (r#"{"\u0069d": null}"#, Some("null")),
            (r#"{"id": 1, "id": 2}"#, Some("2")),
            (r#"{"ID": 1}"#, None),
            (r#"{"a": {"id": 1}}"#, None),
            (r#"{"id": 1"#, None),
            (r#"{"id": 1} x"#, None),
            (r#"[{"id": 1}]"#, None),
            ("id", None),
            ("", None),
        ];
        for (message, expected) in table {
            let id = message_id(message.as_bytes(), "id");
            assert_eq!(id, expected.map(str::as_bytes), "{message}");
        }
        assert_eq!(message_id(b"{\"id\": \"\xff\"}", "id"), None);
    }
}
