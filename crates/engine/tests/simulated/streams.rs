//! Streams in simulated time: what is stamped, how a stall ends, that everything balances.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::world::{MS, Outcome, SECOND, Target, request, simulate, simulate_in};
use engine::{
    Capture, CaptureFrom, Closed, Gate, Limit, Limited, Pace, Plan, Source, Stop, StreamPlan, Timed,
};
use net::{Act, Dial, Nanos, Peer, Simulated};
use wire::Dialect;

pub(crate) const HEAD: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

pub(crate) fn chunk(body: &str) -> Vec<u8> {
    format!("{:x}\r\n{body}\r\n", body.len()).into_bytes()
}

fn text(said: &str) -> String {
    format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{said}\"}}}}]}}\n\n")
}

const ROLE: &str = "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}\n\n";
const END: &str = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":4}}\n\ndata: [DONE]\n\n";

/// Acts at times after the request: the head first, then pieces of the body.
fn stream(pieces: &[(Nanos, String)]) -> Vec<(Nanos, Act)> {
    let head = std::iter::once((0, Act::Bytes(HEAD.into())));
    let pieces = pieces.iter().map(|(at, piece)| (*at, Act::Bytes(chunk(piece))));
    head.chain(pieces).collect()
}

pub(crate) fn whole() -> Vec<(Nanos, Act)> {
    let mut acts = stream(&[
        (10 * MS, ROLE.into()),
        (20 * MS, text("a")),
        (30 * MS, text("b") + &text("c")),
        (60 * MS, text("d")),
        (70 * MS, END.into()),
    ]);
    acts.push((80 * MS, Act::Bytes(b"0\r\n\r\n".to_vec())));
    acts
}

pub(crate) fn plan(users: u32, requests: u64, idle_timeout_ns: Option<Nanos>) -> Plan {
    let mut plan = crate::world::plan(Pace::Closed(Closed::new(users)));
    plan.stop = Stop::Requests { requests };
    let stream = StreamPlan { idle_timeout_ns, ..StreamPlan::new(Dialect::Openai) };
    request(&mut plan).stream = Some(stream);
    plan
}

pub(crate) fn target(answer: impl FnMut(u64, Nanos) -> Vec<(Nanos, Act)>) -> impl Peer {
    Target::new(|_, _| Dial::Accept(0), answer)
}

/// All values of a metric lie where its histogram keeps this one.
fn always<P: Peer>(outcome: &Outcome<P>, timed: Timed, nanos: Nanos) {
    let metric = outcome.measured.stream.as_ref().unwrap().metric(timed);
    let (low, high) = (metric.quantile(0.0) as f64, metric.quantile(1.0) as f64);
    let near = |value: f64| (value / nanos as f64 - 1.0).abs() < 2e-3;
    assert!(near(low) && near(high), "{timed:?}: {low} to {high}, not {nanos}");
}

#[test]
fn every_metric_has_the_time_of_its_event() {
    let outcome = simulate(plan(3, 60, None), target(|_, _| whole()));
    outcome.assert_balanced();
    assert_eq!(outcome.measured.ok, 60);
    always(&outcome, Timed::Ttfe, 10 * MS);
    always(&outcome, Timed::Ttft, 20 * MS);
    always(&outcome, Timed::Ttfo, 20 * MS);
    always(&outcome, Timed::Ttst, 10 * MS);
    always(&outcome, Timed::E2e, 60 * MS);
    always(&outcome, Timed::StreamEnd, 70 * MS);
    // From the first to the last text, over the three tokens behind the first.
    always(&outcome, Timed::Tpot, 40 * MS / 3);
    let stream = outcome.measured.stream.as_ref().unwrap();
    let counts = [Timed::InterChunk, Timed::InterRead].map(|timed| stream.metric(timed).count());
    assert_eq!(counts, [180, 120]);
    assert_eq!((stream.counted.coalesced, stream.counted.client_coalesced), (60, 0));
    assert_eq!((stream.counted.tokens_in, stream.counted.tokens_out), (180, 240));
    // The exchange itself ends with its last byte.
    assert!(outcome.measured.accepted.service.quantile(0.0) >= 79 * MS);
}

#[test]
fn texts_that_came_apart_while_the_worker_was_busy_are_joined_by_the_client() {
    // While one user asks, texts of the other come, 20 and 30 ms after it asked.
    let joined = |send_cost_ns| {
        let mut world = Simulated::new(target(|_, _| whole()));
        world.send_cost_ns = send_cost_ns;
        let outcome = simulate_in(plan(2, 2, None), world, &Arc::new(Gate::new(1)));
        outcome.assert_balanced();
        let counted = outcome.measured.stream.as_ref().unwrap().counted;
        (counted.coalesced, counted.client_coalesced)
    };
    // The server itself joins b and c.
    assert_eq!(joined(0), (2, 0));
    let (coalesced, by_client) = joined(25 * MS);
    // Of one user a, b and c are read at once; of the other b and c come as they are waited for.
    assert_eq!((coalesced - by_client, by_client), (1, 2));
}

#[test]
fn a_stall_ends_when_nothing_came_for_the_idle_timeout() {
    // The first byte may take its time; behind it nothing may.
    let acts = || {
        let mut acts = stream(&[(300 * MS, text("a"))]);
        acts[0].0 = 290 * MS;
        acts
    };
    let outcome = simulate(plan(1, 5, Some(100 * MS)), target(move |_, _| acts()));
    outcome.assert_balanced();
    assert_eq!(outcome.reasons(), [("timeout.idle".to_owned(), 5)]);
    let took = outcome.measured.failed.service.quantile(1.0);
    assert!((400 * MS..402 * MS).contains(&took), "{took}");
}

#[test]
fn a_worker_that_stood_still_does_not_say_that_the_stream_did() {
    let mut world = Simulated::new(target(|_, _| whole()));
    // Texts come at 20 and 30 ms; the worker sees neither before 200 ms.
    world.oversleeps = VecDeque::from([(15 * MS, 185 * MS)]);
    let outcome = simulate_in(plan(1, 1, Some(50 * MS)), world, &Arc::new(Gate::new(1)));
    outcome.assert_balanced();
    assert_eq!((outcome.measured.ok, outcome.reasons()), (1, Vec::new()));
}

#[test]
fn signs_of_life_keep_a_stream_alive_until_its_timeout() {
    let pings: Vec<_> = (1..40).map(|n| (n * 90 * MS, ": ping\n\n".to_owned())).collect();
    let outcome = simulate(plan(1, 2, Some(100 * MS)), target(move |_, _| stream(&pings)));
    outcome.assert_balanced();
    assert_eq!(outcome.reasons(), [("timeout.body".to_owned(), 2)]);
    let took = outcome.measured.failed.service.quantile(0.0);
    assert!((999 * MS..1_001 * MS).contains(&took), "{took}");
}

#[test]
fn what_was_wrong_first_is_the_reason() {
    // The server says that it failed, and then hangs up in the middle of the body.
    let acts = || {
        let error = "data: {\"error\":{\"message\":\"overloaded\"}}\n\n".to_owned();
        let mut acts = stream(&[(5 * MS, text("a")), (6 * MS, error)]);
        acts.push((7 * MS, Act::Close));
        acts
    };
    let outcome = simulate(plan(2, 10, None), target(move |_, _| acts()));
    outcome.assert_balanced();
    assert_eq!(outcome.reasons(), [("stream.error".to_owned(), 10)]);
    let sample = outcome.reports.iter().flat_map(|report| &report.samples).next().unwrap();
    assert!(sample.body.contains("overloaded"), "{}", sample.body);
    // A status that is not accepted says more than that its body is no stream.
    let busy = b"HTTP/1.1 503 Busy\r\nContent-Length: 2\r\n\r\nno".to_vec();
    let acts = move |_, _| vec![(MS, Act::Bytes(busy.clone()))];
    let outcome = simulate(plan(1, 3, None), target(acts));
    assert_eq!(outcome.reasons(), [("status.503".to_owned(), 3)]);
}

#[test]
fn gaps_of_broken_streams_count_and_their_stamps_do_not() {
    let acts = || {
        let mut acts = stream(&[(5 * MS, text("a")), (9 * MS, text("b"))]);
        acts.push((10 * MS, Act::Bytes(b"0\r\n\r\n".to_vec())));
        acts
    };
    let outcome = simulate(plan(1, 4, None), target(move |_, _| acts()));
    assert_eq!(outcome.reasons(), [("stream.truncated".to_owned(), 4)]);
    let stream = outcome.measured.stream.as_ref().unwrap();
    assert_eq!(stream.metric(Timed::InterChunk).count(), 4);
    assert_eq!(stream.metric(Timed::Ttft).count(), 0);
}

#[test]
fn good_answers_meet_every_limit() {
    let limits = |ttft_ms: u64, tpot_ms: u64| {
        let limit = |metric, ms: u64| Limit { metric, limit_ns: ms * MS, inclusive: false };
        vec![limit(Limited::Ttft, ttft_ms), limit(Limited::Tpot, tpot_ms)]
    };
    let mut plan = plan(1, 10, None);
    request(&mut plan).limits = limits(21, 14);
    // Every second answer is late.
    let answer = |number, _| {
        let late = if number % 2 == 1 { 5 * MS } else { 0 };
        whole().into_iter().map(|(at, act)| (at + late, act)).collect()
    };
    let outcome = simulate(plan, target(answer));
    let goodput = outcome.measured.goodput;
    assert_eq!((goodput.judged, goodput.good, goodput.rate()), (10, 5, Some(50.0)));
}

#[test]
fn users_read_in_their_next_turn_what_was_said_to_them() {
    let mut plan = plan(2, 40, None);
    let mut first = request(&mut plan).clone();
    let mut second = first.clone();
    first.captures =
        vec![Capture { name: "answer".into(), from: CaptureFrom::Text, what: String::new() }];
    second.url = "http://127.0.0.1:80/{{answer}}".into();
    second.template = true;
    plan.groups[0].source = Source::Steps { requests: vec![first, second] };
    let outcome = simulate(plan, Echo::default());
    outcome.assert_balanced();
    assert_eq!(outcome.measured.ok, 40);
    let followed = outcome.world.peer.paths.iter().filter(|path| *path == "/abcd").count();
    assert_eq!(followed, 20);
}

/// Sends the same stream to every request, and keeps the paths.
#[derive(Default)]
struct Echo {
    paths: Vec<String>,
}

impl Peer for Echo {
    fn dial(&mut self, _: u64, _: Nanos) -> Dial {
        Dial::Accept(0)
    }

    fn receive(&mut self, _: u64, bytes: &[u8], _: Nanos) -> Vec<(Nanos, Act)> {
        let text = String::from_utf8_lossy(bytes);
        self.paths.push(text.split(' ').nth(1).unwrap_or_default().to_owned());
        whole()
    }
}

#[test]
fn an_answer_that_is_no_stream_costs_the_one_that_is_nothing() {
    // Streams and plain answers share a slot, and observation ends with the stream.
    let mut plan = plan(1, 20, None);
    let streamed = request(&mut plan).clone();
    let mut plain = streamed.clone();
    plain.stream = None;
    plain.name = "plain".into();
    plan.groups[0].source = Source::Turn { requests: vec![streamed, plain] };
    let answer = |number: u64, _| {
        if number.is_multiple_of(2) {
            return whole();
        }
        vec![(MS, Act::Bytes(crate::world::HELLO.to_vec()))]
    };
    let outcome = simulate(plan, target(answer));
    outcome.assert_balanced();
    assert_eq!((outcome.measured.ok, outcome.measured.ended()), (20, 20));
    let row = |number: usize| outcome.reports.iter().map(move |report| &report.tallies[number]);
    assert!(
        row(0).all(|tally| tally.stream.is_some()) && row(1).all(|tally| tally.stream.is_none())
    );
    let window = outcome.window;
    assert!(window.1 - window.0 < SECOND);
}

#[test]
fn tokens_and_good_answers_of_the_window_are_those_that_end_in_it() {
    // Streams take 80 ms: the first ones begin in the warm-up, the last ones end in the drain.
    let mut plan = plan(3, 0, None);
    (plan.stop, plan.warmup_ns) = (Stop::Duration { duration_ns: 200 * MS }, 50 * MS);
    request(&mut plan).limits =
        vec![Limit { metric: Limited::Ttft, limit_ns: SECOND, inclusive: true }];
    let outcome = simulate(plan, target(|_, _| whole()));
    outcome.assert_balanced();
    let ok_inside: u64 = outcome.reports.iter().map(|report| report.tallies[0].ok_inside).sum();
    let stream = outcome.measured.stream.as_ref().unwrap();
    // Of each user's that end at 80, 160 and 240 ms.
    assert_eq!(ok_inside, 9);
    assert_eq!(stream.counted.tokens_inside, 4 * ok_inside);
    assert_eq!(outcome.measured.goodput.good_inside, ok_inside);
    assert_eq!(outcome.measured.goodput.good, outcome.measured.ok);
}

#[test]
fn a_request_that_timed_out_in_the_queue_is_not_good() {
    let mut plan = crate::world::constant(20.0, 1);
    let stream = StreamPlan { from_intended: true, ..StreamPlan::new(Dialect::Openai) };
    let request = request(&mut plan);
    (request.stream, request.timeout_ns) = (Some(stream), 200 * MS);
    request.limits = vec![Limit { metric: Limited::Ttft, limit_ns: 30 * MS, inclusive: true }];
    let outcome = simulate(plan, target(|_, _| whole()));
    outcome.assert_balanced();
    let (tally, goodput) = (&outcome.measured, outcome.measured.goodput);
    assert!(tally.ok > 0 && tally.ended() > tally.ok);
    assert_eq!(goodput.judged, tally.ended());
    // From when it was due: only requests that waited at most ten milliseconds are in time.
    let ttft = tally.stream.as_ref().unwrap().metric(Timed::Ttft);
    assert!(ttft.quantile(1.0) > 30 * MS && goodput.good < tally.ok);
}

#[test]
fn an_error_within_a_refused_answer_is_no_error_of_a_stream() {
    let acts = |_, _| {
        let head = "HTTP/1.1 503 Busy\r\nTransfer-Encoding: chunked\r\n\r\n";
        let error = chunk("data: {\"error\":{}}\n\n");
        vec![(MS, Act::Bytes([head.as_bytes(), &error].concat())), (2 * MS, Act::Reset)]
    };
    let outcome = simulate(plan(1, 3, None), target(acts));
    assert_eq!(outcome.reasons(), [("read.reset_in_body".to_owned(), 3)]);
}
