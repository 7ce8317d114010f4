//! Load that changes with time: users that come and go, rates that rise, replays, pools.

use std::sync::Arc;

use crate::world::{MS, Outcome, SECOND, assert_all, hello_after, plan, simulate, simulate_in};
use engine::{
    Closed, Gate, Open, Pace, Phase, Plan, Replay, Report, RequestPlan, Source, Stage, Stop, Think,
};
use net::{Act, Dial, Driver, Nanos, Peer, Simulated};

fn stages(stages: &[(u64, f64)]) -> Vec<Stage> {
    let stage =
        |(duration, target): &(u64, f64)| Stage { duration_ns: duration * SECOND, target: *target };
    stages.iter().map(stage).collect()
}

fn shaped(pace: Pace, seconds: u64) -> Plan {
    let mut plan = plan(pace);
    plan.stop = Stop::Duration { duration_ns: seconds * SECOND };
    plan
}

/// Requests that ended in each second of the window.
fn by_second<P>(outcome: &Outcome<P>) -> Vec<u64> {
    let mut seconds = Vec::new();
    let is_measured = |report: &&Report| matches!(report.phase, Phase::Measure | Phase::Drain);
    for report in outcome.reports.iter().filter(is_measured) {
        let second = usize::try_from((report.from - outcome.window.0) / SECOND).unwrap();
        seconds.resize(seconds.len().max(second + 1), 0);
        seconds[second] += report.tallies[0].ended();
    }
    seconds
}

#[test]
fn users_come_along_the_ramp_and_leave_along_it() {
    // 0 → 10 users in 10 s, 10 for 5 s, → 0 in 10 s; each makes 10 requests a second.
    let shape = stages(&[(10, 10.0), (5, 10.0), (10, 0.0)]);
    let pace = Pace::Closed(Closed { stages: shape, ..Closed::new(10) });
    let outcome = simulate(shaped(pace, 25), hello_after(100 * MS));
    outcome.assert_balanced();
    let seconds = by_second(&outcome);
    for (second, count) in seconds.iter().enumerate().take(25) {
        let users = [second + 1, 10, 25 - second].into_iter().min().unwrap() as u64;
        assert!(count.abs_diff(10 * users) <= 10, "second {second}: {count}, {users} users");
    }
    // The area under the ramp is 150 user-seconds.
    assert!(outcome.measured.ok.abs_diff(1_500) <= 60, "{}", outcome.measured.ok);
    // Each user brought its own connection, once.
    assert_eq!((outcome.world.dials(), outcome.measured.ended()), (10, outcome.measured.ok));
}

#[test]
fn users_of_a_split_plan_are_those_of_the_whole() {
    let shape = stages(&[(4, 8.0), (4, 0.0)]);
    let pace = Pace::Closed(Closed { stages: shape, ..Closed::new(8) });
    let whole = simulate(shaped(pace.clone(), 8), hello_after(100 * MS)).measured.ok;
    let parts = shaped(pace, 8).split(3);
    let sum: u64 =
        parts.into_iter().map(|part| simulate(part, hello_after(100 * MS)).measured.ok).sum();
    assert_eq!(whole, sum);
}

#[test]
fn a_rate_follows_its_stages_exactly() {
    // 0 → 100/s in 2 s is 100 arrivals, 3 s at 100/s are 300, a pause, then 50/s for 1 s.
    let shape = stages(&[(2, 100.0), (3, 100.0), (0, 0.0), (1, 0.0), (0, 50.0), (1, 50.0)]);
    let open = Open { stages: shape, ..Open::new(100.0, 50) };
    let outcome = simulate(shaped(Pace::Constant(open.clone()), 7), hello_after(MS));
    outcome.assert_balanced();
    assert_eq!(outcome.measured.planned, 450);
    assert_eq!(&by_second(&outcome)[2..7], [100, 100, 100, 0, 50]);
    assert_all(&outcome.measured.accepted.lag, 450, 0);
    let parts = shaped(Pace::Constant(open), 7).split(3);
    let planned: u64 =
        parts.into_iter().map(|part| simulate(part, hello_after(MS)).measured.planned).sum();
    assert_eq!(planned, 450);
}

#[test]
fn random_arrivals_follow_the_stages_on_average() {
    let open = Open { stages: stages(&[(10, 1_000.0)]), ..Open::new(1_000.0, 500) };
    let outcome = simulate(shaped(Pace::Poisson(open), 10), hello_after(MS));
    // 5,000 expected, so that 4.3 standard deviations are 300.
    assert!(outcome.measured.planned.abs_diff(5_000) < 300, "{}", outcome.measured.planned);
    let seconds = by_second(&outcome);
    assert!(seconds[0] < 100 && seconds[9] > 800, "{seconds:?}");
}

#[test]
fn a_replay_sends_when_it_was_written_down() {
    let offsets_ns = vec![0, 0, 5 * MS, 70 * MS, 2_000 * MS];
    let replay = Replay { offsets_ns, connections: 4, max_in_flight: None };
    let mut plan = plan(Pace::Replay(replay));
    plan.stop = Stop::Requests { requests: 5 };
    let split = plan.split(2);
    let outcome = simulate(plan, hello_after(MS));
    outcome.assert_balanced();
    assert_eq!((outcome.measured.ok, outcome.measured.planned), (5, 5));
    assert_all(&outcome.measured.accepted.response, 5, MS);
    assert_eq!(outcome.world.now() - outcome.window.0, 2_001 * MS);
    let parts: Vec<_> =
        split.into_iter().map(|part| simulate(part, hello_after(MS)).measured.ok).collect();
    assert_eq!(parts, [3, 2]);
}

/// Counts connections that have a request at the same time.
struct Crowd {
    requests: u64,
}

impl Peer for Crowd {
    fn dial(&mut self, _: u64, _: Nanos) -> Dial {
        Dial::Accept(MS)
    }

    fn receive(&mut self, _: u64, _: &[u8], _: Nanos) -> Vec<(Nanos, Act)> {
        self.requests += 1;
        vec![(MS, Act::Bytes(crate::world::HELLO.to_vec()))]
    }
}

fn pooled(users: u32, pool: u32, think: Option<Think>, seconds: u64) -> Plan {
    let closed = Closed { pool: Some(pool), ..Closed::new(users) };
    let mut plan = shaped(Pace::Closed(closed), seconds);
    plan.groups[0].think = think;
    plan
}

#[test]
fn thinking_users_share_a_few_connections() {
    let think = Think::Uniform { from_ns: SECOND, to_ns: 3 * SECOND };
    let outcome = simulate(pooled(2_000, 20, Some(think), 20), Crowd { requests: 0 });
    outcome.assert_balanced();
    // 2,000 users with a think time of 2 s and responses after 1 ms: 1,000 requests a second, from the start on.
    let seconds = by_second(&outcome);
    assert!(seconds[..20].iter().all(|count| count.abs_diff(1_000) < 250), "{seconds:?}");
    assert_eq!((outcome.world.dials(), outcome.measured.ok), (20, outcome.world.peer.requests));
    // With 20 connections busy a twentieth of the time, hardly any user waits for one.
    assert!(outcome.measured.accepted.wait.quantile(0.9) == 0);
}

#[test]
fn users_without_think_time_keep_their_pool_busy_and_wait_in_turn() {
    let outcome = simulate(pooled(10, 2, None, 2), Crowd { requests: 0 });
    outcome.assert_balanced();
    // Two connections make 1,000 requests a second each; ten users wait for five turns.
    assert!(outcome.measured.ok.abs_diff(4_000) <= 10, "{}", outcome.measured.ok);
    let response = outcome.measured.accepted.response.quantile(0.5);
    assert!(response.abs_diff(5 * MS) < MS / 10, "{response}");
}

#[test]
fn no_user_of_a_pool_is_lost_where_the_warm_up_ends() {
    for warmup_ns in (0..40).map(|step| 100 * MS + step * MS / 8) {
        let mut plan = pooled(1, 1, None, 1);
        plan.stop = Stop::Requests { requests: 20 };
        plan.warmup_ns = warmup_ns;
        let mut world = Simulated::new(Crowd { requests: 0 });
        // Each turn takes a while, so that some begin before the window and end within it.
        world.send_cost_ns = MS / 3;
        let outcome = simulate_in(plan, world, &Arc::new(Gate::new(1)));
        outcome.assert_balanced();
        assert_eq!(outcome.measured.ok, 20, "warm-up of {warmup_ns} ns");
    }
}

#[test]
fn each_request_waits_for_a_connection_as_long_as_its_own_timeout() {
    let patient = RequestPlan { timeout_ns: 800 * MS, ..RequestPlan::get("http://127.0.0.1/a") };
    let hasty = RequestPlan { name: "hasty".into(), timeout_ns: 50 * MS, ..patient.clone() };
    let source = Source::Turn { requests: vec![patient, hasty] };
    let pace = Pace::Constant(Open::new(10.0, 1));
    let plan = Plan::new(pace, source, Stop::Duration { duration_ns: SECOND / 2 });
    // The first takes 700 ms; the hasty ones behind it give up after 50 ms each.
    let outcome = simulate(plan, hello_after(700 * MS));
    outcome.assert_balanced();
    let late = &outcome.reports.iter().map(|report| &report.tallies[1]).fold(
        engine::Tally::default(),
        |mut sum, tally| {
            sum.merge(tally);
            sum
        },
    );
    assert_eq!(late.all_reasons().into_iter().collect::<Vec<_>>(), [("timeout.queue".into(), 2)]);
    assert_all(&late.failed.response, 2, 50 * MS);
}

#[test]
fn users_of_a_pool_rest_after_a_failed_dial() {
    struct Refusing;
    impl Peer for Refusing {
        fn dial(&mut self, _: u64, _: Nanos) -> Dial {
            Dial::Fail(MS, 111)
        }

        fn receive(&mut self, _: u64, _: &[u8], _: Nanos) -> Vec<(Nanos, Act)> {
            Vec::new()
        }
    }
    let outcome = simulate(pooled(4, 2, None, 1), Refusing);
    outcome.assert_balanced();
    // Every 100 ms and the time of the dials, four users try: at most 40 in the second.
    assert!((20..=40).contains(&outcome.measured.attempted), "{}", outcome.measured.attempted);
    assert_eq!(outcome.measured.ok, 0);
}

#[test]
fn stages_and_replays_have_no_warm_up() {
    let source = Source::One { request: RequestPlan::get("http://127.0.0.1/") };
    let closed = Closed { stages: stages(&[(1, 2.0)]), ..Closed::new(2) };
    let stop = Stop::Duration { duration_ns: SECOND };
    let plan = Plan { warmup_ns: 1, ..Plan::new(Pace::Closed(closed), source, stop) };
    let error = Plan::from_json(&serde_json::to_string(&plan).unwrap()).unwrap_err();
    assert!(error.contains("no warm-up"), "{error}");
}
