//! JSON values that are read without a copy.

use serde_json::value::RawValue;

/// A value as it is written; `None` if it is absent or null.
pub(super) type Raw<'a> = Option<&'a RawValue>;

/// Returns the content of a text, as it is written; empty if it is no text.
pub(super) fn text(value: Raw<'_>) -> &[u8] {
    let written = value.map_or("", RawValue::get);
    let inner = written.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inner.unwrap_or_default().as_bytes()
}

/// Returns a count, if it is one; some servers write it as a float.
pub(super) fn count(value: Raw<'_>) -> Option<u64> {
    let written = value?.get();
    let whole = || written.strip_suffix(".0").unwrap_or(written);
    whole().parse().ok()
}

/// Reads a part, if it has the expected form.
pub(super) fn part<'a, T: serde::Deserialize<'a>>(value: Raw<'a>) -> Option<T> {
    serde_json::from_str(value?.get()).ok()
}

/// Whether a list has an item.
pub(super) fn has_items(value: Raw<'_>) -> bool {
    let inner = value.and_then(|raw| raw.get().strip_prefix('['));
    inner.is_some_and(|rest| rest.trim_start() != "]")
}
