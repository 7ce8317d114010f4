//! A constant rate without a tool: look at the clock, send what is due, and never sleep.
//!
//! What arrives late then is late by the machine and the target, whoever fires.

use std::io;
use std::time::{Duration, Instant};

use crate::lanes::{Lanes, Spent, processor_time};

/// Sends request k at k / `rate_per_s` after the start, for so long; every connection is open.
pub(crate) fn keep(lanes: &mut Lanes, rate_per_s: u64, length: Duration) -> io::Result<Spent> {
    let (started, cpu) = (Instant::now(), processor_time());
    let (mut sent, mut answered) = (0, 0);
    loop {
        let elapsed = started.elapsed();
        if elapsed >= length {
            return Ok(Spent { requests: answered, cpu: processor_time() - cpu, wall: elapsed });
        }
        if sent <= due(elapsed, rate_per_s) && sent - answered < lanes.len() {
            lanes.fire(sent)?;
            sent += 1;
        } else if answered < sent && lanes.take(answered)? {
            answered += 1;
        }
    }
}

/// The number of the latest request that is due.
fn due(elapsed: Duration, rate_per_s: u64) -> u64 {
    // A bench is not run for the 600 years that this would take to overflow.
    (elapsed.as_nanos() * u128::from(rate_per_s) / 1_000_000_000) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_due_at_its_place_on_the_grid() {
        let at = |nanos| due(Duration::from_nanos(nanos), 1_000);
        assert_eq!((at(0), at(999_999), at(1_000_000), at(2_500_000)), (0, 0, 1, 2));
    }
}
