//! Server-sent events (WHATWG HTML, "Interpreting an event stream"), in any split.
//!
//! Buffers are used again for the next event, so that events need no allocations.

use memchr::memchr2;

/// The maximum size of an event.
pub const MAX_EVENT_BYTES: usize = 16 * 1024 * 1024;

/// An event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'a> {
    /// The value of its `event:` line; empty without one.
    pub name: &'a [u8],
    /// Its `data:` lines, joined by line feeds; `None` without one.
    ///
    /// By the standard, this is no event, but some servers keep connections open by events with a name
    /// alone.
    pub data: Option<&'a [u8]>,
}

/// The largest buffer that is kept for the next event.
const SPARE_BYTES: usize = 64 * 1024;

/// An event is larger than [`MAX_EVENT_BYTES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge;

/// The state of one stream.
#[derive(Debug, Default)]
pub struct Sse {
    /// The beginning of a line that is not complete.
    line: Vec<u8>,
    name: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    /// Whether the last byte was a carriage return, to which a line feed would belong.
    is_after_cr: bool,
    /// Whether the first line, which may begin with a byte order mark, is over.
    has_begun: bool,
    comments: u64,
}

impl Sse {
    /// Begins another stream; buffers are kept, unless they are large.
    pub fn restart(&mut self) {
        self.line.clear();
        self.forget_event();
        for buffer in [&mut self.line, &mut self.name, &mut self.data] {
            buffer.shrink_to(SPARE_BYTES);
        }
        (self.is_after_cr, self.has_begun, self.comments) = (false, false, 0);
    }

    /// Returns the number of comment lines, which are keep-alives.
    #[must_use]
    pub fn comments(&self) -> u64 {
        self.comments
    }

    /// Returns the number of bytes of the event that is not complete.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.line.len() + self.name.len() + self.data.len()
    }

    /// Takes the next bytes, and passes on each event that they complete.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        mut on_event: impl FnMut(Event<'_>),
    ) -> Result<(), TooLarge> {
        let mut rest = bytes;
        while let Some(first) = rest.first() {
            if std::mem::take(&mut self.is_after_cr) && *first == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let Some(end) = memchr2(b'\n', b'\r', rest) else {
                return keep(&mut self.line, rest);
            };
            self.is_after_cr = rest[end] == b'\r';
            if self.line.is_empty() {
                self.take_line(&rest[..end], &mut on_event)?;
            } else {
                keep(&mut self.line, &rest[..end])?;
                let mut line = std::mem::take(&mut self.line);
                let taken = self.take_line(&line, &mut on_event);
                line.clear();
                self.line = line;
                taken?;
            }
            rest = &rest[end + 1..];
        }
        Ok(())
    }

    /// Ends the stream; returns the event that no blank line completed, if there is one.
    ///
    /// By the standard it is discarded; the caller may use it.
    pub fn finish(&mut self) -> Result<Option<Event<'_>>, TooLarge> {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            // Without a line end it is no blank line, so no event ends here.
            self.take_line(&line, &mut |_| {})?;
        }
        Ok(self.event())
    }

    fn take_line(
        &mut self,
        line: &[u8],
        on_event: &mut impl FnMut(Event<'_>),
    ) -> Result<(), TooLarge> {
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        let line = if is_first { line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line) } else { line };
        if line.is_empty() {
            if let Some(event) = self.event() {
                on_event(event);
            }
            self.forget_event();
            return Ok(());
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &line[line.len()..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"" => self.comments += 1,
            b"data" => {
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.has_data = true;
                keep(&mut self.data, value)?;
            }
            b"event" => {
                self.name.clear();
                keep(&mut self.name, value)?;
            }
            // `id` and `retry` are for clients that connect again; all other fields are ignored by the
            // standard.
            _ => {}
        }
        Ok(())
    }

    fn event(&self) -> Option<Event<'_>> {
        let is_one = self.has_data || !self.name.is_empty();
        is_one.then_some(Event { name: &self.name, data: self.has_data.then_some(&self.data) })
    }

    fn forget_event(&mut self) {
        self.name.clear();
        self.data.clear();
        self.has_data = false;
    }
}

fn keep(kept: &mut Vec<u8>, bytes: &[u8]) -> Result<(), TooLarge> {
    if kept.len() + bytes.len() > MAX_EVENT_BYTES {
        return Err(TooLarge);
    }
    kept.extend_from_slice(bytes);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    type Read = (String, Option<String>);

    fn read(pieces: &[&[u8]]) -> (Vec<Read>, Option<Read>) {
        let mut sse = Sse::default();
        let owned = |event: Event<'_>| {
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            (text(event.name), event.data.map(text))
        };
        let mut events = Vec::new();
        for piece in pieces {
            sse.feed(piece, |event| events.push(owned(event))).unwrap();
        }
        (events, sse.finish().unwrap().map(owned))
    }

    fn data(text: &str) -> Read {
        (String::new(), Some(text.to_owned()))
    }

    #[test]
    fn a_line_of_the_largest_size_is_read_and_a_larger_one_is_not() {
        for (size, is_read) in [(MAX_EVENT_BYTES, true), (MAX_EVENT_BYTES + 1, false)] {
            let (first, rest) = (vec![b'.'; 7], vec![b'.'; size - 12]);
            let mut sse = Sse::default();
            let fed = [&b"data:"[..], &first, &rest].map(|piece| sse.feed(piece, |_| ()));
            assert_eq!(fed.iter().all(Result::is_ok), is_read, "{size}");
        }
    }

    #[test]
    fn follows_the_examples_of_the_standard() {
        let table: [(&str, Vec<Read>); 6] = [
            ("data: YHOO\ndata: +2\ndata: 10\n\n", vec![data("YHOO\n+2\n10")]),
            (
                ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
                vec![data("first event"), data("second event"), data(" third event")],
            ),
            ("data\n\ndata\ndata\n\ndata:", vec![data(""), data("\n")]),
            ("data:test\n\ndata: test\n\n", vec![data("test"), data("test")]),
            ("event: add\ndata: 73857293\n\n", vec![("add".into(), Some("73857293".into()))]),
            ("event: ping\n\n", vec![("ping".into(), None)]),
        ];
        for (text, events) in table {
            assert_eq!(read(&[text.as_bytes()]).0, events, "{text:?}");
        }
    }

    #[test]
    fn an_event_without_its_blank_line_is_returned_at_the_end() {
        for text in ["data: a\n\ndata: b", "data: a\n\ndata: b\n", "data: a\r\rdata: b\r"] {
            assert_eq!(read(&[text.as_bytes()]), (vec![data("a")], Some(data("b"))), "{text:?}");
        }
        assert_eq!(read(&[b"data: a\n\n: bye"]), (vec![data("a")], None));
    }

    #[test]
    fn a_carriage_return_ends_a_line_at_once() {
        // The event is complete without the line feed that may follow.
        let mut sse = Sse::default();
        let mut events = 0;
        sse.feed(b"data: a\r\n\r", |_| events += 1).unwrap();
        assert_eq!(events, 1);
        assert_eq!(read(&[b"data: a\r\n\r", b"\ndata: b\r", b"\n\r\n"]).0, [data("a"), data("b")]);
    }

    #[test]
    fn comments_are_counted_and_are_no_events() {
        let mut sse = Sse::default();
        sse.feed(b": one\n\n:two\n\n::\n", |_| unreachable!()).unwrap();
        assert_eq!(sse.comments(), 3);
        sse.restart();
        assert_eq!(sse.comments(), 0);
    }

    #[test]
    fn one_event_may_not_grow_for_ever() {
        let line = vec![b'x'; MAX_EVENT_BYTES / 4];
        let mut sse = Sse::default();
        let mut grow = || -> Result<(), TooLarge> {
            for _ in 0..5 {
                sse.feed(b"data: ", |_| ())?;
                sse.feed(&line, |_| ())?;
                sse.feed(b"\n", |_| ())?;
            }
            Ok(())
        };
        assert_eq!(grow(), Err(TooLarge));
    }
}
