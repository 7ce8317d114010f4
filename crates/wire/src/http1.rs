//! Requests in the bytes of HTTP/1.1 (RFC 9112).

use crate::{EncodedRequest, RequestError, RequestParts, RequestTemplate};

/// How a request is sent over HTTP/1.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Http1Options {
    /// Whether the connection stays open; otherwise `Connection: close` is sent.
    pub keepalive: bool,
    /// Whether the whole URL is sent as the target, as proxies expect.
    pub is_absolute: bool,
}

impl Default for Http1Options {
    fn default() -> Self {
        Self { keepalive: true, is_absolute: false }
    }
}

impl RequestTemplate {
    /// Encodes the request for HTTP/1.1. `Host`, `Content-Length` and `Connection: close` are added
    /// where they are missing.
    #[must_use]
    pub fn to_http1(&self, options: Http1Options) -> EncodedRequest {
        let mut encoded = EncodedRequest::default();
        encoded.add(format!("{} ", self.method).as_bytes());
        if options.is_absolute {
            encoded.add(format!("{}://{}", self.scheme, self.authority).as_bytes());
        }
        encoded.add_text(&self.target);
        encoded.add(b" HTTP/1.1\r\n");
        if !self.has("host") {
            encoded.add(format!("Host: {}\r\n", self.authority).as_bytes());
        }
        for (name, value) in &self.fields {
            encoded.add(format!("{name}: ").as_bytes());
            encoded.add_text(value);
            encoded.add(b"\r\n");
        }
        if self.announces_body() {
            encoded.add(b"Content-Length: ");
            encoded.add_length();
            encoded.add(b"\r\n");
        }
        if !options.keepalive && !self.has("connection") {
            encoded.add(b"Connection: close\r\n");
        }
        encoded.add(b"\r\n");
        self.body.iter().for_each(|body| encoded.set_body(body));
        encoded
    }

    /// Methods that define a body announce an empty one too, or some servers answer 411 (RFC 9110, 8.6).
    pub(crate) fn announces_body(&self) -> bool {
        let is_framed = self.has("content-length") || self.has("transfer-encoding");
        let has_body = self.body.is_some() || matches!(&*self.method, "POST" | "PUT" | "PATCH");
        has_body && !is_framed && !self.is_unannounced
    }
}

impl RequestParts<'_> {
    /// Encodes a request without places for HTTP/1.1.
    pub fn to_http1(&self, options: Http1Options) -> Result<Box<[u8]>, RequestError> {
        let encoded = RequestTemplate::plain(self)?.to_http1(options);
        Ok(encoded.fixed().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TemplateError, Values};

    const KEPT: Http1Options = Http1Options { keepalive: true, is_absolute: false };

    fn parts<'a>(method: &'a str, fields: &'a [(String, String)]) -> RequestParts<'a> {
        let (scheme, authority, target) = ("http", "h:1", "/a?b=c");
        RequestParts { method, scheme, authority, target, fields, body: None }
    }

    fn encoded(parts: &RequestParts<'_>, options: Http1Options) -> String {
        String::from_utf8(parts.to_http1(options).unwrap().into_vec()).unwrap()
    }

    fn text(parts: &RequestParts<'_>) -> String {
        encoded(parts, KEPT)
    }

    #[test]
    fn writes_what_was_asked_for_and_nothing_twice() {
        let own = [("HOST".to_owned(), "x".to_owned()), ("A".to_owned(), "b c".to_owned())];
        assert_eq!(text(&parts("GET", &[])), "GET /a?b=c HTTP/1.1\r\nHost: h:1\r\n\r\n");
        assert_eq!(text(&parts("GET", &own)), "GET /a?b=c HTTP/1.1\r\nHOST: x\r\nA: b c\r\n\r\n");
        let post = RequestParts { body: Some(b"{}"), ..parts("POST", &[]) };
        assert_eq!(
            encoded(&post, Http1Options { keepalive: false, ..KEPT }),
            "POST /a?b=c HTTP/1.1\r\nHost: h:1\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
        );
    }

    #[test]
    fn a_proxy_is_sent_the_whole_url() {
        let text = encoded(&parts("GET", &[]), Http1Options { is_absolute: true, ..KEPT });
        assert_eq!(text, "GET http://h:1/a?b=c HTTP/1.1\r\nHost: h:1\r\n\r\n");
    }

    #[test]
    fn announces_an_empty_body_only_where_one_is_defined() {
        assert!(text(&parts("PUT", &[])).contains("Content-Length: 0\r\n"));
        assert!(!text(&parts("DELETE", &[])).contains("Content-Length"));
    }

    #[test]
    fn refuses_what_would_break_the_message_apart() {
        let smuggled = [("A".to_owned(), "b\r\nC: d".to_owned())];
        let nameless = [(String::new(), "b".to_owned())];
        let spaced = [("A B".to_owned(), "b".to_owned())];
        for headers in [&smuggled, &nameless, &spaced] {
            assert!(matches!(parts("GET", headers).to_http1(KEPT), Err(RequestError::Header(_))));
        }
        assert!(matches!(parts("G T", &[]).to_http1(KEPT), Err(RequestError::Method(_))));
        let target = RequestParts { target: "/a b", ..parts("GET", &[]) };
        assert!(matches!(target.to_http1(KEPT), Err(RequestError::Target(_))));
    }

    /// The value of place n is the n-th of these.
    struct ListedValues(Vec<&'static str>);

    impl Values for ListedValues {
        fn put(&mut self, place: u16, out: &mut Vec<u8>) {
            out.extend_from_slice(self.0[usize::from(place)].as_bytes());
        }
    }

    fn with_places<'a>(
        target: &'a str,
        fields: &'a [(String, String)],
        body: Option<&'a str>,
    ) -> RequestParts<'a> {
        RequestParts { target, body: body.map(str::as_bytes), ..parts("GET", fields) }
    }

    /// Numbers the names in their order.
    fn read(parts: &RequestParts<'_>) -> Result<RequestTemplate, TemplateError> {
        let mut names: Vec<String> = Vec::new();
        RequestTemplate::read(parts, &mut |name| {
            if name == "unknown" {
                return Err("unknown is unknown".into());
            }
            let known = names.iter().position(|known| known == name);
            let place = known.unwrap_or_else(|| {
                names.push(name.to_owned());
                names.len() - 1
            });
            u16::try_from(place).map_err(|error| error.to_string())
        })
    }

    fn joined(parts: &RequestParts<'_>, values: &[&'static str]) -> String {
        let (mut out, mut spare) = (b"old".to_vec(), b"old".to_vec());
        read(parts).unwrap().to_http1(KEPT).join(
            &mut ListedValues(values.to_vec()),
            &mut out,
            &mut spare,
        );
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn values_are_joined_and_the_length_is_that_of_the_joined_body() {
        let headers = [("X-Id".to_owned(), "<{{a}}>".to_owned())];
        let parts = with_places("/u/{{ a }}?q={{b}}", &headers, Some("{\"n\": \"{{b}}{{a}}\"}"));
        assert_eq!(
            joined(&parts, &["ann", "12345"]),
            "GET /u/ann?q=12345 HTTP/1.1\r\nHost: h:1\r\nX-Id: <ann>\r\nContent-Length: 17\r\n\r\n{\"n\": \"12345ann\"}"
        );
    }

    #[test]
    fn a_template_without_places_has_fixed_bytes() {
        let fields = [("A".to_owned(), "b c".to_owned())];
        let plain = with_places("/a?b=c", &fields, Some("hi"));
        let fixed = read(&plain).unwrap().to_http1(KEPT).fixed();
        assert_eq!(fixed, Some(plain.to_http1(KEPT).unwrap()));
        let template = read(&with_places("/{{a}}", &[], None)).unwrap();
        assert_eq!(template.to_http1(KEPT).fixed(), None);
    }

    #[test]
    fn values_cannot_break_the_message_apart() {
        let headers = [("A".to_owned(), "{{a}}".to_owned())];
        let parts = with_places("/{{a}}", &headers, None);
        let text = joined(&parts, &["x y\r\nEvil: 1"]);
        assert_eq!(
            text,
            "GET /x%20y%0D%0AEvil:%201 HTTP/1.1\r\nHost: h:1\r\nA: x yEvil: 1\r\n\r\n"
        );
    }

    #[test]
    fn a_filter_does_not_replace_what_its_part_needs() {
        let headers = [("A".to_owned(), "{{a | json}}".to_owned())];
        let text = joined(&with_places("/{{a | json}}", &headers, None), &["x \"\u{7f}"]);
        assert_eq!(text, "GET /x%20%5C%22%7F HTTP/1.1\r\nHost: h:1\r\nA: x \\\"\r\n\r\n");
    }

    #[test]
    fn braces_cannot_hide_what_breaks_the_message_apart() {
        for value in ["b\r\nEvil: 1}}c", "{{\"b\r\nEvil: 1\"}}", "{{a}}\r\nEvil: 1"] {
            let headers = [("A".to_owned(), value.to_owned())];
            let error = read(&with_places("/", &headers, None)).unwrap_err().to_string();
            assert!(error.contains("HTTP forbids"), "{error}");
        }
    }

    #[test]
    fn filters_escape_and_quoted_text_stands_for_itself() {
        let body = "{{a | url}} {{a|json}} {{\"{{\"}}x{{ \"}}\" }}";
        let text = joined(&with_places("/", &[], Some(body)), &["a/\"b\"\n"]);
        assert!(text.ends_with("\r\n\r\na%2F%22b%22%0A a/\\\"b\\\"\\u000a {{x}}"), "{text}");
    }

    #[test]
    fn says_what_is_wrong_with_a_template() {
        let table = [
            ("/{{a", "without }}"),
            ("/{{a | loud}}", "\"loud\" is neither"),
            ("/{{unknown}}", "unknown is unknown"),
            ("/{{a}} b", "white space"),
            ("/ b}}c", "white space"),
            ("/{{\" b\"}}", "white space"),
            ("{{a}}", "path \"\""),
        ];
        for (target, message) in table {
            let error = read(&with_places(target, &[], None)).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
