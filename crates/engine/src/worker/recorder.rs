//! The worker's books: tallies of the current interval, samples, log rows. Handed up once an interval.

use client::{Class, Exchange, Outcome, Reason, Stamps};
use net::{Address, Nanos};

use crate::measure::report::{Row, Sample, StreamRow, Text};
use crate::measure::tally::Tally;
use crate::measure::tally_pool::{PooledTallies, TallyPool};

/// Samples kept of each class.
const SAMPLES: u8 = 5;

/// The books of one worker.
pub(super) struct Recorder {
    /// Of the current interval of the window, by request.
    pub(super) measured: Vec<Tally>,
    /// Of the warm-up, by request.
    pub(super) warmup: Vec<Tally>,
    pub(super) samples: Vec<Sample>,
    sampled: [u8; Class::ALL.len()],
    pub(super) rows: Option<Vec<Row>>,
    /// What streams told, where that is kept.
    pub(super) texts: Vec<Text>,
    /// Where handed-up books come back from.
    tally_pool: TallyPool,
}

impl Recorder {
    /// `streams` says of each row whether its answers are streams.
    pub(super) fn new(streams: &[bool], logs: bool) -> Self {
        let tally =
            |streams: &bool| Tally { stream: streams.then(Box::default), ..Tally::default() };
        let tallies: Vec<_> = streams.iter().map(tally).collect();
        Self {
            measured: tallies.clone(),
            warmup: tallies,
            samples: Vec::new(),
            sampled: [0; Class::ALL.len()],
            rows: logs.then(Vec::new),
            texts: Vec::new(),
            tally_pool: TallyPool::default(),
        }
    }

    pub(super) fn tally(&mut self, row: u16, measured: bool) -> &mut Tally {
        let side = if measured { &mut self.measured } else { &mut self.warmup };
        &mut side[usize::from(row)]
    }

    /// Books the end of an attempt.
    pub(super) fn end(
        &mut self,
        (request, row): (u16, u16),
        measured: bool,
        has_lag: bool,
        stamps: &Stamps,
        outcome: &Outcome,
        stream: Option<StreamRow>,
    ) {
        if let Some(rows) = &mut self.rows {
            let (request, stamps) = (request.into(), *stamps);
            let (failure, status) = (outcome.failure, outcome.status);
            rows.push(Row { request, measured, stamps, failure, status, stream });
        }
        let tally = self.tally(row, measured);
        let latencies = match outcome {
            Outcome { failure: None, status: Some(status), .. } => {
                tally.accept(stamps, *status);
                &mut tally.accepted
            }
            _ => {
                tally.reject(stamps, outcome);
                &mut tally.failed
            }
        };
        if has_lag {
            latencies.lag.record(stamps.lag());
        }
    }

    /// Keeps the beginning of a failed answer, if its class has too few yet.
    pub(super) fn sample(
        &mut self,
        outcome: &Outcome,
        exchange: Option<&Exchange>,
        buffer: &[u8],
        at: Nanos,
        to: Option<&Address>,
    ) {
        let reason = outcome.failure.unwrap_or(Reason::Status);
        let seen = &mut self.sampled[reason.class() as usize];
        if *seen >= SAMPLES {
            return;
        }
        *seen += 1;
        let excerpt = exchange.map(|exchange| exchange.excerpt(buffer)).unwrap_or_default();
        let mut sample = Sample::new(reason, outcome.status, excerpt, at, to);
        let watch = exchange.and_then(|exchange| exchange.watch.as_ref());
        if let Some(event) = watch.map(|watch| watch.culprit()).filter(|event| !event.is_empty()) {
            // Of a long stream, the event that broke it says more than its beginning.
            sample.body = String::from_utf8_lossy(event).into_owned();
        }
        self.samples.push(sample);
    }

    /// Takes one side of the books and leaves empty ones of the same size.
    pub(super) fn take(&mut self, measured: bool) -> PooledTallies {
        self.tally_pool.take(if measured { &mut self.measured } else { &mut self.warmup })
    }
}

impl Sample {
    fn new(
        reason: Reason,
        status: Option<u16>,
        excerpt: &[u8],
        at: Nanos,
        to: Option<&Address>,
    ) -> Self {
        let place = to.map(|to| format!(" ({to})")).unwrap_or_default();
        let text = String::from_utf8_lossy(excerpt);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let name = match (reason, status) {
            (Reason::Status, Some(status)) => format!("status.{status}"),
            _ => reason.name().to_owned(),
        };
        Self {
            name: String::new(),
            class: reason.class().name().to_owned(),
            reason: name,
            detail: format!("{}{place}", reason.text()),
            at,
            status,
            head: head.to_owned(),
            body: body.chars().take(1024).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_hold_the_head_and_the_beginning_of_the_body() {
        let answer = b"HTTP/1.1 503 Busy\r\nSet-Cookie: sid=42\r\nX-Auth-Token: abc\r\nServer: s\r\n\r\nbody";
        let sample = Sample::new(Reason::Status, Some(503), answer, 0, None);
        assert_eq!(
            sample.head,
            "HTTP/1.1 503 Busy\r\nSet-Cookie: sid=42\r\nX-Auth-Token: abc\r\nServer: s"
        );
        assert_eq!((sample.body.as_str(), sample.reason.as_str()), ("body", "status.503"));
    }

    #[test]
    fn keeps_the_first_five_of_each_class() {
        let mut recorder = Recorder::new(&[false], false);
        for at in 0..9 {
            recorder.sample(&Outcome::failed(Reason::ReadReset, None), None, &[], at, None);
            recorder.sample(&Outcome::failed(Reason::ReadClosed, None), None, &[], at, None);
            recorder.sample(&Outcome::failed(Reason::ConnectRefused, None), None, &[], at, None);
        }
        let kept = |class: &str| {
            let samples = recorder.samples.iter().filter(|sample| sample.class == class);
            samples.map(|sample| sample.at).collect::<Vec<_>>()
        };
        assert_eq!(kept("read"), [0, 0, 1, 1, 2]);
        assert_eq!(kept("connect"), [0, 1, 2, 3, 4]);
    }
}
