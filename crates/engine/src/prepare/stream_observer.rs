//! Observing streams: how they are decoded, whether they are complete, which values are captured.

use client::{Exchange, Reason, StreamObservation, StreamReader};
use net::Nanos;
use wire::Dialect;

use crate::measure::report::StreamText;
use crate::measure::stream::{StreamTally, Times, chunks_of};
use crate::plan::{Alias, Capture, CaptureFrom, StreamPlan};

/// Observes the streams of one request.
#[derive(Debug, Clone)]
pub(crate) struct StreamObserver {
    dialect: Dialect,
    /// The maximum time without an event.
    pub(crate) idle_timeout_ns: Option<Nanos>,
    is_from_intended: bool,
    output_tokens: Option<u64>,
    /// The indices of the captured text and conversation in the session.
    text: Option<usize>,
    conversation: Option<usize>,
    /// Whether texts are stored, so that their tokens can be counted later.
    keeps_text: bool,
    /// Other tools whose metrics are wanted beside.
    aliases: Vec<Alias>,
}

impl StreamObserver {
    /// Creates the observer of a plan; the index of a capture is that of its name in `names`.
    pub(crate) fn new(plan: &StreamPlan, captures: &[Capture], names: &[String]) -> Self {
        let index = |from: CaptureFrom| {
            let capture = captures.iter().find(|capture| capture.from == from)?;
            names.iter().position(|name| *name == capture.name)
        };
        Self {
            dialect: plan.dialect,
            idle_timeout_ns: plan.idle_timeout_ns,
            is_from_intended: plan.from_intended,
            output_tokens: plan.output_tokens,
            text: index(CaptureFrom::Text),
            conversation: index(CaptureFrom::Conversation),
            keeps_text: plan.keep_text,
            aliases: plan.aliases.clone(),
        }
    }

    /// Prepares an exchange so that its stream is watched.
    pub(crate) fn set_up(&self, exchange: &mut Exchange) {
        match &mut exchange.stream_reader {
            Some(reader) => reader.restart(self.dialect),
            None => exchange.stream_reader = Some(Box::new(StreamReader::new(self.dialect))),
        }
        if let Some(reader) = &mut exchange.stream_reader {
            reader.text = self.text.map(|_| reader.text.take().unwrap_or_default());
            reader.conversation =
                self.conversation.map(|_| reader.conversation.take().unwrap_or_default());
            reader.generated = self.keeps_text.then(|| reader.generated.take().unwrap_or_default());
            self.set_up_chunks(reader);
        }
    }

    /// Prepares the chunks of each tool; those of the same tools before have been emptied.
    fn set_up_chunks(&self, reader: &mut StreamReader) {
        let tools = self.aliases.iter().map(|alias| *alias as usize);
        if !reader.chunks.iter().map(|chunks| chunks.tool).eq(tools.clone()) {
            reader.chunks = tools.map(chunks_of).collect();
        }
    }

    /// Returns why a complete response fails as a stream.
    pub(crate) fn judge(&self, exchange: &mut Exchange) -> Option<Reason> {
        let at = exchange.stamps.last_byte;
        let wrong = exchange.stream_reader.as_mut().and_then(|reader| reader.finish(at));
        if is_compressed(exchange) { Some(Reason::StreamCompressed) } else { wrong }
    }

    /// Returns the first fault within the stream of an exchange that failed for another reason.
    pub(crate) fn first_fault(exchange: &Exchange) -> Option<Reason> {
        exchange
            .stream_reader
            .as_ref()
            .and_then(|reader| reader.observation().fault)
            .map(|fault| if is_compressed(exchange) { Reason::StreamCompressed } else { fault })
    }

    /// Captures the values for the user's next requests.
    pub(crate) fn capture(&self, exchange: &Exchange, values: &mut [Vec<u8>]) {
        let Some(reader) = &exchange.stream_reader else { return };
        let pairs = [(self.text, &reader.text), (self.conversation, &reader.conversation)];
        for (index, written) in pairs {
            let value = index.and_then(|index| values.get_mut(index)).zip(written.as_deref());
            if let Some((value, written)) = value {
                unescape(written, value);
            }
        }
    }

    /// Counts a stream that ended well.
    pub(crate) fn accept(&self, exchange: &Exchange, tally: &mut StreamTally) {
        let Some(reader) = &exchange.stream_reader else { return };
        let (observed, times) = (reader.observation(), self.times(exchange));
        tally.accept_ended(observed, times);
        if let Some(expected) = self.output_tokens {
            tally.accept_length(observed, expected);
        }
        for chunks in &reader.chunks {
            tally.accept_chunks(observed, chunks, times);
        }
    }

    /// Returns the text of a stream that ended well, if texts are stored.
    pub(crate) fn text(
        &self,
        exchange: &Exchange,
        row: u16,
        when: (bool, bool),
    ) -> Option<StreamText> {
        let reader = exchange.stream_reader.as_ref()?;
        let (texts, observed) = (reader.generated.as_ref()?, reader.observation());
        let (is_measured, is_inside) = when;
        let [thought, text] = texts.first();
        Some(StreamText {
            row,
            text: self.written(&texts.text),
            thought: self.written(&texts.thought),
            first: self.written(thought) + &self.written(text),
            is_cut: texts.is_cut,
            is_spread: observed.is_spread(),
            span_ns: observed.last_text.saturating_sub(observed.first_text),
            tokens: observed.tokens_streamed(),
            is_measured,
            is_inside,
        })
    }

    /// Returns a text as it is written in JSON, between quotes.
    fn written(&self, bytes: &[u8]) -> String {
        let text = String::from_utf8_lossy(bytes);
        if self.dialect != Dialect::Plain {
            return text.into_owned();
        }
        // Plain data is not JSON.
        let quoted = serde_json::Value::from(text.as_ref()).to_string();
        quoted[1..quoted.len() - 1].to_owned()
    }

    /// Returns the times from which the durations of an exchange count.
    pub(crate) fn times(&self, exchange: &Exchange) -> Times {
        let stamps = &exchange.stamps;
        let is_from_intended = self.is_from_intended;
        let from = if is_from_intended { stamps.intended } else { stamps.sent };
        Times { from, is_from_intended, first_byte: stamps.first_byte, last_byte: stamps.last_byte }
    }
}

/// Returns the observations of the stream of an exchange.
pub(crate) fn observation(exchange: &Exchange) -> Option<&StreamObservation> {
    exchange.stream_reader.as_ref().map(|reader| reader.observation())
}

fn is_compressed(exchange: &Exchange) -> bool {
    let coding = exchange.field("content-encoding").unwrap_or_default();
    !coding.is_empty() && !coding.eq_ignore_ascii_case(b"identity")
}

/// Decodes text that was written between the quotes of JSON texts.
fn unescape(written: &[u8], value: &mut Vec<u8>) {
    let quoted = [b"\"", written, b"\""].concat();
    value.clear();
    match serde_json::from_slice::<String>(&quoted) {
        Ok(text) => value.extend_from_slice(text.as_bytes()),
        // Half of a surrogate pair cannot be decoded.
        Err(_) => value.extend_from_slice(written),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_kept_as_a_reader_sees_it() {
        let mut value = b"old".to_vec();
        unescape(br#"a\n\"b\" \u4f60 \ud83d\ude00"#, &mut value);
        assert_eq!(String::from_utf8_lossy(&value), "a\n\"b\" 你 😀");
        unescape(br"\ud83d", &mut value);
        assert_eq!(value, br"\ud83d");
    }
}
