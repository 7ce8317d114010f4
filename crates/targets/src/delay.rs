//! Answers each request after a known delay.
//!
//! The delay of a request follows from the seed and the request's number. Its deadline is
//! absolute: end of the request's last byte, plus its wait for a place, plus the delay.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use hyper::header::HeaderValue;
use serde::{Deserialize, Serialize};

use crate::alarm::DelayAlarm;
use crate::body::Body;
use crate::counted::Ledger;
use crate::hello::Hello;
use crate::http::Site;
use crate::places::Places;
use crate::spec::{LONGEST_DELAY_NS, SpecError, within};
use crate::truth::{Row, Truth};
use crate::{DelaySpec, random};

/// The delays of requests. In JSON, `kind` selects the variant.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Delay {
    /// The same for all.
    Constant {
        /// Nanoseconds, at most an hour.
        ns: u64,
    },
    /// One of two, at random for each request.
    Bimodal {
        /// Nanoseconds, at most `slow_ns`.
        fast_ns: u64,
        /// Nanoseconds, at most an hour.
        slow_ns: u64,
        /// The share of requests that is slow, 0 to 1.
        slow_share: f64,
    },
    /// Log-normal: median · exp(sigma · z), z standard normal; cut at an hour.
    Heavy {
        /// Nanoseconds, at most an hour.
        median_ns: u64,
        /// 0 to 10; at 1 the 99th percentile is ten times the median.
        sigma: f64,
    },
}

impl Delay {
    /// Checks the distribution; `key` is its name in the spec.
    pub(crate) fn check(&self, key: &str) -> Result<(), SpecError> {
        match *self {
            Delay::Constant { ns } => within(&format!("{key}.ns"), ns, 0, LONGEST_DELAY_NS),
            Delay::Bimodal { fast_ns, slow_ns, slow_share } => {
                within(&format!("{key}.slow_ns"), slow_ns, 0, LONGEST_DELAY_NS)?;
                within(&format!("{key}.fast_ns"), fast_ns, 0, slow_ns)?;
                within(&format!("{key}.slow_share"), slow_share, 0.0, 1.0)
            }
            Delay::Heavy { median_ns, sigma } => {
                within(&format!("{key}.median_ns"), median_ns, 0, LONGEST_DELAY_NS)?;
                within(&format!("{key}.sigma"), sigma, 0.0, 10.0)
            }
        }
    }

    /// Returns the delay of request `number`, in nanoseconds.
    pub(crate) fn draw(&self, seed: u64, number: u64) -> u64 {
        match *self {
            Delay::Constant { ns } => ns,
            Delay::Bimodal { fast_ns, slow_ns, slow_share } => {
                let slow = random::unit(seed, 0, number) < slow_share;
                if slow { slow_ns } else { fast_ns }
            }
            Delay::Heavy { median_ns, sigma } => {
                let factor = (sigma * random::normal(seed, 0, number)).exp();
                ((median_ns as f64 * factor) as u64).min(LONGEST_DELAY_NS)
            }
        }
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: u64 = 20_000;

    #[test]
    fn draws_the_same_delays_from_the_same_seed() {
        let heavy = Delay::Heavy { median_ns: 1_000_000, sigma: 1.0 };
        let draws = |seed| (0..100).map(|number| heavy.draw(seed, number)).collect::<Vec<_>>();
        assert_eq!(draws(1), draws(1));
        assert_ne!(draws(1), draws(2));
    }

    #[test]
    fn a_bimodal_delay_is_slow_in_its_share() {
        let delay = Delay::Bimodal { fast_ns: 1, slow_ns: 9, slow_share: 0.1 };
        let slow = (0..DRAWS).filter(|&number| delay.draw(1, number) == 9).count();
        assert!((1_850..2_150).contains(&slow), "{slow}");
    }

    #[test]
    fn a_heavy_delay_has_its_median_and_its_tail() {
        let delay = Delay::Heavy { median_ns: 1_000_000, sigma: 1.0 };
        let mut draws: Vec<u64> = (0..DRAWS).map(|number| delay.draw(1, number)).collect();
        draws.sort_unstable();
        let (median, p99) = (draws[10_000] as f64, draws[19_800] as f64);
        assert!((median / 1e6 - 1.0).abs() < 0.03, "{median}");
        assert!((p99 / (1e6 * (2.326_f64).exp()) - 1.0).abs() < 0.1, "{p99}");
    }

    #[test]
    fn an_endless_tail_is_cut_at_an_hour() {
        let delay = Delay::Heavy { median_ns: LONGEST_DELAY_NS, sigma: 10.0 };
        assert!((0..100).all(|number| delay.draw(1, number) <= LONGEST_DELAY_NS));
    }
}
