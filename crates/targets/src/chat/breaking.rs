//! Streams with a defect.

use std::io::{self, Write};
use std::time::Duration;

use tokio::time::sleep;

use super::ChatConnection;
use super::ask::ChatAsk;
use super::log::What;
use super::queue::ChatTurn;
use super::scheduler::FinishReason;
use super::story::{Story, word};
use super::streaming::SSE;
use crate::Defect;
use crate::counts::ChatEnd;
use crate::peer::Ending;
use crate::race::{First, race};

/// The pause before a reset, in which the client reads the bytes before it.
const BEFORE_RESET: Duration = Duration::from_millis(20);

/// The interval of keep-alives of a stream that never ends.
const ENDLESS: Duration = Duration::from_millis(50);

const HTML: &str = "<!doctype html>\n<title>Sign in</title>\n<p>Please sign in.\n";

impl ChatConnection {
    /// Sends a stream with a defect in its head or after half of its texts. When it fails, the request is
    /// over for the model: its place is free.
    pub(super) async fn broken(
        &mut self,
        ask: &mut ChatAsk,
        turn: &mut ChatTurn,
        defect: Defect,
    ) -> io::Result<Ending> {
        if defect == Defect::Html {
            self.fails(turn, defect);
            let length = HTML.len();
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length:";
            self.peer.send(format!("{head} {length}\r\n\r\n{HTML}").as_bytes()).await?;
            return Ok(Ending::Open);
        }
        let story = self.started(ask, turn).await?;
        if defect == Defect::Compressed {
            return self.compressed(&*story, turn).await;
        }
        let half = turn.texts / 2;
        self.open(SSE);
        self.begin(&*story, turn).await?;
        self.texts(&*story, turn, 0..half).await?;
        if defect == Defect::Malformed {
            return self.malformed(&*story, turn, half).await;
        }
        self.fails(turn, defect);
        self.stops(&*story, turn, defect).await
    }

    /// Counts a defect when the client meets it.
    fn fails(&mut self, turn: &mut ChatTurn, defect: Defect) {
        self.peer.tally.defect(defect);
        self.settle(ChatEnd::Fault);
        turn.place.ends_by(FinishReason::Error);
        turn.place.leave();
    }

    /// Ends a stream in the way of a defect.
    async fn stops(
        &mut self,
        story: &dyn Story,
        turn: &ChatTurn,
        defect: Defect,
    ) -> io::Result<Ending> {
        match defect {
            Defect::Error => {
                self.put(turn.number, What::Other, turn.end_ns(), |out| story.error(out));
                self.flush().await?;
                self.peer.send(b"0\r\n\r\n").await?;
            }
            Defect::Truncated => self.peer.send(b"0\r\n\r\n").await?,
            Defect::Reset => {
                sleep(BEFORE_RESET).await;
                self.peer.end_by_reset()?;
                return Ok(Ending::Over);
            }
            Defect::Stall => {
                self.peer.listen_only().await?;
                return Ok(Ending::Over);
            }
            Defect::Endless => loop {
                self.body.extend_from_slice(b": still here\n\n");
                self.flush().await?;
                // A write would notice it later.
                if race(self.peer.hung_up(), sleep(ENDLESS)).await == First::Left(()) {
                    return Ok(Ending::Over);
                }
            },
            Defect::Malformed | Defect::Html | Defect::Compressed => {}
        }
        Ok(Ending::Open)
    }

    /// Sends an event that is cut in the middle of the stream, which goes on.
    async fn malformed(
        &mut self,
        story: &dyn Story,
        turn: &mut ChatTurn,
        half: usize,
    ) -> io::Result<Ending> {
        self.peer.tally.defect(Defect::Malformed);
        self.settle(ChatEnd::Fault);
        let cut = b"data: {\"event\":\"message\",\"choices\":[{\"delta\":{\"con\n\n";
        self.put(turn.number, What::Other, turn.end_ns(), |out| out.extend(cut));
        self.texts(story, turn, half..turn.texts).await?;
        self.close_body(story, turn).await?;
        Ok(Ending::Open)
    }

    /// Sends the whole stream in a coding that was not requested.
    async fn compressed(&mut self, story: &dyn Story, turn: &mut ChatTurn) -> io::Result<Ending> {
        let mut plain = Vec::new();
        let texts = turn.texts as u64;
        story.opening(&mut plain);
        (0..texts).for_each(|number| story.text(number, word(number), &mut plain));
        story.closing(texts, &mut plain);
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(&plain)?;
        self.last_due(turn).await?;
        self.peer.tally.defect(Defect::Compressed);
        self.settle(ChatEnd::Fault);
        self.open("content-type: text/event-stream\r\ncontent-encoding: gzip\r\n");
        self.body = packed.finish()?;
        self.flush().await?;
        self.peer.send(b"0\r\n\r\n").await?;
        Ok(Ending::Open)
    }
}
