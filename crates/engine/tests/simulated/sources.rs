//! What is sent: the order of requests, rows and numbers, what answers are looked at for.

use std::collections::BTreeMap;

use crate::world::{MS, SECOND, simulate};
use engine::{
    BodyCheck, Capture, CaptureFrom, Closed, Data, JsonCheck, Open, Pace, Plan, RequestPlan,
    Source, Stop,
};
use net::{Act, Dial, Nanos, Peer};
use serde_json::json;

/// A peer that keeps what it was sent and answers by the path.
struct Scribe<A> {
    answer: A,
    seen: Vec<(u64, String)>,
}

impl<A: FnMut(&str) -> String> Peer for Scribe<A> {
    fn dial(&mut self, _: u64, _: Nanos) -> Dial {
        Dial::Accept(MS)
    }

    fn receive(&mut self, connection: u64, bytes: &[u8], _: Nanos) -> Vec<(Nanos, Act)> {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let answer = (self.answer)(&text);
        self.seen.push((connection, text));
        let length = answer.len();
        let head =
            format!("HTTP/1.1 200 OK\r\nX-Length: {length}\r\nContent-Length: {length}\r\n\r\n");
        vec![(MS, Act::Bytes(format!("{head}{answer}").into_bytes()))]
    }
}

fn scribe<A: FnMut(&str) -> String>(answer: A) -> Scribe<A> {
    Scribe { answer, seen: Vec::new() }
}

fn request(path: &str) -> RequestPlan {
    let url = format!("http://127.0.0.1:80{path}");
    let template = path.contains("{{");
    RequestPlan { name: format!("GET {path}"), template, ..RequestPlan::get(&url) }
}

fn plan(users: u32, source: Source, requests: u64) -> Plan {
    Plan::new(Pace::Closed(Closed::new(users)), source, Stop::Requests { requests })
}

/// How often each path was asked for.
fn paths(seen: &[(u64, String)]) -> BTreeMap<&str, usize> {
    let mut paths = BTreeMap::new();
    for (_, text) in seen {
        *paths.entry(text.split(' ').nth(1).unwrap()).or_default() += 1;
    }
    paths
}

#[test]
fn requests_in_turn_are_sent_and_counted_equally_often() {
    let requests = ["/a", "/b", "/c"].map(request).to_vec();
    let outcome = simulate(plan(2, Source::Turn { requests }, 300), scribe(|_| "ok".into()));
    outcome.assert_balanced();
    let seen = &outcome.world.peer.seen;
    assert_eq!(paths(seen), BTreeMap::from([("/a", 100), ("/b", 100), ("/c", 100)]));
    let rows: u64 = outcome.reports.iter().map(|report| report.tallies[1].ok).sum();
    assert_eq!((rows, outcome.measured.ok), (100, 300));
}

#[test]
fn weights_decide_how_often_and_the_rows_agree_with_the_target() {
    let requests = ["/a", "/b"].map(request).to_vec();
    let source = Source::Weighted { requests, weights: vec![9, 1] };
    let outcome = simulate(plan(4, source, 10_000), scribe(|_| "ok".into()));
    outcome.assert_balanced();
    let paths = paths(&outcome.world.peer.seen);
    let rows: u64 = outcome.reports.iter().map(|report| report.tallies[1].ok).sum();
    assert_eq!(rows, paths["/b"] as u64);
    assert!((900..1100).contains(&rows), "{rows}");
}

#[test]
fn each_user_takes_its_steps_in_order_and_reads_what_was_captured() {
    let mut login = request("/login?n={{seq}}");
    login.captures =
        vec![Capture { name: "token".into(), from: CaptureFrom::Json, what: "$.token".into() }];
    let requests = vec![login, request("/items/{{token}}"), request("/out/{{token}}/{{seq}}")];
    let answer = |text: &str| match text.split_once("?n=") {
        Some((_, rest)) => json!({ "token": format!("t{}", &rest[..rest.find(' ').unwrap()]) }),
        None => json!({}),
    };
    let peer = scribe(move |text| answer(text).to_string());
    let outcome = simulate(plan(2, Source::Steps { requests }, 60), peer);
    outcome.assert_balanced();
    assert_eq!((outcome.measured.ok, outcome.measured.ended()), (60, 60));
    let mut passes = BTreeMap::new();
    for (connection, text) in &outcome.world.peer.seen {
        let path = text.split(' ').nth(1).unwrap().to_owned();
        passes.entry(*connection).or_insert_with(Vec::new).push(path);
    }
    assert_eq!(passes.len(), 2);
    for steps in passes.values() {
        for pass in steps.chunks(3) {
            let number = pass[0].strip_prefix("/login?n=").unwrap();
            assert_eq!(pass[1], format!("/items/t{number}"));
            assert_eq!(pass[2], format!("/out/t{number}/{number}"));
        }
    }
}

#[test]
fn a_user_whose_step_fails_begins_anew() {
    let mut login = request("/login");
    login.captures =
        vec![Capture { name: "t".into(), from: CaptureFrom::Header, what: "X-Missing".into() }];
    let requests = vec![login, request("/items/{{t}}")];
    let outcome = simulate(plan(1, Source::Steps { requests }, 10), scribe(|_| "{}".into()));
    assert_eq!(outcome.reasons(), [("check.capture".to_owned(), 10)]);
    assert_eq!(outcome.measured.statuses, BTreeMap::from([(200, 10)]));
    assert_eq!(paths(&outcome.world.peer.seen), BTreeMap::from([("/login", 10)]));
}

#[test]
fn rows_come_in_turn_and_numbers_count_on() {
    let path = std::env::temp_dir().join(format!("torr-sources-{}.csv", std::process::id()));
    std::fs::write(&path, "id,name\n7,a b\n8,c\n").unwrap();
    let source = Source::One { request: request("/u/{{row.id}}/{{row.name}}?{{seq}}") };
    let mut plan = plan(1, source, 3);
    plan.groups[0].data = Some(Data::File { path: path.clone() });
    let outcome = simulate(plan, scribe(|_| String::new()));
    std::fs::remove_file(path).unwrap();
    let seen: Vec<_> = paths(&outcome.world.peer.seen).into_keys().collect();
    assert_eq!(seen, ["/u/7/a%20b?0", "/u/7/a%20b?2", "/u/8/c?1"]);
}

#[test]
fn what_a_body_must_say_decides_between_ok_and_check() {
    let mut good = request("/good");
    good.expect_body = vec![BodyCheck::Text { text: "hel".into() }];
    let mut bad = good.clone();
    bad.expect_json = vec![JsonCheck { path: "$.a".into(), value: json!(1) }];
    let source = Source::Turn { requests: vec![good, bad] };
    let outcome = simulate(plan(1, source, 20), scribe(|_| "hello".into()));
    outcome.assert_balanced();
    assert_eq!(outcome.measured.ok, 10);
    assert_eq!(outcome.reasons(), [("check.json".to_owned(), 10)]);
    // A failed check does not break a connection.
    assert_eq!(outcome.world.dials(), 1);
}

#[test]
fn a_connection_to_one_place_is_not_used_for_requests_to_another() {
    let mut other = request("/b");
    other.url = "http://127.0.0.1:81/b".into();
    let source = Source::Turn { requests: vec![request("/a"), other] };
    let outcome = simulate(plan(1, source, 10), scribe(|_| String::new()));
    outcome.assert_balanced();
    assert_eq!(outcome.measured.ok, 10);
    let by_path = |connection: &u64| {
        let mine = outcome.world.peer.seen.iter().filter(|(at, _)| at == connection);
        mine.map(|(_, text)| text.split(' ').nth(1).unwrap()).collect::<Vec<_>>()
    };
    // A user has one connection: for each change of place it dials anew.
    assert_eq!(outcome.world.dials(), 10);
    for (connection, _) in &outcome.world.peer.seen {
        let mine = by_path(connection);
        assert!(mine.iter().all(|path| *path == mine[0]), "{mine:?}");
    }
}

#[test]
fn arrivals_take_requests_in_turn_too() {
    let requests = ["/a", "/b"].map(request).to_vec();
    let source = Source::Turn { requests };
    let pace = Pace::Constant(Open::new(100.0, 10));
    let stop = Stop::Duration { duration_ns: SECOND };
    let outcome = simulate(Plan::new(pace, source, stop), scribe(|_| String::new()));
    assert_eq!(paths(&outcome.world.peer.seen), BTreeMap::from([("/a", 50), ("/b", 50)]));
}

#[test]
fn a_split_plan_sends_every_number_once() {
    let source = Source::One { request: request("/{{seq}}") };
    let whole = plan(3, source, 30);
    let mut seen: Vec<String> = Vec::new();
    for part in whole.split(3) {
        let outcome = simulate(part, scribe(|_| String::new()));
        seen.extend(paths(&outcome.world.peer.seen).into_keys().map(str::to_owned));
    }
    seen.sort_by_key(|path| path[1..].parse::<u64>().unwrap());
    assert_eq!(seen, (0..30).map(|number| format!("/{number}")).collect::<Vec<_>>());
}
