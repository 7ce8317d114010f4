//! Users of a group that begin one after the other, before the window, on a simulated clock.

use std::cell::Cell;
use std::sync::Arc;

use crate::world::*;
use engine::{Closed, Gate, Group, Pace, Plan, Stage, Stop};
use net::{Act, Dial, Nanos, Simulated};

/// So many users, of whom so many begin a second.
fn spawned(users: u32, spawn_rate: f64) -> Pace {
    Pace::Closed(Closed { spawn_rate: Some(spawn_rate), ..Closed::new(users) })
}

/// A plan of one group with this pace, without a warm-up.
fn plan_of(pace: Pace) -> Plan {
    let mut plan = closed(1);
    plan.groups[0].pace = pace;
    request(&mut plan).timeout_ns = 30 * SECOND;
    plan
}

fn add(plan: &mut Plan, pace: Pace) {
    plan.groups.push(Group::new(pace, plan.groups[0].source.clone()));
}

/// When connections were dialled and requests came; and when the window began.
struct StreamObservation {
    dials: Vec<Nanos>,
    requests: Vec<Nanos>,
    window: (Nanos, Nanos),
}

fn seen(plan: Plan) -> StreamObservation {
    let (mut dials, mut requests) = (Vec::new(), Vec::new());
    let target = Target::new(
        |_, now| {
            dials.push(now);
            Dial::Accept(0)
        },
        |_, now| {
            requests.push(now);
            vec![(10 * SECOND, Act::Bytes(HELLO.to_vec()))]
        },
    );
    let run = simulate(plan, target);
    run.assert_window_balanced();
    let window = run.window;
    drop(run);
    StreamObservation { dials, requests, window }
}

/// Every so many nanoseconds, from zero on.
fn every(step: Nanos, count: u64) -> Vec<Nanos> {
    (0..count).map(|number| number * step).collect()
}

#[test]
fn users_connect_and_send_one_after_the_other_and_the_window_waits_for_the_last() {
    let seen = seen(plan_of(spawned(50, 100.0)));
    assert_eq!(seen.dials, every(10 * MS, 50));
    // Each sends as soon as it is there, also without a warm-up beside.
    assert_eq!(seen.requests, every(10 * MS, 50));
    assert_eq!(seen.window.0, 500 * MS);
}

#[test]
fn a_rate_that_divides_no_second_is_kept_to_the_nanosecond() {
    let seen = seen(plan_of(spawned(7, 3.0)));
    let expected: Vec<Nanos> = (0..7).map(|number| (number * SECOND).div_ceil(3)).collect();
    assert_eq!(seen.requests, expected);
}

#[test]
fn without_keepalive_users_begin_at_the_rate_all_the_same() {
    let mut plan = plan_of(spawned(20, 100.0));
    plan.transport.keepalive = false;
    let seen = seen(plan);
    assert_eq!(seen.requests, every(10 * MS, 20));
    assert_eq!(seen.window.0, 200 * MS);
}

#[test]
fn each_group_has_a_schedule_of_its_own_which_goes_before_that_of_the_plan() {
    let mut plan = plan_of(spawned(5, 10.0));
    add(&mut plan, spawned(5, 20.0));
    add(&mut plan, Pace::Closed(Closed::new(5)));
    plan.transport.connections_per_second = Some(1000.0);
    let seen = seen(plan);
    let mut expected = [every(100 * MS, 5), every(50 * MS, 5), every(MS, 5)].concat();
    expected.sort_unstable();
    assert_eq!(seen.dials, expected);
    assert_eq!(seen.window.0, 410 * MS);
}

#[test]
fn the_parts_of_a_plan_keep_the_schedule_of_the_whole() {
    let mut plan = plan_of(spawned(50, 100.0));
    add(&mut plan, spawned(3, 10.0));
    let whole = seen(plan.clone());
    // Split twice, as over processes and then over their workers.
    let parts = plan.split(3).into_iter().flat_map(|part| part.split(2));
    let mut dials: Vec<Nanos> = parts.flat_map(|part| seen(part).dials).collect();
    dials.sort_unstable();
    assert_eq!(dials, whole.dials);
}

#[test]
fn stages_of_another_group_wait_for_the_window() {
    let mut plan = plan_of(spawned(10, 100.0));
    let stages =
        vec![Stage { duration_ns: 0, target: 2.0 }, Stage { duration_ns: SECOND, target: 2.0 }];
    add(&mut plan, Pace::Closed(Closed { stages, ..Closed::new(2) }));
    plan.stop = Stop::Duration { duration_ns: SECOND };
    let seen = seen(plan);
    assert_eq!(seen.window.0, 100 * MS);
    assert_eq!(seen.requests, [every(10 * MS, 10), vec![100 * MS; 2]].concat());
}

#[test]
fn no_user_begins_after_the_run_was_ended() {
    let (gate, dials) = (Arc::new(Gate::new(1)), Cell::new(0));
    let target = Target::new(
        |_, _| {
            dials.set(dials.get() + 1);
            if dials.get() == 3 {
                gate.stop();
            }
            Dial::Accept(0)
        },
        |_, _| vec![(10 * SECOND, Act::Bytes(HELLO.to_vec()))],
    );
    let run = simulate_in(plan_of(spawned(50, 100.0)), Simulated::new(target), &gate);
    run.assert_window_balanced();
    assert_eq!(dials.get(), 3);
}
