//! Users and their connections: waits, think times, starved users and new dials, on a simulated clock.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::world::*;
use engine::{Gate, Stop, Think};
use net::{Act, Dial, Simulated};

#[test]
fn without_keepalive_every_exchange_has_its_own_connection() {
    let mut plan = closed(4);
    plan.transport.keepalive = false;
    let run = simulate(plan, hello_after(10 * MS));
    run.assert_balanced();
    assert_eq!(run.world.dials(), run.measured.attempted);
    assert_eq!(run.measured.accepted.connect.count(), run.measured.ok);
}

#[test]
fn a_request_that_hangs_from_the_warm_up_on_is_awaited_and_does_not_vanish() {
    let mut plan = closed(2);
    plan.warmup_ns = 100 * MS;
    request(&mut plan).timeout_ns = 3 * SECOND;
    let run = simulate(plan, Target::new(|_, _| Dial::Accept(0), |_, _| vec![]));
    run.assert_balanced();
    assert_eq!((run.warmup.attempted, run.warmup.ended(), run.measured.attempted), (2, 2, 0));
}

#[test]
fn a_user_whose_rest_ends_just_before_the_window_is_not_lost() {
    // First dials fail, so that rests of 100 ms end at 201 ms; the window starts at 210 ms, and
    // the generator sleeps through both.
    let mut plan = closed(3);
    plan.warmup_ns = 200 * MS;
    let target = Target::new(
        |_, now| {
            if now < 200 * MS { Dial::Fail(MS / 2, libc::ECONNREFUSED) } else { Dial::Accept(0) }
        },
        |_, _| vec![(10 * MS, Act::Bytes(HELLO.to_vec()))],
    );
    let mut world = Simulated::new(target);
    world.oversleeps = VecDeque::from([(200 * MS + MS / 10, 30 * MS)]);
    let run = simulate_in(plan, world, &Arc::new(Gate::new(1)));
    run.assert_balanced();
    let busy = run.measured.attempted;
    assert!(busy >= 3 * 95, "{busy} attempts of three users in a second of 10 ms each");
}

/// How long the response to a request takes: the first three hang.
fn late_for_three(number: u64) -> u64 {
    if number < 3 { 2 * SECOND } else { 10 * MS }
}

#[test]
fn users_that_the_warmup_leaves_waiting_for_the_whole_window_are_counted() {
    let mut plan = closed(10);
    plan.warmup_ns = 200 * MS;
    request(&mut plan).timeout_ns = 5 * SECOND;
    let run = simulate(plan.clone(), hello_after_each(late_for_three));
    run.assert_balanced();
    let starved: Vec<u64> = run.reports.iter().map(|report| report.starved).collect();
    assert_eq!(starved.last(), Some(&3));
    assert!(starved.contains(&0), "nobody knows it before the window is over");
    // Nothing else tells of them.
    assert_all(&run.measured.accepted.service, 700, 10 * MS);
    assert_eq!((run.measured.ok, run.in_flight), (700, 0));

    plan.stop = Stop::Duration { duration_ns: 3 * SECOND };
    let run = simulate(plan, hello_after_each(late_for_three));
    assert_eq!(run.reports.last().unwrap().starved, 0, "they had their turn");
}

#[test]
fn an_arrival_of_the_warmup_is_no_user_of_the_window() {
    let mut plan = constant(100.0, 10);
    plan.warmup_ns = 200 * MS;
    request(&mut plan).timeout_ns = 5 * SECOND;
    let run = simulate(plan, hello_after_each(late_for_three));
    run.assert_balanced();
    assert_eq!((run.measured.ok, run.reports.last().unwrap().starved), (100, 0));
}

#[test]
fn connections_are_opened_at_the_rate_that_was_asked_for() {
    let mut plan = closed(50);
    plan.warmup_ns = 100 * MS;
    plan.transport.connections_per_second = Some(100.0);
    let mut dials = Vec::new();
    let target = Target::new(
        |_, now| {
            dials.push(now);
            Dial::Accept(0)
        },
        |_, _| vec![(MS, Act::Bytes(HELLO.to_vec()))],
    );
    let run = simulate(plan, target);
    run.assert_balanced();
    // The window waits for the last of them.
    assert_eq!(run.window.0, 500 * MS);
    drop(run);
    assert_eq!(dials, (0..50).map(|number| number * 10 * MS).collect::<Vec<_>>());
}

#[test]
fn a_connection_is_made_anew_after_so_many_answers() {
    let mut plan = closed(10);
    plan.transport.requests_per_connection = Some(5);
    plan.stop = Stop::Requests { requests: 200 };
    let run = simulate(plan, hello_after(MS));
    run.assert_balanced();
    // The user that closed its last connection has no next request.
    assert_eq!((run.measured.ok, run.world.dials()), (200, 40));
}

#[test]
fn a_user_thinks_between_an_answer_and_its_next_request() {
    let mut plan = closed(10);
    plan.groups[0].think = Some(Think::Uniform { from_ns: 90 * MS, to_ns: 90 * MS });
    let run = simulate(plan, hello_after(10 * MS));
    run.assert_balanced();
    // One request every 100 ms each, due at the end of the thought: none of it is response time.
    assert_eq!(run.measured.ok, 100);
    assert_all(&run.measured.accepted.response, 100, 10 * MS);
    assert_all(&run.measured.accepted.lag, 100, 0);
    assert_eq!(run.world.dials(), 10);
}

#[test]
fn a_thought_that_spans_the_start_of_the_window_ends_in_it() {
    let mut plan = closed(10);
    plan.warmup_ns = 200 * MS;
    plan.groups[0].think = Some(Think::Uniform { from_ns: 500 * MS, to_ns: 500 * MS });
    let run = simulate(plan, hello_after(10 * MS));
    run.assert_balanced();
    // Due at 0 (warm-up), 510 and 1,020 ms; the window is 210 to 1,210.
    assert_eq!((run.warmup.attempted, run.measured.attempted), (10, 20));
    assert_eq!(run.reports.last().unwrap().starved, 0);
}
