//! Templates: whatever places and values say, the bytes are one request, and its length is right.
//!
//! An input is texts between bytes 0xFF: method, target, a field's name and value, body, and then
//! the values of places in the order in which their names come.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::{Http1Options, RequestParts, RequestTemplate, Values};

fuzz_target!(|data: &[u8]| {
    let texts: Option<Vec<&str>> =
        data.split(|byte| *byte == 0xff).map(|text| std::str::from_utf8(text).ok()).collect();
    let Some([method, target, name, value, body, values @ ..]) = texts.as_deref() else { return };
    let fields = [((*name).to_owned(), (*value).to_owned())];
    let fields = if name.is_empty() { &fields[..0] } else { &fields[..] };
    let body = (!body.is_empty()).then_some(body.as_bytes());
    for keepalive in [true, false] {
        let (scheme, authority) = ("http", "h:1");
        let parts = RequestParts { method, scheme, authority, target, fields, body };
        check(&parts, Http1Options { keepalive, is_absolute: false }, values);
    }
});

fn check(parts: &RequestParts<'_>, options: Http1Options, values: &[&str]) {
    let mut names: Vec<String> = Vec::new();
    let template = RequestTemplate::read(parts, &mut |name| {
        let known = names.iter().position(|known| known == name);
        if known.is_none() {
            names.push(name.to_owned());
        }
        u16::try_from(known.unwrap_or(names.len() - 1)).map_err(|error| error.to_string())
    });
    let has_places = |text: &str| text.contains("{{");
    let is_plain = !has_places(parts.target)
        && !parts.fields.iter().any(|(_, value)| has_places(value))
        && !parts.body.is_some_and(|body| body.windows(2).any(|pair| pair == b"{{"));
    let plain = parts.to_http1(options);
    if is_plain {
        assert_eq!(template.is_ok(), plain.is_ok());
    }
    let Ok(template) = template else { return };
    let (mut joined, mut spare) = (b"old".to_vec(), b"old".to_vec());
    let encoded = template.to_http1(options);
    encoded.join(&mut ListedValues(values), &mut joined, &mut spare);
    if let (true, Ok(plain)) = (is_plain, plain) {
        assert_eq!(joined, *plain);
        assert_eq!(encoded.fixed(), Some(plain));
    }
    assert_is_one_request(&joined, parts, options.keepalive);
}

/// The value of place n is the n-th of these.
struct ListedValues<'a>(&'a [&'a str]);

impl Values for ListedValues<'_> {
    fn put(&mut self, place: u16, out: &mut Vec<u8>) {
        out.extend_from_slice(self.0.get(usize::from(place)).unwrap_or(&"").as_bytes());
    }
}

fn assert_is_one_request(joined: &[u8], parts: &RequestParts<'_>, keepalive: bool) {
    let has = |name: &str| parts.fields.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
    let end = joined.windows(4).position(|four| four == b"\r\n\r\n").expect("the head has an end");
    let (head, body) = (&joined[..end], &joined[end + 4..]);
    let lines: Vec<&[u8]> = head.split(|byte| *byte == b'\n').collect();
    for (line, number) in lines.iter().zip(1..) {
        let line =
            if number < lines.len() { line.strip_suffix(b"\r").expect("CRLF") } else { line };
        assert!(!line.contains(&b'\r'), "a line is broken apart");
    }
    let spaces = lines[0].iter().filter(|byte| **byte == b' ').count();
    assert_eq!(spaces, 2, "the request line has three words");
    let is_counted = !has("content-length") && !has("transfer-encoding");
    let is_announced =
        is_counted && (parts.body.is_some() || matches!(parts.method, "POST" | "PUT" | "PATCH"));
    let added = [!has("host"), is_announced, !keepalive && !has("connection")];
    let fields = parts.fields.len() + added.iter().filter(|is_added| **is_added).count();
    assert_eq!(lines.len(), 1 + fields, "nobody has added a field");
    let mut found = vec![httparse::EMPTY_HEADER; fields];
    let mut request = httparse::Request::new(&mut found);
    let status = request.parse(joined).expect("a parser of requests understands it");
    assert_eq!(status, httparse::Status::Complete(end + 4));
    if is_announced {
        let is_length = |field: &&httparse::Header<'_>| field.name == "Content-Length";
        let said = request.headers.iter().find(is_length).expect("the length is announced").value;
        assert_eq!(said, body.len().to_string().as_bytes());
    } else if is_counted {
        assert!(body.is_empty());
    }
}
