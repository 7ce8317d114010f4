//! Reading a stream of events: when they were received, what they are, and what is wrong with them.
//!
//! Every event of one read has the stamp of that read. Gaps between texts are kept only until they are
//! taken, so that a long stream needs no more memory than a short one.

use net::Nanos;
use wire::{Dialect, Event, Kind, Mark, Sse};

use crate::stream_observation::{Gap, Joined, StreamObservation};
use crate::{Chunks, GeneratedText, Reason, UNSET};

/// The maximum number of bytes to keep of an event that reports a failure.
const FAULTY_EVENT_BYTES: usize = 1024;

/// The number of unknown events after which the dialect counts as the wrong one.
const MAX_UNKNOWN_EVENTS: u64 = 20;

/// The maximum number of bytes to keep of the text of one stream.
const TEXT_BYTES: usize = 4 * 1024 * 1024;

/// The largest buffer that is kept for the next stream.
const SPARE_BYTES: usize = 64 * 1024;

/// Reads one stream at a time; buffers are kept for the next.
#[derive(Debug)]
pub struct StreamReader {
    dialect: Dialect,
    /// Whether the first event with data will show the dialect.
    detects_dialect: bool,
    sse: Sse,
    observation: StreamObservation,
    gaps: Vec<Gap>,
    /// The stamp of the latest read that brought text.
    latest_text_read: Nanos,
    /// The beginning of the first faulty event.
    faulty_event: Vec<u8>,
    /// Whether some text was not kept: later text is not kept either, so that there is no hole in it.
    is_text_full: bool,
    /// Whether an event was too large: the beginning of the next one is unknown.
    is_unreadable: bool,
    /// The text so far as it is written in JSON, if it is set before the start.
    pub text: Option<Vec<u8>>,
    /// The conversation as it is written in JSON, if it is set before the start.
    pub conversation: Option<Vec<u8>>,
    /// All generated text, if it is set before the start.
    pub generated: Option<GeneratedText>,
    /// Chunks as other tools count them, one for each tool that is set before the start.
    pub chunks: Vec<Chunks>,
}

impl StreamReader {
    /// Creates a reader of streams of a dialect.
    #[must_use]
    pub fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            detects_dialect: false,
            sse: Sse::default(),
            observation: StreamObservation::default(),
            gaps: Vec::new(),
            latest_text_read: UNSET,
            faulty_event: Vec::new(),
            is_text_full: false,
            is_unreadable: false,
            text: None,
            conversation: None,
            generated: None,
            chunks: Vec::new(),
        }
    }

    /// Creates a reader that detects the dialect of its stream.
    #[must_use]
    pub fn detecting() -> Self {
        Self { detects_dialect: true, ..Self::new(Dialect::Plain) }
    }

    /// Returns whether the dialect of the stream is not known yet.
    #[must_use]
    pub fn detects_dialect(&self) -> bool {
        self.detects_dialect
    }

    /// Begins another stream.
    pub fn restart(&mut self, dialect: Dialect) {
        (self.dialect, self.detects_dialect) = (dialect, false);
        self.empty();
        self.observation = StreamObservation::default();
        self.gaps.clear();
        self.faulty_event.clear();
        self.latest_text_read = UNSET;
        (self.is_text_full, self.is_unreadable) = (false, false);
        self.chunks.iter_mut().for_each(Chunks::restart);
    }

    /// Drops what is kept of the stream, except its observation; gives back large memory.
    pub(crate) fn empty(&mut self) {
        self.sse.restart();
        for kept in self.text.iter_mut().chain(&mut self.conversation) {
            kept.clear();
            kept.shrink_to(SPARE_BYTES);
        }
        self.generated.iter_mut().for_each(GeneratedText::restart);
    }

    /// Returns the number of bytes that are kept of the stream.
    pub(crate) fn held_bytes(&self) -> usize {
        let kept = [&self.text, &self.conversation].into_iter().flatten();
        let generated = self.generated.as_ref().map_or(0, GeneratedText::held_bytes);
        let gaps = self.gaps.len() * size_of::<Gap>();
        self.sse.held_bytes() + generated + gaps + kept.map(Vec::len).sum::<usize>()
    }

    /// Returns what was observed.
    #[must_use]
    pub fn observation(&self) -> &StreamObservation {
        &self.observation
    }

    /// Returns the beginning of the first faulty event; empty if there is none.
    #[must_use]
    pub fn faulty_event(&self) -> &[u8] {
        &self.faulty_event
    }

    /// Takes the gaps since the last call.
    pub fn take_gaps(&mut self) -> std::vec::Drain<'_, Gap> {
        self.gaps.drain(..)
    }

    /// Takes a piece of the body that was read at `at`; with `is_late`, it may have been in the socket
    /// for some time.
    pub fn take(&mut self, piece: &[u8], at: Nanos, is_late: bool) {
        if self.is_unreadable {
            return;
        }
        let mut sse = std::mem::take(&mut self.sse);
        let fed = sse.feed(piece, |event| self.on_event(event, at, is_late));
        self.observation.comments = sse.comments();
        if fed.is_err() {
            self.observation.fault.get_or_insert(Reason::StreamTooLarge);
            self.is_unreadable = true;
            sse.restart();
        }
        self.sse = sse;
    }

    /// Takes note of a message of gRPC that ended in a read at `at`.
    pub(crate) fn take_message(&mut self, at: Nanos, is_late: bool) {
        self.on_event(Event { name: b"", data: None }, at, is_late);
    }

    /// Takes note that the body is complete; returns what is wrong with the stream, if anything is.
    pub fn finish(&mut self, at: Nanos) -> Option<Reason> {
        let mut sse = std::mem::take(&mut self.sse);
        if let Ok(Some(event)) = sse.finish() {
            // An event without its blank line may be incomplete; only an end is recognised.
            let is_end = self.dialect.mark(event).is_ok_and(|mark| mark.kind == Kind::End);
            self.observation.is_unterminated = true;
            if is_end {
                self.on_event(event, at, false);
            }
        }
        self.sse = sse;
        let observed = &self.observation;
        // Of several answers, others may go on when one is finished.
        let is_finished = observed.is_finished && !observed.has_siblings;
        let has_ended = observed.end != UNSET || is_finished || !self.dialect.has_end();
        match observed.fault {
            Some(fault) => Some(fault),
            // A call may have no message.
            None if self.dialect == Dialect::Grpc => None,
            None if observed.events() == 0 => Some(Reason::StreamNoEvents),
            None if observed.is_unknown() => Some(Reason::StreamUnknown),
            None => (!has_ended).then_some(Reason::StreamTruncated),
        }
    }

    fn on_event(&mut self, event: Event<'_>, at: Nanos, is_late: bool) {
        set(&mut self.observation.first_event, at);
        if self.observation.end != UNSET {
            // An event after the end is not part of the response.
            self.observation.kinds[Kind::Other as usize] += 1;
            return;
        }
        // Keep-alives are the same in all dialects.
        let has_meaning = event.name != b"ping" && event.data.is_some_and(|data| !data.is_empty());
        if self.detects_dialect && has_meaning {
            (self.dialect, self.detects_dialect) = (Dialect::of(event), false);
        }
        let Ok(mark) = self.dialect.mark(event) else {
            self.observation.kinds[Kind::Unknown as usize] += 1;
            return self.note_fault(event, Reason::StreamMalformed);
        };
        self.note(&mark);
        match mark.kind {
            Kind::End => self.observation.end = at,
            Kind::Error => self.note_fault(event, Reason::StreamError),
            Kind::Unknown
                if self.observation.events() == MAX_UNKNOWN_EVENTS
                    && self.observation.is_unknown() =>
            {
                self.note_fault(event, Reason::StreamUnknown);
            }
            _ => {}
        }
        self.chunks.iter_mut().for_each(|chunks| chunks.take(&mark, at));
        if mark.has_text {
            self.on_text(&mark, at, is_late);
        }
        if let Some(kept) = self.conversation.as_mut().filter(|_| !mark.conversation.is_empty()) {
            kept.clear();
            kept.extend_from_slice(mark.conversation);
        }
    }

    fn note(&mut self, mark: &Mark<'_>) {
        let observed = &mut self.observation;
        observed.kinds[mark.kind as usize] += 1;
        observed.is_finished |= mark.is_finish;
        observed.has_tool_call |= mark.has_tool_call;
        observed.has_siblings |= mark.is_sibling;
        if let Some(usage) = mark.usage {
            observed.usage.update(usage);
        }
    }

    /// Notes a fault, of which only the first counts.
    fn note_fault(&mut self, event: Event<'_>, reason: Reason) {
        if self.observation.fault.is_none() {
            self.observation.fault = Some(reason);
            let data = event.data.unwrap_or(event.name);
            self.faulty_event.extend_from_slice(&data[..data.len().min(FAULTY_EVENT_BYTES)]);
        }
    }

    fn on_text(&mut self, mark: &Mark<'_>, at: Nanos, is_late: bool) {
        let observed = &mut self.observation;
        observed.texts += 1;
        if observed.texts == 1 {
            observed.first_text = at;
        } else {
            set(&mut observed.second_text, at);
            let joined = match (self.latest_text_read == at, is_late) {
                (false, _) => Joined::No,
                (true, false) => Joined::Upstream,
                (true, true) => Joined::Client,
            };
            let nanos = at.saturating_sub(observed.last_text);
            observed.longest_gap = observed.longest_gap.max(nanos);
            self.gaps.push(Gap { nanos, joined });
        }
        if self.latest_text_read != at {
            self.latest_text_read = at;
            observed.text_reads += 1;
        }
        observed.last_text = at;
        observed.has_reasoning |= mark.kind == Kind::Reasoning || !mark.thought.is_empty();
        if mark.kind != Kind::Reasoning {
            set(&mut observed.first_output, at);
        }
        if let Some(generated) = &mut self.generated {
            generated.take(mark);
        }
        if let Some(text) = self.text.as_mut().filter(|_| !mark.is_sibling) {
            let has_room = text.len() + mark.text.len() <= TEXT_BYTES;
            self.is_text_full |= !has_room;
            if !self.is_text_full {
                text.extend_from_slice(mark.text);
            }
        }
    }
}

/// Sets a stamp that was not taken yet.
fn set(stamp: &mut Nanos, at: Nanos) {
    if *stamp == UNSET {
        *stamp = at;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(said: &str) -> String {
        format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{said}\"}}}}]}}\n\n")
    }

    /// Text of a second answer.
    fn sibling(said: &str) -> String {
        text(said).replace("{\"delta\"", "{\"index\":1,\"delta\"")
    }

    fn finish(index: u64) -> String {
        format!("data: {{\"choices\":[{{\"index\":{index},\"finish_reason\":\"stop\"}}]}}\n\n")
    }

    const ROLE: &str =
        "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n";
    const DONE: &str = "data: [DONE]\n\n";

    /// A stream of reads, each with its time and whether the client came late.
    fn read_all(reads: &[(Nanos, bool, &str)]) -> (StreamReader, Option<Reason>) {
        let mut reader = StreamReader::new(Dialect::Openai);
        for (at, is_late, piece) in reads {
            reader.take(piece.as_bytes(), *at, *is_late);
        }
        let end = reads.last().map_or(0, |(at, ..)| *at);
        let fault = reader.finish(end);
        (reader, fault)
    }

    #[test]
    fn stamps_are_those_of_the_reads_that_brought_the_events() {
        let thought = "data: {\"choices\":[{\"delta\":{\"reasoning\":\"so\"}}]}\n\n";
        let usage =
            "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":4}}\n\n";
        let (a, b) = (text("a"), text("b"));
        let reads = [
            (10, false, ROLE),
            (20, false, thought),
            (30, false, a.as_str()),
            (45, false, b.as_str()),
            (50, false, usage),
            (60, false, DONE),
        ];
        let (reader, fault) = read_all(&reads);
        let observed = reader.observation();
        assert_eq!(fault, None);
        assert_eq!((observed.first_event, observed.first_text, observed.second_text), (10, 20, 30));
        assert_eq!((observed.first_output, observed.last_text, observed.end), (30, 45, 60));
        assert_eq!((observed.texts, observed.text_reads, observed.longest_gap), (3, 3, 15));
        assert_eq!((observed.usage.input, observed.usage.output), (Some(5), Some(4)));
        // (45 − 20) over the three tokens behind the first.
        assert_eq!(observed.tpot(), Some(8));
    }

    #[test]
    fn reasoning_and_calls_of_tools_are_texts_and_only_reasoning_is_no_output() {
        let thought = "data: {\"choices\":[{\"delta\":{\"reasoning\":\"so\"}}]}\n\n";
        let call = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{}}]}}]}\n\n";
        let usage = "data: {\"choices\":[],\"usage\":{\"completion_tokens\":4,\
                     \"completion_tokens_details\":{\"reasoning_tokens\":2}}}\n\n";
        let reads = [
            (10, false, thought),
            (20, false, thought),
            (30, false, call),
            (40, false, call),
            (50, false, usage),
            (60, false, DONE),
        ];
        let (mut reader, fault) = read_all(&reads);
        assert_eq!((fault, reader.take_gaps().count()), (None, 3));
        let observed = reader.observation();
        // ttft, ttfo and e2e.
        assert_eq!((observed.first_text, observed.first_output, observed.last_text), (10, 30, 40));
        assert!(observed.has_reasoning && observed.has_tool_call);
        // tpot: reasoning was streamed, so its tokens count.
        assert_eq!((observed.tokens_streamed(), observed.tpot()), (Some(4), Some(10)));
    }

    #[test]
    fn texts_of_one_read_are_joined_by_the_server_or_by_a_late_client() {
        let (a, b) = (text("a"), text("b"));
        let both = a.clone() + &b;
        let reads = [(10, false, a.as_str()), (30, false, &both), (40, true, &both)];
        let (mut reader, _) = read_all(&reads);
        let gaps: Vec<_> = reader.take_gaps().map(|gap| (gap.nanos, gap.joined)).collect();
        let (no, upstream, client) = (Joined::No, Joined::Upstream, Joined::Client);
        assert_eq!(gaps, [(20, no), (0, upstream), (10, no), (0, client)]);
        assert_eq!(reader.take_gaps().count(), 0);
    }

    #[test]
    fn a_reader_that_detects_the_dialect_observes_what_one_that_knows_it_does() {
        let said = ": hello\n\nevent: ping\n\n".to_owned() + ROLE + &text("a") + &text("b");
        for end in [DONE, ""] {
            let (mut knows, mut detects) =
                (StreamReader::new(Dialect::Openai), StreamReader::detecting());
            for reader in [&mut knows, &mut detects] {
                reader.take(said.as_bytes(), 7, false);
                reader.take(end.as_bytes(), 9, false);
            }
            let faults = (knows.finish(9), detects.finish(9));
            assert_eq!(faults.0, faults.1);
            assert_eq!(detects.observation().texts, 2);
            assert_eq!(detects.observation().first_text, 7);
        }
    }

    #[test]
    fn one_read_in_two_pieces_is_one_read() {
        let both = text("a") + &text("b");
        let mut reader = StreamReader::new(Dialect::Openai);
        let (one, two) = both.split_at(text("a").len() + 3);
        reader.take(one.as_bytes(), 10, false);
        reader.take(two.as_bytes(), 10, false);
        assert_eq!((reader.observation().texts, reader.observation().text_reads), (2, 1));
        assert_eq!(reader.take_gaps().next(), Some(Gap { nanos: 0, joined: Joined::Upstream }));
    }

    #[test]
    fn a_keep_alive_shows_no_dialect() {
        let all = "event: ping\ndata: 2024-01-01\n\n".to_owned() + &text("a") + DONE;
        let mut reader = StreamReader::detecting();
        reader.take(all.as_bytes(), 1, false);
        assert_eq!((reader.finish(1), reader.observation().texts), (None, 1));
        assert_eq!(reader.observation().kinds[Kind::Ping as usize], 1);
    }

    #[test]
    fn gaps_count_as_held_until_they_are_taken() {
        let mut reader = StreamReader::new(Dialect::Openai);
        reader.take(text("a").repeat(101).as_bytes(), 1, false);
        assert_eq!(reader.held_bytes(), 100 * size_of::<Gap>());
        reader.take_gaps();
        assert_eq!(reader.held_bytes(), 0);
    }

    #[test]
    fn every_fault_of_a_stream_has_its_reason() {
        let (a, unknown) = (text("a"), "data: {\"event\":\"message\"}\n\n".repeat(20));
        let table = [
            (a.clone() + DONE, None),
            (a.clone() + "data: {\"error\": {}}\n\n" + DONE, Some(Reason::StreamError)),
            (a.clone(), Some(Reason::StreamTruncated)),
            (a.clone() + "data: {\"choices\": [\n\n" + DONE, Some(Reason::StreamMalformed)),
            ("<html><body>no</body></html>\n".into(), Some(Reason::StreamNoEvents)),
            (String::new(), Some(Reason::StreamNoEvents)),
            (unknown.clone() + &a + DONE, Some(Reason::StreamUnknown)),
            ("data: {\"event\":\"message\"}\n\n".into(), Some(Reason::StreamUnknown)),
            // Some servers say that they have finished, and no more.
            (finish(0), None),
            // One of two answers has finished.
            (a.clone() + &sibling("b") + &finish(0), Some(Reason::StreamTruncated)),
            (sibling("b") + &a + &finish(1) + &finish(0) + DONE, None),
        ];
        for (body, fault) in table {
            assert_eq!(read_all(&[(1, false, &body)]).1, fault, "{body}");
        }
        // Nineteen unknown events before the first known one are not a fault.
        let strange = "data: {\"event\":\"message\"}\n\n".repeat(19) + &a + DONE;
        assert_eq!(read_all(&[(1, false, &strange)]).1, None);
    }

    #[test]
    fn an_end_without_its_blank_line_is_noted() {
        let (reader, fault) = read_all(&[(1, false, &text("a")), (2, false, "data: [DONE]")]);
        assert_eq!(
            (fault, reader.observation().is_unterminated, reader.observation().end),
            (None, true, 2)
        );
        let cut = text("b");
        let (reader, fault) = read_all(&[(1, false, &text("a")), (2, false, cut.trim_end())]);
        assert_eq!((fault, reader.observation().texts), (Some(Reason::StreamTruncated), 1));
    }

    #[test]
    fn of_several_answers_only_the_text_of_the_first_is_kept() {
        let mut reader = StreamReader::new(Dialect::Openai);
        reader.text = Some(Vec::new());
        let all = text("a") + &sibling("x") + &text("b") + &sibling("y");
        reader.take(all.as_bytes(), 1, false);
        assert_eq!(reader.text.as_deref(), Some(b"ab".as_slice()));
        assert_eq!(reader.observation().texts, 4);
    }

    #[test]
    fn text_and_conversation_are_kept_if_they_are_set() {
        let mut reader = StreamReader::new(Dialect::Dify);
        (reader.text, reader.conversation) = (Some(Vec::new()), Some(Vec::new()));
        let said = |answer: &str| {
            format!(
                "data: {{\"event\":\"message\",\"answer\":\"{answer}\",\"conversation_id\":\"c-1\"}}\n\n"
            )
        };
        reader.take((said("\\u4f60") + &said("b")).as_bytes(), 1, false);
        assert_eq!(reader.text.as_deref(), Some(b"\\u4f60b".as_slice()));
        assert_eq!(reader.conversation.as_deref(), Some(b"c-1".as_slice()));
        reader.restart(Dialect::Dify);
        assert_eq!(reader.text.as_deref(), Some(b"".as_slice()));
        assert_eq!(reader.observation(), &StreamObservation::default());
    }
}
