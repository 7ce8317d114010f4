//! A stream, watched: when its events came, what they were, and what went wrong within it.
//!
//! Every event of one read has the stamp of that read. Gaps between texts are kept only until
//! somebody takes them, so that a long stream needs no more memory than a short one.

use net::Nanos;
use wire::{Dialect, Event, Kind, Mark, Sse};

use crate::seen::{Gap, Joined, Seen};
use crate::{Chunks, Reason, Told, UNSET};

/// How much of an event that tells of a failure is kept.
const CULPRIT_BYTES: usize = 1024;

/// So many events are looked at before a dialect counts as the wrong one.
const PATIENCE: u64 = 20;

/// So much text of one stream is kept for who asked for it.
const TEXT_BYTES: usize = 4 * 1024 * 1024;

/// Memory that one large stream needed is given back from here on.
const SPARE_BYTES: usize = 64 * 1024;

/// Watches one stream at a time; buffers stay for the next.
#[derive(Debug)]
pub struct Watch {
    dialect: Dialect,
    /// Whether the first event with data will tell the dialect.
    is_guessing: bool,
    sse: Sse,
    seen: Seen,
    gaps: Vec<Gap>,
    /// The stamp of the latest read that brought text.
    latest_text_read: Nanos,
    /// The beginning of the event that was the first fault.
    culprit: Vec<u8>,
    /// Whether some text was not kept: what follows is not either, so that none is missing within.
    is_text_full: bool,
    /// Whether an event was too large: where the next one begins is not known any more.
    is_lost: bool,
    /// The text so far as it is written in JSON, kept only when somebody asked for it.
    pub text: Option<Vec<u8>>,
    /// The conversation as it is written in JSON, kept only when somebody asked for it.
    pub conversation: Option<Vec<u8>>,
    /// All that was told, kept only when somebody asked for it.
    pub told: Option<Told>,
    /// Events with choices, looked at only when somebody asked for it.
    pub chunks: Option<Chunks>,
}

impl Watch {
    /// Waits for a stream of that dialect.
    #[must_use]
    pub fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            is_guessing: false,
            sse: Sse::default(),
            seen: Seen::default(),
            gaps: Vec::new(),
            latest_text_read: UNSET,
            culprit: Vec::new(),
            is_text_full: false,
            is_lost: false,
            text: None,
            conversation: None,
            told: None,
            chunks: None,
        }
    }

    /// Waits for a stream of whatever dialect.
    #[must_use]
    pub fn guessing() -> Self {
        Self { is_guessing: true, ..Self::new(Dialect::Plain) }
    }

    /// Whether it does not know the dialect of its stream yet.
    #[must_use]
    pub fn is_guessing(&self) -> bool {
        self.is_guessing
    }

    /// Starts anew in place.
    pub fn restart(&mut self, dialect: Dialect) {
        (self.dialect, self.is_guessing) = (dialect, false);
        self.empty();
        self.seen = Seen::default();
        self.gaps.clear();
        self.culprit.clear();
        self.latest_text_read = UNSET;
        (self.is_text_full, self.is_lost) = (false, false);
        self.chunks.iter_mut().for_each(Chunks::restart);
    }

    /// Forgets all that is kept of the stream but what was seen of it; gives back large memory.
    pub(crate) fn empty(&mut self) {
        self.sse.restart();
        for kept in self.text.iter_mut().chain(&mut self.conversation) {
            kept.clear();
            kept.shrink_to(SPARE_BYTES);
        }
        self.told.iter_mut().for_each(Told::restart);
    }

    /// Bytes that are kept of the stream.
    pub(crate) fn held_bytes(&self) -> usize {
        let kept = [&self.text, &self.conversation].into_iter().flatten();
        let told = self.told.as_ref().map_or(0, Told::held_bytes);
        self.sse.held_bytes() + told + kept.map(Vec::len).sum::<usize>()
    }

    /// What it has seen.
    #[must_use]
    pub fn seen(&self) -> &Seen {
        &self.seen
    }

    /// The beginning of the event that was the first fault; empty where no event was one.
    #[must_use]
    pub fn culprit(&self) -> &[u8] {
        &self.culprit
    }

    /// The gaps since they were taken last.
    pub fn take_gaps(&mut self) -> std::vec::Drain<'_, Gap> {
        self.gaps.drain(..)
    }

    /// Takes a piece of the body that was read at `at`; `is_late` says that it may have been there
    /// for a while.
    pub fn take(&mut self, piece: &[u8], at: Nanos, is_late: bool) {
        if self.is_lost {
            return;
        }
        let mut sse = std::mem::take(&mut self.sse);
        let fed = sse.feed(piece, |event| self.on_event(event, at, is_late));
        self.seen.comments = sse.comments();
        if fed.is_err() {
            self.seen.fault.get_or_insert(Reason::StreamTooLarge);
            self.is_lost = true;
            sse.restart();
        }
        self.sse = sse;
    }

    /// The body is complete: says what is wrong with the stream as a whole, if anything is.
    pub fn finish(&mut self, at: Nanos) -> Option<Reason> {
        let mut sse = std::mem::take(&mut self.sse);
        if let Ok(Some(event)) = sse.finish() {
            // Cut off, it may be anything; only an end is worth to be taken for what it seems.
            let is_end = self.dialect.mark(event).is_ok_and(|mark| mark.kind == Kind::End);
            self.seen.is_unterminated = true;
            if is_end {
                self.on_event(event, at, false);
            }
        }
        self.sse = sse;
        let seen = &self.seen;
        let has_ended = seen.end != UNSET || seen.is_finished || !self.dialect.has_end();
        match seen.fault {
            Some(fault) => Some(fault),
            None if seen.events() == 0 => Some(Reason::StreamNoEvents),
            None if seen.is_unknown() => Some(Reason::StreamUnknown),
            None => (!has_ended).then_some(Reason::StreamTruncated),
        }
    }

    fn on_event(&mut self, event: Event<'_>, at: Nanos, is_late: bool) {
        set(&mut self.seen.first_event, at);
        if self.seen.end != UNSET {
            // What comes behind the end is not part of the answer.
            self.seen.kinds[Kind::Other as usize] += 1;
            return;
        }
        if self.is_guessing && event.data.is_some_and(|data| !data.is_empty()) {
            (self.dialect, self.is_guessing) = (Dialect::of(event), false);
        }
        let Ok(mark) = self.dialect.mark(event) else {
            self.seen.kinds[Kind::Unknown as usize] += 1;
            return self.blame(event, Reason::StreamMalformed);
        };
        self.note(&mark);
        match mark.kind {
            Kind::End => self.seen.end = at,
            Kind::Error => self.blame(event, Reason::StreamError),
            Kind::Unknown if self.seen.events() == PATIENCE && self.seen.is_unknown() => {
                self.blame(event, Reason::StreamUnknown);
            }
            _ => {}
        }
        if let Some(chunks) = self.chunks.as_mut().filter(|_| mark.is_choice) {
            chunks.take(at);
        }
        if mark.has_text {
            self.on_text(&mark, at, is_late);
        }
        if let Some(kept) = self.conversation.as_mut().filter(|_| !mark.conversation.is_empty()) {
            kept.clear();
            kept.extend_from_slice(mark.conversation);
        }
    }

    fn note(&mut self, mark: &Mark<'_>) {
        let seen = &mut self.seen;
        seen.kinds[mark.kind as usize] += 1;
        seen.is_finished |= mark.is_finish;
        seen.has_siblings |= mark.is_sibling;
        if let Some(usage) = mark.usage {
            seen.usage.update(usage);
        }
    }

    /// Only the first fault counts.
    fn blame(&mut self, event: Event<'_>, reason: Reason) {
        if self.seen.fault.is_none() {
            self.seen.fault = Some(reason);
            let data = event.data.unwrap_or(event.name);
            self.culprit.extend_from_slice(&data[..data.len().min(CULPRIT_BYTES)]);
        }
    }

    fn on_text(&mut self, mark: &Mark<'_>, at: Nanos, is_late: bool) {
        let seen = &mut self.seen;
        seen.texts += 1;
        if seen.texts == 1 {
            seen.first_text = at;
        } else {
            set(&mut seen.second_text, at);
            let joined = match (self.latest_text_read == at, is_late) {
                (false, _) => Joined::No,
                (true, false) => Joined::Before,
                (true, true) => Joined::Here,
            };
            let nanos = at.saturating_sub(seen.last_text);
            seen.longest_gap = seen.longest_gap.max(nanos);
            self.gaps.push(Gap { nanos, joined });
        }
        if self.latest_text_read != at {
            self.latest_text_read = at;
            seen.text_reads += 1;
        }
        seen.last_text = at;
        seen.has_reasoning |= mark.kind == Kind::Reasoning || !mark.thought.is_empty();
        if mark.kind != Kind::Reasoning {
            set(&mut seen.first_output, at);
        }
        if let Some(told) = &mut self.told {
            told.take(mark);
        }
        if let Some(text) = &mut self.text {
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

    const ROLE: &str =
        "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n";
    const DONE: &str = "data: [DONE]\n\n";

    /// A stream of reads, each with its time and whether the client came late.
    fn watched(reads: &[(Nanos, bool, &str)]) -> (Watch, Option<Reason>) {
        let mut watch = Watch::new(Dialect::Openai);
        for (at, is_late, piece) in reads {
            watch.take(piece.as_bytes(), *at, *is_late);
        }
        let end = reads.last().map_or(0, |(at, ..)| *at);
        let fault = watch.finish(end);
        (watch, fault)
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
        let (watch, fault) = watched(&reads);
        let seen = watch.seen();
        assert_eq!(fault, None);
        assert_eq!((seen.first_event, seen.first_text, seen.second_text), (10, 20, 30));
        assert_eq!((seen.first_output, seen.last_text, seen.end), (30, 45, 60));
        assert_eq!((seen.texts, seen.text_reads, seen.longest_gap), (3, 3, 15));
        assert_eq!((seen.usage.input, seen.usage.output), (Some(5), Some(4)));
        // (45 − 20) over the three tokens behind the first.
        assert_eq!(seen.tpot(), Some(8));
    }

    #[test]
    fn texts_of_one_read_are_joined_by_the_server_or_by_a_late_client() {
        let (a, b) = (text("a"), text("b"));
        let both = a.clone() + &b;
        let reads = [(10, false, a.as_str()), (30, false, &both), (40, true, &both)];
        let (mut watch, _) = watched(&reads);
        let gaps: Vec<_> = watch.take_gaps().map(|gap| (gap.nanos, gap.joined)).collect();
        let (no, before, here) = (Joined::No, Joined::Before, Joined::Here);
        assert_eq!(gaps, [(20, no), (0, before), (10, no), (0, here)]);
        assert_eq!(watch.take_gaps().count(), 0);
    }

    #[test]
    fn who_guesses_sees_what_who_knows_sees() {
        let said = ": hello\n\nevent: ping\n\n".to_owned() + ROLE + &text("a") + &text("b");
        for end in [DONE, ""] {
            let (mut knows, mut guesses) = (Watch::new(Dialect::Openai), Watch::guessing());
            for watch in [&mut knows, &mut guesses] {
                watch.take(said.as_bytes(), 7, false);
                watch.take(end.as_bytes(), 9, false);
            }
            let faults = (knows.finish(9), guesses.finish(9));
            assert_eq!(faults.0, faults.1);
            assert_eq!(guesses.seen().texts, 2);
            assert_eq!(guesses.seen().first_text, 7);
        }
    }

    #[test]
    fn one_read_in_two_pieces_is_one_read() {
        let both = text("a") + &text("b");
        let mut watch = Watch::new(Dialect::Openai);
        let (one, two) = both.split_at(text("a").len() + 3);
        watch.take(one.as_bytes(), 10, false);
        watch.take(two.as_bytes(), 10, false);
        assert_eq!((watch.seen().texts, watch.seen().text_reads), (2, 1));
        assert_eq!(watch.take_gaps().next(), Some(Gap { nanos: 0, joined: Joined::Before }));
    }

    #[test]
    fn what_goes_wrong_within_a_stream_is_named() {
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
            ("data: {\"choices\":[{\"finish_reason\":\"stop\"}]}\n\n".into(), None),
        ];
        for (body, fault) in table {
            assert_eq!(watched(&[(1, false, &body)]).1, fault, "{body}");
        }
        // Nineteen strange events before the first known one are forgiven.
        let strange = "data: {\"event\":\"message\"}\n\n".repeat(19) + &a + DONE;
        assert_eq!(watched(&[(1, false, &strange)]).1, None);
    }

    #[test]
    fn an_end_without_its_blank_line_is_an_end_and_is_noted() {
        let (watch, fault) = watched(&[(1, false, &text("a")), (2, false, "data: [DONE]")]);
        assert_eq!((fault, watch.seen().is_unterminated, watch.seen().end), (None, true, 2));
        let cut = text("b");
        let (watch, fault) = watched(&[(1, false, &text("a")), (2, false, cut.trim_end())]);
        assert_eq!((fault, watch.seen().texts), (Some(Reason::StreamTruncated), 1));
    }

    #[test]
    fn text_and_conversation_are_kept_for_who_asks() {
        let mut watch = Watch::new(Dialect::Dify);
        (watch.text, watch.conversation) = (Some(Vec::new()), Some(Vec::new()));
        let said = |answer: &str| {
            format!(
                "data: {{\"event\":\"message\",\"answer\":\"{answer}\",\"conversation_id\":\"c-1\"}}\n\n"
            )
        };
        watch.take((said("\\u4f60") + &said("b")).as_bytes(), 1, false);
        assert_eq!(watch.text.as_deref(), Some(b"\\u4f60b".as_slice()));
        assert_eq!(watch.conversation.as_deref(), Some(b"c-1".as_slice()));
        watch.restart(Dialect::Dify);
        assert_eq!(watch.text.as_deref(), Some(b"".as_slice()));
        assert_eq!(watch.seen(), &Seen::default());
    }
}
