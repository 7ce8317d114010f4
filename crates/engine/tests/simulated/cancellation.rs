//! Users who give up: when, what is counted, what becomes of their connections and sessions.

use crate::streams::{plan as streaming, target, whole};
use crate::world::{MS, Outcome, closed, constant, hello_after, hello_after_each, simulate};
use engine::{CancelAfter, Cancellation, Phase, Plan, Think, Timed};

fn after_time(from_ns: u64, to_ns: u64) -> CancelAfter {
    CancelAfter::Time { time: Think::Uniform { from_ns, to_ns } }
}

fn cancelling(mut plan: Plan, share: f64, after: CancelAfter) -> Plan {
    plan.groups[0].cancel = Some(Cancellation { share, after });
    plan
}

/// Those who gave up are counted apart from errors, and have no durations.
fn assert_cancelled<P>(outcome: &Outcome<P>, count: u64) {
    assert_eq!((outcome.measured.cancelled(), outcome.reasons()), (count, vec![]));
    assert_eq!(outcome.measured.failed.service.count(), 0);
}

#[test]
fn users_give_up_at_their_time_and_their_connections_are_closed() {
    let plan = cancelling(closed(2), 1.0, after_time(30 * MS, 30 * MS));
    let outcome = simulate(plan, hello_after(50 * MS));
    outcome.assert_balanced();
    let attempted = outcome.measured.attempted;
    assert_cancelled(&outcome, attempted);
    assert!((64..=68).contains(&attempted), "{attempted}");
    // One for each attempt: the server must not answer the next request with the response to this one.
    assert!(outcome.reports.last().unwrap().connections.opened >= attempted);
}

#[test]
fn a_response_that_is_complete_before_is_ok() {
    let plan = cancelling(closed(2), 1.0, after_time(30 * MS, 30 * MS));
    let outcome = simulate(plan, hello_after(20 * MS));
    outcome.assert_balanced();
    assert_cancelled(&outcome, 0);
    assert_eq!(outcome.measured.ok, outcome.measured.attempted);
    assert_eq!(outcome.reports.last().unwrap().connections.opened, 2);
}

#[test]
fn a_share_of_arrivals_gives_up_and_the_others_are_not_delayed() {
    let plan = cancelling(constant(1000.0, 200), 0.25, after_time(10 * MS, 40 * MS));
    let outcome = simulate(plan, hello_after_each(|_| 50 * MS));
    outcome.assert_balanced();
    let cancelled = outcome.measured.cancelled();
    assert!((200..300).contains(&cancelled), "{cancelled}");
    assert_eq!(outcome.measured.ok + cancelled, 1000);
    assert!(outcome.measured.accepted.lag.mean() < 1e6);
}

#[test]
fn users_give_up_after_texts_whose_times_count() {
    let plan = cancelling(streaming(2, 40, None), 1.0, CancelAfter::Texts { from: 2, to: 2 });
    let outcome = simulate(plan, target(|_, _| whole()));
    outcome.assert_balanced();
    assert_cancelled(&outcome, 40);
    let stream = outcome.measured.stream.as_ref().unwrap();
    assert_eq!(stream.counted.abandoned, 40);
    let counts = [Timed::Ttft, Timed::E2e, Timed::Tpot].map(|timed| stream.metric(timed).count());
    assert_eq!(counts, [40, 0, 0]);
    // The second and third text come together, 30 ms after the request.
    assert_eq!(stream.metric(Timed::InterChunk).count(), 80);
}

#[test]
fn a_stream_with_fewer_texts_is_complete() {
    let plan = cancelling(streaming(2, 40, None), 1.0, CancelAfter::Texts { from: 5, to: 9 });
    let outcome = simulate(plan, target(|_, _| whole()));
    outcome.assert_balanced();
    assert_cancelled(&outcome, 0);
    assert_eq!(outcome.measured.ok, 40);
}

#[test]
fn attempts_that_are_cancelled_are_not_judged_by_limits() {
    use engine::{Limit, Limited};
    let mut plan = cancelling(streaming(2, 40, None), 0.5, CancelAfter::Texts { from: 1, to: 1 });
    let limit = Limit { metric: Limited::Ttft, limit_ns: 1000 * MS, inclusive: true };
    crate::world::request(&mut plan).limits = vec![limit];
    let outcome = simulate(plan, target(|_, _| whole()));
    let goodput = outcome.measured.goodput;
    assert_eq!((goodput.judged, goodput.good), (outcome.measured.ok, outcome.measured.ok));
    assert!(outcome.measured.cancelled() > 0);
}

#[test]
fn times_of_first_texts_are_those_of_users_who_wait_however_slow() {
    let plan = cancelling(streaming(2, 40, None), 0.5, after_time(25 * MS, 25 * MS));
    let outcome = simulate(plan, target(|_, _| whole()));
    outcome.assert_balanced();
    let stream = outcome.measured.stream.as_ref().unwrap();
    let (ok, cancelled) = (outcome.measured.ok, outcome.measured.cancelled());
    assert_eq!((stream.counted.abandoned, ok + cancelled), (cancelled, 40));
    let counts = [Timed::Ttft, Timed::E2e].map(|timed| stream.metric(timed).count());
    assert_eq!(counts, [ok, ok]);
}

#[test]
fn users_who_give_up_in_the_window_are_counted_by_their_time() {
    let plan = cancelling(constant(100.0, 200), 1.0, after_time(300 * MS, 300 * MS));
    let outcome = simulate(plan, hello_after(5_000 * MS));
    outcome.assert_balanced();
    let (cancelled, inside) = (outcome.measured.cancelled(), outcome.measured.cancelled_inside);
    assert_eq!((cancelled, outcome.measured.attempted), (100, 100));
    assert!((69..=71).contains(&inside), "{inside}");
}

#[test]
fn open_requests_are_known_at_the_end_of_each_interval_also_those_of_the_warmup() {
    let mut plan = closed(3);
    plan.warmup_ns = 1_000 * MS;
    let outcome = simulate(plan, hello_after(300 * MS));
    let open = |phase| {
        let reports = outcome.reports.iter().filter(move |report| report.phase == phase);
        reports.map(|report| report.requests_open).collect::<Vec<_>>()
    };
    let measured = open(Phase::Measure);
    assert!(!measured.is_empty() && measured.iter().all(|count| *count == Some(3)), "{measured:?}");
    assert_eq!(open(Phase::Drain).last(), Some(&Some(0)));
}
