//! Streams with a defect.

use std::io::{self, Write};
use std::time::Duration;

use tokio::time::sleep;

use super::clerk::ChatTurn;
use super::log::What;
use super::story::Story;
use super::{ChatConnection, Defect};
use crate::peer::Ending;

/// The pause before a reset, in which the client reads the bytes before it.
const BEFORE_RESET: Duration = Duration::from_millis(20);

/// The interval of keep-alives of a stream that never ends.
const ENDLESS: Duration = Duration::from_millis(50);

const HTML: &str = "<!doctype html>\n<title>Sign in</title>\n<p>Please sign in.\n";

impl ChatConnection {
    /// Sends a stream with a defect in its head or after half of its texts.
    pub(super) async fn broken(
        &mut self,
        story: &Story,
        turn: &ChatTurn,
        defect: Defect,
    ) -> io::Result<Ending> {
        self.peer.tally.defect(defect);
        let half = turn.at_ns.len() / 2;
        match defect {
            Defect::Html => {
                let length = HTML.len();
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length:";
                self.peer.send(format!("{head} {length}\r\n\r\n{HTML}").as_bytes()).await?;
                return Ok(Ending::Open);
            }
            Defect::Compressed => return self.compressed(story, turn).await,
            _ => {}
        }
        self.open("content-type: text/event-stream\r\ncache-control: no-cache\r\n").await?;
        self.begin(story, turn).await?;
        self.texts(story, turn, 0..half).await?;
        match defect {
            Defect::Error => {
                self.put(turn.number, What::Other, turn.end_ns(), |out| story.error(out));
                self.flush().await?;
                self.peer.send(b"0\r\n\r\n").await?;
            }
            Defect::Truncated => self.peer.send(b"0\r\n\r\n").await?,
            Defect::Malformed => {
                let cut = b"data: {\"event\":\"message\",\"choices\":[{\"delta\":{\"con\n\n";
                self.put(turn.number, What::Other, turn.end_ns(), |out| out.extend(cut));
                self.texts(story, turn, half..turn.at_ns.len()).await?;
                self.close_body(story, turn).await?;
            }
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
                sleep(ENDLESS).await;
            },
            Defect::Html | Defect::Compressed => {}
        }
        Ok(Ending::Open)
    }

    /// Sends the whole stream in a coding that was not requested.
    async fn compressed(&mut self, story: &Story, turn: &ChatTurn) -> io::Result<Ending> {
        let mut plain = Vec::new();
        story.opening(&mut plain);
        (0..turn.at_ns.len() as u64).for_each(|number| story.text(number, &mut plain));
        story.closing(turn.at_ns.len() as u64, &mut plain);
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(&plain)?;
        self.open("content-type: text/event-stream\r\ncontent-encoding: gzip\r\n").await?;
        self.alarm.until(turn.end_ns()).await;
        self.body = packed.finish()?;
        self.flush().await?;
        self.peer.send(b"0\r\n\r\n").await?;
        Ok(Ending::Open)
    }
}
