//! Framing by its property: however events are written down and cut, the same events come out.

use wire::{Event, Sse};

const STREAMS: u64 = 3_000;

type Read = (String, Option<String>);

/// Marsaglia's xorshift: enough to choose with, and the same everywhere.
struct Chooser(u64);

impl Chooser {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }

    fn one_of<'a>(&mut self, texts: &[&'a str]) -> &'a str {
        texts[self.below(texts.len())]
    }
}

/// What a value may hold: anything but line ends.
const VALUES: [&str; 8] =
    ["", "a", " leading", "with: colon", "你好", "data: x", ":", "{\"k\": [1]}"];

fn event(chooser: &mut Chooser) -> Read {
    let name = chooser.one_of(&["", "", "message", "ping", "content_block_delta"]);
    let count = chooser.below(4);
    let lines: Vec<_> = (0..count).map(|_| chooser.one_of(&VALUES)).collect();
    // An event has a name, or data.
    let data = (count > 0 || name.is_empty()).then(|| lines.join("\n"));
    (name.to_owned(), data)
}

/// Writes lines in one of the ways that mean the same, with noise between them.
struct Writer<'a> {
    chooser: &'a mut Chooser,
    text: String,
}

impl Writer<'_> {
    fn end_line(&mut self) {
        let end = self.chooser.one_of(&["\n", "\r\n", "\r"]);
        // After a bare carriage return, a line feed would be its second half.
        let is_split = self.text.ends_with('\r') && end == "\n";
        self.text.push_str(if is_split { "\r" } else { end });
    }

    fn line(&mut self, field: &str, value: &str) {
        let is_bare = value.is_empty() && self.chooser.below(2) == 0;
        // One space behind the colon is no part of the value.
        let space = if value.starts_with(' ') || self.chooser.below(2) == 0 { " " } else { "" };
        let written = if is_bare { field.to_owned() } else { format!("{field}:{space}{value}") };
        self.text.push_str(&written);
        self.end_line();
    }

    fn noise(&mut self) {
        if self.chooser.below(3) == 0 {
            let line = self.chooser.one_of(&[
                ": alive",
                ":",
                "id: 7",
                "retry: 10",
                "nobody: knows",
                "Data: x",
            ]);
            self.text.push_str(line);
            self.end_line();
        }
    }

    fn event(&mut self, (name, data): &Read) {
        // Where the name stands among the lines does not matter.
        let is_name_first = self.chooser.below(2) == 0;
        self.noise();
        if is_name_first && !name.is_empty() {
            self.line("event", name);
        }
        for line in data.iter().flat_map(|data| data.split('\n')) {
            self.line("data", line);
            self.noise();
        }
        if !is_name_first && !name.is_empty() {
            self.line("event", name);
        }
        (0..=self.chooser.below(2)).for_each(|_| self.end_line());
    }
}

fn read(pieces: &[&[u8]]) -> Vec<Read> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let (mut sse, mut events) = (Sse::default(), Vec::new());
    for piece in pieces {
        let owned = |event: Event<'_>| (text(event.name), event.data.map(text));
        sse.feed(piece, |event| events.push(owned(event))).unwrap();
    }
    assert_eq!(sse.finish(), Ok(None));
    events
}

fn cut<'a>(chooser: &mut Chooser, bytes: &'a [u8]) -> Vec<&'a [u8]> {
    let (mut pieces, mut rest) = (Vec::new(), bytes);
    while !rest.is_empty() {
        let (piece, more) = rest.split_at(1 + chooser.below(rest.len().min(24)));
        pieces.push(piece);
        rest = more;
    }
    pieces
}

#[test]
fn events_come_out_as_they_went_in_however_they_are_written_and_cut() {
    for seed in 1..=STREAMS {
        let chooser = &mut Chooser(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let count = chooser.below(6);
        let events: Vec<_> = (0..count).map(|_| event(chooser)).collect();
        let bom = chooser.one_of(&["", "\u{feff}"]).to_owned();
        let mut writer = Writer { chooser, text: bom };
        events.iter().for_each(|event| writer.event(event));
        let text = writer.text;
        let pieces = cut(chooser, text.as_bytes());
        assert_eq!(read(&pieces), events, "seed {seed}: {text:?}");
        assert_eq!(read(&[text.as_bytes()]), events, "seed {seed}, whole: {text:?}");
    }
}
