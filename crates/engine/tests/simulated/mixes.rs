//! Users and arrivals in one plan: what is said of one is not hidden by the other.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::world::*;
use engine::{Closed, Gate, Group, Open, Pace, Plan, RequestPlan, Source, Stage, Stop};
use net::Simulated;

/// Users and arrivals, whose requests have names of their own.
fn mixed(users: Pace, arrivals: Pace) -> Plan {
    let mut plan = plan(users);
    request(&mut plan).name = "users".into();
    let request =
        RequestPlan { name: "arrivals".into(), ..RequestPlan::get("http://127.0.0.1:80/") };
    plan.groups.push(Group::new(arrivals, Source::One { request }));
    plan
}

fn steady() -> Plan {
    mixed(Pace::Closed(Closed::new(10)), Pace::Constant(Open::new(100.0, 4)))
}

#[test]
fn users_and_arrivals_are_planned_and_balanced_and_counted_apart() {
    let run = simulate(steady(), hello_after(5 * MS));
    run.assert_balanced();
    // Ten users get a response each 5 ms; one in the look at its first connection comes on top.
    assert_eq!(run.measured.scheduled, 100);
    assert_eq!(run.measured.planned, run.measured.attempted);
    assert!(run.measured.planned > 2000, "{}", run.measured.planned);
}

#[test]
fn the_lag_beside_users_is_that_of_arrivals_alone() {
    let mut world = Simulated::new(hello_after(5 * MS));
    world.oversleeps = VecDeque::from([(500 * MS, 50 * MS)]);
    let run = simulate_in(steady(), world, &Arc::new(Gate::new(1)));
    run.assert_balanced();
    let lag = &run.measured.accepted.lag;
    assert_eq!(lag.count(), 100);
    // Some of a hundred were due while the generator slept: among the users' they would be lost.
    assert!(lag.quantile(0.99) >= 29 * MS, "p99 {}", lag.quantile(0.99));
    assert!(run.measured.accepted.response.count() > 1_500);
}

#[test]
fn arrivals_that_wait_for_a_connection_are_not_late() {
    // One connection serves 100/s; 200/s are due.
    let plan = mixed(Pace::Closed(Closed::new(3)), Pace::Constant(Open::new(200.0, 1)));
    let run = simulate(plan, hello_after(10 * MS));
    run.assert_balanced();
    assert_eq!((run.measured.scheduled, run.measured.late), (200, 0));
}

#[test]
fn an_arrival_that_is_taken_up_after_the_window_is_late_and_a_user_is_not() {
    // The generator sleeps from 980 ms to 1,030 ms, through the end of the window at 1,010 ms.
    let mut world = Simulated::new(hello_after(5 * MS));
    world.oversleeps = VecDeque::from([(980 * MS, 50 * MS)]);
    let run = simulate_in(steady(), world, &Arc::new(Gate::new(1)));
    run.assert_balanced();
    assert_eq!(run.window.1, 1010 * MS);
    // Those that were due at 980, 990 and 1,000 ms.
    assert_eq!((run.measured.scheduled, run.measured.late), (100, 3));
}

#[test]
fn the_parts_of_a_mix_say_together_what_the_whole_says() {
    // One arrival connection is in one part only; the other parts have users alone.
    let plan = mixed(Pace::Closed(Closed::new(9)), Pace::Constant(Open::new(50.0, 1)));
    let whole = simulate(plan.clone(), hello_after(5 * MS)).measured;
    let (mut scheduled, mut lags, mut attempted, mut connections) = (0, 0, 0, 0);
    for part in plan.split(3) {
        connections += part.connections();
        let run = simulate(part, hello_after(5 * MS));
        run.assert_balanced();
        scheduled += run.measured.scheduled;
        lags += run.measured.accepted.lag.count();
        attempted += run.measured.attempted;
    }
    assert_eq!((scheduled, lags), (whole.scheduled, whole.accepted.lag.count()));
    assert_eq!((scheduled, connections), (50, plan.connections()));
    // Each worker's first look costs its users a little.
    assert!(attempted.abs_diff(whole.attempted) * 100 <= whole.attempted, "{attempted}");
}

#[test]
fn arrivals_beside_users_in_stages_have_their_connections_before_the_window() {
    let stages =
        vec![Stage { duration_ns: 0, target: 2.0 }, Stage { duration_ns: SECOND, target: 2.0 }];
    let users = Pace::Closed(Closed { stages, ..Closed::new(2) });
    let mut plan = mixed(users, Pace::Constant(Open::new(100.0, 4)));
    plan.stop = Stop::Duration { duration_ns: SECOND };
    let run = simulate(plan, hello_after(5 * MS));
    run.assert_balanced();
    let opened_before = run.reports.first().unwrap().connections.opened;
    assert_eq!((opened_before, run.measured.scheduled, run.world.dials()), (4, 100, 6));
}

#[test]
fn arrivals_come_while_users_begin_and_are_measured_in_the_window() {
    let users = Closed { spawn_rate: Some(100.0), ..Closed::new(10) };
    let plan = mixed(Pace::Closed(users), Pace::Constant(Open::new(100.0, 4)));
    let run = simulate(plan, hello_after(5 * MS));
    run.assert_balanced();
    assert_eq!(run.window, (100 * MS, 1100 * MS));
    assert_eq!((run.warmup.scheduled, run.measured.scheduled), (10, 100));
}
