//! What users, pools, sources and checks do over HTTP/2: the same as over HTTP/1.1.

use std::collections::BTreeMap;

use crate::world::http2::{FromClient, ServerSide, response, settings, windows};
use crate::world::{MS, assert_all, closed, simulate};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use engine::{
    BodyCheck, Capture, CaptureFrom, Closed, Data, HttpVersion, JsonCheck, Pace, Plan, RequestPlan,
    Source, Stop, Think,
};
use net::{Act, Dial, Nanos, Peer};
use serde_json::{Value, json};

/// Keeps what it was sent, and answers after some time with the JSON that `answer` returns for the path
/// and the body of a request.
struct Scribe<A> {
    answer: A,
    after: Nanos,
    seen: Vec<(String, String)>,
    side: ServerSide,
}

fn scribe<A: FnMut(&str, &str) -> Value>(answer: A) -> Scribe<A> {
    Scribe { answer, after: 10 * MS, seen: Vec::new(), side: ServerSide::default() }
}

impl<A: FnMut(&str, &str) -> Value> Peer for Scribe<A> {
    fn dial(&mut self, _: u64, _: Nanos) -> Dial {
        Dial::Accept(0)
    }

    fn receive(&mut self, connection: u64, bytes: &[u8], _: Nanos) -> Vec<(Nanos, Act)> {
        let mut acts = Vec::new();
        for received in self.side.take(connection, bytes) {
            acts.push(match received {
                FromClient::Preface => (0, settings(&[])),
                FromClient::Body { stream, count } => (0, windows(stream, count)),
                FromClient::Request(ask) => {
                    let body = String::from_utf8(ask.body).unwrap();
                    let answer = (self.answer)(&ask.path, &body).to_string();
                    self.seen.push((ask.path, body));
                    let fields = [(":status", "200"), ("x-path", "seen")];
                    (self.after, response(ask.stream, &fields, answer.as_bytes()))
                }
            });
        }
        acts.into_iter().map(|(at, bytes)| (at, Act::Bytes(bytes))).collect()
    }
}

fn over_http2(mut plan: Plan) -> Plan {
    (plan.transport.http, plan.transport.streams) = (HttpVersion::TwoPlain, 4);
    plan
}

fn request(path: &str) -> RequestPlan {
    let template = path.contains("{{");
    RequestPlan { template, ..RequestPlan::get(&format!("http://127.0.0.1:80{path}")) }
}

fn posted(path: &str, body: &str) -> RequestPlan {
    let (method, body) = ("POST".into(), Some(STANDARD.encode(body)));
    RequestPlan { method, body, template: true, ..request(path) }
}

fn plan(users: u32, source: Source, requests: u64) -> Plan {
    over_http2(Plan::new(Pace::Closed(Closed::new(users)), source, Stop::Requests { requests }))
}

#[test]
fn a_user_thinks_between_an_answer_and_its_next_request() {
    let mut plan = over_http2(closed(10));
    plan.groups[0].think = Some(Think::Uniform { from_ns: 90 * MS, to_ns: 90 * MS });
    let run = simulate(plan, scribe(|_, _| json!({})));
    run.assert_balanced();
    // One request every 100 ms each, due at the end of the thought: none of it is response time.
    assert_all(&run.measured.accepted.response, 100, 10 * MS);
    assert_all(&run.measured.accepted.lag, 100, 0);
    assert_eq!(run.world.dials(), 3);
}

#[test]
fn users_of_a_pool_wait_for_a_slot_of_its_connections() {
    let mut plan = over_http2(closed(16));
    let Pace::Closed(closed) = &mut plan.groups[0].pace else { unreachable!("users") };
    closed.pool = Some(2);
    let run = simulate(plan, scribe(|_, _| json!({})));
    run.assert_balanced();
    // Eight of sixteen at a time: each waits for as long as it is served.
    assert_eq!((run.measured.ok / 10, run.world.dials()), (80, 2));
    let wait = run.measured.accepted.wait.quantile(0.5);
    assert!((9 * MS..=11 * MS).contains(&wait), "{wait}");
    assert_eq!(run.measured.accepted.stream_wait.quantile(1.0), 0);
}

#[test]
fn bodies_and_paths_have_the_values_of_their_rows() {
    let mut plan =
        plan(3, Source::One { request: posted("/u/{{row.id}}", "{{row.name}} {{seq}}") }, 40);
    let rows = vec![vec!["7".into(), "a b".into()], vec!["8".into(), "ü".repeat(40)]];
    plan.groups[0].data = Some(Data::Rows { columns: vec!["id".into(), "name".into()], rows });
    let run = simulate(plan, scribe(|_, _| json!({})));
    run.assert_balanced();
    assert_eq!(run.measured.ok, 40);
    let mut seen = run.world.peer.seen;
    seen.sort_by_key(|(_, body)| body.split(' ').next_back().unwrap().parse::<u64>().unwrap());
    for (number, (path, body)) in seen.iter().enumerate() {
        let (id, name) = if number % 2 == 0 { (7, "a b".into()) } else { (8, "ü".repeat(40)) };
        assert_eq!((path, body), (&format!("/u/{id}"), &format!("{name} {number}")));
    }
}

#[test]
fn each_user_takes_its_steps_in_order_and_reads_what_was_captured() {
    let mut login = posted("/login", "{{seq}}");
    let capture =
        |name: &str, from, what: &str| Capture { name: name.into(), from, what: what.into() };
    login.captures = vec![
        capture("token", CaptureFrom::Json, "$.token"),
        capture("mark", CaptureFrom::Header, "X-Path"),
    ];
    let requests = vec![login, posted("/items/{{token}}", "{{mark}} {{token}}")];
    let answer = |path: &str, body: &str| match path {
        "/login" => json!({ "token": format!("t{body}") }),
        _ => json!({}),
    };
    let run = simulate(plan(8, Source::Steps { requests }, 160), scribe(answer));
    run.assert_balanced();
    assert_eq!((run.measured.ok, run.measured.ended()), (160, 160));
    let mut counts = BTreeMap::new();
    for (path, body) in &run.world.peer.seen {
        if let Some(token) = path.strip_prefix("/items/") {
            assert_eq!(body, &format!("seen {token}"));
            *counts.entry(token).or_insert(0) += 1;
        }
    }
    // Each login has its own token, which one request uses.
    assert_eq!((counts.len(), counts.values().sum::<u64>()), (80, 80));
}

#[test]
fn what_a_body_must_say_decides_between_ok_and_check() {
    let mut good = request("/good");
    good.expect_body = vec![BodyCheck::Text { text: "hel".into() }];
    let mut bad = good.clone();
    bad.expect_json = vec![JsonCheck { path: "$.a".into(), value: json!(1) }];
    let requests = vec![good, bad];
    let run = simulate(plan(4, Source::Turn { requests }, 40), scribe(|_, _| json!("hello")));
    run.assert_balanced();
    assert_eq!(run.measured.ok, 20);
    assert_eq!(run.reasons(), [("check.json".to_owned(), 20)]);
    // A failed check does not break a connection.
    assert_eq!(run.world.dials(), 1);
}
