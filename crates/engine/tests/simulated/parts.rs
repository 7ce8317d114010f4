//! The parts of a plan measure together, bin by bin, what the whole plan measures in one worker.
//!
//! Reports are encoded and decoded, as between machines.

use crate::streams::whole;
use crate::world::*;
use engine::{Closed, Open, Pace, Phase, Plan, Replay, Report, Stage, Stop, StreamPlan, Tally};
use net::{Act, Dial, Nanos};
use wire::Dialect;

/// Into how many parts a plan is split, and each of these again: nodes, and the workers of a node.
const SPLITS: [&[u32]; 3] = [&[2], &[3], &[3, 2]];

/// A time that is different for almost every request, and follows from when it came.
fn delay_at(now: Nanos) -> Nanos {
    let mixed = (now / 1000).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 42;
    MS + mixed * 3
}

fn varied(now: Nanos) -> Vec<(Nanos, Act)> {
    let delay = delay_at(now);
    // No connection ends: which one a request takes depends on those of its worker.
    match (now / 1000) % 29 {
        0 => vec![(delay, Act::Bytes(b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n".to_vec()))],
        _ => vec![(delay, Act::Bytes(HELLO.to_vec()))],
    }
}

fn streamed(now: Nanos) -> Vec<(Nanos, Act)> {
    let delay = delay_at(now);
    whole().into_iter().map(|(at, act)| (delay + at, act)).collect()
}

/// What is measured before and in the window, from reports that were bytes.
fn measured(plan: Plan, answer: fn(Nanos) -> Vec<(Nanos, Act)>) -> [Tally; 2] {
    let run = simulate(plan, Target::new(|_, _| Dial::Accept(0), move |_, now| answer(now)));
    run.assert_window_balanced();
    let mut tallies = [Tally::default(), Tally::default()];
    for report in run.reports {
        let bytes = postcard::to_stdvec(&report).unwrap();
        let report: Report = postcard::from_bytes(&bytes).unwrap();
        let is_measured = matches!(report.phase, Phase::Measure | Phase::Drain);
        report.tallies.iter().for_each(|tally| tallies[usize::from(is_measured)].merge(tally));
    }
    tallies
}

fn assert_parts_are_the_whole(plan: &Plan, answer: fn(Nanos) -> Vec<(Nanos, Act)>) {
    let whole = measured(plan.clone(), answer);
    assert!(whole[1].ok > 200, "{}", whole[1].ok);
    for split in SPLITS {
        let mut parts = vec![plan.clone()];
        for count in split {
            parts = parts.iter().flat_map(|part| part.split(*count)).collect();
        }
        assert_eq!(parts.len(), split.iter().product::<u32>() as usize);
        let mut sums = [Tally::default(), Tally::default()];
        for part in parts {
            let tallies = measured(part, answer);
            sums.iter_mut().zip(&tallies).for_each(|(sum, tally)| sum.merge(tally));
        }
        // Not by `assert_eq`: a difference would print thousands of bins.
        assert!(sums == whole, "{split:?}: {} and {} ok", sums[1].ok, whole[1].ok);
    }
}

#[test]
fn arrivals_at_a_constant_rate_are_measured_the_same_in_parts() {
    let mut plan = constant(1_700.0, 60);
    plan.warmup_ns = 100 * MS;
    assert_parts_are_the_whole(&plan, varied);
}

#[test]
fn arrivals_at_a_rate_in_stages_are_measured_the_same_in_parts() {
    let stages = vec![
        Stage { duration_ns: 400 * MS, target: 1_500.0 },
        Stage { duration_ns: 600 * MS, target: 300.0 },
    ];
    let open = Open { stages, ..Open::new(100.0, 60) };
    assert_parts_are_the_whole(&plan(Pace::Constant(open)), varied);
}

#[test]
fn arrivals_at_given_times_are_measured_the_same_in_parts() {
    let offsets_ns = (0..900).map(|number| number * MS + number * number).collect();
    let replay = Replay { offsets_ns, connections: 60, max_in_flight: None };
    let mut plan = plan(Pace::Replay(replay));
    plan.stop = Stop::Duration { duration_ns: SECOND };
    assert_parts_are_the_whole(&plan, varied);
}

#[test]
fn users_that_begin_one_after_the_other_are_measured_the_same_in_parts() {
    let stages = vec![
        Stage { duration_ns: 500 * MS, target: 12.0 },
        Stage { duration_ns: 500 * MS, target: 6.0 },
    ];
    let users = Closed { stages, ..Closed::new(12) };
    let mut plan = plan(Pace::Closed(users));
    // With keep-alive, each worker waits once to see whether its first connection stays open.
    plan.transport.keepalive = false;
    assert_parts_are_the_whole(&plan, varied);
}

#[test]
fn streams_are_measured_the_same_in_parts() {
    let mut plan = constant(300.0, 60);
    request(&mut plan).stream = Some(StreamPlan::new(Dialect::Openai));
    assert_parts_are_the_whole(&plan, streamed);
}
