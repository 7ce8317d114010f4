//! Sends the events of a response when they are due, and notices when the client hangs up.

use std::io::{self, Write};

use super::ask::ChatAsk;
use super::log::{LogEvent, What};
use super::queue::ChatTurn;
use super::story::{Story, StoryFacts, story, word};
use super::{ChatConnection, JSON};
use crate::clock;
use crate::peer::Ending;
use crate::race::{First, race};

pub(super) const SSE: &str = "content-type: text/event-stream\r\ncache-control: no-cache\r\n";

impl ChatConnection {
    /// Sends a stream, or the same text at once if the client requested no stream.
    pub(super) async fn whole(
        &mut self,
        ask: &mut ChatAsk,
        turn: &mut ChatTurn,
    ) -> io::Result<Ending> {
        let story = self.started(ask, turn).await?;
        if !ask.is_streamed {
            self.last_due(turn).await?;
            self.note(turn.number, What::End, turn.end_ns(), clock::now_ns(), turn.texts as u64);
            self.plain("200 OK", JSON, &story.at_once(turn.texts as u64)).await?;
            return Ok(Ending::Open);
        }
        self.open(SSE);
        self.begin(&*story, turn).await?;
        self.texts(&*story, turn, 0..turn.texts).await?;
        self.close_body(&*story, turn).await?;
        self.peer.answered();
        Ok(Ending::Open)
    }

    /// Waits until the request has a place; returns its response.
    pub(super) async fn started(
        &mut self,
        ask: &mut ChatAsk,
        turn: &mut ChatTurn,
    ) -> io::Result<Box<dyn Story>> {
        while turn.place.view.start_ns.is_none() {
            self.news(turn).await?;
        }
        self.note_place(turn);
        let has_cache = self.queue.spec().prefix_cache.is_some();
        let facts = StoryFacts {
            number: turn.number,
            prompt_tokens: turn.prompt_tokens,
            cached_tokens: has_cache.then_some(turn.place.view.cached_tokens),
            is_cut: turn.is_cut,
        };
        Ok(story(ask, facts))
    }

    /// Adds the head of a chunked response to the next write.
    pub(super) fn open(&mut self, fields: &str) {
        let head = format!("HTTP/1.1 200 OK\r\n{fields}transfer-encoding: chunked\r\n\r\n");
        self.framed.extend_from_slice(head.as_bytes());
    }

    /// Sends the events before the first text.
    pub(super) async fn begin(&mut self, story: &dyn Story, turn: &ChatTurn) -> io::Result<()> {
        let start_ns = turn.place.view.start_ns.unwrap_or_default();
        let first_ns = turn.place.view.at_ns.first().copied().unwrap_or(start_ns);
        let at_ns = match story.begins_at_once() {
            true => start_ns,
            false => start_ns + (first_ns - start_ns) / 2,
        };
        self.rest(at_ns).await?;
        self.put(turn.number, What::Other, at_ns, |out| story.opening(out));
        self.flush().await
    }

    /// Sends the texts, as many in one write as the spec says, when the last of them is due.
    pub(super) async fn texts(
        &mut self,
        story: &dyn Story,
        turn: &mut ChatTurn,
        texts: std::ops::Range<usize>,
    ) -> io::Result<()> {
        let (mut next, end) = (texts.start, texts.end);
        while next < end {
            let after = (next + self.queue.spec().events_per_write).min(end);
            self.ping_until(story, turn, after - 1).await?;
            self.text_due(turn, after - 1).await?;
            for number in next..after {
                let at_ns = turn.place.view.at_ns[number];
                let text = number as u64;
                self.put(turn.number, What::Text, at_ns, |out| story.text(text, word(text), out));
            }
            self.flush().await?;
            next = after;
        }
        Ok(())
    }

    pub(super) async fn close_body(
        &mut self,
        story: &dyn Story,
        turn: &ChatTurn,
    ) -> io::Result<()> {
        let texts = turn.texts as u64;
        self.put(turn.number, What::End, turn.end_ns(), |out| story.closing(texts, out));
        self.flush().await?;
        let sent = self.peer.send(b"0\r\n\r\n").await;
        self.unless_unnoticed(sent)
    }

    /// Waits until a text is due and certain.
    pub(super) async fn text_due(&mut self, turn: &mut ChatTurn, text: usize) -> io::Result<()> {
        loop {
            if let Some(at_ns) = turn.place.certain_ns(text) {
                return self.rest(at_ns).await;
            }
            self.news(turn).await?;
            self.note_place(turn);
        }
    }

    /// Waits until the last text is due.
    pub(super) async fn last_due(&mut self, turn: &mut ChatTurn) -> io::Result<()> {
        match turn.texts {
            0 => Ok(()),
            texts => self.text_due(turn, texts - 1).await,
        }
    }

    /// Looks what has changed, after it had time to.
    async fn news(&mut self, turn: &mut ChatTurn) -> io::Result<()> {
        let place = &mut turn.place;
        match place.view.wake_ns {
            Some(at_ns) => {
                let change = race(self.alarm.until(at_ns), place.news());
                connected(race(self.hung_up(), change).await)?;
            }
            None => connected(race(self.hung_up(), place.news()).await)?,
        }
        place.look();
        Ok(())
    }

    /// Sends keep-alives until shortly before a text is due, if the dialect has them.
    async fn ping_until(
        &mut self,
        story: &dyn Story,
        turn: &ChatTurn,
        text: usize,
    ) -> io::Result<()> {
        while let Some((ping, every_ns)) = story.ping() {
            let ping_ns = clock::now_ns() + every_ns;
            if turn.place.view.at_ns.get(text).is_none_or(|at_ns| ping_ns >= *at_ns) {
                break;
            }
            self.rest(ping_ns).await?;
            self.body.extend_from_slice(ping);
            self.flush().await?;
        }
        Ok(())
    }

    /// Waits; an error if the client hangs up.
    pub(super) async fn rest(&self, at_ns: u64) -> io::Result<()> {
        connected(race(self.hung_up(), self.alarm.until(at_ns)).await)
    }

    /// Adds events to the next write.
    pub(super) fn put(
        &mut self,
        turn: u64,
        what: What,
        at_ns: u64,
        write: impl FnOnce(&mut Vec<u8>),
    ) {
        write(&mut self.body);
        self.note(turn, what, at_ns, 0, u64::from(what == What::Text));
    }

    /// Adds a row to the log; `sent_ns` 0 stands for the next write.
    pub(super) fn note(
        &mut self,
        turn: u64,
        what: What,
        planned_ns: u64,
        sent_ns: u64,
        tokens: u64,
    ) {
        if self.log.is_some() {
            self.events.push(LogEvent { turn, what, planned_ns, sent_ns, tokens });
        }
    }

    /// Adds what the scheduler did with a request to the log, since the last time.
    pub(super) fn note_place(&mut self, turn: &mut ChatTurn) {
        let now_ns = clock::now_ns();
        let (number, view) = (turn.number, &turn.place.view);
        if let (Some(start_ns), false) = (view.start_ns, turn.noted.has_start) {
            turn.noted.has_start = true;
            self.note(number, What::Started, start_ns, now_ns, view.cached_tokens);
        }
        for at_ns in view.pauses_ns.iter().skip(turn.noted.pauses) {
            self.note(number, What::Preempted, *at_ns, now_ns, 0);
        }
        turn.noted.pauses = view.pauses_ns.len();
    }

    /// Passes the rows of events that have been sent, or are sent now, to the log.
    pub(super) fn write_log(&mut self) {
        let Some(log) = &self.log else { return };
        let now_ns = clock::now_ns();
        for event in self.events.drain(..) {
            let sent_ns = if event.sent_ns == 0 { now_ns } else { event.sent_ns };
            log.push(LogEvent { sent_ns, ..event });
        }
    }

    /// Sends what was put, as one chunk in one write; the log says when.
    pub(super) async fn flush(&mut self) -> io::Result<()> {
        let mut framed = std::mem::take(&mut self.framed);
        // An empty chunk would end the body.
        if !self.body.is_empty() {
            write!(framed, "{:x}\r\n", self.body.len())?;
            framed.append(&mut self.body);
            framed.extend_from_slice(b"\r\n");
        }
        self.write_log();
        let sent = self.peer.send(&framed).await;
        framed.clear();
        self.framed = framed;
        self.unless_unnoticed(sent)
    }

    /// Returns when the target notices that the client has closed.
    async fn hung_up(&self) {
        if self.closed_ns.get().is_none() {
            self.peer.hung_up().await;
        }
        self.alarm.until(self.closed_since() + self.queue.spec().notice_after_ns).await;
    }

    fn closed_since(&self) -> u64 {
        *self.closed_ns.get_or_init(clock::now_ns)
    }

    /// Returns the result of a write; success if it failed at a client whose end is noticed later.
    fn unless_unnoticed(&self, sent: io::Result<()>) -> io::Result<()> {
        let Err(error) = sent else { return Ok(()) };
        // The clock is read last: the first failed write may be what shows the close.
        let noticed_ns = self.closed_since() + self.queue.spec().notice_after_ns;
        if clock::now_ns() < noticed_ns { Ok(()) } else { Err(error) }
    }
}

/// Returns an error if the client hung up first.
fn connected<T>(first: First<(), T>) -> io::Result<()> {
    match first {
        First::Left(()) => Err(io::ErrorKind::ConnectionAborted.into()),
        First::Right(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::net::{TcpListener, TcpStream};

    use super::*;
    use crate::alarm::DelayAlarm;
    use crate::chat::{Chat, ChatDialect, ChatQueue, ChatSpec};

    #[test]
    fn a_failed_write_is_noticed_at_once_unless_the_spec_says_later() -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            for (notice_after_ns, is_noticed) in [(0, true), (3_600_000_000_000, false)] {
                let spec = ChatSpec { notice_after_ns, ..ChatSpec::new(ChatDialect::Openai) };
                let chat = Chat::new(Arc::new(ChatQueue::new(&spec)), DelayAlarm::start()?, None);
                let stream = TcpStream::connect(listener.local_addr()?).await?;
                let connection = chat.connection(stream, Arc::default());
                let sent = connection.unless_unnoticed(Err(io::ErrorKind::BrokenPipe.into()));
                assert_eq!(sent.is_err(), is_noticed);
            }
            Ok(())
        })
    }
}
