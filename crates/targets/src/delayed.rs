//! Answers each request after a known delay.
//!
//! The deadline of an answer is absolute: end of the request's last byte, plus its wait for a place, plus
//! the delay.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use hyper::header::HeaderValue;

use crate::alarm::DelayAlarm;
use crate::body::Body;
use crate::counted::Ledger;
use crate::hello::Hello;
use crate::http::Site;
use crate::places::Places;
use crate::truth::{Row, Truth};
use crate::{Delay, DelaySpec};

/// The shared state of the threads of a delay target.
#[derive(Debug)]
pub(crate) struct DelayQueue {
    delay: Delay,
    seed: u64,
    number: AtomicU64,
    places: Option<Mutex<Places>>,
}

impl DelayQueue {
    pub(crate) fn new(spec: &DelaySpec) -> Self {
        let places = spec.capacity.map(|capacity| Mutex::new(Places::new(capacity)));
        DelayQueue { delay: spec.delay, seed: spec.seed, number: AtomicU64::new(0), places }
    }

    /// Returns the times of a response, which are known when its request has been read.
    fn plan(&self, received_ns: u64) -> Row {
        let delay_ns = self.delay.draw(self.seed, self.number.fetch_add(1, Relaxed));
        let start_ns = self.start(received_ns, delay_ns);
        let queued_ns = start_ns - received_ns;
        Row { received_ns, planned_ns: start_ns + delay_ns, sent_ns: 0, delay_ns, queued_ns }
    }

    fn start(&self, received_ns: u64, delay_ns: u64) -> u64 {
        let Some(places) = &self.places else {
            return received_ns;
        };
        places.lock().unwrap_or_else(PoisonError::into_inner).book(received_ns, delay_ns)
    }
}

/// The delaying site of one thread.
#[derive(Debug)]
pub(crate) struct Delayed {
    clerk: Arc<DelayQueue>,
    alarm: Arc<DelayAlarm>,
    hello: Hello,
    truth: Option<Arc<Truth>>,
}

impl Delayed {
    pub(crate) fn new(
        clerk: Arc<DelayQueue>,
        alarm: Arc<DelayAlarm>,
        truth: Option<Arc<Truth>>,
    ) -> Self {
        Delayed { clerk, alarm, hello: Hello::text(), truth }
    }
}

impl Site for Delayed {
    async fn answer(&self, ledger: &Arc<Ledger>) -> (HeaderValue, Body) {
        let row = self.clerk.plan(ledger.read_ns());
        self.alarm.until(row.planned_ns).await;
        ledger.open_row(row);
        self.hello.say(ledger)
    }

    fn truth(&self) -> Option<Arc<Truth>> {
        self.truth.clone()
    }
}
