//! Observing answers: checks, and values that are captured for later requests.

use std::io::Read;

use client::{Exchange, Reason};
use regex::bytes::Regex;
use serde_json::Value;
use serde_json_path::JsonPath;

use super::json_size::parse;
use crate::plan::{BodyCheck, CaptureFrom, RequestPlan};

/// The maximum size of a decompressed body; as large as that of a body without compression.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// The size of a decompressed body up to which its ratio is not checked.
const UNRATED_BYTES: u64 = 1024 * 1024;

/// A larger body that is this many times as large as its compressed form is a decompression bomb.
const MAX_RATIO: u64 = 100;

/// The maximum size of a captured value, of which each user has its own.
const MAX_CAPTURED_BYTES: usize = 256 * 1024;

/// The checks and captures of the responses of one request.
#[derive(Debug, Clone)]
pub(crate) struct Observer {
    /// All of them must match the body.
    body_checks: Vec<Regex>,
    json_checks: Vec<(JsonPath, Value)>,
    captures: Vec<CompiledCapture>,
    may_be_compressed: bool,
}

#[derive(Debug, Clone)]
struct CompiledCapture {
    /// Its index in the session.
    index: usize,
    from: CaptureSource,
}

#[derive(Debug, Clone)]
enum CaptureSource {
    Json(JsonPath),
    Header(String),
    Regex(Regex),
}

impl Observer {
    /// Compiles the checks and captures of a request; `None` if there are none. The index of a capture is
    /// that of its name in `names`.
    pub(crate) fn new(plan: &RequestPlan, names: &[String]) -> Result<Option<Self>, String> {
        let body_checks = plan.expect_body.iter().map(|check| match check {
            BodyCheck::Text { text } => regex(&regex::escape(text)),
            BodyCheck::Regex { pattern } => of_flag("--expect-body", regex(pattern)),
        });
        let json_checks = plan.expect_json.iter().map(|check| {
            let path = of_flag("--expect-json", path(&check.path))?;
            Ok((path, check.value.clone()))
        });
        // Captures of streams are those of the stream observer.
        let of_answers = plan.captures.iter().filter(|capture| !capture.from.is_of_stream());
        let captures = of_answers.map(|capture| {
            let from = match capture.from {
                CaptureFrom::Json => {
                    CaptureSource::Json(of_flag("--capture", path(&capture.what))?)
                }
                CaptureFrom::Header => CaptureSource::Header(capture.what.clone()),
                CaptureFrom::Regex | CaptureFrom::Text | CaptureFrom::Conversation => {
                    CaptureSource::Regex(of_flag("--capture", regex(&capture.what))?)
                }
            };
            let index = names.iter().position(|name| *name == capture.name);
            Ok(CompiledCapture { index: index.ok_or("a capture has no index")?, from })
        });
        let observer = Self {
            body_checks: body_checks.collect::<Result<_, String>>()?,
            json_checks: json_checks.collect::<Result<_, String>>()?,
            captures: captures.collect::<Result<_, String>>()?,
            may_be_compressed: plan.compressed,
        };
        let looks = !(observer.body_checks.is_empty()
            && observer.json_checks.is_empty()
            && observer.captures.is_empty());
        Ok(looks.then_some(observer))
    }

    /// Returns whether the head is needed, too.
    pub(crate) fn needs_head(&self) -> bool {
        let is_header =
            |capture: &CompiledCapture| matches!(capture.from, CaptureSource::Header(_));
        self.may_be_compressed || self.captures.iter().any(is_header)
    }

    /// Checks a complete response, and writes captured values into `values`, by index. Adds the size of the
    /// decompressed body to `checked_bytes`.
    pub(crate) fn check(
        &self,
        exchange: &Exchange,
        values: &mut [Vec<u8>],
        checked_bytes: &mut usize,
    ) -> Result<(), Reason> {
        if exchange.is_body_cut {
            return Err(Reason::CheckTooLarge);
        }
        let received = exchange.body.as_deref().unwrap_or_default();
        let mut plain = Vec::new();
        let decoded = self.may_be_compressed.then(|| decode(exchange, received, &mut plain));
        *checked_bytes += received.len().max(plain.len());
        let body = if decoded.transpose()? == Some(true) { &plain } else { received };
        if !self.body_checks.iter().all(|regex| regex.is_match(body)) {
            return Err(Reason::CheckBody);
        }
        let is_json = |capture: &CompiledCapture| matches!(capture.from, CaptureSource::Json(_));
        let needs_json = !self.json_checks.is_empty() || self.captures.iter().any(is_json);
        let json = if needs_json { parse(body)? } else { None };
        let holds = |(path, value): &(JsonPath, Value)| {
            json.as_ref().is_some_and(|json| path.query(json).iter().any(|node| *node == value))
        };
        if !self.json_checks.iter().all(holds) {
            return Err(Reason::CheckJson);
        }
        self.captures.iter().try_for_each(|capture| {
            let value = capture.find(exchange, body, json.as_ref()).ok_or(Reason::CheckCapture)?;
            if value.len() > MAX_CAPTURED_BYTES {
                return Err(Reason::CheckTooLarge);
            }
            if let Some(slot) = values.get_mut(capture.index) {
                *slot = value;
            }
            Ok(())
        })
    }
}

impl CompiledCapture {
    fn find(&self, exchange: &Exchange, body: &[u8], json: Option<&Value>) -> Option<Vec<u8>> {
        match &self.from {
            CaptureSource::Json(path) => match path.query(json?).first()? {
                Value::String(text) => Some(text.clone().into_bytes()),
                other => Some(other.to_string().into_bytes()),
            },
            CaptureSource::Header(name) => exchange.field(name).map(<[u8]>::to_vec),
            CaptureSource::Regex(regex) => {
                let groups = regex.captures(body)?;
                groups.get(1).or_else(|| groups.get(0)).map(|part| part.as_bytes().to_vec())
            }
        }
    }
}

/// Adds the flag to the error of a value that cannot be read.
fn of_flag<T>(flag: &str, read: Result<T, String>) -> Result<T, String> {
    read.map_err(|error| format!("{flag}: {error}"))
}

fn regex(pattern: &str) -> Result<Regex, String> {
    Regex::new(pattern).map_err(|error| format!("regex {pattern:?}: {error}"))
}

fn path(text: &str) -> Result<JsonPath, String> {
    JsonPath::parse(text).map_err(|error| format!("JSON path {text:?}: {error}"))
}

/// Decompresses a body into `plain`; false where it was not compressed.
fn decode(exchange: &Exchange, body: &[u8], plain: &mut Vec<u8>) -> Result<bool, Reason> {
    let Some(coding) = exchange.field("content-encoding") else { return Ok(false) };
    if body.is_empty() {
        // A response to HEAD, or 304: the field describes a body that was not sent.
        return Ok(false);
    }
    let most = UNRATED_BYTES.max(body.len() as u64 * MAX_RATIO).min(MAX_BYTES);
    // Reading one more byte shows whether the body is too large.
    let read = match coding.to_ascii_lowercase().as_slice() {
        b"identity" | b"" => return Ok(false),
        b"gzip" | b"x-gzip" => {
            flate2::read::MultiGzDecoder::new(body).take(most + 1).read_to_end(plain)
        }
        b"deflate" => flate2::read::ZlibDecoder::new(body).take(most + 1).read_to_end(plain),
        _ => return Err(Reason::CheckEncoding),
    };
    match read {
        Ok(length) if length as u64 > most => Err(Reason::CheckTooLarge),
        Ok(_) => Ok(true),
        Err(_) => Err(Reason::CheckEncoding),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use client::Outline;
    use serde_json::json;
    use wire::{Fields, ResponseHead};

    use super::*;
    use crate::plan::{Capture as CapturePlan, JsonCheck};

    fn seen(head: &str, body: &[u8]) -> Exchange {
        let mut exchange = Exchange::new(0, 0, Outline { is_head: false, length: 0 });
        let (head, _) = ResponseHead::read(format!("{head}\r\n\r\n").as_bytes()).unwrap().unwrap();
        exchange.response_head = Some(head.into());
        exchange.body = Some(body.to_vec());
        exchange
    }

    fn looked(
        change: impl FnOnce(&mut RequestPlan),
        head: &str,
        body: &[u8],
    ) -> Result<Vec<String>, Reason> {
        let mut plan = RequestPlan::get("http://h/");
        change(&mut plan);
        let names: Vec<_> = plan.captures.iter().map(|capture| capture.name.clone()).collect();
        let observer = Observer::new(&plan, &names).unwrap().unwrap();
        let mut values = vec![Vec::new(); names.len()];
        observer.check(&seen(head, body), &mut values, &mut 0)?;
        Ok(values.into_iter().map(|value| String::from_utf8(value).unwrap()).collect())
    }

    const OK: &str = "HTTP/1.1 200 OK";

    fn contains(text: &str, body: &[u8]) -> Result<Vec<String>, Reason> {
        looked(|plan| plan.expect_body = vec![BodyCheck::Text { text: text.into() }], OK, body)
    }

    #[test]
    fn a_text_must_stand_in_the_body_as_it_is() {
        assert!(contains("a.b", b"xa.by").is_ok());
        assert_eq!(contains("a.b", b"xaxby"), Err(Reason::CheckBody));
    }

    #[test]
    fn an_expression_must_match_the_body_even_where_it_is_no_utf8() {
        let check = |pattern: &str, body: &[u8]| {
            let checks = vec![BodyCheck::Regex { pattern: pattern.into() }];
            looked(|plan| plan.expect_body = checks, OK, body)
        };
        assert!(check("id=[0-9]+$", b"\xff id=42").is_ok());
        assert_eq!(check("id=[0-9]+$", b"id=x"), Err(Reason::CheckBody));
    }

    fn json_checks(path: &str, value: Value, body: &[u8]) -> Result<Vec<String>, Reason> {
        looked(|plan| plan.expect_json = vec![JsonCheck { path: path.into(), value }], OK, body)
    }

    #[test]
    fn json_must_say_what_is_expected_and_be_json() {
        let body = br#"{"ok": true, "items": [{"n": 1}, {"n": 2}]}"#;
        assert!(json_checks("$.ok", json!(true), body).is_ok());
        assert!(json_checks("$.items[*].n", json!(2), body).is_ok());
        assert_eq!(json_checks("$.items[*].n", json!(3), body), Err(Reason::CheckJson));
        assert_eq!(json_checks("$.ok", json!("true"), body), Err(Reason::CheckJson));
        assert_eq!(json_checks("$.ok", json!(true), b"<html>"), Err(Reason::CheckJson));
        assert_eq!(json_checks("$", Value::Null, b"<html>"), Err(Reason::CheckJson));
    }

    fn captured(from: CaptureFrom, what: &str, head: &str, body: &[u8]) -> Result<String, Reason> {
        let capture = CapturePlan { name: "token".into(), from, what: what.into() };
        looked(|plan| plan.captures = vec![capture], head, body).map(|mut all| all.remove(0))
    }

    #[test]
    fn captures_a_value_from_json_a_field_or_an_expression() {
        let json = |what| captured(CaptureFrom::Json, what, OK, br#"{"t": "abc", "n": 7}"#);
        assert_eq!((json("$.t"), json("$.n")), (Ok("abc".into()), Ok("7".into())));
        assert_eq!(json("$.x"), Err(Reason::CheckCapture));
        let no_json = captured(CaptureFrom::Json, "$", OK, b"<html>");
        assert_eq!(no_json, Err(Reason::CheckCapture));
        let head = "HTTP/1.1 201 C\r\nLocation: /wrong\r\nlocation:  /u/7 ";
        let field = |what| captured(CaptureFrom::Header, what, head, b"");
        assert_eq!(field("Location"), Ok("/u/7".into()));
        assert_eq!(field("Etag"), Err(Reason::CheckCapture));
        let regex = |what| captured(CaptureFrom::Regex, what, OK, b"<a id=42>");
        assert_eq!((regex("id=(\\d+)"), regex("id=\\d+")), (Ok("42".into()), Ok("id=42".into())));
        assert_eq!(regex("name=(.)"), Err(Reason::CheckCapture));
    }

    #[test]
    fn a_field_of_the_trailers_is_captured_if_the_head_has_none_with_its_name() {
        let mut exchange = seen("HTTP/1.1 200 OK\r\nA: head", b"");
        exchange.trailers =
            Some(std::sync::Arc::new(Fields::read(b"A: trailer\r\nGrpc-Status: 0\r\n\r\n")));
        assert_eq!((exchange.field("a"), exchange.field("b")), (Some(&b"head"[..]), None));
        assert_eq!(exchange.field("grpc-status"), Some(&b"0"[..]));
    }

    #[test]
    fn a_compressed_body_is_checked_bytes_as_it_was_before() {
        let body = gzip(b"hello there");
        let check = |coding: &str, body: &[u8]| {
            let head = format!("{OK}\r\nContent-Encoding: {coding}");
            let change = |plan: &mut RequestPlan| {
                plan.compressed = true;
                plan.expect_body = vec![BodyCheck::Text { text: "hello".into() }];
            };
            looked(change, &head, body)
        };
        assert!(check("gzip", &body).is_ok());
        assert!(check("identity", b"hello").is_ok());
        assert_eq!(check("gzip", &body[..body.len() - 9]), Err(Reason::CheckEncoding));
        assert_eq!(check("br", &body), Err(Reason::CheckEncoding));
        // Nothing came, as in answers to HEAD: nothing is broken, and nothing is found either.
        assert_eq!(check("gzip", b""), Err(Reason::CheckBody));
    }

    fn gzip(plain: &[u8]) -> Vec<u8> {
        compressed(plain, flate2::Compression::fast())
    }

    fn compressed(plain: &[u8], how: flate2::Compression) -> Vec<u8> {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), how);
        gzip.write_all(plain).unwrap();
        gzip.finish().unwrap()
    }

    /// Looks for the beginning of a body that is so long once it is decompressed.
    fn grown(length: u64, how: flate2::Compression) -> (Result<(), Reason>, u64) {
        let mut plan = RequestPlan::get("http://h/");
        plan.compressed = true;
        plan.expect_body = vec![BodyCheck::Text { text: "hello".into() }];
        let observer = Observer::new(&plan, &[]).unwrap().unwrap();
        let rest = vec![b' '; usize::try_from(length).unwrap() - 5];
        let body = compressed(&[b"hello".as_slice(), &rest].concat(), how);
        let mut checked_bytes = 0;
        let exchange = seen(&format!("{OK}\r\nContent-Encoding: gzip"), &body);
        let seen = observer.check(&exchange, &mut [], &mut checked_bytes);
        (seen, checked_bytes as u64)
    }

    #[test]
    fn a_body_that_grows_beyond_what_is_checked_bytes_is_too_large_and_is_not_judged_by_its_beginning()
     {
        let (seen, checked_bytes) = grown(MAX_BYTES, flate2::Compression::none());
        assert!(seen.is_ok() && checked_bytes >= MAX_BYTES);
        let (seen, checked_bytes) = grown(MAX_BYTES + 1, flate2::Compression::none());
        assert_eq!(seen, Err(Reason::CheckTooLarge));
        assert!((MAX_BYTES..MAX_BYTES + 10_000).contains(&checked_bytes));
    }

    #[test]
    fn a_body_that_grows_a_hundredfold_is_too_large_unless_it_is_small() {
        let best = flate2::Compression::best();
        assert_eq!(grown(UNRATED_BYTES, best), (Ok(()), UNRATED_BYTES));
        let too_large = Err(Reason::CheckTooLarge);
        assert_eq!(grown(UNRATED_BYTES + 1, best), (too_large, UNRATED_BYTES + 1));
        // What 8 MiB of spaces take when they are compressed is worth a tenth of them.
        let (seen, checked_bytes) = grown(8 * UNRATED_BYTES, best);
        assert_eq!(seen, too_large);
        assert!(checked_bytes < UNRATED_BYTES * 2, "{checked_bytes}");
    }

    #[test]
    fn a_body_that_was_not_kept_whole_is_too_large_whatever_its_beginning_says() {
        let mut plan = RequestPlan::get("http://h/");
        plan.expect_body = vec![BodyCheck::Text { text: "hello".into() }];
        let observer = Observer::new(&plan, &[]).unwrap().unwrap();
        let mut exchange = seen(OK, b"hello");
        assert!(observer.check(&exchange, &mut [], &mut 0).is_ok());
        exchange.is_body_cut = true;
        assert_eq!(observer.check(&exchange, &mut [], &mut 0), Err(Reason::CheckTooLarge));
    }

    #[test]
    fn a_value_that_every_user_would_keep_has_a_limit() {
        let value = |length| captured(CaptureFrom::Regex, "(?s).*", OK, &vec![b'x'; length]);
        assert_eq!(value(MAX_CAPTURED_BYTES).map(|value| value.len()), Ok(MAX_CAPTURED_BYTES));
        assert_eq!(value(MAX_CAPTURED_BYTES + 1), Err(Reason::CheckTooLarge));
    }

    #[test]
    fn nothing_to_look_for_is_no_observer_and_nonsense_is_named() {
        let mut plan = RequestPlan::get("http://h/");
        assert!(Observer::new(&plan, &[]).unwrap().is_none());
        plan.expect_body = vec![BodyCheck::Regex { pattern: "(".into() }];
        assert!(Observer::new(&plan, &[]).unwrap_err().starts_with("--expect-body: regex \"(\""));
        plan.expect_body.clear();
        plan.expect_json = vec![JsonCheck { path: "a b".into(), value: Value::Null }];
        assert!(
            Observer::new(&plan, &[]).unwrap_err().starts_with("--expect-json: JSON path \"a b\"")
        );
    }
}
