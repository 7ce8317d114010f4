//! Streams answers as chat APIs do: known events at known times, in the dialect of the spec.
//!
//! It uses raw sockets, because it also breaks streams as no HTTP library does. The times of events are
//! decided when the request has been read (`clerk`), `story` has their texts, and some streams have a
//! `defect`.

mod ask;
mod breaking;
mod clerk;
mod defect;
mod dify;
mod log;
mod openai;
mod spec;
mod story;

use std::io::{self, Write};
use std::sync::Arc;

use tokio::net::TcpStream;

use crate::alarm::DelayAlarm;
use crate::clock;
use crate::counts::{ChatCall, ThreadCounts};
use crate::listener::Serve;
use crate::peer::{Ending, RawClient};
use crate::truth::Truth;
use ask::Ask;
pub(crate) use clerk::ChatQueue;
use clerk::ChatTurn;
pub use defect::Defect;
pub(crate) use log::LogEvent;
use log::What;
pub use spec::{AnswerLength, Chance, ChatDialect, ChatSpec};
use story::Story;

/// The maximum number of bytes to read of the body of a request; the rest is ignored.
const BODY_BYTES: usize = 1 << 20;

/// The chat server of one thread.
#[derive(Debug)]
pub(crate) struct Chat {
    clerk: Arc<ChatQueue>,
    alarm: Arc<DelayAlarm>,
    log: Option<Arc<Truth<LogEvent>>>,
}

/// A connection.
struct ChatConnection {
    clerk: Arc<ChatQueue>,
    alarm: Arc<DelayAlarm>,
    log: Option<Arc<Truth<LogEvent>>>,
    peer: RawClient,
    /// The bytes to write, and their rows of the log.
    body: Vec<u8>,
    framed: Vec<u8>,
    events: Vec<LogEvent>,
}

impl Chat {
    pub(crate) fn new(
        clerk: Arc<ChatQueue>,
        alarm: Arc<DelayAlarm>,
        log: Option<Arc<Truth<LogEvent>>>,
    ) -> Self {
        Chat { clerk, alarm, log }
    }
}

impl Serve for Chat {
    fn serve(
        &self,
        stream: TcpStream,
        tally: Arc<ThreadCounts>,
    ) -> impl Future<Output = ()> + Send + 'static {
        let mut connection = ChatConnection {
            clerk: Arc::clone(&self.clerk),
            alarm: Arc::clone(&self.alarm),
            log: self.log.clone(),
            peer: RawClient::new(stream, tally),
            body: Vec::new(),
            framed: Vec::new(),
            events: Vec::new(),
        };
        async move { while let Ok(Ending::Open) = connection.exchange().await {} }
    }
}

impl ChatConnection {
    /// Handles a request. An error means that the client closed the connection or sent no valid request.
    async fn exchange(&mut self) -> io::Result<Ending> {
        let Some(request) = self.peer.next(BODY_BYTES).await? else {
            return Ok(Ending::Over);
        };
        let received_ns = clock::now_ns();
        let ending = match ask::read(self.clerk.dialect(), &request) {
            Ask::Plain(status, body) => self.plain(status, &body).await?,
            Ask::Retrieve => {
                self.peer.tally.call(ChatCall::Retrieve);
                let at_ns = self.clerk.retrieval(received_ns);
                self.alarm.until(at_ns).await;
                self.plain("200 OK", &dify::records()).await?
            }
            Ask::Chat(chat) => {
                self.peer.tally.call(if chat.is_agent { ChatCall::Agent } else { ChatCall::Chat });
                let turn = self.clerk.turn(received_ns);
                let story = Story::new(self.clerk.dialect(), chat, turn.number);
                self.note(turn.number, What::Received, received_ns, received_ns);
                match turn.defect {
                    Some(defect) => self.broken(&story, &turn, defect).await?,
                    None => self.whole(&story, &turn).await?,
                }
            }
        };
        Ok(if request.keep_alive { ending } else { Ending::Over })
    }

    /// Sends a response that is no stream.
    async fn plain(&mut self, status: &str, body: &str) -> io::Result<Ending> {
        let length = body.len();
        let text = format!(
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        self.peer.send(text.as_bytes()).await?;
        self.peer.answered();
        Ok(Ending::Open)
    }

    /// Sends a stream, or the same text at once if the client requested no stream.
    async fn whole(&mut self, story: &Story, turn: &ChatTurn) -> io::Result<Ending> {
        if !story.is_streamed() {
            self.alarm.until(turn.end_ns()).await;
            return self.plain("200 OK", &story.at_once(turn.at_ns.len() as u64)).await;
        }
        self.open("content-type: text/event-stream\r\ncache-control: no-cache\r\n").await?;
        self.begin(story, turn).await?;
        self.texts(story, turn, 0..turn.at_ns.len()).await?;
        self.close_body(story, turn).await?;
        self.peer.answered();
        Ok(Ending::Open)
    }

    /// Returns the head of a chunked response.
    async fn open(&mut self, fields: &str) -> io::Result<()> {
        let head = format!("HTTP/1.1 200 OK\r\n{fields}transfer-encoding: chunked\r\n\r\n");
        self.framed.extend_from_slice(head.as_bytes());
        Ok(())
    }

    /// Sends the events before the first text.
    async fn begin(&mut self, story: &Story, turn: &ChatTurn) -> io::Result<()> {
        let at_ns = story.begins_at(turn);
        self.alarm.until(at_ns).await;
        self.put(turn.number, What::Other, at_ns, |out| story.opening(out));
        self.flush().await
    }

    /// Sends the texts, as many in one write as the spec says, when the last of them is due.
    async fn texts(
        &mut self,
        story: &Story,
        turn: &ChatTurn,
        texts: std::ops::Range<usize>,
    ) -> io::Result<()> {
        let (mut next, end) = (texts.start, texts.end);
        while next < end {
            let after = (next + self.clerk.events_per_write()).min(end);
            self.rest_until(story, turn.at_ns[after - 1]).await?;
            for number in next..after {
                let at_ns = turn.at_ns[number];
                self.put(turn.number, What::Text, at_ns, |out| story.text(number as u64, out));
            }
            self.flush().await?;
            next = after;
        }
        Ok(())
    }

    /// Waits, with keep-alives if the dialect has them.
    async fn rest_until(&mut self, story: &Story, at_ns: u64) -> io::Result<()> {
        while let Some((ping, every_ns)) = story.ping() {
            let ping_ns = clock::now_ns() + every_ns;
            if ping_ns >= at_ns {
                break;
            }
            self.alarm.until(ping_ns).await;
            self.body.extend_from_slice(ping);
            self.flush().await?;
        }
        self.alarm.until(at_ns).await;
        Ok(())
    }

    async fn close_body(&mut self, story: &Story, turn: &ChatTurn) -> io::Result<()> {
        let (texts, end_ns) = (turn.at_ns.len() as u64, turn.end_ns());
        self.put(turn.number, What::End, end_ns, |out| story.closing(texts, out));
        self.flush().await?;
        self.peer.send(b"0\r\n\r\n").await
    }

    /// Adds events to the next write.
    fn put(&mut self, turn: u64, what: What, at_ns: u64, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.body);
        self.note(turn, what, at_ns, 0);
    }

    fn note(&mut self, turn: u64, what: What, planned_ns: u64, sent_ns: u64) {
        if self.log.is_some() {
            self.events.push(LogEvent { turn, what, planned_ns, sent_ns });
        }
    }

    /// Sends what was put, as one chunk in one write; the log says when.
    async fn flush(&mut self) -> io::Result<()> {
        let mut framed = std::mem::take(&mut self.framed);
        write!(framed, "{:x}\r\n", self.body.len())?;
        framed.append(&mut self.body);
        framed.extend_from_slice(b"\r\n");
        if let Some(log) = &self.log {
            let sent_ns = clock::now_ns();
            for event in self.events.drain(..) {
                let sent_ns = if event.sent_ns == 0 { sent_ns } else { event.sent_ns };
                log.push(LogEvent { sent_ns, ..event });
            }
        }
        let sent = self.peer.send(&framed).await;
        framed.clear();
        self.framed = framed;
        sent
    }
}
