//! Serves language models that it imitates: known events at known times, in the APIs of OpenAI, Anthropic
//! and Dify.
//!
//! It uses raw sockets, because it also breaks streams as no HTTP library does. `ask` reads requests,
//! `queue` decides times and lengths with the `scheduler`, `story` has the events of a response, `metrics`
//! the counts, and some streams have a `defect`.

mod ask;
mod breaking;
mod dify;
mod kv_blocks;
mod log;
mod messages;
mod metrics;
mod openai;
mod queue;
mod responses;
mod scheduler;
mod spec;
mod story;
mod streaming;
mod tokenizer;

use std::io;
use std::sync::{Arc, OnceLock};

use tokio::net::TcpStream;

use crate::alarm::DelayAlarm;
use crate::clock;
use crate::counts::{ChatCall, ChatEnd, ThreadCounts};
use crate::listener::Serve;
use crate::peer::{Ending, RawClient};
use crate::request::ReceivedRequest;
use crate::truth::Truth;
use ask::{Ask, ChatAsk};
pub(crate) use log::LogEvent;
use log::What;
pub(crate) use queue::ChatQueue;
pub use spec::{AnswerLength, Chance, ChatDialect, ChatSpec};

/// The maximum number of bytes to read of the body of a request; the rest is ignored.
const BODY_BYTES: usize = 16 << 20;
const JSON: &str = "application/json";

/// The chat server of one thread.
#[derive(Debug)]
pub(crate) struct Chat {
    queue: Arc<ChatQueue>,
    alarm: Arc<DelayAlarm>,
    log: Option<Arc<Truth<LogEvent>>>,
}

/// A connection.
struct ChatConnection {
    queue: Arc<ChatQueue>,
    alarm: Arc<DelayAlarm>,
    log: Option<Arc<Truth<LogEvent>>>,
    peer: RawClient,
    /// When the client closed, once that is known.
    closed_ns: OnceLock<u64>,
    /// Whether a request was read whose end is not counted.
    is_open: bool,
    /// Whether its response has no body.
    head_only: bool,
    /// The bytes to write, and their rows of the log.
    body: Vec<u8>,
    framed: Vec<u8>,
    events: Vec<LogEvent>,
}

impl Chat {
    pub(crate) fn new(
        queue: Arc<ChatQueue>,
        alarm: Arc<DelayAlarm>,
        log: Option<Arc<Truth<LogEvent>>>,
    ) -> Self {
        Chat { queue, alarm, log }
    }

    fn connection(&self, stream: TcpStream, tally: Arc<ThreadCounts>) -> ChatConnection {
        ChatConnection {
            queue: Arc::clone(&self.queue),
            alarm: Arc::clone(&self.alarm),
            log: self.log.clone(),
            peer: RawClient::new(stream, tally),
            closed_ns: OnceLock::new(),
            is_open: false,
            head_only: false,
            body: Vec::new(),
            framed: Vec::new(),
            events: Vec::new(),
        }
    }
}

impl Serve for Chat {
    fn serve(
        &self,
        stream: TcpStream,
        tally: Arc<ThreadCounts>,
    ) -> impl Future<Output = ()> + Send + 'static {
        let mut connection = self.connection(stream, tally);
        async move { while let Ok(Ending::Open) = connection.exchange().await {} }
    }
}

impl ChatConnection {
    /// Handles a request. An error means that the client closed the connection or sent no valid request.
    async fn exchange(&mut self) -> io::Result<Ending> {
        let Some(request) = self.peer.next(BODY_BYTES).await? else {
            return Ok(Ending::Over);
        };
        self.is_open = true;
        self.head_only = request.head_only;
        let ending = self.respond(&request).await;
        match ending {
            Ok(_) => self.settle(ChatEnd::Ok),
            Err(_) => self.settle(ChatEnd::Cancelled),
        }
        Ok(if request.keep_alive { ending? } else { Ending::Over })
    }

    async fn respond(&mut self, request: &ReceivedRequest) -> io::Result<Ending> {
        let received_ns = clock::now_ns();
        match ask::read(self.queue.spec(), request) {
            Ask::Generate(ask) => return self.generate(ask, received_ns).await,
            Ask::Pool(call, prompt, body) => {
                self.peer.tally.call(call);
                self.compute(prompt, &body, received_ns).await?;
            }
            Ask::Retrieve => {
                self.peer.tally.call(ChatCall::Retrieve);
                self.compute(Vec::new(), &dify::records(), received_ns).await?;
            }
            Ask::Metrics => {
                self.peer.tally.call(ChatCall::Metrics);
                let page = metrics::text(&self.queue.snapshot());
                self.plain("200 OK", metrics::METRICS_TYPE, &page).await?;
            }
            Ask::Plain(call, status, body) => {
                self.peer.tally.call(call);
                self.plain(status, JSON, &body).await?;
            }
            Ask::Refused(status, problem) => {
                self.peer.tally.call(ChatCall::Other);
                self.refuse(status, &problem).await?;
            }
        }
        Ok(Ending::Open)
    }

    /// Answers with generated text.
    async fn generate(&mut self, mut ask: ChatAsk, received_ns: u64) -> io::Result<Ending> {
        self.peer.tally.call(ask.api.call());
        let mut turn = match self.queue.generate(&mut ask, received_ns) {
            Ok(turn) => turn,
            Err(problem) => return self.refuse("400 Bad Request", &problem).await,
        };
        let prompt_tokens = turn.prompt_tokens;
        self.note(turn.number, What::Received, received_ns, received_ns, prompt_tokens);
        let ending = match turn.defect {
            Some(defect) => self.broken(&mut ask, &mut turn, defect).await,
            None => self.whole(&mut ask, &mut turn).await,
        };
        // The place is free, and later preemptions are known.
        turn.place.leave();
        if ending.is_err() && self.is_open {
            let now_ns = clock::now_ns();
            self.note_place(&mut turn);
            self.note(turn.number, What::Cancelled, now_ns, now_ns, 0);
        }
        self.write_log();
        ending
    }

    /// Answers with a result that takes the time of a first text.
    async fn compute(&mut self, prompt: Vec<u32>, body: &str, received_ns: u64) -> io::Result<()> {
        let mut turn = match self.queue.compute(prompt, received_ns) {
            Ok(turn) => turn,
            Err(problem) => return self.refuse("400 Bad Request", &problem).await.map(drop),
        };
        self.text_due(&mut turn, 0).await?;
        turn.place.leave();
        self.plain("200 OK", JSON, body).await
    }

    async fn refuse(&mut self, status: &str, problem: &str) -> io::Result<Ending> {
        self.settle(ChatEnd::Refused);
        let message = serde_json::Value::from(problem);
        let body = format!(r#"{{"error":{{"message":{message},"type":"invalid_request_error"}}}}"#);
        self.plain(status, JSON, &body).await?;
        Ok(Ending::Open)
    }

    /// Sends a response that is no stream.
    async fn plain(&mut self, status: &str, kind: &str, body: &str) -> io::Result<()> {
        let length = body.len();
        let body = if self.head_only { "" } else { body };
        let text = format!(
            "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        self.peer.send(text.as_bytes()).await?;
        self.peer.answered();
        Ok(())
    }

    /// Counts the end of the request, once.
    fn settle(&mut self, end: ChatEnd) {
        if std::mem::take(&mut self.is_open) {
            self.peer.tally.end(end);
        }
    }
}

impl Drop for ChatConnection {
    /// A request that is open now was ended by the end of the target.
    fn drop(&mut self) {
        self.settle(ChatEnd::Stopped);
    }
}
