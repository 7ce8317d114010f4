//! Random plans in random worlds: whatever is asked and whatever happens, the books balance, the
//! target saw what was sent, no slot leaks and nothing panics.
//!
//! Each plan follows from its number, so a failure names the case to look at. `TORR_PLANS` says
//! how many are tried.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::world::http2::{FromClient, ServerSide, frame, response, settings, windows};
use crate::world::{HELLO, MS, Outcome, SECOND, Target, simulate_in};
use engine::{
    BodyCheck, Capture, CaptureFrom, Closed, Gate, Group, HttpVersion, Open, Pace, Plan, Replay,
    RequestPlan, Source, Stage, Stop, Tally, Think,
};
use net::{Act, Dial, Nanos, Simulated};
use wire::http2::{Flags, FrameKind, PREFACE, Setting};

const PLANS: u64 = 1_000;

/// Xorshift: small, seeded, and good enough for choosing.
struct Random(u64);

impl Random {
    fn below(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) % below
    }

    fn within(&mut self, range: Range<u32>) -> u32 {
        range.start + u32::try_from(self.below(u64::from(range.end - range.start))).unwrap()
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    fn acts(&mut self) -> Vec<(Nanos, Act)> {
        let at = self.below(30 * MS);
        let cut = usize::try_from(self.below(HELLO.len() as u64)).unwrap();
        let part = Act::Bytes(HELLO[..cut].to_vec());
        match self.below(12) {
            0 => vec![],
            1 => vec![(at, Act::Reset)],
            2 => vec![(at, Act::Close)],
            3 => vec![(at, part), (at + self.below(MS), Act::Reset)],
            4 => vec![(at, part), (at + self.below(MS), Act::Close)],
            5 => vec![(at, part), (at + self.below(MS), Act::Bytes(HELLO[cut..].to_vec()))],
            6 => vec![(at, Act::Bytes(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n".to_vec()))],
            7 => vec![(at, Act::Bytes(HELLO.to_vec())), (at + self.below(MS), Act::Close)],
            8 => vec![(at, Act::Bytes(b"nonsense".to_vec()))],
            _ => vec![(at, Act::Bytes(HELLO.to_vec()))],
        }
    }

    /// The response to a line, by the ID of its request.
    fn line_acts(&mut self, id: &str) -> Vec<(Nanos, Act)> {
        let at = self.below(30 * MS);
        let line = |status: &str| Act::Bytes(format!("{id} {status}\n").into_bytes());
        match self.below(40) {
            0 => vec![],
            1 => vec![(at, Act::Reset)],
            2 => vec![(at, Act::Close)],
            3 => vec![(at, Act::Bytes(b"nonsense\n".to_vec()))],
            4 => vec![(at, line("200")), (at + self.below(MS), Act::Close)],
            5..8 => vec![(at, line("500"))],
            8 => {
                vec![(at, Act::Bytes(id.as_bytes().to_vec())), (at, Act::Bytes(b" 200\n".to_vec()))]
            }
            // Later than most timeouts.
            9 => vec![(at + 100 * MS, line("200"))],
            _ => vec![(at, line("200"))],
        }
    }

    /// What a server of HTTP/2 begins with.
    fn greeting(&mut self) -> Vec<(Nanos, Act)> {
        let mut limits = Vec::new();
        if self.one_in(2) {
            limits.push(Setting::MaxConcurrentStreams(self.within(0..5)));
        }
        if self.one_in(2) {
            limits.push(Setting::InitialWindowBytes(self.within(0..40)));
        }
        let mut acts = vec![(self.below(MS), Act::Bytes(settings(&limits)))];
        if self.one_in(2) {
            // Later it allows others.
            let limits = [
                Setting::MaxConcurrentStreams(self.within(1..9)),
                Setting::InitialWindowBytes(self.within(0..100)),
            ];
            acts.push((MS + self.below(50 * MS), Act::Bytes(settings(&limits))));
        }
        acts
    }

    /// The response to a request of HTTP/2.
    fn stream_acts(&mut self, stream: u32) -> Vec<(Nanos, Act)> {
        let at = self.below(30 * MS);
        let whole =
            |status| response(stream, &[(":status", status), ("content-length", "5")], b"hello");
        let numbers = |kind, stream, numbers: &[u32]| {
            let payload: Vec<u8> = numbers.iter().flat_map(|it| it.to_be_bytes()).collect();
            Act::Bytes(frame(kind, Flags::NONE, stream, &payload))
        };
        match self.below(40) {
            0 => vec![],
            1 => vec![(at, Act::Reset)],
            2 => vec![(at, Act::Close)],
            3 => vec![(at, Act::Bytes(b"nonsense, and more of it".to_vec()))],
            4 => vec![(at, Act::Bytes(whole("200"))), (at + self.below(MS), Act::Close)],
            5..8 => vec![(at, Act::Bytes(whole("500")))],
            8 => {
                let mut bytes = whole("200");
                let rest = bytes.split_off(self.within(0..20) as usize);
                vec![(at, Act::Bytes(bytes)), (at + self.below(MS), Act::Bytes(rest))]
            }
            // Later than most timeouts.
            9 => vec![(at + 100 * MS, Act::Bytes(whole("200")))],
            10..13 => vec![(at, numbers(FrameKind::ResetStream, stream, &[self.within(0..15)]))],
            13 | 14 => {
                let last = self.within(0..2) * stream;
                let code = self.within(0..2) * 11;
                let end =
                    [Act::Bytes(whole("200")), Act::Close][usize::from(self.one_in(2))].clone();
                vec![(at, numbers(FrameKind::GoAway, 0, &[last, code])), (at + MS, end)]
            }
            _ => vec![(at, Act::Bytes(whole("200")))],
        }
    }

    fn dial(&mut self) -> Dial {
        match self.below(10) {
            0 => Dial::Fail(self.below(MS), libc::ECONNREFUSED),
            1 => Dial::Silent,
            2 => Dial::Greet(self.below(MS), b"220 hello\r\n".to_vec()),
            _ => Dial::Accept(self.below(MS)),
        }
    }

    fn stages(&mut self, most: u32) -> Vec<Stage> {
        let count = 1 + self.below(3);
        let mut stage = |_| Stage {
            duration_ns: self.below(400 * MS),
            target: f64::from(self.within(0..most + 1)),
        };
        (0..count).map(&mut stage).chain([Stage { duration_ns: MS, target: 0.0 }]).collect()
    }

    fn open(&mut self) -> Open {
        let mut open = Open::new(f64::from(self.within(1..3_000)), self.within(1..12));
        open.max_in_flight = self.one_in(2).then(|| self.within(1..20));
        if self.one_in(3) {
            open.stages = self.stages(2_000);
        }
        open
    }

    fn pace(&mut self) -> Pace {
        match self.below(6) {
            0 => Pace::Constant(self.open()),
            1 => Pace::Poisson(self.open()),
            2 => {
                let mut offsets_ns: Vec<_> =
                    (0..self.below(200)).map(|_| self.below(SECOND)).collect();
                offsets_ns.sort_unstable();
                let max_in_flight = self.one_in(2).then(|| self.within(1..20));
                Pace::Replay(Replay { offsets_ns, connections: self.within(1..12), max_in_flight })
            }
            3 => {
                let pool = Some(self.within(1..6));
                Pace::Closed(Closed { pool, ..Closed::new(self.within(1..40)) })
            }
            4 => {
                let users = self.within(1..12);
                Pace::Closed(Closed { stages: self.stages(users), ..Closed::new(users) })
            }
            _ => {
                let spawn_rate = self.one_in(2).then(|| f64::from(self.within(20..900)));
                Pace::Closed(Closed { spawn_rate, ..Closed::new(self.within(1..12)) })
            }
        }
    }

    fn request(&mut self, has_users: bool, (scheme, is_http2): (&str, bool)) -> RequestPlan {
        let url = ["127.0.0.1:80/", "127.0.0.1:80/{{seq}}/{{rand 1 9}}", "127.0.0.1:81/"];
        let place = url[usize::try_from(self.below(3)).unwrap()];
        let mut request = RequestPlan::get(&format!("{scheme}://{place}"));
        request.template = true;
        request.timeout_ns = 1 + self.below(100 * MS);
        if is_http2 && self.one_in(3) {
            // Bodies wait for windows.
            request.method = "POST".into();
            request.body = Some("eHh4".repeat(self.within(1..50) as usize));
        }
        if self.one_in(4) {
            let text = ["hello", "nobody says that"][usize::from(self.one_in(2))].into();
            request.expect_body = vec![BodyCheck::Text { text }];
        }
        if has_users && self.one_in(4) {
            let what = ["Content-Length", "X-Missing"][usize::from(self.one_in(2))].into();
            let name = "kept".into();
            request.captures = vec![Capture { name, from: CaptureFrom::Header, what }];
        }
        request
    }

    fn source(&mut self, has_users: bool, is_http2: bool) -> Source {
        let scheme = if !is_http2 && self.one_in(3) { "lines" } else { "http" };
        let kind = (scheme, is_http2);
        let requests: Vec<_> =
            (0..1 + self.below(3)).map(|_| self.request(has_users, kind)).collect();
        match self.below(4) {
            0 => Source::Turn { requests },
            1 => {
                let weights = requests.iter().map(|_| self.within(1..9)).collect();
                Source::Weighted { requests, weights }
            }
            2 if has_users => Source::Steps { requests },
            _ => Source::One { request: self.request(has_users, kind) },
        }
    }

    fn group(&mut self, is_http2: bool) -> Group {
        let pace = self.pace();
        let is_closed = matches!(pace, Pace::Closed(_));
        let mut group = Group::new(pace, self.source(is_closed, is_http2));
        group.think = (is_closed && self.one_in(3)).then(|| match self.below(2) {
            0 => Think::Exponential { mean_ns: self.below(50 * MS) },
            _ => Think::Uniform { from_ns: self.below(9 * MS), to_ns: 9 * MS + self.below(MS) },
        });
        group
    }

    fn plan(&mut self) -> Plan {
        let is_http2 = self.one_in(3);
        let group = self.group(is_http2);
        let mut plan = Plan::new(group.pace.clone(), group.source.clone(), self.stop());
        plan.groups = vec![group];
        plan.groups.extend((0..self.below(2)).map(|_| self.group(is_http2)));
        plan.transport.keepalive = self.below(3) > 0;
        if is_http2 {
            plan.transport.http = HttpVersion::TwoPlain;
            plan.transport.streams = u16::try_from(self.within(1..6)).unwrap();
            plan.transport.keepalive |= plan.transport.streams > 1;
            plan.transport.coalesce_ns = self.below(2) * self.below(MS);
        }
        plan.transport.requests_per_connection = self.one_in(4).then(|| self.within(1..5));
        plan.transport.connections_per_second =
            self.one_in(4).then(|| f64::from(self.within(20..900)));
        let shaped = |group: &Group| {
            matches!(group.pace, Pace::Replay(_)) || !group.pace.stages().is_empty()
        };
        if !plan.groups.iter().any(shaped) {
            plan.warmup_ns = self.below(2) * self.below(200 * MS);
        }
        plan.drain_ns = self.below(SECOND);
        plan.interval_ns = if self.one_in(4) { 100 * MS } else { SECOND };
        plan.seed = self.below(1_000_000);
        plan
    }

    fn stop(&mut self) -> Stop {
        match self.below(3) {
            0 => Stop::Requests { requests: 1 + self.below(300) },
            _ => Stop::Duration { duration_ns: 1 + self.below(SECOND) },
        }
    }
}

/// Runs a plan; returns what came of it, and whether all attempts of its warm-up must have ended.
fn simulated(case: u64) -> (Outcome<Counting>, bool) {
    let mut random = Random(case.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut plan = random.plan();
    if matches!(plan.stop, Stop::Requests { .. }) {
        // What has no end of its own gets one: a pause of stages may come before the last request.
        plan.groups.iter_mut().for_each(|group| {
            if !matches!(group.pace, Pace::Closed(ref closed) if closed.stages.is_empty()) {
                group.pace = Pace::Closed(Closed::new(3));
            }
        });
    }
    plan = Plan::from_json(&serde_json::to_string(&plan).unwrap()).unwrap_or_else(|error| {
        panic!("case {case}: {error}");
    });
    let (mut dials, mut answers) = (Random(random.0 ^ 1), Random(random.0 ^ 2));
    let http: Box<Anything> = Box::new(Target::new(
        Box::new(move |_, _| dials.dial()),
        Box::new(move |_, _| answers.acts()),
    ));
    let lines = Lines { answers: Random(random.0 ^ 3), requests: 0, received: BTreeMap::new() };
    let http2 =
        Http2Server { answers: Random(random.0 ^ 4), requests: 0, side: ServerSide::default() };
    let mut world = Simulated::new(Counting { http, lines, http2, protocols: BTreeMap::new() });
    world.send_cost_ns = random.below(5000);
    world.send_limit = 1 + usize::try_from(random.below(100)).unwrap();
    // An attempt of the warm-up that is open at the end of a short drain is counted nowhere.
    let requests = plan.groups.iter().flat_map(|group| group.source.requests());
    let timeout_ns = requests.map(|request| request.timeout_ns).max().unwrap();
    let has_ended = plan.drain_ns >= timeout_ns;
    (simulate_in(plan, world, &Arc::new(Gate::new(1))), has_ended)
}

type Anything =
    Target<Box<dyn FnMut(u64, Nanos) -> Dial>, Box<dyn FnMut(u64, Nanos) -> Vec<(Nanos, Act)>>>;

/// A target of the multiplexing protocol of lines.
struct Lines {
    answers: Random,
    /// Requests whose line was complete.
    requests: u64,
    /// By connection, the beginning of a line that is not complete.
    received: BTreeMap<u64, Vec<u8>>,
}

impl Lines {
    fn receive(&mut self, connection: u64, bytes: &[u8]) -> Vec<(Nanos, Act)> {
        let received = self.received.entry(connection).or_default();
        received.extend_from_slice(bytes);
        let mut acts = Vec::new();
        while let Some(end) = received.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = received.drain(..=end).collect();
            self.requests += 1;
            let text = String::from_utf8(line).unwrap();
            acts.extend(self.answers.line_acts(text.split(' ').next().unwrap()));
        }
        acts.sort_by_key(|(at, _)| *at);
        acts
    }
}

/// A target of HTTP/2.
struct Http2Server {
    answers: Random,
    /// Requests that were complete.
    requests: u64,
    side: ServerSide,
}

impl Http2Server {
    fn receive(&mut self, connection: u64, bytes: &[u8]) -> Vec<(Nanos, Act)> {
        let mut acts = Vec::new();
        for received in self.side.take(connection, bytes) {
            match received {
                FromClient::Preface => acts.extend(self.answers.greeting()),
                FromClient::Request(ask) => {
                    self.requests += 1;
                    acts.extend(self.answers.stream_acts(ask.stream));
                }
                FromClient::Body { stream, count } => {
                    // Sometimes it allows no more.
                    let more = (!self.answers.one_in(20)).then(|| windows(stream, count.max(1)));
                    acts.extend(more.map(|bytes| (self.answers.below(MS), Act::Bytes(bytes))));
                }
            }
        }
        acts.sort_by_key(|(at, _)| *at);
        acts
    }
}

/// A target of all protocols, which it tells apart by the first byte of a connection.
struct Counting {
    http: Box<Anything>,
    lines: Lines,
    http2: Http2Server,
    /// By connection, the first byte.
    protocols: BTreeMap<u64, u8>,
}

impl net::Peer for Counting {
    fn dial(&mut self, number: u64, now: Nanos) -> Dial {
        self.http.dial(number, now)
    }

    fn receive(&mut self, connection: u64, bytes: &[u8], now: Nanos) -> Vec<(Nanos, Act)> {
        match *self.protocols.entry(connection).or_insert(bytes[0]) {
            first if first == PREFACE[0] => self.http2.receive(connection, bytes),
            b'0'..=b'9' => self.lines.receive(connection, bytes),
            _ => self.http.receive(connection, bytes, now),
        }
    }
}

/// Requests that were cut off while they were written never reached the target whole. With several
/// exchanges on a connection, one that breaks the protocol ends all of them.
fn unfinished(tally: &Tally) -> u64 {
    let reasons = tally.reasons.iter().zip(client::Reason::ALL);
    let cut = reasons.filter(|(_, reason)| {
        ["write.", "protocol."].iter().any(|class| reason.name().starts_with(class))
            || matches!(reason, client::Reason::TimeoutWrite | client::Reason::ReadUnprocessed)
    });
    cut.map(|(count, _)| *count).sum()
}

#[test]
fn random_plans_balance_and_agree_with_the_targets_count() {
    let plans = std::env::var("TORR_PLANS").map_or(PLANS, |text| text.parse().unwrap());
    let (mut attempts, mut answered, mut of_http2) = (0, 0, 0);
    std::thread::scope(|scope| {
        let halves = [1, 2].map(|first| scope.spawn(move || try_each((first..=plans).step_by(2))));
        for half in halves {
            let (more, ok, streams) = half.join().unwrap();
            attempts += more;
            answered += ok;
            of_http2 += streams;
        }
    });
    // The plans are not all empty, and the worlds not all broken.
    assert!(attempts > 20 * plans && answered > 5 * plans, "{attempts} attempts, {answered} ok");
    assert!(of_http2 > 2 * plans, "{of_http2} requests of HTTP/2");
}

/// Tries these plans; gives their attempts, those of them that were answered, and requests of HTTP/2.
fn try_each(cases: impl Iterator<Item = u64>) -> (u64, u64, u64) {
    let (mut attempts, mut answered, mut of_http2) = (0, 0, 0);
    for case in cases {
        let run = std::panic::catch_unwind(|| {
            let (run, has_ended) = simulated(case);
            if has_ended {
                run.assert_balanced();
            } else {
                run.assert_window_balanced();
                assert!(run.warmup.attempted >= run.warmup.ended(), "attempts of the warm-up");
            }
            run
        });
        let run = run.unwrap_or_else(|_| panic!("case {case}: see above"));
        let sent = |tally: &Tally| tally.accepted.service.count() + tally.failed.service.count();
        let peer = &run.world.peer;
        let seen = peer.http.requests + peer.lines.requests + peer.http2.requests;
        assert!(sent(&run.measured) <= seen + unfinished(&run.measured), "case {case}");
        let attempted = run.measured.attempted + run.warmup.attempted;
        let sent = attempted + run.measured.resent + run.warmup.resent;
        assert!(seen <= sent, "case {case}: {seen} requests of {sent} that were sent");
        let connections = run.reports.last().unwrap().connections;
        // Each may leave four others behind until their last exchanges have ended.
        let most = if peer.http2.requests > 0 { 5 } else { 1 } * connections.asked;
        assert!(connections.open_max <= most, "case {case}: {connections:?}");
        assert_eq!(connections.local.sum(), 0, "case {case}: a slot was not given back");
        attempts += attempted;
        answered += run.measured.ok;
        of_http2 += peer.http2.requests;
    }
    (attempts, answered, of_http2)
}
