//! When requests start and what their stamps say, exact to the nanosecond on a simulated clock.

use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use crate::world::*;
use engine::{Gate, Open, Pace, Phase, Plan, Replay, Stop};
use net::{Act, Dial, Nanos, Simulated};

/// After the first response a connection is looked at before it is used again.
const FIRST_LOOK_MS: f64 = 5.0;

#[test]
fn a_closed_user_sends_again_when_its_answer_has_come() {
    let run = simulate(closed(10), hello_after(10 * MS));
    run.assert_balanced();
    assert_eq!((run.measured.attempted, run.measured.ok), (1000, 1000));
    assert_all(&run.measured.accepted.service, 1000, 10 * MS);
    assert_all(&run.measured.accepted.response, 1000, 10 * MS);
    assert_all(&run.measured.accepted.wait, 1000, 0);
    assert_eq!(run.world.dials(), 10);
}

#[test]
fn a_constant_rate_starts_every_request_on_time() {
    let run = simulate(constant(1000.0, 10), hello_after(5 * MS));
    run.assert_balanced();
    assert_eq!((run.measured.planned, run.measured.ok), (1000, 1000));
    assert_all(&run.measured.accepted.response, 1000, 5 * MS);
    assert_all(&run.measured.accepted.lag, 1000, 0);
}

#[test]
fn lag_counts_until_a_request_is_really_begun() {
    // 2,000 requests are due at once; each takes the generator 10 µs, which is its own lateness.
    let cost = MS / 100;
    let replay = Replay { offsets_ns: vec![0; 2000], connections: 2000, max_in_flight: None };
    let plan = plan(Pace::Replay(replay));
    let mut world = Simulated::new(hello_after(SECOND / 2));
    world.send_cost_ns = cost;
    let run = simulate_in(plan, world, &Arc::new(Gate::new(1)));
    run.assert_balanced();
    assert_eq!(run.measured.ok, 2000);
    let lag = &run.measured.accepted.lag;
    assert!((lag.mean() - 1999.0 / 2.0 * cost as f64).abs() < 1e-6, "{}", lag.mean());
    assert!(lag.quantile(1.0).abs_diff(1999 * cost) < cost * 20, "{}", lag.quantile(1.0));
    assert_all(&run.measured.accepted.wait, 2000, 0);
}

#[test]
fn a_rate_beyond_all_measure_is_stopped_within_a_turn_and_queues_no_more_than_it_may() {
    let mut plan = constant(1e7, 6_000);
    plan.stop = Stop::Duration { duration_ns: 3600 * SECOND };
    let gate = Arc::new(Gate::new(1));
    let order = Arc::clone(&gate);
    let answer = move |number, _| {
        if number == 5000 {
            order.stop();
        }
        Vec::new()
    };
    let mut world = Simulated::new(Target::new(|_, _| Dial::Accept(0), answer));
    world.send_cost_ns = MS / 100;
    let run = simulate_in(plan, world, &gate);
    run.assert_balanced();
    let sent = run.measured.attempted;
    assert!((5001..=5001 + 256).contains(&sent), "{sent} requests were begun");
}

#[test]
fn a_queue_has_an_end_where_the_plan_says_none() {
    let mut plan = constant(1.1e6, 1);
    request(&mut plan).timeout_ns = 10 * SECOND;
    let run = simulate(plan, hello_after(20 * SECOND));
    run.assert_balanced();
    assert_eq!((run.measured.planned, run.measured.attempted), (1_100_000, 1 << 20));
}

#[test]
fn a_poisson_rate_is_the_seeds_and_late_for_nothing() {
    let mut plan = constant(1000.0, 100);
    plan.stop = Stop::Requests { requests: 500 };
    let open = Open::new(1000.0, 100);
    plan.groups[0].pace = Pace::Poisson(open);
    let arrivals = |seed| {
        let seen = Rc::new(RefCell::new(Vec::new()));
        let notes = Rc::clone(&seen);
        let answer = move |_, now| {
            notes.borrow_mut().push(now);
            vec![(MS, Act::Bytes(HELLO.to_vec()))]
        };
        let target = Target::new(|_, _| Dial::Accept(0), answer);
        let run = simulate(Plan { seed, ..plan.clone() }, target);
        run.assert_balanced();
        assert_eq!(run.measured.ok, 500);
        assert_all(&run.measured.accepted.lag, 500, 0);
        seen.take()
    };
    let first = arrivals(1);
    assert_eq!(arrivals(1), first);
    assert_ne!(arrivals(2), first);
    let gaps: BTreeSet<Nanos> = first.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.len() > 400, "{} different gaps", gaps.len());
}

#[test]
fn a_due_request_waits_its_turn_and_none_is_lost() {
    // One connection serves 100/s; 200/s are due. Nothing starts after the window, but what was
    // taken up is awaited: request n starts at 10·n ms and was due at 5·n ms.
    let mut plan = constant(200.0, 1);
    request(&mut plan).timeout_ns = 2 * SECOND;
    let run = simulate(plan, hello_after(10 * MS));
    run.assert_balanced();
    assert_eq!((run.measured.planned, run.measured.attempted, run.measured.ok), (200, 200, 200));
    assert_eq!(run.measured.ok_inside, 99);
    assert_all(&run.measured.accepted.service, 200, 10 * MS);
    assert_all(&run.measured.accepted.lag, 200, 0);
    assert_eq!(
        run.measured.accepted.response.mean(),
        (10.0 + 5.0 * 199.0 / 2.0 + FIRST_LOOK_MS * 199.0 / 200.0) * 1e6
    );
}

#[test]
fn a_request_that_waited_longer_than_its_timeout_for_a_connection_was_never_sent() {
    // The generator oversleeps, so that ten requests are taken up at once for one connection.
    let mut plan = constant(200.0, 1);
    request(&mut plan).timeout_ns = 50 * MS;
    let mut world = Simulated::new(hello_after(40 * MS));
    world.oversleeps = VecDeque::from([(500 * MS, 50 * MS)]);
    let run = simulate_in(plan, world, &Arc::new(Gate::new(1)));
    run.assert_balanced();
    let reasons = run.reasons();
    assert!(reasons.iter().any(|(name, _)| name == "timeout.queue"), "{reasons:?}");
    assert_eq!(run.measured.failed.service.count() + run.measured.ok, run.world.peer.requests);
}

#[test]
fn beyond_max_in_flight_a_due_request_is_dropped_and_counted() {
    let mut plan = constant(1000.0, 10);
    let open = Open { max_in_flight: Some(2), ..Open::new(1000.0, 10) };
    plan.groups[0].pace = Pace::Constant(open);
    let run = simulate(plan, hello_after(4 * MS + MS / 2));
    run.assert_balanced();
    // Two of each five arrivals find a place.
    assert_eq!(
        (run.measured.planned, run.measured.attempted, run.measured.dropped),
        (1000, 400, 600)
    );
}

#[test]
fn a_frozen_target_shows_in_response_time_and_not_in_service_time_alone() {
    // 20 s at 100/s over plenty of connections; the target freezes for 2 s at t = 10 s.
    let mut plan = constant(100.0, 1000);
    plan.stop = Stop::Duration { duration_ns: 20 * SECOND };
    plan.interval_ns = SECOND;
    request(&mut plan).timeout_ns = 30 * SECOND;
    let (freeze, thaw) = (10 * SECOND, 12 * SECOND);
    let target = Target::new(
        |_, _| Dial::Accept(0),
        move |_, now| {
            let frozen = (freeze..thaw).contains(&now);
            let delay = if frozen { thaw - now + 10 * MS } else { 10 * MS };
            vec![(delay, Act::Bytes(HELLO.to_vec()))]
        },
    );
    let run = simulate(plan, target);
    run.assert_balanced();
    let response = &run.measured.accepted.response;
    let seconds = |p: f64| response.quantile(p) as f64 / 1e9;
    assert!((seconds(0.5) - 0.010).abs() < 1e-4 && (seconds(0.75) - 0.010).abs() < 1e-4);
    assert!((seconds(0.95) - 1.01).abs() < 0.02, "p95 {}", seconds(0.95));
    assert!((seconds(0.99) - 1.81).abs() < 0.03, "p99 {}", seconds(0.99));
    assert!((seconds(0.999) - 1.99).abs() < 0.03, "p99.9 {}", seconds(0.999));
    assert_all(&run.measured.accepted.lag, 2000, 0);
}

#[test]
fn one_connection_to_a_frozen_target_shows_as_wait_and_never_as_lag() {
    let mut plan = constant(100.0, 1);
    request(&mut plan).timeout_ns = 30 * SECOND;
    let target = Target::new(
        |_, _| Dial::Accept(0),
        |n, _| vec![(if n == 10 { 500 * MS } else { MS }, Act::Bytes(HELLO.to_vec()))],
    );
    let run = simulate(plan, target);
    run.assert_balanced();
    assert_all(&run.measured.accepted.lag, 100, 0);
    assert!(run.measured.accepted.wait.quantile(1.0) > 400 * MS);
    // What wrk would say: one slow request of a hundred.
    assert!(run.measured.accepted.service.quantile(0.98) < 2 * MS);
}

#[test]
fn a_generator_that_oversleeps_is_late_and_says_so() {
    let mut world = Simulated::new(hello_after(MS));
    world.oversleeps = VecDeque::from([(500 * MS, 50 * MS)]);
    let run = simulate_in(constant(1000.0, 100), world, &Arc::new(Gate::new(1)));
    run.assert_balanced();
    assert_eq!(run.measured.planned, 1000);
    assert!(run.measured.accepted.lag.quantile(1.0) >= 49 * MS);
    // Every arrival of the 50 ms was late, by what was left of them.
    assert_eq!(
        run.measured.accepted.lag.mean(),
        (0..=50).map(|n| f64::from(n) * 1e6).sum::<f64>() / 1000.0
    );
}

#[test]
fn the_cost_of_sending_shows_as_lag_of_those_behind() {
    // Ten users begin at the same time, and each send takes 10 µs.
    let mut plan = closed(10);
    plan.stop = Stop::Requests { requests: 10 };
    let mut world = Simulated::new(hello_after(MS));
    world.send_cost_ns = 10_000;
    let run = simulate_in(plan, world, &Arc::new(Gate::new(1)));
    run.assert_balanced();
    let accepted = &run.measured.accepted;
    assert_eq!((accepted.lag.count(), accepted.lag.mean()), (10, 45_000.0));
    assert_eq!(accepted.lag.quantile(0.0), 0);
    assert_all(&accepted.wait, 10, 0);
}

#[test]
fn the_warm_up_is_kept_apart_and_belongs_to_what_was_intended_in_it() {
    let mut plan = closed(10);
    plan.warmup_ns = 500 * MS;
    let run = simulate(plan, hello_after(30 * MS));
    run.assert_balanced();
    // The window starts 10 ms after the warm-up; what was intended before, counts there.
    assert_eq!(run.window, (510 * MS, 1510 * MS));
    assert_eq!(run.warmup.attempted, 170);
    assert_eq!(run.warmup.ended(), 170);
    assert_eq!(run.measured.attempted, 340);
    assert_eq!(run.world.peer.requests, 510);
}

#[test]
fn an_answer_of_the_warm_up_that_comes_within_the_window_is_throughput_of_the_window() {
    let mut plan = closed(1);
    plan.warmup_ns = 500 * MS;
    let run = simulate(plan, hello_after(300 * MS));
    // Intended at 0, 300 (warm-up), 600, 900, 1200, 1500; the window is 510 … 1510.
    assert_eq!((run.warmup.attempted, run.measured.attempted), (2, 4));
    assert_eq!(run.measured.ok_inside, 4);
    assert_eq!(run.measured.attempted_inside, 4);
}

#[test]
fn an_open_load_is_warmed_up_at_its_own_rate() {
    let mut plan = constant(100.0, 10);
    plan.warmup_ns = 500 * MS;
    let run = simulate(plan, hello_after(MS));
    run.assert_balanced();
    assert_eq!((run.warmup.planned, run.measured.planned), (51, 100));
}

#[test]
fn the_window_waits_until_every_connection_is_open_or_has_failed_once() {
    let mut plan = closed(4);
    plan.warmup_ns = 100 * MS;
    let target = Target::new(
        |number, _| {
            if number == 3 { Dial::Accept(700 * MS) } else { Dial::Accept(0) }
        },
        |_, _| vec![(MS, Act::Bytes(HELLO.to_vec()))],
    );
    let run = simulate(plan, target);
    assert_eq!(run.window.0, 710 * MS);
    run.assert_balanced();
}

#[test]
fn a_number_of_requests_is_exactly_that_number() {
    for requests in [1, 7, 64, 1001] {
        let mut plan = closed(8);
        plan.stop = Stop::Requests { requests };
        let run = simulate(plan, hello_after(10 * MS));
        run.assert_balanced();
        assert_eq!((run.measured.attempted, run.measured.ok), (requests, requests));
        assert_eq!(run.world.peer.requests, requests);
        let look = if requests > 8 { 5 * MS } else { 0 };
        assert_eq!(run.window.1 - run.window.0, requests.div_ceil(8) * 10 * MS + look);
    }
}

#[test]
fn intervals_tile_the_window_and_add_up() {
    let run = simulate(closed(10), hello_after(7 * MS));
    let intervals: Vec<_> =
        run.reports.iter().filter(|report| report.phase == Phase::Measure).collect();
    assert_eq!(intervals.len(), 10);
    assert_eq!(intervals[0].from, run.window.0);
    assert!(intervals.windows(2).all(|pair| pair[0].to == pair[1].from));
    assert_eq!(intervals[9].to, run.window.1);
    // What ended in the drain is of the window too.
    run.assert_balanced();
    assert_eq!(run.measured.attempted, run.world.peer.requests);
    let begun: u64 = intervals.iter().map(|interval| interval.tallies[0].attempted).sum();
    assert_eq!(begun, run.world.peer.requests);
}

#[test]
fn a_stop_ends_the_window_and_drains_an_abort_leaves_in_flight() {
    for abort in [false, true] {
        let gate = Arc::new(Gate::new(1));
        let order = Arc::clone(&gate);
        let target = Target::new(
            |_, _| Dial::Accept(0),
            move |_, now| {
                if now > 300 * MS {
                    if abort { order.abort() } else { order.stop() }
                }
                vec![(40 * MS, Act::Bytes(HELLO.to_vec()))]
            },
        );
        let run = simulate_in(closed(10), Simulated::new(target), &gate);
        run.assert_balanced();
        assert!(run.window.1 - run.window.0 < 400 * MS, "the window ended early");
        assert_eq!(run.in_flight > 0, abort);
        assert_eq!(run.measured.attempted, run.world.peer.requests);
    }
}

#[test]
fn a_rate_so_low_that_its_first_arrival_is_beyond_time_ends() {
    let mut plan = constant(1e-12, 1);
    plan.warmup_ns = 100 * MS;
    let run = simulate(plan, hello_after(MS));
    run.assert_balanced();
    assert_eq!((run.warmup.attempted, run.measured.attempted), (1, 1));
}

#[test]
fn what_a_late_generator_has_not_read_yet_is_seen_at_the_end_of_each_interval() {
    // 80 users, of whom 64 are asked. A round of 80 sends takes 80 ms, a response 30 ms: while some
    // are sent to, the responses of others wait.
    let unread = |send_cost_ns| {
        let mut world = Simulated::new(hello_after(30 * MS));
        world.send_cost_ns = send_cost_ns;
        let run = simulate_in(closed(80), world, &Arc::new(Gate::new(1)));
        run.assert_balanced();
        let intervals = run.reports.iter().filter(|report| report.phase == Phase::Measure);
        intervals.map(|report| report.receive_queue_bytes).collect::<Vec<_>>()
    };
    assert_eq!(unread(0), [0; 10]);
    let answer = HELLO.len() as u64;
    let late = unread(MS);
    assert!(late.iter().all(|bytes| (answer..=80 * answer).contains(bytes)), "{late:?}");
}
