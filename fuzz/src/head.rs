//! What a head means (RFC 9112, sections 6.3 and 9.3), told from all of its fields at once.

use wire::{Framing, Head};

/// The head at the start of `bytes` and its length; `None` where it is none, or not a whole one.
#[must_use]
pub fn read(bytes: &[u8], to_head_request: bool) -> Option<(Head, usize)> {
    let mut fields = vec![httparse::EMPTY_HEADER; 128];
    let mut parsed = httparse::Response::new(&mut fields);
    let Ok(httparse::Status::Complete(length)) = parsed.parse(bytes) else { return None };
    let status = parsed.code.filter(|code| *code >= 100)?;
    let lengths = items(parsed.headers, "content-length");
    let codings = items(parsed.headers, "transfer-encoding");
    let options = items(parsed.headers, "connection");
    let length_said = agreed(&lengths)?;
    let framing = match (codings.last(), length_said) {
        _ if to_head_request || status < 200 || status == 204 || status == 304 => Framing::None,
        (Some(coding), _) if coding == "chunked" => Framing::Chunked,
        (Some(_), _) | (None, None) => Framing::Close,
        (None, Some(0)) => Framing::None,
        (None, Some(length)) => Framing::Length(length),
    };
    let says = |option: &str| options.iter().any(|said| said == option);
    let wants = !says("close") && (parsed.version == Some(1) || says("keep-alive"));
    // Both a coding and a length, or a coding in HTTP/1.0 (RFC 9112, 6.1).
    let has_doubt = length_said.is_some() || parsed.version != Some(1);
    let is_ambiguous = !codings.is_empty() && has_doubt;
    let keepalive = wants && !is_ambiguous && framing != Framing::Close && status != 101;
    let medium =
        parsed.headers.iter().rfind(|field| field.name.eq_ignore_ascii_case("content-type"));
    let medium = medium.map(|field| String::from_utf8_lossy(field.value).to_ascii_lowercase());
    let medium = medium.unwrap_or_default();
    let is_event_stream =
        medium.split(';').next().map(str::trim_ascii) == Some("text/event-stream");
    Some((Head { status, framing, keepalive, is_event_stream }, length))
}

/// The items of a list that all fields of a name make together, in small letters.
fn items(fields: &[httparse::Header<'_>], name: &str) -> Vec<String> {
    let named = fields.iter().filter(|field| field.name.eq_ignore_ascii_case(name));
    let values: Vec<_> = named.map(|field| field.value).collect();
    let all = values.join(&b',');
    let item = |item: &[u8]| {
        // A byte as a character each: bytes beyond ASCII are kept apart from every known word.
        item.trim_ascii().iter().map(|byte| char::from(byte.to_ascii_lowercase())).collect()
    };
    if values.is_empty() { Vec::new() } else { all.split(|byte| *byte == b',').map(item).collect() }
}

/// The length that all items agree on, if there are any; `None` where one is no number or differs.
fn agreed(lengths: &[String]) -> Option<Option<u64>> {
    let is_number = |text: &String| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !lengths.iter().all(is_number) {
        return None;
    }
    let mut numbers = lengths.iter().map(|text| text.parse::<u64>().ok());
    let Some(first) = numbers.next() else { return Some(None) };
    first.filter(|length| numbers.all(|also| also == Some(*length))).map(Some)
}
